"""The one-dimensional stand-ins: their jumps and drift, their optimum, B_T and B."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.kernels import RBF
from windvane.tasks import Deng

FINE = np.linspace(0.0, 1.0, 200_001)


def on(task, t, points):
    return np.array([task.value([x], t) for x in points])


def fine(task, t):
    """f_t on the fine grid, from the kernel and the task's expansion."""
    centres, weights = task._moment(t)
    return np.exp(-0.5 * ((FINE[:, None] - centres) / task.lengthscale) ** 2) @ weights


@pytest.mark.parametrize(
    ("kind", "seed", "lengthscale"),
    [
        *((kind, seed, 0.2) for kind in ("abrupt", "slow") for seed in range(4)),
        ("slow", 0, 0.01),
        ("slow", 1, 1.0),
        ("abrupt", 2, 0.05),
    ],
)
def test_the_optimum_is_that_of_a_grid_of_200001_points(kind, seed, lengthscale):
    task = Deng(kind, seed=seed, lengthscale=lengthscale)
    for t in (1, 150, 300, 500):
        values, best = fine(task, t), task.optimum(t)
        assert values.max() - 1e-12 <= best <= values.max() + 1e-6
        assert task.value(best.x, t) == pytest.approx(best, abs=1e-12)
        assert task.value([FINE[777]], t) == pytest.approx(values[777], abs=1e-12)


@given(st.floats(0.0, 1.0), st.integers(1, 500), st.sampled_from(["abrupt", "slow"]), st.integers(0, 5))
@settings(max_examples=50, deadline=None)
def test_regret_is_never_negative(x, t, kind, seed):
    task = Deng(kind, seed=seed)
    assert task.value([x], t) <= task.optimum(t) + 1e-12


def test_the_abrupt_one_jumps_at_100_and_200():
    task, points = Deng("abrupt", seed=0), np.linspace(0.0, 1.0, 21)
    values = {t: on(task, t, points) for t in (1, 99, 100, 199, 200, 500)}
    for a, b in ((1, 99), (100, 199), (200, 500)):
        assert np.array_equal(values[a], values[b])
        assert task.optimum(a) == task.optimum(b)
    for a, b in ((99, 100), (199, 200)):
        assert np.abs(values[a] - values[b]).max() > 0.3
    assert len(task._optima) == 3


def test_the_slow_one_moves_a_little_at_every_step():
    task, points = Deng("slow", seed=0), np.linspace(0.0, 1.0, 21)
    values = np.array([on(task, t, points) for t in range(1, 501, 5)])
    steps = np.abs(np.diff(values, axis=0)).max(axis=1) / 5.0
    assert steps.max() < 0.02
    assert steps.min() > 0.001
    assert np.abs(np.diff(values, n=2, axis=0)).max() < 2e-3  # smoothly


@pytest.mark.parametrize("magnitude", [1.0, 2.5])
@pytest.mark.parametrize("seed", range(4))
def test_each_function_has_the_range_asked_for_and_peaks_upwards(seed, magnitude):
    task = Deng("abrupt", seed=seed, magnitude=magnitude)
    for t in (1, 100, 200):
        values = fine(task, t)
        assert (values.max() - values.min()) / 2.0 == pytest.approx(magnitude, abs=1e-6)
        assert values.max() >= magnitude - 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_the_variation_of_the_abrupt_one_is_that_of_its_two_jumps(seed):
    task = Deng("abrupt", seed=seed)
    expected = sum(np.abs(fine(task, t) - fine(task, t - 1)).max() for t in (100, 200))
    assert task.variation == pytest.approx(expected, rel=1e-5)


