"""Who is told what: the cells of a leaderboard."""

import pytest

import windvane as wv
from windvane.entries import parse
from windvane.errors import UnknownName
from windvane.experiments import contest
from windvane.experiments.measures import optimizer_for
from windvane.experiments.trial import RunSpec
from windvane.surrogates import Given


def arena(text):
    (found,), _ = contest.arenas([text], seed=0)
    return found


def cell(algorithm, task, **options):
    (entry,) = parse("--algorithms", [algorithm])
    return contest.cell(entry, arena(task), **options)


def built(algorithm, task):
    one = cell(algorithm, task)
    return optimizer_for(RunSpec(one.task, one.algorithm, 0, one.told), arena(task).task)


def test_a_task_with_a_rate_tells_it_and_others_get_the_paper_s():
    assert built("tv-gp-ucb", "within-model:rate=0.07").model.temporal.rate == 0.07
    assert built("tv-gp-ucb", "deng-slow").model.temporal.rate == 0.03
    assert built("tv-gp-ucb:rate=0.2", "within-model:rate=0.07").model.temporal.rate == 0.2
    assert cell("ui-tvbo", "deng-slow", rate=0.11).algorithm.keywords() == {"rate": 0.11}
    assert "rate" not in cell("tv-gp-ucb-mle", "within-model").told
    assert cell("r-gp-ucb:period=9", "deng-slow").algorithm.keywords() == {"period": 9}


def test_the_horizon_is_told_to_whoever_asks():
    assert "horizon" in cell("r-gp-ucb", "within-model").told
    assert "horizon" not in cell("gp-ucb", "within-model").told


def test_kernel_and_noise_are_told_or_both_are_learned():
    assert cell("gp-ucb", "within-model").told == ("kernel", "noise_variance")
    assert cell("gp-ucb", "ackley-shift").told == ()
    assert cell("random", "ackley-shift").algorithm.keywords() == {"learning": Given()}


def test_the_budget_is_told_where_it_is_known():
    one = cell("sw-gp-ucb", "deng-slow")
    assert set(one.told) == {"kernel", "noise_variance", "horizon", "variation", "bound"}
    assert "variation" not in cell("w-gp-ucb:forgetting=0.9", "within-model").told
    with pytest.raises(wv.InvalidArgument, match=r"br-gp-ucb: needs the budget.*within-model.*period"):
        cell("br-gp-ucb", "within-model")


def test_constraints_are_told_where_there_are_any():
    assert cell("auto", "guarded").told == ("kernel", "constraints")
    assert cell("auto:blind=true", "guarded").told == ("constraints",)  # they are a part of what is asked for
    assert cell("gp-ucb", "oven").told == ("constraints",)
    assert cell("auto:safe=0.9", "oven").told == ("constraints", "start")
    assert "constraints" not in cell("random", "oven").told
    assert "constraints" not in cell("auto", "within-model").told
    opt = built("auto:safe=0.9", "oven")
    assert (list(opt.constraints), opt.safe) == (["heat"], 0.9)
    assert list(built("et-gp-ucb", "guarded:count=2").constraints) == ["g1", "g2"]
    where = [arena(text) for text in ("within-model", "oven", "drive")]
    said = " ".join(contest.notes(parse("--algorithms", ["auto", "random"]), where))
    assert "There are constraints on: oven, drive. Told them: auto." in said
    assert "constraints" not in " ".join(contest.notes(parse("--algorithms", ["auto"]), where[:1]))


def test_the_notes_say_it():
    where = [arena(text) for text in ("within-model:rate=0.07", "ackley-shift", "deng-slow")]
    said = " ".join(contest.notes(parse("--algorithms", ["gp-ucb", "tv-gp-ucb", "sw-gp-ucb"]), where, 0.04))
    assert "Told a rate of change: tv-gp-ucb." in said
    assert "0.07 on within-model:rate=0.07" in said
    assert "0.04 (--rate) where a task has none: ackley-shift, deng-slow" in said
    assert "budget of variation of each task: sw-gp-ucb" in said
    assert "learned on: ackley-shift" in said
    assert "deng-slow is a stand-in" in said


def test_defaults_exist_and_can_be_made():
    entries = contest.contestants(None)
    found, left_out = contest.arenas(None, seed=0)
    assert left_out == []
    assert len(found) == len(contest.DEFAULT_TASKS)
    contest.rehearse(contest.cells(entries, found), found, 0)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("within-modell", UnknownName, "did you mean 'within-model'"),
        ("within-model:rte=0.1", UnknownName, "did you mean 'rate'"),
        ("within-model:seed=1", UnknownName, "option='seed'"),
        ("within-model:rate=7", wv.InvalidArgument, "within-model:rate=7: rate=7"),
        ("within-model:rate=fast", wv.InvalidType, "rate='fast'"),
        ("temperature", wv.InvalidArgument, "--data FOLDER, or temperature:synthetic=true"),
        ("stocks", wv.InvalidArgument, "stocks:skfolio=true"),
        ("table", wv.InvalidArgument, "values, file"),
    ],
)
def test_mistakes_in_tasks(text, error, says):
    with pytest.raises(error) as caught:
        contest.arenas([text], seed=0)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("et-gp-ucbb", "did you mean 'et-gp-ucb'"),
        ("et-gp-ucb:dleta=0.1", "did you mean 'delta'"),
        ("et-gp-ucb:kernel=rbf", "option='kernel'"),
        ("et-gp-ucb:delta", "et-gp-ucb:delta=1"),
    ],
)
def test_mistakes_in_algorithms(text, says):
    with pytest.raises((UnknownName, wv.InvalidArgument)) as caught:
        contest.contestants([text])
    assert says in str(caught.value)


def test_an_option_of_an_algorithm_of_ones_own_that_has_none(tmp_path, monkeypatch):
    (tmp_path / "frugal.py").write_text("def plain(space):\n    raise NotImplementedError\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UnknownName, match=r"--algorithms frugal:plain: option='speed': it has no options$"):
        contest.contestants(["frugal:plain:speed=1"])


def test_an_option_out_of_range_shows_before_anything_runs():
    where = [arena("within-model")]
    cells = contest.cells(contest.contestants(["et-gp-ucb:delta=7"]), where)
    with pytest.raises(wv.InvalidArgument, match="et-gp-ucb:delta=7 on within-model: delta=7"):
        contest.rehearse(cells, where, 0)


def test_data_come_from_the_folder_and_stay_out_of_the_label(tmp_path):
    (tmp_path / "stocks_adjclose_29x823.csv").write_text(
        "date,A,B\n2016-01-04,10,9\n2016-01-05,11,14\n2016-01-06,12,15\n"
    )
    for texts in (["stocks"], None):
        found, _ = contest.arenas(texts, seed=0, data=tmp_path)
        assert found[-1].label == "stocks"
        assert found[-1].call.keywords() == {"data": tmp_path.resolve()}


def test_data_that_cannot_be_read_leave_a_default_task_out(tmp_path):
    found, left_out = contest.arenas(None, seed=0, data=tmp_path)
    assert len(found) == len(contest.DEFAULT_TASKS)
    assert [line.split(":")[0] for line in left_out] == ["temperature", "stocks"]
