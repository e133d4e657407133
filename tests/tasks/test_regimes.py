"""Regimes that return, and workloads that leave the best point where it is."""

import itertools
import math

import numpy as np
import pytest

import windvane as wv
from windvane.tasks.regimes import Regimes

SMALL = {"horizon": 60, "grid": 12}


def visits(task):
    return zip([1, *task.steps], [*(step - 1 for step in task.steps), task.horizon], task.order, strict=True)


def test_a_regime_that_returns_is_exactly_the_old_one():
    for seed in range(10):
        task = Regimes(seed=seed, **SMALL)
        assert len(task.steps) == 5
        assert task.order[:3] == (0, 1, 0)
        assert all(a != b for a, b in itertools.pairwise(task.order))
        seen = {}
        for first, last, which in visits(task):
            np.testing.assert_array_equal(task.field(first), task.field(last))
            np.testing.assert_array_equal(task.field(first), seen.setdefault(which, task.field(first)))
        fields = [field.ravel() for field in seen.values()]
        assert all(not np.allclose(a, b) for a, b in itertools.pairwise(fields))


def test_regimes_are_samples_of_the_kernel():
    """400 seeds of three regimes on a coarse grid, against the kernel; a standard error of about 0.04."""
    found = np.zeros((9, 9))
    for seed in range(400):
        task = Regimes(horizon=30, grid=3, lengthscale=0.4, count=2, seed=seed)
        f = task.field(1).ravel()
        found += np.outer(f, f) / 400
    axis = np.linspace(0.0, 1.0, 3)
    places = np.array([[u, v] for u in axis for v in axis])
    np.testing.assert_allclose(found, task.kernel.matrix(places, places), atol=0.25)


def test_a_share_of_each_visit_is_new():
    first, again = [], []
    for seed in range(400):
        task = Regimes(horizon=30, grid=3, lengthscale=0.05, count=2, change=0.2, seed=seed)
        first.append(task.field(1).ravel())
        again.append(task.field(30).ravel())
    assert np.corrcoef(np.ravel(first), np.ravel(again))[0, 1] == pytest.approx(0.8, abs=0.03)
    assert np.var(again) == pytest.approx(1.0, abs=0.1)


def test_how_often_and_among_how_many():
    task = wv.task("regimes", regimes=2, count=7, **SMALL)
    assert len(task.steps) == 7
    assert Regimes(regimes=2, count=7, **SMALL).order == (0, 1) * 4
    assert wv.task("regimes", count=0, **SMALL).steps == ()
    assert {which for seed in range(20) for which in Regimes(regimes=5, count=9, seed=seed).order} == set(
        range(5)
    )
    assert task.rate == 7 / 60


def test_regimes_in_their_units():
    inner, outer = Regimes(seed=3, **SMALL), wv.task("regimes", seed=3, **SMALL)
    assert outer.value([0.3, 0.4], 20) == pytest.approx(40.0 * inner.value([0.3, 0.4], 20) - 250.0)
    assert outer.steps == inner.steps


def test_a_workload_keeps_the_order_of_all_points():
    rng = np.random.default_rng(0)
    points = rng.random((30, 2))
    for seed in range(10):
        task = wv.task("workload", seed=seed, **SMALL)
        assert len(task.steps) == 3
        begins = [1, *task.steps]
        values = np.array([[task.value(x, t) for x in points] for t in begins])
        for row in values[1:]:
            slope, level = np.polyfit(values[0], row, 1)
            np.testing.assert_allclose(slope * values[0] + level, row, rtol=1e-9)
            assert 0.4 - 1e-9 <= slope <= 2.5 + 1e-9
        sizes = values.std(axis=1)
        for a, b in itertools.pairwise(sizes):
            assert 1.5 - 1e-9 <= max(a / b, b / a) <= 2.5 + 1e-9
        assert len({tuple(task.optimum(t).x) for t in range(1, 61)}) == 1
        for t in begins:
            later = task.steps[begins.index(t)] if t != begins[-1] else 61
            assert task.optimum(t) == task.optimum(later - 1)
            noise = task.noise_from(1.0, t) / values[begins.index(t)].std()
            assert noise == pytest.approx(math.sqrt(task.noise_variance) / sizes[0])


def test_workloads_without_a_change_and_in_more_dimensions():
    task = wv.task("workload", count=0, **SMALL)
    assert task.optimum(1) == task.optimum(60)
    assert task.rate == 0.0
    cube = wv.task("workload", dim=3, features=40, horizon=12)
    assert cube.space.dim == 3
    np.testing.assert_allclose(cube.optimum(1).x, cube.optimum(12).x, atol=1e-9)
