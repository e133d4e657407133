"""The first points: far apart, wherever they are asked for, and nothing else is changed."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.acquisition.spread import clearance
from windvane.spaces import Region

SQUARE = wv.Box([(0.0, 1.0), (0.0, 1.0)])
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b", "c"]))


def first_points(space, count, seed, **options):
    opt = wv.make(space, seed=seed, **options)
    points = []
    for _ in range(count):
        points.append(opt.ask())
        opt.tell(points[-1], float(len(points)))
    return np.array([space.encode(point) for point in points])


def around_the_corner(a, b):
    """By brute force: the nearest of the nine copies of b."""
    copies = (b + np.array(shift) for shift in itertools.product((-1, 0, 1), repeat=len(b)))
    return min(float(np.sum((a - copy) ** 2)) for copy in copies)


def closest(points):
    return min(around_the_corner(a, b) for a, b in itertools.combinations(points, 2)) ** 0.5


def test_the_first_five_are_far_apart():
    """Five random points have a pair closer than 0.2 in nearly every draw; these never do."""
    rng = np.random.default_rng(0)
    drawn = np.mean([closest(rng.random((5, 2))) < 0.25 for _ in range(200)])
    assert drawn > 0.8
    assert min(closest(first_points(SQUARE, 5, seed)) for seed in range(20)) > 0.25


def test_they_are_not_all_in_the_corners():
    points = np.concatenate([first_points(SQUARE, 5, seed) for seed in range(40)])
    inner = ((points > 0.25) & (points < 0.75)).all(axis=1).mean()
    assert 0.15 < inner < 0.35  # a quarter of the area


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_clearance_is_the_distance_around_the_corner(seed, n, d):
    rng = np.random.default_rng(seed)
    points, others = rng.random((7, d)), rng.random((n, d))
    found = clearance(points, others, Region.all_of(wv.Box([(0.0, 1.0)] * d)))
    expected = [min(around_the_corner(point, other) for other in others) for point in points]
    assert np.allclose(found, expected)


def test_options_of_a_choice_are_tried_before_any_is_tried_again():
    space = wv.Space(mode=wv.Choice(["a", "b", "c", "d"]))
    assert len(np.unique(first_points(space, 4, seed=1), axis=0)) == 4
    assert len(np.unique(first_points(wv.Arms(30), 5, seed=1))) == 5


def test_evaluations_at_once_are_spread_as_well():
    for space in (SQUARE, MIXED):
        opt = wv.make(space, seed=3)
        pending = []
        for _ in range(5):
            pending.append(opt.ask(pending=pending))
        places = np.array([space.encode(point) for point in pending])
        assert min(np.abs(a - b).max() for a, b in itertools.combinations(places, 2)) > 0.1


def test_without_them_it_is_the_bound_from_the_second_point_on():
    plain, spread = wv.make(SQUARE, seed=5, initial=0), wv.make(SQUARE, seed=5)
    assert plain.ask().tolist() == spread.ask().tolist()
    for opt in (plain, spread):
        opt.tell([0.2, 0.3], 1.0)
    assert plain.ask().tolist() != spread.ask().tolist()
    for opt in (plain, spread):
        for number in range(4):
            opt.tell([0.1 * number, 0.5], 1.0 + 0.1 * number)
    assert plain.ask().tolist() == spread.ask().tolist()


def test_asking_changes_nothing_and_a_restored_one_asks_the_same():
    opt = wv.make(MIXED, seed=7)
    opt.tell(opt.ask(), 0.5)
    again = wv.restore(opt.state())
    assert opt.ask() == opt.ask() == again.ask()


@pytest.mark.parametrize("initial", [-1, 2.5, "5", True, float("nan")])
def test_bad_counts_are_refused(initial):
    with pytest.raises(wv.WindvaneError, match="initial"):
        wv.make(SQUARE, initial=initial)


def test_a_class_is_no_acquisition():
    with pytest.raises(wv.InvalidType, match="then"):
        wv.SpreadFirst(5, wv.UCB)
