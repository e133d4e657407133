"""The within-model task from Fourier features: its covariance, its chain, and its optimum by other searches."""

import math
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

import windvane as wv
from windvane.kernels import RBF
from windvane.tasks import WithinModelFeatures, tracking
from windvane.tasks.tracking import Effort, ObjectiveSurface, summits

NAN = math.nan
SEEDS = 1500


def literal(task, x, t):
    """f_t(x) as it stands in Appendix A.1, one feature after the other."""
    theta, tau, weights = task._drawn
    return sum(w * math.cos(sum(a * u for a, u in zip(row, x, strict=True)) + shift) for row, shift, w in zip(theta, tau, weights[t - 1], strict=True))  # fmt: skip


def values_on(task, points, t):
    theta, tau, weights = task._drawn
    return np.cos(points @ theta.T + tau) @ weights[t - 1]


# -- the distribution -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def samples():
    """f_1, f_2, f_3 and f_6 at some points for many seeds: seeds x 4 x points."""
    points = np.random.default_rng(5).uniform(size=(12, 3))
    tasks = (
        WithinModelFeatures(rate=0.19, horizon=6, seed=seed, lengthscale=0.4, dim=3, features=64)
        for seed in range(SEEDS)
    )
    return points, np.array([[values_on(task, points, t) for t in (1, 2, 3, 6)] for task in tasks])


def test_the_covariance_in_space_is_the_kernel(samples):
    points, f = samples
    expected = RBF(0.4).matrix(points, points)
    for moment in range(4):
        found = f[:, moment].T @ f[:, moment] / SEEDS
        np.testing.assert_allclose(found, expected, atol=5.0 * math.sqrt(2.0 / SEEDS))
    assert f.var() == pytest.approx(1.0, abs=0.04)
    assert np.abs(f.mean(axis=0)).max() < 4.5 / math.sqrt(SEEDS)


def test_the_correlation_in_time_is_that_of_the_chain(samples):
    """(1 - eps)^(k / 2) at every point; an estimate from n seeds is off by (1 - r^2) / sqrt(n)."""
    _, f = samples
    for a, b, steps in ((0, 1, 1), (1, 2, 1), (0, 2, 2), (2, 3, 3), (0, 3, 5)):
        expected = 0.81 ** (steps / 2.0)
        found = [np.corrcoef(f[:, a, point], f[:, b, point])[0, 1] for point in range(f.shape[2])]
        np.testing.assert_allclose(found, expected, atol=5.0 * (1.0 - expected**2) / math.sqrt(SEEDS))


def test_the_chain_forgets_what_came_before_the_present(samples):
    """Markov: given f_2, f_1 and f_3 are uncorrelated, although they are correlated."""
    _, f = samples
    for first, second, third in f[:, :3].transpose(2, 1, 0):
        r = np.corrcoef([first, second, third])
        partial = (r[0, 2] - r[0, 1] * r[1, 2]) / math.sqrt((1 - r[0, 1] ** 2) * (1 - r[1, 2] ** 2))
        assert abs(partial) < 4.0 / math.sqrt(SEEDS)
        assert r[0, 2] > 0.7


def kernel_error(features):
    """The root mean squared error of phi(x)' phi(y), over seeds and pairs of points."""
    points = np.random.default_rng(1).uniform(size=(10, 4))
    expected, errors = RBF(0.5).matrix(points, points), []
    for seed in range(60):
        task = WithinModelFeatures(horizon=1, seed=seed, lengthscale=0.5, dim=4, features=features)
        theta, tau, _ = task._drawn
        phi = math.sqrt(2.0 / features) * np.cos(points @ theta.T + tau)
        errors.append(phi @ phi.T - expected)
    return math.sqrt(np.mean(np.square(errors))), float(np.mean(errors))


def test_the_error_of_the_kernel_falls_with_the_root_of_the_number_of_features():
    few, many = kernel_error(64), kernel_error(1028)
    for (error, bias), features in ((few, 64), (many, 1028)):
        assert (
            0.5 / math.sqrt(features) < error < 1.0 / math.sqrt(features)
        )  # each term has variance in [1/2, 1]
        assert abs(bias) < 0.25 * error
    assert few[0] / many[0] == pytest.approx(math.sqrt(1028 / 64), rel=0.15)


def test_the_features_are_those_of_the_paper():
    task = WithinModelFeatures(horizon=3, seed=4, dim=5)
    theta, tau, weights = task._drawn
    assert theta.shape == (1028, 5)
    assert weights.shape == (3, 1028)
    assert theta.std() == pytest.approx(1.0 / 0.2, rel=0.05)
    assert 0.0 <= tau.min() < 0.05
    assert 2.0 * math.pi - 0.05 < tau.max() < 2.0 * math.pi
    assert weights.std() * math.sqrt(1028 / 2) == pytest.approx(1.0, abs=0.05)
    for t, x in zip((1, 2, 3), np.random.default_rng(0).uniform(size=(3, 5)), strict=True):
        assert task.value(x, t) == pytest.approx(literal(task, x, t), abs=1e-10)


