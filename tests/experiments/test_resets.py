"""False resets and delays, counted by hand."""

import math

import numpy as np
import pytest

from windvane.experiments import resets
from windvane.experiments.measures import run
from windvane.experiments.resets import Share
from windvane.experiments.results import Group, Results
from windvane.experiments.trial import RunSpec, call
from windvane.late import stats


def group(*runs):
    """Of each run: where it was reset, and where the task jumps."""
    return Group(
        tuple(range(len(runs))),
        tuple(
            {
                "regret": np.ones(300),
                "resets": np.array(a, dtype=np.int64),
                "jumps": np.array(b, dtype=np.int64),
            }
            for a, b in runs
        ),
    )


def test_a_run_counts_once_and_only_in_its_first_steps():
    found = group(([3, 9], []), ([], []), ([200], []), ([201], []))
    assert resets.with_reset(found) == Share(2, 4)
    assert resets.with_reset(found, steps=300) == Share(3, 4)


def test_the_interval_is_that_of_scipy():
    for count, total in ((0, 40), (2, 40), (40, 40), (7, 9)):
        truth = stats.binomtest(count, total).proportion_ci(0.95, method="wilson")
        assert Share(count, total).interval == pytest.approx((truth.low, truth.high))


def test_delays_count_observations_from_the_jump_to_the_reset():
    found = group(
        ([101, 150, 204], [101, 201]),  # at once; a second one; the fourth
        ([100, 200], [101, 201]),  # a false one before; 100 observations later, just before the next jump
        ([201], [101, 201]),  # the first is missed, though the second is noticed
        ([], []),
    )
    assert resets.delays(found).tolist() == [1.0, 4.0, 100.0, math.inf, math.inf, 1.0]


def test_tables():
    results = Results(
        {
            ("auto", "still"): group(([], []), ([], [])),
            ("auto", "jump"): group(([10, 22], [10, 20]), ([19], [10, 20])),
            ("hasty", "still"): group(([5], []), ([6, 7], [])),
            ("hasty", "jump"): group(([], [10, 20]), ([], [10, 20])),
            ("calm", "still"): group(([], []), ([], [])),
            ("calm", "jump"): group(([], [10, 20]), ([], [10, 20])),
        }
    )
    assert resets.resetting(results) == ["auto", "hasty"]
    false = resets.false_resets(results, ["still"], ["auto", "hasty"])
    assert false.rows[0] == ("still", "0 of 2 (0 to 66 %)", "2 of 2 (34 to 100 %)")
    assert false.rows[1][0] == resets.ALL
    late = resets.delay_table(results, ["jump"], ["auto", "hasty"])
    assert late.header == ("algorithm", "jump: median delay", "within 3", "noticed")
    # auto: 1, 3, 10 and never, and the median of four is halfway between the second and the third.
    assert late.rows == [("auto", "6.5", "50%", "75%"), ("hasty", "∞", "0%", "0%")]


def test_a_run_says_where_its_task_jumps():
    found = run(RunSpec(call("jumps", horizon=9, grid=6), call("random"), 1))
    assert found["jumps"].tolist() == [4, 7]
    assert run(RunSpec(call("deng-slow", horizon=4), call("random"), 1))["jumps"].tolist() == []
