"""The standard suite: every world can be built, every algorithm of it made, and each is told what is said."""

import numpy as np
import pytest

import windvane as wv
from windvane.entries import Entry, named_parts, parse
from windvane.experiments import contest, suite
from windvane.experiments.measures import optimizer_for
from windvane.experiments.trial import RunSpec
from windvane.experiments.worlds import FROM_DATA, NEW, ONLY_TOLD, SHARED
from windvane.surrogates import Given
from windvane.triggers import Likelihood

WORLDS = (*SHARED, *ONLY_TOLD, *NEW)


@pytest.fixture(scope="module")
def arenas():
    found = [
        arena
        for table in (suite.TOLD, suite.TOLD_NOTHING)
        for arena in suite.arenas(table, seed=10000, data=None)[0]
    ]
    return {arena.label: arena for arena in found}


def entry(text):
    (found,) = parse("--algorithms", [text])
    return found


def labels(field):
    return [arena.label for arena in field.arenas]


def test_every_world_is_there_and_lasts_as_long_as_it_says(arenas):
    assert set(arenas) == {member.label for member in WORLDS}
    assert len({member.text for member in WORLDS}) == len(WORLDS) == len(arenas)
    for member in WORLDS:
        (asked,) = parse("--suite", [member.text])
        built = arenas[member.label].task
        assert built.horizon == asked.keywords().get("horizon", 288)
        assert suite.member(member.label) is member


def test_where_nothing_changes_nothing_changes(arenas):
    """The flag is what false resets are counted by: the optimum must stay, and a point must keep its value."""
    for member in WORLDS:
        task = arenas[member.label].task
        times = range(1, task.horizon + 1, 29)
        x = task.space.decode(task.space.sample(np.random.default_rng(1), 1)[0])
        seen = {(float(task.optimum(t)), float(task.value(x, t))) for t in times}
        if member not in ONLY_TOLD:
            assert (len(seen) == 1) == member.still, member.label


def test_where_all_is_replaced_the_task_says_when(arenas):
    for member in WORLDS:
        if member.replaced:
            task = arenas[member.label].task
            assert len(task.steps) == 2
            for step in task.steps:
                assert float(task.optimum(step)) != float(task.optimum(step - 1))


def test_worlds_know_the_rate_that_their_name_says(arenas):
    for label, arena in arenas.items():
        if label.startswith("drift"):
            assert arena.rate == float(label.split()[1])
        if label.startswith("static"):
            assert arena.rate == 0.0
    assert arenas["jumps"].rate == pytest.approx(2 / 300)
    assert arenas["Ackley"].rate is None


def test_the_misjudged_noise_is_what_rivals_are_told(arenas):
    for sign, told in (("/", 0.005), ("x", 0.08)):
        for motion in ("static", "drift 0.03"):
            arena = arenas[f"{motion} + noise told {sign} 4"]
            one = contest.cell(entry("gp-ucb"), arena)
            made = optimizer_for(RunSpec(one.task, one.algorithm, 0, one.told), arena.task)
            assert made.model.noise.variance == pytest.approx(told)
            assert arena.task.noise_from(1.0, 1) ** 2 == pytest.approx(0.02)


def test_the_worlds_of_the_two_tables():
    first, second = (field.table for field in suite.fields("standard", seed=0, tasks=["static"]))
    assert (first.tells, second.tells) == (False, True)
    assert len(second.worlds) + len(FROM_DATA) == 26
    assert not {member.label for member in first.worlds} & {member.label for member in ONLY_TOLD}
    assert set(SHARED) == set(first.worlds) & set(second.worlds)


