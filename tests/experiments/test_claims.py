"""The rule of verdicts: intervals decide, too few runs do not, and close has two sides."""

import numpy as np
import pytest

from windvane.experiments.claims import (
    ANYWHERE,
    ENOUGH,
    RULE,
    close,
    judged,
    lower,
    mean_of,
    median_of,
    paired,
    ratios,
    share_of,
    similar,
    spread_ratio,
    verdict_of,
)
from windvane.experiments.results import Group

RNG = np.random.default_rng(3)


def group(averages, first=0):
    return Group(
        tuple(range(first, first + len(averages))),
        tuple({"regret": np.full(5, level), "resets": np.array([], dtype=np.int64)} for level in averages),
    )


@pytest.mark.parametrize(
    ("yes", "no", "open_", "expected"),
    [
        (12, 0, 0, "holds"),
        (11, 1, 0, "holds in part"),
        (11, 0, 1, "holds in part"),
        (6, 6, 0, "holds in part"),
        (6, 0, 6, "holds in part"),
        (1, 11, 0, "does not hold"),  # one success in twelve
        (5, 7, 0, "does not hold"),
        (0, 7, 5, "does not hold"),
        (1, 0, 11, "undecided"),
        (5, 6, 1, "undecided"),
        (0, 0, 12, "undecided"),
        (0, 6, 6, "undecided"),
        (0, 0, 0, "not tested"),
    ],
)
def test_the_rule(yes, no, open_, expected):
    assert verdict_of([True] * yes + [False] * no + [None] * open_) == expected


def test_a_clear_difference_on_the_same_seeds_is_decided_although_runs_vary_far_more():
    levels = np.exp(RNG.normal(0.0, 1.0, 40))
    better = levels * np.exp(RNG.normal(-0.1, 0.1, 40))
    assert lower(group(better), group(levels)) is True
    assert lower(group(levels), group(better)) is False
    shuffled = RNG.permutation(better)
    assert lower(group(shuffled), group(levels)) is None  # the same values, but not of the same seeds


def test_a_difference_within_two_standard_errors_is_open():
    levels = np.full(30, 1.0)
    wavering = np.exp(np.array([0.2, -0.21] * 15))
    assert lower(group(wavering), group(levels)) is None


def test_too_few_runs_decide_nothing():
    few = ENOUGH - 1
    assert lower(group(np.full(few, 0.1)), group(np.full(few, 1.0))) is None
    assert lower(group(np.full(ENOUGH, 0.1)), group(np.full(ENOUGH, 1.0))) is True
    assert mean_of(np.ones(few)) == median_of(np.ones(few)) == share_of([True] * few) == ANYWHERE
    assert close(np.ones(few), 1.0, 0.5) is None
    assert spread_ratio(np.arange(float(few)), 9.0 * np.arange(float(few))) == ANYWHERE
    assert str(ENOUGH) in RULE


def test_pairs_are_of_the_seeds_that_both_have():
    first, second = paired(group([1.0, 2.0, 3.0]), group([20.0, 30.0, 40.0], first=1))
    assert first.tolist() == [2.0, 3.0]
    assert second.tolist() == [20.0, 30.0]
    assert ratios(group([1.0]), group([1.0], first=7)).size == 0
    assert lower(group([1.0] * 30), group([1.0] * 30, first=30)) is None


def test_a_regret_of_nothing_has_a_logarithm():
    assert np.isfinite(ratios(group([0.0, 1.0]), group([1.0, 1.0]))).all()
    assert ratios(group([0.0]), group([0.0])).tolist() == [0.0]


@pytest.mark.parametrize(
    ("factor", "expected"), [(1.0, True), (1.2, True), (1.4, False), (0.8, True), (0.6, False)]
)
def test_close_has_two_sides(factor, expected):
    levels = np.linspace(0.9, 1.1, 41)
    assert similar(group(factor * levels), group(levels), 0.25) is expected
    assert close(factor * np.linspace(0.99, 1.01, 41), 1.0, 0.25) is expected


def test_close_is_open_where_the_median_is_not_known_well_enough():
    assert close(np.linspace(0.5, 1.5, 41), 1.0, 0.1) is None


def test_the_interval_of_a_median_covers_it_as_often_as_it_says():
    hits = [median_of(RNG.exponential(size=25)).within(-1.0, 9.0) for _ in range(5)]
    assert hits == [True] * 5
    covered = 0
    for _ in range(400):
        low, high = median_of(RNG.exponential(size=50))
        covered += low <= np.log(2.0) <= high
    assert covered / 400 > 0.92


def test_how_checks_went_is_said_where_they_differ():
    assert judged("A.", [True, True], "1.").evidence == "1"
    assert judged("A.", [True, None], "1").evidence == "1 (of 2 checks 1 for it, 1 open)"
    assert judged("A.", [], "1").verdict == "not tested"


def test_spreads_are_compared_with_their_error():
    values = RNG.normal(size=200)
    assert spread_ratio(0.5 * values, RNG.normal(size=200)).below(0.0) is True
    assert spread_ratio(RNG.normal(size=200), RNG.normal(size=200)).below(0.0) is None
    assert spread_ratio(np.ones(30), values[:30]) == ANYWHERE
