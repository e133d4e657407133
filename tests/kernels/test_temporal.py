"""Temporal kernels: closed forms of the paper, derivatives, and how a posterior moves on in time."""

import numpy as np
import pytest

from windvane.errors import WindvaneError
from windvane.kernels import RBF, Markov, Matern52, SpaceTime, Static, TemporalProduct, TemporalSum, Wiener

TIMES = np.array([1.0, 2.0, 2.5, 7.0, 40.0])
KERNELS = [
    Static(),
    Static(0.4),
    Markov(0.03),
    Markov(0.5),
    Wiener(0.02),
    Static(0.5) + Markov(0.1),
    Markov(0.1) * Markov(0.3),
    Markov(0.2) * Wiener(0.1),
]


def test_markov_is_the_covariance_of_assumption_2():
    """Simulate f_t = sqrt(1-eps) f_{t-1} + sqrt(eps) g_t for many independent chains."""
    rng, eps, steps = np.random.default_rng(0), 0.2, 8
    f = rng.standard_normal((steps, 200_000))
    for t in range(1, steps):
        f[t] = np.sqrt(1 - eps) * f[t - 1] + np.sqrt(eps) * f[t]
    measured = f @ f.T / f.shape[1]
    exact = Markov(eps).matrix(np.arange(steps, dtype=float), np.arange(steps, dtype=float))
    np.testing.assert_allclose(measured, exact, atol=0.015)


def test_wiener_is_a_random_walk():
    """A unit start plus s2 injected at each step."""
    rng, s2, steps = np.random.default_rng(1), 0.3, 6
    start = rng.standard_normal(200_000)
    walk = start + np.cumsum(np.sqrt(s2) * rng.standard_normal((steps, 200_000)), axis=0)
    measured = walk @ walk.T / walk.shape[1]
    times = np.arange(1.0, steps + 1)
    np.testing.assert_allclose(measured, Wiener(s2).matrix(times, times), atol=0.04)


@pytest.mark.parametrize("kernel", KERNELS)
def test_cross_variance_and_matrix_agree(kernel):
    matrix = kernel.matrix(TIMES, TIMES)
    np.testing.assert_allclose(kernel.cross(TIMES, 40.0), matrix[:, -1], rtol=1e-14)
    np.testing.assert_allclose([kernel.variance(float(t)) for t in TIMES], np.diag(matrix), rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS)
def test_decay_moves_the_past_to_the_present(kernel):
    past = TIMES[:-1]
    factor = kernel.decay(7.0, 40.0)
    if factor is None:
        ratio = kernel.cross(past, 40.0) / kernel.cross(past, 7.0)
        assert np.ptp(ratio) > 1e-3  # there really is no single factor
    else:
        np.testing.assert_allclose(kernel.cross(past, 40.0), factor * kernel.cross(past, 7.0), rtol=1e-13)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_in_the_hyperparameters(kernel):
    exact = kernel.theta_gradient(TIMES)
    for p in range(len(kernel.theta)):
        shift = np.zeros(len(kernel.theta))
        shift[p] = 1e-6
        up, down = kernel.with_theta(kernel.theta + shift), kernel.with_theta(kernel.theta - shift)
        numeric = (up.matrix(TIMES, TIMES) - down.matrix(TIMES, TIMES)) / 2e-6
        np.testing.assert_allclose(exact[p], numeric, atol=1e-7)
    assert len(kernel.theta_names) == len(kernel.theta)


def test_composition_makes_space_time_models():
    assert RBF(0.2) * Markov(0.1) == SpaceTime(RBF(0.2), Markov(0.1))
    assert (RBF(0.2) * Markov(0.1)) * Markov(0.2) == SpaceTime(
        RBF(0.2), TemporalProduct(Markov(0.1), Markov(0.2))
    )
    shared = RBF(0.2) * Static(0.5) + RBF(0.2) * Markov(0.1)
    assert shared == SpaceTime(RBF(0.2), TemporalSum(Static(0.5), Markov(0.1)))
    assert (RBF(0.2) * Markov(0.1) + RBF(0.4) * Markov(0.1)).time == Markov(0.1)
    with pytest.raises(WindvaneError, match="share"):
        RBF(0.2) * Markov(0.1) + Matern52(0.2) * Static()


@pytest.mark.parametrize(
    "build",
    [
        lambda: Markov(-0.1),
        lambda: Markov(1.1),
        lambda: Markov(float("nan")),
        lambda: Markov("x"),
        lambda: Wiener(-1.0),
        lambda: Wiener(float("inf")),
        lambda: Static(0.0),
    ],
)
def test_bad_input_is_named(build):
    with pytest.raises(WindvaneError, match=r"Markov\(rate\)|Wiener\(rate\)|Static\(share\)"):
        build()
