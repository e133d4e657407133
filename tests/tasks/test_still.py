"""The zoo of things that do not change: units, noise, and that each is what its name says."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane.tasks.still import KINDS


def cube(task, count=4000, seed=0):
    return np.random.default_rng(seed).random((count, task.space.dim))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 500), dim=st.integers(1, 6), more=st.integers(0, 10**6))
def test_nothing_is_better_than_the_peak(kind, seed, dim, more):
    task = wv.task("still", kind=kind, dim=dim, scale=1.0, offset=0.0, seed=seed, horizon=5)
    best = task.optimum(3)
    assert ((best.x >= 0.2) & (best.x <= 0.8)).all()
    near = np.clip(best.x + 10.0 ** np.linspace(-6, 0, 20)[:, None] * np.sin(more + np.arange(dim)), 0, 1)
    anywhere = np.random.default_rng(more).random((20, dim))
    assert all(task.value(x, 3) <= best + 1e-9 for x in (*near, *anywhere))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dim", [1, 6])
def test_scale_offset_and_noise(kind, dim):
    task = wv.task("still", kind=kind, dim=dim, scale=1e-3, offset=5.0, noise=0.02, seed=1)
    values = np.array([task.value(x, 1) for x in cube(task, 1000)])
    assert values.std() == pytest.approx(1e-3, rel=0.4)
    assert abs(values.mean() - 5.0) < 0.02
    assert task.noise_variance == pytest.approx((0.02 * 1e-3) ** 2)
    assert task.noise_from(1.0, 1) == pytest.approx(0.02 * 1e-3)


def test_units_are_drawn_over_twelve_decades():
    scales = [math.sqrt(wv.task("still", seed=seed, horizon=2).noise_variance) / 0.01 for seed in range(300)]
    assert min(scales) < 1e-5
    assert max(scales) > 1e5
    assert np.median(np.log10(scales)) == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_it_stands_still(kind):
    task = wv.task("still", kind=kind, dim=3, seed=1)
    for x in cube(task, 5):
        assert task.value(x, 1) == task.value(x, 100) == task.value(x, 200)
    assert task.optimum(1) == task.optimum(200)
    assert task.steps == ()


def one(kind, dim, seed=2):
    return wv.task("still", kind=kind, dim=dim, scale=1.0, offset=0.0, seed=seed)


def second_differences(task, start, end, count):
    line = start + np.linspace(0.0, 1.0, count)[:, None] * (end - start)
    values = np.array([task.value(x, 1) for x in line])
    return np.abs(np.diff(values, 2))


def test_kinks_are_linear_almost_everywhere():
    for seed in range(5):
        bends = second_differences(one("kinks", 2, seed), np.array([0.0, 0.1]), np.array([1.0, 0.9]), 2001)
        assert 1 <= np.count_nonzero(bends > 1e-10) <= 40
    assert bends.max() > 1e-4


def test_a_cliff_is_a_step_near_the_peak():
    for seed in range(5):
        task = one("cliff", 2, seed)
        best = task.optimum(1)
        ring = best.x + 0.2 * np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0, 2 * math.pi, 721)])
        values = np.array([task.value(np.clip(x, 0.0, 1.0), 1) for x in ring])
        drops = np.abs(np.diff(values))
        assert np.count_nonzero(drops > 0.5) == 2  # onto the low side, and back
        assert np.sort(drops)[-3] < 0.05


def test_a_ridge_is_narrow_and_bent():
    task = one("ridge", 2)
    best = task.optimum(1)
    losses = [float(best) - task.value(np.clip(best.x + by, 0, 1), 1) for by in ([0.05, 0.0], [0.0, 0.05])]
    curve = np.random.default_rng(0)
    values = np.array([float(best) - task.value(x, 1) for x in curve.random((5000, 2))])
    assert np.mean(values < min(losses)) < 0.2  # few points are as good as the near ones
    far = [x for x, v in zip(np.random.default_rng(0).random((5000, 2)), values, strict=True) if v < 0.05]
    assert np.ptp(far, axis=0).max() > 0.3  # and they lie along a line


def test_a_plateau_is_flat():
    task = one("plateau", 2)
    values = np.array([task.value(x, 1) for x in cube(task)])
    assert np.mean(values == values.min()) > 0.4
    assert task.optimum(1) > values.min() + 1.0


def test_steep_losses_have_four_decades():
    task = one("steep", 3)
    best = task.optimum(1)
    corners = np.array([[i, j, k] for i in (0.0, 1.0) for j in (0.0, 1.0) for k in (0.0, 1.0)])
    worst = max(float(best) - task.value(x, 1) for x in corners)
    near = float(best) - task.value(best.x + 0.1 / math.sqrt(3), 1)
    assert worst / near > 1000.0


def test_a_fractal_has_detail_at_every_scale():
    task = one("rough", 1)
    line = [np.linspace(0.0, 1.0, 3**k * 20 + 1) for k in (1, 2, 3)]
    tops = [
        np.count_nonzero(np.diff(np.sign(np.diff([task.value([x], 1) for x in grid]))) < 0) for grid in line
    ]
    assert tops[0] < tops[1] < tops[2]
