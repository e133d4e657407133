"""The within-model task: its covariance in space and time, its interpolation, its optimum."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.kernels import RBF
from windvane.tasks import Optimum, WithinModel

SEEDS = 2500
FOUR_SIGMA = 4.0 * math.sqrt(2.0 / SEEDS)  # of an estimated covariance of standard normals, at most
SIDE = 9


@pytest.fixture(scope="module")
def fields():
    """f_1, f_2 and f_6 on a coarse grid for many seeds: seeds x 3 x side x side."""
    return np.array(
        [
            [task.field(t) for t in (1, 2, 6)]
            for task in (
                WithinModel(rate=0.19, horizon=6, seed=seed, lengthscale=0.3, grid=SIDE)
                for seed in range(SEEDS)
            )
        ]
    )


def test_the_covariance_in_space_is_the_kernel(fields):
    axis = np.linspace(0.0, 1.0, SIDE)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    expected = RBF(0.3).matrix(grid, grid)
    for moment in range(3):  # the chain is stationary (Remark 1)
        flat = fields[:, moment].reshape(SEEDS, -1)
        np.testing.assert_allclose(flat.T @ flat / SEEDS, expected, atol=1.4 * FOUR_SIGMA)
        assert np.abs(flat.mean(axis=0)).max() < 1.4 * 4.0 / math.sqrt(SEEDS)


def test_the_covariance_in_time_is_markov(fields):
    flat = fields.reshape(SEEDS, 3, -1)
    for a, b, steps in ((0, 1, 1), (1, 2, 4), (0, 2, 5)):
        found = (flat[:, a] * flat[:, b]).mean(axis=0)
        np.testing.assert_allclose(found, 0.81 ** (steps / 2.0), atol=1.2 * FOUR_SIGMA)
        assert found.mean() == pytest.approx(0.81 ** (steps / 2.0), abs=FOUR_SIGMA / 2.0)


def test_a_rate_of_zero_stands_still_and_a_rate_of_one_forgets():
    still, gone = (WithinModel(rate=rate, horizon=5, seed=1, grid=20) for rate in (0.0, 1.0))
    assert np.array_equal(still.field(1), still.field(5))
    first, second = gone.field(1).ravel(), gone.field(2).ravel()
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.6
    slow = WithinModel(rate=0.03, horizon=2, seed=1, grid=20)
    change = slow.field(2) - math.sqrt(0.97) * slow.field(1)
    assert 0.05 < change.std() < 0.4  # sqrt(0.03) times a sample of the prior


def test_values_are_bilinear_between_the_nodes():
    task = WithinModel(horizon=3, seed=2, grid=11)
    field, step = task.field(2), 0.1
    rng = np.random.default_rng(0)
    for _ in range(50):
        i, j = rng.integers(10, size=2)
        u, v = rng.uniform(size=2)
        expected = (
            (1 - u) * (1 - v) * field[i, j]
            + u * (1 - v) * field[i + 1, j]
            + (1 - u) * v * field[i, j + 1]
            + u * v * field[i + 1, j + 1]
        )
        assert task.value([(i + u) * step, (j + v) * step], 2) == pytest.approx(expected, abs=1e-9)
    for corner in ((0, 0), (0, 10), (10, 0), (10, 10)):
        assert task.value(np.array(corner) * step, 2) == pytest.approx(field[corner], abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_attained_and_never_exceeded(seed):
    task = WithinModel(horizon=4, seed=seed, grid=40)
    points = np.random.default_rng(seed).uniform(size=(200, 2))
    for t in range(1, 5):
        best = task.optimum(t)
        assert isinstance(best, float)
        assert task.space.encode(best.x).shape == (2,)
        assert task.value(best.x, t) == pytest.approx(best, abs=1e-9)
        assert best == pytest.approx(task.field(t).max(), abs=1e-12)
        assert max(task.value(x, t) for x in points) <= best + 1e-9


def test_the_seed_decides_and_the_horizon_does_not():
    values = [
        WithinModel(seed=seed, horizon=horizon).value([0.3, 0.7], 5)
        for seed, horizon in ((0, 10), (0, 10), (1, 10), (0, 40))
    ]
    assert values[0] == values[1] == values[3]
    assert values[0] != values[2]


def test_the_task_of_the_paper():
    task = wv.task("within-model")
    assert (task.name, task.horizon, task.rate, task.noise_variance) == ("within-model", 400, 0.03, 0.02)
    assert task.kernel == RBF(0.2)
    assert task.space == wv.Box([(0.0, 1.0), (0.0, 1.0)])
    assert task.field(1).shape == (100, 100)
    assert wv.tasks() == ["within-model"]
    assert wv.task("within-model", dim=2, rate=0.03, horizon=400, seed=0).value([0.1, 0.2], 7) == task.value(
        [0.1, 0.2], 7
    )


def test_an_optimum_is_a_number_with_a_place():
    best = Optimum(1.5, x=[1, 2])
    assert best - 0.5 == 1.0
    assert best.x == [1, 2]
    assert f"{best:.1f}" == "1.5"