def test_the_variation_of_the_slow_one_by_its_definition():
    task, points = Deng("slow", seed=1, horizon=12), np.linspace(0.0, 1.0, 401)
    values = np.array([on(task, t, points) for t in range(1, 13)])
    assert task.variation == pytest.approx(np.abs(np.diff(values, axis=0)).max(axis=1).sum(), rel=1e-3)
    long = Deng("slow", seed=1, horizon=1200)  # the same path in more steps, in blocks
    assert long.variation == pytest.approx(task.variation, rel=0.02)
    assert Deng("slow", horizon=1).variation == Deng("abrupt", horizon=99).variation == 0.0


@pytest.mark.parametrize("kind", ["abrupt", "slow"])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_is_the_largest_norm_in_the_rkhs(kind, seed):
    # The interpolant of least norm, y'(K + e I)^-1 y, approaches ||f||^2 from below.
    task, points = Deng(kind, seed=seed), np.linspace(0.0, 1.0, 60)
    K = RBF(0.2).matrix(points[:, None], points[:, None]) + 1e-9 * np.eye(60)
    norms = []
    for t in (1, *range(50, 501, 25)):
        y = on(task, t, points)
        norms.append(math.sqrt(y @ np.linalg.solve(K, y)))
    assert max(norms) <= task.bound * (1.0 + 1e-6)
    assert max(norms) > 0.95 * task.bound


def test_the_seed_decides_and_the_horizon_does_not():
    for kind in ("abrupt", "slow"):
        first, second = (Deng(kind, seed=seed).value([0.3], 1) for seed in (0, 1))
        assert first != second
        assert first == Deng(kind, seed=0, horizon=20).value([0.3], 1)


def test_the_tasks_by_name():
    for kind in ("abrupt", "slow"):
        task = wv.task(f"deng-{kind}", seed=2)
        assert (task.name, task.horizon, task.noise_variance, task.seed) == (f"deng-{kind}", 500, 0.1, 2)
        assert task.kernel == RBF(0.2)
        assert task.space == wv.Box([(0.0, 1.0)])
        assert task.source.startswith("stand-in")
        assert task.value([0.4], 7) == Deng(kind, seed=2).value([0.4], 7)
        assert f"deng-{kind}" in wv.tasks()


def test_it_runs_with_what_the_budget_based_algorithms_need():
    task = wv.task("deng-abrupt", seed=0)
    for name in ("sw-gp-ucb", "br-gp-ucb", "w-gp-ucb"):
        opt = wv.make(
            name,
            task.space,
            kernel=task.kernel,
            noise_variance=task.noise_variance,
            bound=task.bound,
            variation=task.variation,
            horizon=task.horizon,
            seed=0,
        )
        assert (wv.simulate(opt, task, steps=10).regret >= 0.0).all()


def test_what_is_handed_out_cannot_spoil_the_task():
    task = Deng("abrupt")
    place = task.optimum(1).x.copy()
    task.optimum(1).x[:] = 0.0
    np.testing.assert_array_equal(task.optimum(1).x, place)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed=-1"),
        ({"seed": 0.5}, "seed=0.5"),
        ({"horizon": 0}, "horizon=0"),
        ({"lengthscale": 0.0}, "lengthscale=0.0"),
        ({"lengthscale": 2.0}, "lengthscale=2.0"),
        ({"noise_variance": -1.0}, "noise_variance=-1.0"),
        ({"magnitude": float("inf")}, "magnitude=inf"),
        ({"rate": 0.1}, "does not use rate="),
        ({"kind": "slow"}, "does not use kind="),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(wv.WindvaneError, match=message):
        wv.task("deng-abrupt", **options)


def test_bad_kinds_points_and_times():
    with pytest.raises(wv.WindvaneError, match=r"kind='slwo'.*did you mean 'slow'"):
        Deng("slwo")
    task = Deng("slow")
    for x in ([1.5], [0.1, 0.2], [np.nan], 0.5, None):
        with pytest.raises(wv.WindvaneError, match="x"):
            task.value(x, 1)
    for t in (0, 501, 2.5):
        for ask in (task.optimum, lambda t: task.value([0.5], t)):
            with pytest.raises(wv.WindvaneError, match="t="):
                ask(t)
