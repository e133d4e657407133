"""A budget that is paid in batches: nothing, or a fifth at once, and then as `Budget` says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.codec import decode, encode
from windvane.data import Dataset, Observation
from windvane.kernels import RBF
from windvane.retention import Belief, Budget, InBatches


def dataset(size, dim=2, seed=0):
    steps = np.arange(1, size + 1)
    return Dataset(np.random.default_rng(seed).random((size, dim)), 10.0 * steps, steps + 0.5, steps)


def keep(limit, data):
    return limit.apply(data, Belief(RBF(0.2)), limit.start())[0]


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(0, 70), st.integers(0, 10**6))
def test_within_the_limit_nothing_happens_beyond_it_budget_decides(max_points, size, seed):
    data = dataset(size, seed=seed)
    kept = keep(InBatches(max_points), data)
    if size <= max_points:
        assert kept is data
        return
    assert 1 <= len(kept) <= max_points
    assert kept.steps.tolist() == keep(Budget(len(kept)), data).steps.tolist()
    assert kept.steps[-1] == size  # the newest stays
    assert 0.6 * max_points <= len(kept)
    assert len(kept) <= 0.9 * max_points or max_points < 10


@pytest.mark.parametrize("max_points", [1, 2, 3, 10, 50])
def test_step_by_step_it_never_holds_too_many_and_seldom_drops(max_points):
    rng, data, limit, drops = np.random.default_rng(1), Dataset.empty(2), InBatches(max_points), 0
    for step in range(1, 301):
        longer = data + Observation(rng.random(2), 0.0, float(step), step)
        data = keep(limit, longer)
        drops += data is not longer
        assert 1 <= len(data) <= max_points
        assert data.steps[-1] == step
        assert (np.diff(data.steps) > 0).all()
    assert drops <= 300 / max(1, 0.15 * max_points)


def test_it_remembers_nothing_and_changes_nothing():
    data = dataset(30)
    before = [part.copy() for part in (data.X, data.y, data.times, data.steps)]
    limit = InBatches(20)
    assert limit.start() == ()
    assert limit.apply(data, Belief(RBF(0.2)), ())[1] == ()
    for part, old in zip((data.X, data.y, data.times, data.steps), before, strict=True):
        np.testing.assert_array_equal(part, old)
    assert decode(encode(limit)) == limit


@pytest.mark.parametrize("wrong", [0, -3, 2.5, "10", None, True])
def test_a_limit_that_is_none_is_refused(wrong):
    with pytest.raises(wv.WindvaneError, match="max_points"):
        InBatches(wrong)