def test_without_data_their_worlds_are_left_out_and_said_so(tmp_path):
    found, left_out = suite.arenas(suite.TOLD, seed=0, data=None, tasks=["static", "shares"])
    assert [arena.label for arena in found] == ["static"]
    assert "shares" in left_out[0]
    assert "--data" in left_out[0]
    assert suite.arenas(suite.TOLD, seed=0, data=None, tasks=["static"])[1] == []
    (tmp_path / "stocks_adjclose_29x823.csv").write_text("date,A,B\n2016-01-04,10,9\n2016-01-05,11,14\n")
    found, left_out = suite.arenas(suite.TOLD, seed=0, data=tmp_path, tasks=["static", "shares", "lab days*"])
    assert [arena.label for arena in found] == ["static", "shares"]
    assert [line.split(":")[0] for line in left_out] == ["lab days 7-8", "lab days 5-6"]


def test_worlds_are_chosen_by_name_or_pattern():
    first, second = suite.fields("standard", seed=0, tasks=["Half-Jumps", "rough + *", "*noise told*"])
    assert labels(first) == ["half jumps", "rough + jumps", "rough + drift"]
    assert labels(second) == ["half jumps", *(member.label for member in ONLY_TOLD)]
    (only,) = suite.fields("standard", seed=0, tasks=["moving peaks"])  # the second table has no such world
    assert only.table is suite.TOLD_NOTHING
    (only,) = suite.fields("told", seed=0, tasks=["static"])
    assert only.table is suite.TOLD
    with pytest.raises(wv.UnknownName, match=r"--tasks 'half jump': .* did you mean 'half jumps'"):
        suite.fields("standard", seed=0, tasks=["half jump"])
    with pytest.raises(wv.UnknownName, match="they are static, drift"):
        suite.fields("standard", seed=0, tasks=["zzz*"])
    with pytest.raises(wv.UnknownName, match="no such world"):
        suite.fields("told", seed=0, tasks=["moving peaks"])
    with pytest.raises(wv.UnknownName, match=r"nothing of it is left.*--data"):
        suite.fields("standard", seed=0, tasks=["shares"])


def test_algorithms_are_chosen_by_name():
    texts = ["auto", "tv-gp-ucb", "gp-ucb:blind=true", "gp-ucb"]
    first, second = suite.fields("standard", seed=0, tasks=["static"], algorithms=texts)
    assert first.entries == [Entry("auto"), Entry("gp-ucb")]
    assert first.left_out == ("tv-gp-ucb: cannot be told nothing, so it is not in the first table.",)
    blind = (("blind", True),)
    assert second.entries == [
        Entry("auto", blind),
        Entry("auto"),
        Entry("tv-gp-ucb"),
        Entry("gp-ucb", blind),
        Entry("gp-ucb"),
    ]
    (only,) = suite.fields(
        "standard", seed=0, tasks=["static"], algorithms=["sw-gp-ucb:window=9", "ui-tvbo"]
    )[1:]
    assert only.table is suite.TOLD
    with pytest.raises(wv.UnknownName, match="nothing of it is left"):
        suite.fields("told-nothing", seed=0, tasks=["static"], algorithms=["ui-tvbo"])


def test_the_algorithms_are_those_that_the_package_has():
    for table in (suite.TOLD_NOTHING, suite.TOLD):
        found, left_out = suite.contestants(table)
        names = [one.name for one in found]
        assert set(names) <= set(wv.algorithms())
        assert {"auto", "gp-ucb", "et-gp-ucb", "tv-gp-ucb-mle", "random"} <= set(names)
        assert len(found) == len(table.preferred)
        assert left_out == []
    assert all(suite._able(one) for one in suite.contestants(suite.TOLD_NOTHING)[0])


def test_an_algorithm_or_a_trigger_that_is_missing_is_passed_over():
    table = suite.SuiteTable("short", True, SHARED, ("no-such", "gp-ucb", "et-gp-ucb:trigger=no-such"))
    assert suite.contestants(table)[0] == [Entry("gp-ucb")]


