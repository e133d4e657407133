"""The periodic kernel in time: against its definition, and its derivative against finite differences."""

import json
import math

import numpy as np
import pytest

import windvane as wv
from windvane.errors import WindvaneError
from windvane.kernels import RBF, Markov, SpaceTime, TimePeriodic

TIMES = np.array([1.0, 2.0, 2.5, 7.0, 40.0, 1003.25])
KERNELS = [TimePeriodic(24.0), TimePeriodic(7.3, (0.0, 0.25, 0.5, 0.0, 0.25)), TimePeriodic(0.5, (0.5, 0.5))]


@pytest.mark.parametrize("kernel", KERNELS)
def test_against_the_definition(kernel):
    other = np.array([0.0, 3.0, 11.5])
    for i, row in enumerate(kernel.matrix(TIMES, other)):
        for j, found in enumerate(row):
            a = 2.0 * math.pi * (TIMES[i] - other[j]) / kernel.period
            assert found == pytest.approx(
                sum(w * math.cos(h * a) for h, w in enumerate(kernel.weights)), abs=1e-11
            )
    assert [kernel.variance(float(t)) for t in TIMES] == [1.0] * len(TIMES)
    np.testing.assert_allclose(
        kernel.matrix(TIMES, TIMES + 3.0 * kernel.period), kernel.matrix(TIMES, TIMES), atol=1e-11
    )
    assert np.linalg.eigvalsh(kernel.matrix(TIMES, TIMES)).min() > -1e-12


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_in_the_period(kernel):
    assert kernel.theta_names == ("period",)
    assert kernel.with_theta(kernel.theta).period == pytest.approx(kernel.period)
    up, down = (kernel.with_theta(kernel.theta + step) for step in (1e-7, -1e-7))
    times = TIMES[:5]
    numeric = (up.matrix(times, times) - down.matrix(times, times)) / 2e-7
    np.testing.assert_allclose(kernel.theta_gradient(times)[0], numeric, atol=1e-4)


@pytest.mark.parametrize("period", [5e-324, 1e-310, 1e-300, 1e300, 1.7e308])
def test_a_period_of_any_length(period):
    kernel, times = TimePeriodic(period), np.array([0.0, 1e-300, 1.0, 1e9, 1e200, 1e308])
    matrix, space = kernel.matrix(times, times), kernel.state_space()
    np.testing.assert_allclose(np.diag(matrix), 1.0)
    assert (np.abs(matrix) <= 1.0 + 1e-12).all()
    assert all(abs(space.covariance(float(time))) <= 1.0 + 1e-12 for time in times)


def test_no_single_factor_moves_the_past():
    assert TimePeriodic(24.0).decay(1.0, 2.0) is None


def test_composes_and_is_saved():
    kernel = RBF(0.2) * (TimePeriodic(24.0, [0.5, 0.5]) * Markov(0.01))
    assert isinstance(kernel, SpaceTime)
    opt = wv.make("gp-ucb", wv.Box([(0, 1)]), kernel=kernel, noise_variance=0.01, seed=0)
    for y in (0.1, 0.4, 0.2):
        opt.tell(opt.ask(), y)
    twin = wv.restore(json.loads(json.dumps(opt.state())))
    assert twin.model.temporal == kernel.time
    assert twin.ask() == opt.ask()


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ((0.0,), "period"),
        ((-1.0,), "period"),
        ((math.inf,), "period"),
        (("day",), "period"),
        ((24.0, 0.5), "weights"),
        ((24.0, (1.0,)), "weights"),
        ((24.0, (0.5, 0.4)), "sum to 1"),
        ((24.0, (1.5, -0.5)), "weights"),
        ((24.0, (0.5, "x")), "weights"),
    ],
)
def test_bad_input(given, match):
    with pytest.raises(WindvaneError, match=match):
        TimePeriodic(*given)
