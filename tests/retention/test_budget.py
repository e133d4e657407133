"""Budget against a transcription of its rule, and the promises that follow from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.data import Dataset, Observation
from windvane.kernels import RBF
from windvane.retention import Belief, Budget, SlidingWindow


def dataset(x):
    x = np.asarray(x, dtype=float).reshape(len(x), -1)
    steps = np.arange(1, len(x) + 1)
    return Dataset(x, 10.0 * steps, steps + 0.5, steps)


def keep(limit, data):
    return limit.apply(data, Belief(RBF(0.2)), limit.start())[0]


def without_the_most_replaced(points):
    """The rule in words: among the oldest, the one with the nearest newer; of equals the oldest."""
    candidates = range(min(16, len(points) // 2))
    distance = [min(np.sum((points[i] - newer) ** 2) for newer in points[i + 1 :]) for i in candidates]
    distance = [round(float(each), 12) for each in distance]
    row = distance.index(min(distance))
    return row, np.delete(points, row, axis=0)


@given(st.integers(1, 40), st.integers(0, 12), st.integers(1, 3), st.integers(0, 10**6), st.booleans())
def test_against_the_rule_in_words(max_points, over, dim, seed, coarse):
    random = np.random.default_rng(seed)
    size = max_points + over
    x = random.integers(0, 6, (size, dim)) / 10 if coarse else random.random((size, dim))
    steps, points = list(range(1, size + 1)), x
    for _ in range(over):
        row, points = without_the_most_replaced(points)
        del steps[row]
    kept = keep(Budget(max_points), dataset(x))
    assert kept.steps.tolist() == steps
    np.testing.assert_array_equal(kept.X, points)
    assert kept.y.tolist() == [10.0 * step for step in steps]


@pytest.mark.parametrize("max_points", [1, 2, 15, 16, 31, 60])
def test_step_by_step_it_holds_the_newest_and_a_few_isolated_ones(max_points):
    random = np.random.default_rng(max_points)
    data, budget = Dataset.empty(2), Budget(max_points)
    far = np.array([50.0, 50.0])
    for step in range(1, 301):
        x = far if step == 1 else random.random(2)
        data = keep(budget, data + Observation(x, 0.0, float(step), step))
        assert len(data) == min(step, max_points)
        newest = max(1, max_points - min(15, max_points // 2))
        assert set(data.steps.tolist()) >= set(range(max(1, step - newest + 1), step + 1))
    assert (1 in data.steps) == (max_points > 2)  # nothing ever came near it


def test_repeated_points_go_oldest_first():
    data, budget = Dataset.empty(1), Budget(5)
    for step in range(1, 40):
        data = keep(budget, data + Observation(np.zeros(1), 0.0, float(step), step))
    assert data.steps.tolist() == [35, 36, 37, 38, 39]


def test_far_over_the_oldest_go_first():
    x = np.random.default_rng(0).random((500, 2))
    x[0] = 50.0
    kept = keep(Budget(100), dataset(x))
    assert len(kept) == 100
    assert kept.steps[0] > 500 - 116
    assert kept.steps.tolist() == keep(Budget(100), dataset(x).take(slice(-116, None))).steps.tolist()


def test_it_remembers_a_corner_that_a_window_forgets():
    """After one look at the corners, all queries fall in the middle: the corners stay known."""
    random = np.random.default_rng(0)
    corners = [np.array([i, j], dtype=float) for i in (0, 1) for j in (0, 1)]
    budgeted = windowed = Dataset.empty(2)
    for step in range(1, 201):
        x = corners[step - 1] if step <= 4 else 0.5 + 0.05 * random.standard_normal(2)
        new = Observation(x, 0.0, float(step), step)
        budgeted, windowed = keep(Budget(30), budgeted + new), keep(SlidingWindow(30), windowed + new)
    assert budgeted.steps[:4].tolist() == [1, 2, 3, 4]
    assert windowed.steps[0] == 171
