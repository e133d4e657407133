"""The state-space form of a temporal kernel against the kernel itself, and against simulation."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from windvane.errors import InvalidArgument
from windvane.kernels import Markov, StateSpace, Static, Temporal, TimeMatern52, TimePeriodic, TimeRBF, Wiener
from windvane.kernels.state_space import LONGEST, VANISHED, state_space
from windvane.kernels.trends import TimeMatern32


@dataclass(frozen=True)
class Cycle(Temporal):
    """cos(2 pi dt / period): a kernel of a user's own, by the shortest way."""

    period: float

    def matrix(self, s, t):
        return np.cos(2.0 * np.pi * (s[:, None] - t[None, :]) / self.period)

    def state_space(self):
        def transition(dt):
            angle = 2.0 * math.pi * dt / self.period
            return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])

        return StateSpace(transition, np.eye(2), [1.0, 0.0])


KERNELS = {
    "static": Static(),
    "share": Static(0.3),
    "markov": Markov(0.03),
    "markov 0": Markov(0.0),
    "markov 1": Markov(1.0),
    "trend": TimeMatern32(7.0),
    "scaled markov": Static(9.0) * Markov(0.01),
    "scaled trend": Static(0.4) * TimeMatern32(3.0),
    "scaled twice": Static(2.0) * (Static(3.0) * Markov(0.2)),
    "static + markov": Static(0.5) + Static(0.5) * Markov(0.2),
    "static + trend": Static(0.7) + TimeMatern32(12.0),
    "three": Static(0.2) + Markov(0.05) + Static(2.0) * TimeMatern32(20.0),
    "scaled sum": Static(4.0) * (Static(0.5) + Markov(0.2)),
    "trends": TimeMatern32(2.0) + TimeMatern32(50.0),
    "smooth trend": TimeMatern52(7.0),
    "smooth and scaled": Static(0.4) * TimeMatern52(3.0) + Static(0.2) * Markov(0.03),
    "scaled from the right": Markov(0.01) * Static(9.0),
    "twice as fast": Markov(0.1) * Markov(0.2),
    "a trend that fades": TimeMatern32(7.0) * Markov(0.05),
    "trend by trend": TimeMatern32(4.0) * TimeMatern52(9.0),
    "a product of sums": (Static(0.5) + Markov(0.2)) * (Static(0.3) + TimeMatern32(6.0)),
    "a cycle": Cycle(12.0),
    "a cycle that fades": Cycle(12.0) * Markov(0.05),
    "a cycle with its half": TimePeriodic(12.0),
    "a cycle without a mean": TimePeriodic(9.3, (0.0, 0.7, 0.0, 0.3)) * Markov(0.01),
    "a cycle, days of their own": Static(0.9) * TimePeriodic(30.0) + Static(0.1) * Markov(0.1),
}
GAPS = (0.0, 1e-6, 0.013, 0.5, 1.0, math.pi, 17.25, 400.0, 1e5)


