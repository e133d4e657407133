"""Who is run to the end, from fabricated results whose answers are known."""

import numpy as np
import pytest

from windvane.experiments import adaptivity, leaderboard, race
from windvane.experiments.experiment import Cell
from windvane.experiments.results import Group, Results
from windvane.experiments.statistic import MEDIAN
from windvane.experiments.trial import call

SEEDS = range(race.FIRST + 5)


def cell(row):
    return Cell(row, "static", call("within-model"), call(row))


def results(**regrets):
    """One regret per run and row, all on one world."""
    groups = {
        (row.replace("_", "-"), "static"): Group(
            tuple(range(len(values))), tuple({"regret": np.array([float(v)])} for v in values)
        )
        for row, values in regrets.items()
    }
    return Results(groups)


FOUND = {
    "auto": [0.1] * race.FIRST,
    "gp_ucb": [1.0] * race.FIRST,
    "near": [1.4] * race.FIRST,
    "far": [1.6] * race.FIRST,
    "seldom_far": [1.2] * (race.FIRST - 2) + [9.0, 9.0],  # by the mean and the ninth decile only
    "seldom_near": [1.6] * (race.FIRST - 4) + [0.01] * 4,  # far by two of three
    "random": [8.0] * race.FIRST,
}


def test_who_is_far_behind_the_best_rival_by_every_statistic_stops_early():
    rows = [row.replace("_", "-") for row in FOUND]
    after = race.rest([cell(row) for row in rows], results(**FOUND), {"auto", "random"})
    assert {one.row: one.runs for one in after} == {
        "auto": None,
        "gp-ucb": None,
        "near": None,
        "far": race.FIRST,
        "seldom-far": None,
        "seldom-near": None,
        "random": None,
    }


def test_the_subject_does_not_decide_who_goes_on():
    slow = {**FOUND, "auto": [1e-6] * race.FIRST}
    rivals = [cell(row) for row in ("gp-ucb", "near", "far")]
    assert race.rest(rivals, results(**slow), {"auto", "random"}) == race.rest(
        rivals, results(**FOUND), {"auto", "random"}
    )


def test_the_first_lap_is_short_but_for_finishers():
    cells = race.lap([cell("auto"), cell("gp-ucb")], {"auto"})
    assert [len(one.trials(SEEDS)) for one in cells] == [len(SEEDS), race.FIRST]


def test_of_first_runs_nobody_is_the_best():
    found = results(auto=[1.0] * 15, gp_ucb=[1.0] * 15, far=[0.5] * 10, random=[8.0] * 15)
    (duel,) = adaptivity.duels(found, "auto", ["gp-ucb", "far"], MEDIAN)
    assert (duel.rival, duel.ratio) == ("gp-ucb", 1.0)
    board = leaderboard.rank(found, {"static": found["random", "static"]}, "worst ratio")
    assert (board.runs, board.line("auto", "static").ratio) == (15, 1.0)
    (row,) = adaptivity.regrets(board).rows
    cells = dict(zip(adaptivity.regrets(board).header, row, strict=True))
    assert cells["far"] == "(0.5)"
    assert cells["gp-ucb"] == "**1**"


@pytest.mark.parametrize("runs", [1, race.FIRST])
def test_a_short_race_is_run_by_all(runs):
    cells = race.rest([cell(row.replace("_", "-")) for row in FOUND], results(**FOUND), {"auto"})
    assert all(len(one.trials(range(runs))) == runs for one in cells)
