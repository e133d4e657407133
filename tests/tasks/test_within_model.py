"""The within-model task: its covariance in space and time, its interpolation, its optimum."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.kernels import RBF
from windvane.tasks import Optimum, WithinModel
from windvane.tasks.markov import chain

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
    assert "within-model" in wv.tasks()
    assert wv.task("within-model", dim=2, rate=0.03, horizon=400, seed=0).value([0.1, 0.2], 7) == task.value(
        [0.1, 0.2], 7
    )


def test_an_optimum_is_a_number_with_a_place():
    best = Optimum(1.5, x=[1, 2])
    assert best - 0.5 == 1.0
    assert best.x == [1, 2]
    assert f"{best:.1f}" == "1.5"


def test_the_optimum_is_computed_once(monkeypatch):
    task = WithinModel(horizon=3, seed=1, grid=20)
    first = task.optimum(2)
    monkeypatch.setattr(task, "field", None)  # not to be called again
    assert task.optimum(2) is first
    assert task.optimum(np.int64(2)) is first
    with pytest.raises(ValueError, match="read-only"):
        first.x[0] = 0.5  # nobody can spoil what is kept


def test_a_chain_by_hand():
    fresh = np.array([[2.0, -1.0], [4.0, 3.0], [8.0, 5.0], [1.0, 0.0]])
    path = chain(fresh, np.array([0.9, 0.36, 0.0, 0.64]))
    second = 0.8 * fresh[0] + 0.6 * fresh[1]
    np.testing.assert_allclose(path, [fresh[0], second, second, 0.6 * second + 0.8 * fresh[3]], atol=1e-15)
    assert fresh[1, 0] == 4.0  # the draws are left as they were


def test_a_chain_has_the_covariance_of_its_rates():
    rates = np.array([0.0, 0.1, 0.5, 0.1, 0.9])
    path = chain(np.random.default_rng(0).standard_normal((5, 200_000)), rates)
    stay = np.sqrt(1.0 - rates)
    expected = [[np.prod(stay[min(a, b) + 1 : max(a, b) + 1]) for b in range(5)] for a in range(5)]
    np.testing.assert_allclose(path @ path.T / 200_000, expected, atol=5.0 * math.sqrt(2.0 / 200_000))


def test_the_chain_forgets_what_came_before_the_present(fields):
    """Markov: given f_2, f_1 and f_6 are uncorrelated, although they are correlated."""
    flat = fields.reshape(SEEDS, 3, -1)[:, :, ::4]
    for first, second, sixth in flat.transpose(2, 1, 0):
        r = np.corrcoef([first, second, sixth])
        partial = (r[0, 2] - r[0, 1] * r[1, 2]) / math.sqrt((1 - r[0, 1] ** 2) * (1 - r[1, 2] ** 2))
        assert abs(partial) < 4.0 / math.sqrt(SEEDS)
        assert r[0, 2] > 0.4


def test_the_dimension_and_the_features_decide_what_is_drawn():
    assert wv.task("within-model", horizon=2).field(1).shape == (100, 100)
    assert wv.task("within-model", horizon=2, grid=30).field(1).shape == (30, 30)
    for options in ({"dim": 1}, {"dim": 5}, {"dim": 2, "features": 1028}, {"features": 64}):
        task = wv.task("within-model", horizon=2, **options)
        assert not hasattr(task, "field")
        assert task.name == "within-model"
        assert task.space == wv.Box([(0.0, 1.0)] * options.get("dim", 2))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"grid": 50, "features": 100}, ("grid=50", "features=100")),
        ({"grid": 50, "dim": 3}, ("grid=50", "dim=3")),
        ({"grid": 50, "dim": 1, "features": 9}, ("grid=50", "features=9")),
    ],
)
def test_a_grid_goes_with_the_unit_square_only(options, named):
    with pytest.raises(wv.InvalidArgument) as caught:
        wv.task("within-model", **options)
    assert all(name in str(caught.value) for name in named)


def test_streams_are_what_they_were():
    """f_10 at a point of seeds 0 and 3 as of version 0.1.0: regression, published results depend on it."""
    assert wv.task("within-model").value([0.25, 0.75], 10) == pytest.approx(1.0404926427227654, abs=1e-9)
    assert wv.task("within-model", seed=3, horizon=60).value([0.25, 0.75], 10) == pytest.approx(
        1.40599799854748, abs=1e-9
    )