@pytest.mark.parametrize("name", KERNELS)
def test_the_covariance_is_the_kernel(name):
    kernel, space = KERNELS[name], state_space(KERNELS[name])
    rounding = 1e-10 if "cycle" in name else 1e-14  # of 3 + 1e5 - 3, in a cosine
    for dt in GAPS:
        expected = float(kernel.matrix(np.array([3.0]), np.array([3.0 + dt]))[0, 0])
        assert space.covariance(dt) == pytest.approx(expected, rel=1e-9, abs=rounding)
    assert space.variance == pytest.approx(kernel.variance(1.0), rel=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_steps_of_any_length_compose(name):
    """A(s + t) = A(s) A(t), A(0) = 1, and the noise P - A P A' is a covariance."""
    space = state_space(KERNELS[name])
    order = len(space.loading)
    np.testing.assert_allclose(space.transition(0.0), np.eye(order), atol=1e-15)
    for s, t in ((0.3, 2.0), (1.0, 1.0), (0.01, 40.0), (7.7, 3.3)):
        both = space.transition(s) @ space.transition(t)
        np.testing.assert_allclose(both, space.transition(s + t), atol=1e-12)
    for dt in GAPS:
        A, P = space.transition(dt), space.stationary
        assert np.linalg.eigvalsh(P - A @ P @ A.T).min() > -1e-12
        np.testing.assert_array_equal(P, P.T)


@settings(max_examples=60)
@given(
    st.lists(st.floats(0.0, 30.0), min_size=2, max_size=8),
    st.sampled_from(sorted(KERNELS)),
)
def test_the_matrix_of_irregular_times(gaps, name):
    """The joint covariance of f at irregular times, by walking the state from time to time."""
    kernel, space = KERNELS[name], state_space(KERNELS[name])
    times = np.cumsum(gaps)
    n, h = len(times), space.loading
    K = np.empty((n, n))
    for i in range(n):
        state = space.stationary @ h
        K[i, i] = h @ state
        for j in range(i + 1, n):
            state = space.transition(float(times[j] - times[j - 1])) @ state
            K[i, j] = K[j, i] = h @ state
    np.testing.assert_allclose(K, kernel.matrix(times, times), atol=1e-11 * space.variance)


def test_a_simulated_state_has_the_covariance_of_the_kernel():
    """Monte Carlo: walk the state with its own noise, and estimate the covariance of f."""
    kernel = Static(0.3) + TimeMatern32(4.0)
    space, rng, runs = state_space(kernel), np.random.default_rng(0), 40_000
    times = np.array([0.0, 0.7, 2.0, 5.5])
    state = rng.multivariate_normal(np.zeros(3), space.stationary, size=runs)
    values = [state @ space.loading]
    for dt in np.diff(times):
        A = space.transition(float(dt))
        noise = space.stationary - A @ space.stationary @ A.T
        state = state @ A.T + rng.multivariate_normal(np.zeros(3), noise, size=runs, check_valid="ignore")
        values.append(state @ space.loading)
    np.testing.assert_allclose(np.cov(values), kernel.matrix(times, times), atol=0.04)


@pytest.mark.parametrize("name", KERNELS)
def test_reach_is_where_the_covariance_has_vanished(name):
    kernel, space = KERNELS[name], state_space(KERNELS[name])
    left = [float(kernel.matrix(np.zeros(1), np.array([dt]))[0, 0]) / space.variance for dt in GAPS]
    if math.isinf(space.reach):
        endless = ("share", "three", "markov 0", "scaled sum", "a product of sums", "a cycle")
        endless += ("a cycle with its half", "a cycle, days of their own")
        assert "static" in name or name in endless
        assert min(np.abs(left[:-1])) > VANISHED  # up to LONGEST it still says something
        return
    assert 1.0 <= space.reach <= LONGEST
    beyond = kernel.matrix(np.zeros(1), space.reach * np.array([1.0, 1.5, 3.0]))[0]
    assert (np.abs(beyond) <= VANISHED * space.variance * (1.0 + 1e-9)).all()
    if space.reach > 1.0:  # and not much sooner
        before = kernel.matrix(np.zeros(1), space.reach / np.array([1.05, 1.06]))[0]
        assert np.abs(before).max() > VANISHED * space.variance


def test_reach_in_closed_form():
    assert state_space(Markov(0.19)).reach == pytest.approx(math.log(VANISHED) / math.log(0.9), rel=0.06)
    assert state_space(Static(9.0) * Markov(0.19)).reach == state_space(Markov(0.19)).reach
    slow = Markov(1e-4)  # needs more than LONGEST
    assert math.log(VANISHED) / math.log(math.sqrt(1.0 - 1e-4)) > LONGEST
    assert math.isinf(state_space(slow).reach)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("lead", [0.0, 1.0, 6.0, 200.0])
def test_what_lasts_is_no_more_than_there_is(name, lead):
    """At lead 0 all of f counts; the part that lasts never has more variance than f."""
    space = state_space(KERNELS[name])
    lasting = space.lasting(lead)
    assert lasting.shape == space.loading.shape
    assert 0.0 <= lasting @ space.stationary @ lasting <= space.variance * (1.0 + 1e-12)
    if lead == 0.0:
        np.testing.assert_array_equal(lasting, space.loading)


def test_what_lasts_of_a_static_part_is_all_of_it():
    np.testing.assert_array_equal(state_space(Static(0.3)).lasting(1e6), [1.0])
    half = state_space(Static(0.5) + Static(0.5) * Markov(0.3)).lasting(1e4)
    np.testing.assert_allclose(half, [1.0, 0.0], atol=1e-12)
    assert state_space(Markov(0.19)).lasting(2.0)[0] == pytest.approx(0.81)


@pytest.mark.parametrize(
    "kernel",
    [
        TimeRBF(10.0),
        Wiener(0.1),
        Static(0.5) + TimeRBF(3.0),
        Static(0.5) * Wiener(0.1),
        TimeRBF(3.0) * Markov(0.1),
    ],
    ids=repr,
)
def test_a_kernel_without_a_state_is_refused(kernel):
    with pytest.raises(
        InvalidArgument, match=r"has no finite state; use Static, .* or define state_space\(\)"
    ):
        state_space(kernel)


def test_scaling_leaves_the_original_alone():
    space = state_space(Markov(0.1))
    larger = space.scaled(4.0)
    assert (larger.variance, space.variance) == (4.0, 1.0)
    assert larger.reach == space.reach


def test_matern_against_scipy():
    """exp(F dt) by SciPy, with F the companion matrix of (z + lambda)^order, in plain derivatives."""
    for kernel, order in ((TimeMatern32(7.0), 2), (TimeMatern52(7.0), 3)):
        rate = math.sqrt(2 * order - 1) / 7.0
        scale = rate ** np.arange(order)  # from our state to plain derivatives
        F = np.eye(order, k=1)
        F[-1] = -np.array([math.comb(order, i) * rate ** (order - i) for i in range(order)])
        for dt in (0.01, 1.0, 5.0, 40.0):
            found = scale[:, None] * state_space(kernel).transition(dt) / scale
            np.testing.assert_allclose(found, linalg.expm(F * dt), atol=1e-12)
        P = scale[:, None] * state_space(kernel).stationary * scale
        drift = F @ P + P @ F.T  # Lyapunov: noise enters the highest derivative only
        assert drift[-1, -1] < 0.0
        drift[-1, -1] = 0.0
        np.testing.assert_allclose(drift, 0.0, atol=1e-15)


@pytest.mark.parametrize("name", ["scaled markov", "static + markov"])
def test_a_product_with_a_static_one_is_the_same_from_either_side(name):
    one, other = state_space(Static(3.0) * KERNELS[name]), state_space(KERNELS[name] * Static(3.0))
    for dt in GAPS:
        np.testing.assert_array_equal(one.transition(dt), other.transition(dt))
        np.testing.assert_array_equal(one.lasting(dt), other.lasting(dt))
    np.testing.assert_array_equal(one.stationary, other.stationary)


def test_what_lasts_by_default_is_what_a_forecast_keeps():
    """Cov(f(t + dt), s(t)) = h' A(dt) P, so A(dt)' h is the loading of the forecast."""
    space = state_space(Cycle(12.0) * Markov(0.19))
    np.testing.assert_allclose(space.lasting(6.0), [-(0.9**6), 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"loading": [[1.0]]}, r"StateSpace\(loading\)"),
        ({"loading": [1.0, 0.0]}, r"StateSpace\(stationary\): must have shape 2x2, got 1x1"),
        ({"stationary": [1.0]}, r"StateSpace\(stationary\)"),
        ({"stationary": [[math.nan]]}, r"StateSpace\(stationary\): must be finite"),
        ({"transition": lambda dt: 1.0}, r"StateSpace\(transition\): must have shape 1x1"),
    ],
)
def test_shapes_that_do_not_agree_are_named(changed, message):
    fine = {"transition": lambda dt: np.ones((1, 1)), "stationary": [[1.0]], "loading": [1.0]}
    with pytest.raises(InvalidArgument, match=message):
        StateSpace(**{**fine, **changed})


def test_a_kernel_of_ones_own_needs_no_more_than_its_matrix():
    kernel = Cycle(12.0)
    assert kernel.variance(3.0) == 1.0
    assert kernel.decay(0.0, 1.0) is None
    assert (kernel.theta.size, kernel.theta_names, kernel.with_theta(np.empty(0))) == (0, (), kernel)
    assert (Static(2.0) * kernel).theta_gradient(np.arange(4.0)).shape == (1, 4, 4)
