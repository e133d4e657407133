"""Smooth kernels in time: against scikit-learn, and their derivatives against finite differences."""

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

import windvane as wv
from windvane.errors import WindvaneError
from windvane.kernels import RBF, SpaceTime, TimeMatern32, TimeMatern52, TimeRBF
from windvane.surrogates import Noise, Search
from windvane.surrogates.fit import map_estimate

TIMES = np.array([1.0, 2.0, 2.5, 7.0, 40.0])
KERNELS = {
    TimeRBF: sk.RBF,
    TimeMatern32: lambda scale: sk.Matern(scale, nu=1.5),
    TimeMatern52: lambda scale: sk.Matern(scale, nu=2.5),
}


@pytest.mark.parametrize("scale", [0.7, 5.0, 300.0])
@pytest.mark.parametrize("kind", KERNELS)
def test_against_scikit_learn(kind, scale):
    kernel, other = kind(scale), np.array([0.0, 3.0])
    oracle = KERNELS[kind](scale)
    np.testing.assert_allclose(
        kernel.matrix(TIMES, other), oracle(TIMES[:, None], other[:, None]), atol=1e-13
    )
    np.testing.assert_allclose(
        kernel.cross(TIMES, 41.0), oracle(TIMES[:, None], np.array([[41.0]]))[:, 0], atol=1e-13
    )
    assert [kernel.variance(float(t)) for t in TIMES] == [1.0] * 5


@pytest.mark.parametrize("scale", [0.7, 5.0, 300.0])
@pytest.mark.parametrize("kind", KERNELS)
def test_gradient_in_the_hyperparameter(kind, scale):
    kernel = kind(scale)
    assert kernel.theta_names == ("rate",)
    assert kernel.theta == pytest.approx([-np.log(scale)])
    assert kernel.with_theta(kernel.theta).lengthscale == pytest.approx(scale)
    up, down = kernel.with_theta(kernel.theta + 1e-6), kernel.with_theta(kernel.theta - 1e-6)
    numeric = (up.matrix(TIMES, TIMES) - down.matrix(TIMES, TIMES)) / 2e-6
    np.testing.assert_allclose(kernel.theta_gradient(TIMES)[0], numeric, atol=1e-8)


@pytest.mark.parametrize("kind", KERNELS)
def test_no_single_factor_moves_the_past(kind):
    kernel = kind(5.0)
    assert kernel.decay(7.0, 40.0) is None
    ratio = kernel.cross(TIMES[:-1], 12.0) / kernel.cross(TIMES[:-1], 7.0)
    assert np.ptp(ratio) > 1e-3


@pytest.mark.parametrize("kind", KERNELS)
def test_composes_and_is_saved(kind):
    assert RBF(0.2) * kind(5.0) == SpaceTime(RBF(0.2), kind(5.0))
    opt = wv.make("gp-ucb", wv.Box([(0, 1)]), kernel=RBF(0.2) * kind(5.0), noise_variance=0.01, seed=0)
    for y in (0.1, 0.4, 0.2):
        opt.tell(opt.ask(), y)
    twin = wv.restore(opt.state())
    assert twin.model.temporal == kind(5.0)
    assert twin.ask() == opt.ask()


@pytest.mark.parametrize("kind", KERNELS)
def test_the_lengthscale_is_found_by_maximum_likelihood(kind):
    """60 steps of a sample at one point: the estimate beats the truth and its neighbours in likelihood."""
    times = np.arange(60.0)
    X = np.full((60, 1), 0.5)
    K = kind(8.0).matrix(times, times) + 1e-2 * np.eye(60)
    y = np.linalg.cholesky(K) @ np.random.default_rng(1).normal(size=60)
    search = Search(learn=("rate",), starts=2)

    def likelihood(scale):
        fixed = Search(learn=())
        return map_estimate(RBF(0.2), kind(scale), Noise(1e-2), (X, y, times), fixed).log_posterior

    found = map_estimate(RBF(0.2), kind(100.0), Noise(1e-2), (X, y, times), search)
    scale = found.temporal.lengthscale
    assert 3.0 < scale < 20.0
    assert found.log_posterior >= max(map(likelihood, (8.0, 0.9 * scale, 1.1 * scale)))


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("bad", [0.0, -1.0, float("nan"), float("inf"), "x", None, True])
def test_bad_input_is_named(kind, bad):
    with pytest.raises(WindvaneError, match=rf"{kind.__name__}\(lengthscale\)"):
        kind(bad)
