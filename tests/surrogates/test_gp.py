"""The incremental GP against a direct solve and scikit-learn, with every model and every cache."""

import math

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

from windvane.kernels import RBF, Empirical, Markov, Matern52, Static, Wiener
from windvane.surrogates import GP, Noise
from windvane.surrogates.cache import GridCache, PointCache

MODELS = {
    "static": (Static(), Noise(0.02)),
    "markov": (Markov(0.03), Noise(0.02)),
    "wiener": (Wiener(0.05), Noise(0.02)),
    "weighted": (Static(), Noise(0.02, forgetting=0.97)),
    "markov weighted": (Markov(0.03), Noise(0.02, forgetting=0.97)),
    "static + markov": (Static(0.5) + Markov(0.2), Noise(0.02)),
}
AXIS = np.linspace(0.0, 1.0, 9)[:, None]


def direct(gp, rows, points, now):
    """The posterior from its definition: one dense solve."""
    X, y, t = (np.array([row[i] for row in rows]) for i in range(3))
    K = gp.kernel.matrix(X, X) * gp.temporal.matrix(t, t) + np.diag(gp.noise.variances(t, now))
    k = gp.kernel.matrix(points, X) * gp.temporal.matrix(np.array([now]), t)
    prior = gp.kernel.diagonal(points) * gp.temporal.variance(now)
    return k @ np.linalg.solve(K, y), prior - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))


def random_stream(gp, seed, operations=300, largest=90):
    """Random appends and drops; returns what should be left."""
    rng, rows = np.random.default_rng(seed), []
    for t in range(1, operations + 1):
        if rows and (len(rows) >= largest or rng.random() < 0.35):
            j = int(rng.integers(len(rows)))
            gp.drop(j)
            rows.pop(j)
        else:
            x, y = rng.uniform(size=2), float(rng.normal())
            gp.append(x, y, float(t))
            rows.append((x, y, float(t)))
    return rows


@pytest.mark.parametrize(
    "kernel", [RBF(0.2), RBF([0.2, 0.5], 2.0), Matern52(0.3)], ids=["rbf", "ard", "matern"]
)
@pytest.mark.parametrize("model", MODELS)
def test_300_random_appends_and_drops(model, kernel):
    temporal, noise = MODELS[model]
    gp = GP(kernel, noise, 2, temporal, GridCache.build(kernel, AXIS, AXIS))
    rows = random_stream(gp, seed=7)
    points = np.random.default_rng(8).uniform(size=(25, 2))
    for now in (300.0, 303.5):  # at the last step, and later
        mean, variance = direct(gp, rows, points, now)
        got = gp.at(points, now)
        np.testing.assert_allclose(got[0], mean, atol=1e-8)
        np.testing.assert_allclose(got[1], variance, atol=1e-8)
        surface = gp.surface(points, now)
        np.testing.assert_allclose(surface.mean, mean, atol=1e-8)
        np.testing.assert_allclose(surface.variance, variance, atol=1e-8)
        on_grid = gp.on_candidates(now)
        mean, variance = direct(gp, rows, gp.candidates, now)
        np.testing.assert_allclose(on_grid[0], mean, atol=1e-8)
        np.testing.assert_allclose(on_grid[1], variance, atol=1e-8)
        one = gp.project(points[0], now)
        assert one.mean == pytest.approx(got[0][0], abs=1e-8)
        assert one.variance == pytest.approx(got[1][0], abs=1e-8)


def test_scikit_learn_agrees_on_the_static_model():
    gp = GP(
        RBF(0.2), Noise(0.02), 2, cache=PointCache(RBF(0.2), np.random.default_rng(0).uniform(size=(40, 2)))
    )
    rows = random_stream(gp, seed=3)
    oracle = GaussianProcessRegressor(sk.RBF(0.2), alpha=0.02, optimizer=None)
    oracle.fit(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]))
    for got, points in ((gp.on_candidates(999.0), gp.candidates), (gp.at(gp.candidates, 5.0), gp.candidates)):
        mean, std = oracle.predict(points, return_std=True)
        np.testing.assert_allclose(got[0], mean, atol=1e-8)
        np.testing.assert_allclose(np.sqrt(got[1]), std, atol=1e-8)


@pytest.mark.parametrize("model", MODELS)
def test_derivatives_of_the_posterior(model):
    temporal, noise = MODELS[model]
    gp = GP(Matern52([0.3, 0.5]), noise, 2, temporal)
    random_stream(gp, seed=1, operations=60)
    points = np.random.default_rng(2).uniform(size=(6, 2))
    surface, c = gp.surface(points, 70.0), np.linspace(-1.0, 2.0, 6)
    for axis in range(2):
        shift = np.zeros(2)
        shift[axis] = 1e-5
        up, down = gp.surface(points + shift, 70.0), gp.surface(points - shift, 70.0)
        for value, gradient in (("mean", "mean_gradient"), ("variance", "variance_gradient")):
            numeric = (getattr(up, value) - getattr(down, value)) / 2e-5
            np.testing.assert_allclose(getattr(surface, gradient)[:, axis], numeric, atol=1e-6)
        slope = (up.mean_gradient - down.mean_gradient) + c[:, None] * (
            up.variance_gradient - down.variance_gradient
        )
        np.testing.assert_allclose(surface.bend(1.0, c)[:, axis], slope / 2e-5, atol=2e-4)