def test_every_algorithm_can_be_made_on_every_world(arenas):
    few = [arenas[label] for label in ("static", "jumps", "Ackley", "lab stand-in")]
    contest.rehearse(contest.cells(suite.contestants(suite.TOLD)[0], few), few, 10000)
    few = [arenas[label] for label in ("static", "steep", "local change")]
    told = contest.cells(suite.contestants(suite.TOLD_NOTHING)[0], few, tells=False)
    contest.rehearse(told, few, 10000)


def test_told_nothing_is_nothing(arenas):
    """Kernel, noise, rate and horizon stay with the task, whoever asks; on arms too."""
    for label in ("drift 0.03", "rough + drift", "lab stand-in"):
        for one in suite.contestants(suite.TOLD_NOTHING)[0]:
            cell = contest.cell(one, arenas[label], tells=False)
            assert cell.told == ()
            assert set(cell.algorithm.keywords()) <= {"learning"}
            assert cell.row == one.name
            made = optimizer_for(RunSpec(cell.task, cell.algorithm, 0, cell.told), arenas[label].task)
            assert (
                made.model == wv.make(one.name, arenas[label].task.space, **cell.algorithm.keywords()).model
            )


def test_a_run_that_both_tables_have_is_one_run(arenas):
    blind = contest.cell(entry("auto:blind=true"), arenas["static"])
    nothing = contest.cell(entry("auto"), arenas["static"], tells=False)
    assert blind.trials(range(3)) == nothing.trials(range(3))
    assert (blind.row, nothing.row) == ("auto (told nothing)", "auto")


@pytest.mark.parametrize("blind", [False, True])
def test_the_subject_is_told_the_kernel_at_most(arenas, blind):
    subject = Entry(suite.SUBJECT, (("blind", True),) if blind else ())
    for label, told in (("drift 0.03", ("kernel",)), ("Ackley", ()), ("lab stand-in", ("kernel",))):
        one = contest.cell(subject, arenas[label])
        assert one.told == (() if blind else told)
        assert one.algorithm.keywords() == {}
        assert one.row == ("auto (told nothing)" if blind else "auto")


def test_anyone_can_be_blind(arenas):
    one = contest.cell(entry("r-gp-ucb:blind=true"), arenas["drift 0.1"], rate=0.07)
    assert one.told == ()
    assert one.algorithm.keywords() == {"rate": 0.07}  # it cannot do without one, and does not get the task's
    assert contest.cell(entry("r-gp-ucb:blind=false"), arenas["drift 0.1"]).row == "r-gp-ucb"
    assert contest.cell(entry("random:blind=true"), arenas["static"]).algorithm.keywords() == {
        "learning": Given()
    }
    (mistake,) = parse("--algorithms", ["gp-ucb:blind=1"])
    with pytest.raises(wv.InvalidType, match="blind=1: must be true or false"):
        contest.contestants([mistake.label])


def test_a_trigger_by_name(arenas):
    one = contest.cell(entry("et-gp-ucb:trigger=likelihood"), arenas["static"])
    assert one.algorithm.keywords() == {"trigger": Likelihood()}
    assert one.row == "et-gp-ucb:trigger=likelihood"
    with pytest.raises(wv.UnknownName, match="did you mean 'likelihood'"):
        contest.contestants(["et-gp-ucb:trigger=liklihood"])
    with pytest.raises(wv.UnknownName, match="option='trigger'"):
        contest.contestants(["gp-ucb:trigger=likelihood"])


def test_names_of_triggers_are_their_classes_in_small_letters():
    found = named_parts("trigger")
    assert {"posterior-bound", "likelihood", "never"} <= set(found)
    for name, made in found.items():
        assert name.replace("-", "") == made.__name__.lower()
        assert made() == made()  # needs no argument


def test_the_seeds_are_not_those_of_the_design():
    assert suite.FIRST_SEED not in suite.DESIGN_SEEDS
    assert not set(range(suite.FIRST_SEED, suite.FIRST_SEED + suite.RUNS)) & set(suite.DESIGN_SEEDS)
    assert "0 to 39" in suite.TUNING
    assert suite.RUNS == 40
