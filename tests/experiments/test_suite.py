"""The standard suite: every task can be built, every algorithm of it made, and each is told what is said."""

import pytest

import windvane as wv
from windvane.entries import Entry, named_parts, parse
from windvane.experiments import contest, suite
from windvane.experiments.measures import optimizer_for
from windvane.experiments.trial import RunSpec
from windvane.surrogates import Given
from windvane.triggers import Likelihood


@pytest.fixture(scope="module")
def arenas():
    found, _ = suite.arenas(seed=suite.FIRST_SEED, data=None)
    return {arena.label: arena for arena in found}


def entry(text):
    (found,) = parse("--algorithms", [text])
    return found


def test_every_task_is_there_and_lasts_as_long_as_it_says(arenas):
    assert list(arenas) == [member.label for member in suite.TASKS]
    assert len({member.text for member in suite.TASKS}) == len(suite.TASKS)
    for member in suite.TASKS:
        (asked,) = parse("--suite", [member.text])
        built = arenas[member.label].task
        assert built.horizon == asked.keywords().get("horizon", 288)
        assert built.name == asked.name


def test_tasks_know_the_rate_that_their_name_says(arenas):
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


def test_without_data_their_tasks_are_left_out_and_said_so(tmp_path):
    found, left_out = suite.arenas(seed=0, data=None)
    assert len(found) == len(suite.TASKS)
    assert "shares" in left_out[0]
    assert "--data" in left_out[0]
    (tmp_path / "stocks_adjclose_29x823.csv").write_text("date,A,B\n2016-01-04,10,9\n2016-01-05,11,14\n")
    found, left_out = suite.arenas(seed=0, data=tmp_path)
    assert [arena.label for arena in found[len(suite.TASKS) :]] == ["shares"]
    assert [line.split(":")[0] for line in left_out] == ["lab days 7-8", "lab days 5-6"]


def test_the_algorithms_are_those_that_the_package_has():
    names = [one.name for one in suite.contestants(None)]
    assert set(names) <= set(wv.algorithms())
    assert {"gp-ucb", "et-gp-ucb", "tv-gp-ucb", "random"} <= set(names)
    assert not set(names) & {"sw-gp-ucb", "br-gp-ucb", "w-gp-ucb", *suite.SLOW}
    assert suite.contestants(None, slow=True)[-1].name == "tv-gp-ucb-mle"
    assert suite.contestants(["gp-ucb"]) == [Entry("gp-ucb")]


def test_an_algorithm_or_a_trigger_that_is_missing_is_passed_over(monkeypatch):
    monkeypatch.setattr(suite, "PREFERRED", ("no-such", "gp-ucb", "et-gp-ucb:trigger=no-such"))
    assert suite.contestants(None) == [Entry("gp-ucb")]


def test_every_algorithm_can_be_made_on_every_task(arenas):
    few = [arenas[label] for label in ("static", "jumps", "Ackley", "lab stand-in")]
    contest.rehearse(contest.cells(suite.contestants(None), few), few, suite.FIRST_SEED)


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
    assert max(suite.DESIGN_SEEDS) < suite.FIRST_SEED
    assert "0 to 39" in suite.TUNING
