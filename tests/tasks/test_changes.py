"""Steps, stretches and walks: what they promise, for any horizon and seed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windvane.tasks.changes import random_steps, stretches, walk

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.integers(1, 400), st.integers(0, 12))
def test_steps_are_within_the_horizon_and_apart(seed, horizon, count):
    steps = random_steps(np.random.default_rng(seed), horizon, count)
    assert list(steps) == sorted(set(steps))
    assert all(2 <= step <= horizon for step in steps)
    least = horizon // (2 * (count + 1))
    if least >= 1:
        assert len(steps) == count
        assert np.diff([1, *steps, horizon + 1]).min() >= least


def test_steps_are_anywhere():
    drawn = [random_steps(np.random.default_rng(seed), 200, 2) for seed in range(500)]
    first = [steps[0] for steps in drawn]
    assert min(first) <= 40
    assert max(first) >= 125
    assert len(set(drawn)) > 400


@given(SEEDS, st.integers(1, 60), st.integers(0, 5))
def test_stretches_count_the_steps_that_have_come(seed, horizon, count):
    steps = random_steps(np.random.default_rng(seed), horizon, count)
    by_hand = [sum(step <= t for step in steps) for t in range(1, horizon + 1)]
    assert stretches(horizon, steps).tolist() == by_hand


@given(SEEDS, st.integers(1, 300))
def test_a_walk_stays_inside_is_slow_and_goes_on(seed, horizon):
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 6.0])
    path = walk(np.random.default_rng(seed), horizon, low, high)
    assert path.shape == (horizon, 2)
    assert (path >= low).all()
    assert (path <= high).all()
    # no wave is faster than 1.2 cycles in a hundred steps, and all amplitudes together are half the range
    assert (np.abs(np.diff(path, axis=0)) <= 0.5 * (high - low) * 2.0 * np.pi * 0.012 + 1e-12).all()
    longer = walk(np.random.default_rng(seed), horizon + 7, low, high)
    np.testing.assert_array_equal(longer[:horizon], path)


def test_a_walk_covers_some_ground():
    lengths = [np.ptp(walk(np.random.default_rng(s), 200, np.zeros(1), np.ones(1))) for s in range(100)]
    assert np.median(lengths) > 0.5