def test_a_rate_of_zero_stands_still_and_a_rate_of_one_forgets():
    points = np.random.default_rng(0).uniform(size=(500, 4))
    still, gone = (WithinModelFeatures(rate=rate, horizon=4, seed=1, dim=4) for rate in (0.0, 1.0))
    assert np.array_equal(values_on(still, points, 1), values_on(still, points, 4))
    assert [still.optimum(t) for t in (1, 2, 4)] == pytest.approx([still.optimum(3)] * 3, abs=1e-9)
    assert abs(np.corrcoef(values_on(gone, points, 1), values_on(gone, points, 2))[0, 1]) < 0.4


def test_the_seed_decides_and_the_horizon_does_not():
    values = [
        WithinModelFeatures(seed=seed, horizon=horizon, dim=3).value([0.3, 0.7, 0.1], 5)
        for seed, horizon in ((0, 10), (0, 10), (1, 10), (0, 40))
    ]
    assert values[0] == values[1] == values[3]
    assert values[0] != values[2]


# -- the optimum ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("dim", "side"), [(1, 5001), (2, 151)])
def test_the_optimum_against_a_fine_grid(dim, side, seed):
    """Every step: never below the grid, and above it by no more than half a cell's bend."""
    task = WithinModelFeatures(dim=dim, horizon=40, rate=0.2, seed=seed, features=200)
    axis = np.linspace(0.0, 1.0, side)
    grid = np.stack(np.meshgrid(*[axis] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    theta, tau, weights = task._drawn
    dense = (np.cos(grid @ theta.T + tau) @ weights.T).max(axis=0)
    found = np.array([task.optimum(t) for t in range(1, 41)])
    assert (found >= dense - 1e-10).all()
    bend = 10.0 / 0.2**2  # more than the curvature of any sample here
    assert (found <= dense + dim * bend * (0.5 / (side - 1)) ** 2 / 2.0 + 1e-10).all()


def test_the_optimum_against_a_multi_start_in_four_dimensions():
    """L-BFGS-B from the best 60 of 4000 random points finds nothing higher."""
    task = WithinModelFeatures(dim=4, horizon=30, seed=0, features=128)
    theta, tau, weights = task._drawn
    rng = np.random.default_rng(0)
    gaps = []
    for t in (1, 8, 15, 22, 30):

        def negative(x, w=weights[t - 1]):
            phase = theta @ x + tau
            return -(w @ np.cos(phase)), (w * np.sin(phase)) @ theta

        starts = rng.uniform(size=(4000, 4))
        starts = starts[np.argsort(-values_on(task, starts, t))[:60]]
        best = max(
            -minimize(negative, x, jac=True, bounds=[(0.0, 1.0)] * 4, method="L-BFGS-B").fun for x in starts
        )
        gaps.append(best - task.optimum(t))
    assert max(gaps) < 1e-3
    assert min(gaps) > -1.0  # the two searches look at the same function


@pytest.mark.parametrize("dim", [1, 2, 5, 8])
def test_the_optimum_is_attained_inside_and_stationary(dim):
    task = WithinModelFeatures(dim=dim, horizon=12, seed=dim, features=200)
    theta, tau, weights = task._drawn
    for t in range(1, 13):
        best = task.optimum(t)
        x = task.space.encode(best.x)
        assert task.value(best.x, t) == best
        slope = -(weights[t - 1] * np.sin(theta @ x + tau)) @ theta
        inward = np.where(x <= 0.0, np.maximum(slope, 0.0), np.where(x >= 1.0, np.minimum(slope, 0.0), slope))
        assert np.abs(inward).max() < 1e-4
        assert task.optimum(t) is best
        with pytest.raises(ValueError, match="read-only"):
            best.x[0] = 0.5


def test_what_is_stated_about_eight_dimensions():
    """A shorter horizon and fewer features, against a search with ten times the candidates and starts."""
    task = WithinModelFeatures(dim=8, horizon=40, seed=1, features=256)
    usual = Effort.usual(8, 0.2)
    larger = Effort(10 * usual.candidates, 10 * usual.starts, 4 * usual.pool)
    points = summits(*task._drawn, 0.2, larger)
    reference = np.array([task.value(x, t) for t, x in enumerate(points, start=1)])
    found = np.array([task.optimum(t) for t in range(1, 41)])
    gap = np.maximum(reference - found, 0.0)
    assert (gap < 1e-3).mean() >= 0.6
    assert gap.mean() < 0.1


def test_neighbours_in_time_help():
    """The same starts without the passes, as for a rate of 1, find less."""
    task = WithinModelFeatures(dim=6, horizon=60, seed=2, rate=0.01)
    theta, tau, weights = task._drawn
    effort = Effort(512, starts=4, pool=8)
    together = summits(theta, tau, weights, 0.2, effort)
    alone = np.array([summits(theta, tau, weights[t : t + 1], 0.2, effort)[0] for t in range(60)])
    high, low = (
        np.array([task.value(x, t) for t, x in enumerate(points, 1)]) for points in (together, alone)
    )
    assert high.mean() > low.mean() + 0.1
    assert (high >= low - 1e-3).mean() > 0.95


@pytest.mark.parametrize("lengthscale", [0.01, 0.05, 1.0, 30.0])
def test_other_lengthscales(lengthscale):
    task = WithinModelFeatures(dim=1, horizon=5, seed=3, lengthscale=lengthscale, features=100)
    axis = np.linspace(0.0, 1.0, 20_001)[:, None]
    for t in range(1, 6):
        assert task.optimum(t) >= values_on(task, axis, t).max() - 1e-9


def test_derivatives_are_those_of_finite_differences():
    theta, tau, weights = WithinModelFeatures(dim=3, horizon=2, seed=1, features=50)._drawn
    surface = ObjectiveSurface(theta, tau, weights, np.float64)
    for x in np.random.default_rng(2).uniform(size=(4, 3)):

        def part(x, k):
            here = surface.slopes(x[None], surface.weights[1])
            return (here.value[0], *here.gradient[0])[k]

        _, gradient, hessian = surface.slopes(x[None], surface.weights[1])
        assert approx_fprime(x, part, 1e-6, 0) == pytest.approx(gradient[0], abs=1e-3)
        for k in range(3):
            assert approx_fprime(x, part, 1e-6, k + 1) == pytest.approx(hessian[0, k], abs=1e-2)


def test_blocks_change_nothing_and_bound_the_memory(monkeypatch):
    task = WithinModelFeatures(dim=3, horizon=30, seed=2, features=200)
    whole = np.array([task.optimum(t) for t in range(1, 31)])
    monkeypatch.setattr(tracking, "BLOCK", 50_000)
    monkeypatch.setattr(tracking, "SEGMENT", 7)
    monkeypatch.setattr(tracking, "BATCH", 5_000)
    again = WithinModelFeatures(dim=3, horizon=30, seed=2, features=200)
    tracemalloc.start()
    np.testing.assert_allclose([again.optimum(t) for t in range(1, 31)], whole, atol=1e-9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6


def test_the_screen_finds_the_best_candidates_of_every_time(monkeypatch):
    """Against a sort of all values: nothing but the best of a time, and each of them at some time."""
    monkeypatch.setattr(tracking, "BLOCK", 2_000)
    monkeypatch.setattr(tracking, "SEGMENT", 7)
    task = WithinModelFeatures(dim=2, horizon=30, seed=2, features=40, rate=0.3)
    theta, tau, weights = task._drawn
    candidates = np.random.default_rng(0).uniform(size=(300, 2))
    values = weights @ np.cos(candidates @ theta.T + tau).T
    best = {(int(point), t) for t in range(30) for point in np.argsort(-values[t])[:4]}
    points, times = tracking.screen(ObjectiveSurface(theta, tau, weights, np.float64), candidates, 4)
    found = set(zip(points.tolist(), times.tolist(), strict=True))
    assert found <= best
    assert {point for point, _ in found} == {point for point, _ in best}
    assert len(found) < len(best)  # a point that stays among the best is climbed once
    assert (np.diff(times) >= 0).all()


def test_the_optimum_survives_pickling():
    task = WithinModelFeatures(dim=3, horizon=4, seed=0, features=50)
    best = task.optimum(2)
    assert pickle.loads(pickle.dumps(task)).optimum(2) == best


# -- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "values"),
    {
        "rate": [-0.1, 1.1, NAN, "0.1", None, True],
        "horizon": [0, -1, 1.5, NAN, "9", None],
        "seed": [-1, 1.5, "0", None],
        "lengthscale": [0.0, -1.0, NAN, None, [0.1, 0.2, 0.3]],
        "noise_variance": [0.0, -1.0, NAN, None],
        "dim": [0, -1, 101, 2.0, NAN, "3", None, True],
        "features": [0, -1, 1.5, NAN, "9", True],
    }.items(),
)
def test_bad_options(argument, values):
    for value in values:
        with pytest.raises(wv.WindvaneError, match=f"^{argument}="):
            wv.task("within-model", **({"dim": 3} | {argument: value}))


def test_bad_calls():
    task = wv.task("within-model", dim=3, horizon=5)
    for t in (0, 6, -1, 1.5, NAN, None, True):
        with pytest.raises(wv.WindvaneError, match=r"^t="):
            task.optimum(t)
        with pytest.raises(wv.WindvaneError, match=r"^t="):
            task.value([0.5] * 3, t)
    for x in ([0.5], [0.5] * 4, [0.5, 0.5, NAN], [0.5, 0.5, 1.5], None, "abc"):
        with pytest.raises(wv.WindvaneError, match=r"^x"):
            task.value(x, 1)