def test_posterior_at_the_data_is_exact_when_static():
    gp = GP(RBF(0.3), Noise(0.05), 2)
    random_stream(gp, seed=4, operations=80)
    mean, variance = gp.on_data(100.0)
    exact = gp.at(gp.X, 100.0)
    np.testing.assert_allclose(mean, exact[0], atol=1e-9)
    np.testing.assert_allclose(variance, exact[1], atol=1e-9)


def test_one_step_densities_multiply_to_the_joint_density():
    rng = np.random.default_rng(5)
    gp = GP(RBF(0.3), Noise(0.05), 2, Markov(0.1))
    total = 0.0
    for t in range(1, 60):
        x, y = rng.uniform(size=2), float(rng.normal())
        before = gp.project(x, float(t))
        spread = before.variance + 0.05
        total -= 0.5 * (math.log(2 * math.pi * spread) + (y - before.mean) ** 2 / spread)
        gp.append(x, y, float(t), before)
    K = gp.kernel.matrix(gp.X, gp.X) * gp.temporal.matrix(gp.times, gp.times) + 0.05 * np.eye(len(gp))
    assert total == pytest.approx(multivariate_normal(cov=K).logpdf(gp.y), abs=1e-8)


def test_information_gain_is_its_definition():
    gp = GP(RBF(0.3), Noise(0.05), 2)
    random_stream(gp, seed=6, operations=50)
    K = gp.kernel.matrix(gp.X, gp.X)
    exact = 0.5 * np.linalg.slogdet(np.eye(len(K)) + K / 0.05)[1]
    assert gp.information_gain() == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("noise", [1e-10, 1e-8, 1e-6])
def test_duplicates_and_tiny_noise_stay_finite(noise):
    rng = np.random.default_rng(0)
    gp = GP(RBF(0.2), Noise(noise), 2, cache=GridCache.build(RBF(0.2), AXIS, AXIS))
    sites = rng.uniform(size=(5, 2))
    for t in range(1, 400):
        x = sites[int(rng.integers(5))] + rng.choice([0.0, 1e-9, 1e-3]) * rng.normal(size=2)
        gp.append(np.clip(x, 0, 1), math.sin(5 * x[0]), float(t))
        if len(gp) > 60:
            gp.drop(int(rng.integers(len(gp))))
        mean, variance = gp.on_candidates(float(t))
        assert np.isfinite(mean).all()
        assert ((variance >= 0.0) & (variance <= 1.0 + 1e-9)).all()
    gp.replace(gp.X, gp.y, gp.times)
    mean, variance = gp.at(sites, 400.0)
    np.testing.assert_allclose(mean, np.sin(5 * sites[:, 0]), atol=0.02)
    assert (variance < 1e-3).all()


def test_replace_survives_a_matrix_that_cholesky_refuses():
    """Two hundred copies of one point with noise 1e-16: not positive definite to rounding."""
    gp = GP(RBF(0.2), Noise(1e-16), 1, cache=PointCache(RBF(0.2), AXIS))
    n = 200
    gp.replace(np.full((n, 1), 0.5), np.ones(n), np.arange(n, dtype=float))
    assert len(gp) == n
    mean, variance = gp.at(np.array([[0.5]]), 300.0)
    assert mean[0] == pytest.approx(1.0, abs=1e-3)
    assert 0.0 <= variance[0] < 1e-6


def test_drift_is_measured():
    gp = GP(RBF(0.2), Noise(0.02), 2)
    random_stream(gp, seed=9, operations=100)
    assert gp.drift(3) < 1e-11
    gp._solution.factor.W[5, 2] += 1e-6  # an injected rounding error
    assert max(gp.drift(j) for j in range(len(gp))) > 1e-8
    gp.replace(gp.X, gp.y, gp.times)
    assert gp.drift(3) < 1e-11


def test_arms():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 10))
    kernel = Empirical(A @ A.T / 10)
    arms = np.arange(6.0)[:, None]
    gp = GP(kernel, Noise(0.1), 1, Markov(0.05), PointCache(kernel, arms))
    rows = []
    for t in range(1, 40):
        x, y = arms[int(rng.integers(6))], float(rng.normal())
        gp.append(x, y, float(t))
        rows.append((x, y, float(t)))
    mean, variance = direct(gp, rows, arms, 40.0)
    np.testing.assert_allclose(gp.on_candidates(40.0)[0], mean, atol=1e-9)
    np.testing.assert_allclose(gp.on_candidates(40.0)[1], variance, atol=1e-9)


def test_an_empty_gp_is_the_prior():
    gp = GP(RBF(0.2, 3.0), Noise(0.02), 2, cache=GridCache.build(RBF(0.2, 3.0), AXIS, AXIS))
    for mean, variance in (gp.at(AXIS.repeat(2, 1), 1.0), gp.on_candidates(1.0)):
        assert (mean == 0).all()
        np.testing.assert_allclose(variance, 3.0)
    gp.append(np.array([0.1, 0.1]), 1.0, 1.0)
    gp.drop(0)
    assert len(gp) == 0
    np.testing.assert_allclose(gp.on_candidates(2.0)[1], 3.0, atol=1e-12)
