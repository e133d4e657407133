"""Coverage by simulation and by exact normal tails; values by decimal arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from windvane.errors import InvalidArgument, InvalidType
from windvane.theory import noise_width, observation_bound, pi_t, rho, trigger_widths

PI = Decimal("3.14159265358979323846264338327950288")
deltas = st.floats(1e-6, 0.999)
steps = st.integers(1, 10**6)


def decimal_rho(step: int, delta: str) -> float:
    return float(2 * (PI**2 * step**2 / 6 / Decimal(delta)).ln())


@pytest.mark.parametrize(("step", "delta"), [(1, "0.1"), (7, "0.9"), (400, "0.005")])
def test_values_match_decimal_arithmetic(step: int, delta: str) -> None:
    expected = decimal_rho(step, delta)
    halved = decimal_rho(step, str(Decimal(delta) / 2))
    assert rho(step, float(delta)) == pytest.approx(expected, rel=1e-14)
    assert noise_width(step, float(delta), 0.02) == pytest.approx(math.sqrt(0.02 * expected), rel=1e-14)
    sqrt_rho, w_bar = trigger_widths(step, float(delta), 0.02)
    assert sqrt_rho == pytest.approx(math.sqrt(halved), rel=1e-14)
    assert w_bar == pytest.approx(math.sqrt(0.02 * halved), rel=1e-14)


def test_reciprocals_of_pi_t_sum_to_one() -> None:
    n = 10_000
    rest = 1.0 - sum(1.0 / pi_t(t) for t in range(1, n + 1))
    tail = 6.0 / math.pi**2  # the integral of 1 / pi_t from n lies within 1 / (n + 1) and 1 / n of it
    assert tail / (n + 1) < rest < tail / n


@given(deltas)
def test_the_whole_of_delta_is_spent_and_no_more(delta: float) -> None:
    widths = np.sqrt([rho(t, delta) for t in range(1, 2001)])
    assert np.exp(-(widths**2) / 2).sum() == pytest.approx(delta, rel=1e-3)  # the tail bound: tight
    assert 2 * norm.sf(widths).sum() <= delta  # the normal tail itself: covered


def test_lemma_2_covers_noise_as_often_as_exact_tails_say() -> None:
    runs, horizon, delta, variance = 20_000, 100, 0.6, 0.3
    widths = np.array([noise_width(t, delta, variance) for t in range(1, horizon + 1)])
    noise = np.random.default_rng(0).normal(0.0, math.sqrt(variance), (runs, horizon))
    escaped = int((np.abs(noise) > widths).any(axis=1).sum())
    exact = 1.0 - np.prod(1.0 - 2.0 * norm.sf(widths / math.sqrt(variance)))
    low, high = binom.interval(1 - 1e-6, runs, exact)
    assert low <= escaped <= high < delta * runs


def escapes(delta: float, drift: float = 0.0, shrink: float = 1.0, runs: int = 2000) -> tuple[float, float]:
    """How often Lemma 1 and Lemma 3 are violated at any of 40 steps of GP-UCB on a grid of 10 points."""
    rng = np.random.default_rng(1)
    grid, noise, horizon = np.linspace(0, 1, 10), 0.05, 40
    gram = np.exp(-0.5 * ((grid[:, None] - grid) / 0.2) ** 2)
    root = np.linalg.cholesky(gram + 1e-10 * np.eye(10))
    f = rng.standard_normal((runs, 10)) @ root.T
    mean, cov, each = np.zeros((runs, 10)), np.repeat(gram[None], runs, axis=0), np.arange(runs)
    out1, out3 = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for t in range(1, horizon + 1):
        std = np.sqrt(np.maximum(np.einsum("rii->ri", cov), 0.0))
        x = (mean + 2.0 * std).argmax(axis=1)
        y = f[each, x] + rng.normal(0.0, math.sqrt(noise), runs)
        mu, sigma = mean[each, x], std[each, x]
        sqrt_rho, w_bar = trigger_widths(t, delta, noise)
        out1 |= np.abs(f[each, x] - mu) > shrink * math.sqrt(rho(t, delta)) * sigma
        out3 |= np.abs(y - mu) > shrink * (sqrt_rho * sigma + w_bar)
        row = cov[each, x]
        gain = row / (sigma**2 + noise)[:, None]
        mean += gain * (y - mu)[:, None]
        cov -= gain[:, :, None] * row[:, None, :]
        f = math.sqrt(1 - drift) * f + math.sqrt(drift) * rng.standard_normal((runs, 10)) @ root.T
    return float(out1.mean()), float(out3.mean())


def test_lemmas_1_and_3_cover_a_static_objective() -> None:
    lemma1, lemma3 = escapes(delta=0.3)
    assert 0.0 < lemma1 <= 0.3
    assert lemma3 <= 0.3
    shrunk1, shrunk3 = escapes(delta=0.3, shrink=0.5)
    assert shrunk1 > 0.3, "half the width must not cover, or the test above proves nothing"
    assert shrunk3 > 0.3


def test_lemma_3_notices_an_objective_that_moves() -> None:
    assert escapes(delta=0.1, drift=0.05, runs=500)[1] > 3 * 0.1


def test_lemma_7_covers_the_largest_observation_of_a_moving_objective() -> None:
    rng = np.random.default_rng(2)
    runs, arms, horizon, delta, noise = 2000, 5, 100, 0.5, 0.2
    f = rng.standard_normal((runs, arms))
    worst = np.empty((runs, horizon))
    for t in range(horizon):
        worst[:, t] = np.abs(f + rng.normal(0, math.sqrt(noise), (runs, 1))).max(axis=1)
        f = math.sqrt(0.9) * f + math.sqrt(0.1) * rng.standard_normal((runs, arms))
    # the union bound over arms: P{max |f| > L} <= arms exp(-L^2 / 2), so a0 = arms and b0 = sqrt(2)
    bound = np.array([observation_bound(t, delta, noise, arms, math.sqrt(2)) for t in range(1, horizon + 1)])
    assert (worst > bound).any(axis=1).mean() <= delta
    assert (worst > 0.5 * bound).any(axis=1).mean() > delta


def test_without_noise_only_the_model_is_unsure() -> None:
    assert noise_width(1, 0.1, 0.0) == 0.0
    sqrt_rho, w_bar = trigger_widths(1, 0.1, 0.0)
    assert (sqrt_rho > 0.0, w_bar) == (True, 0.0)
    assert observation_bound(1, 0.1, 0.0, a0=0.0, b0=0.0) == 0.0


def test_observation_bound_by_hand() -> None:
    expected = (3.0 + math.sqrt(2.0) * 0.5) * math.sqrt(math.log(4.0 * math.pi**2 / 6.0))
    assert observation_bound(1, 0.5, 0.25, a0=0.0, b0=3.0) == pytest.approx(expected, rel=1e-14)


@given(steps, deltas, st.floats(0.0, 1e3))
def test_widths_grow_with_time_and_confidence(step: int, delta: float, noise: float) -> None:
    sqrt_rho, w_bar = trigger_widths(step, delta, noise)
    assert trigger_widths(step + 1, delta, noise)[0] > sqrt_rho
    assert trigger_widths(step, delta / 2, noise)[0] > sqrt_rho
    assert w_bar == pytest.approx(math.sqrt(noise) * sqrt_rho)
    assert sqrt_rho > math.sqrt(rho(step, delta))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: pi_t(0), "step=0"),
        (lambda: pi_t(math.nan), "step=nan"),
        (lambda: rho(0, 0.1), "elapsed=0"),
        (lambda: rho(1, 0.0), "delta=0.0"),
        (lambda: rho(1, 1.0), "delta=1.0"),
        (lambda: rho(1, math.nan), "delta=nan"),
        (lambda: noise_width(1, 0.1, -1.0), "noise_variance=-1.0"),
        (lambda: noise_width(1, 0.1, math.inf), "noise_variance=inf"),
        (lambda: trigger_widths(0, 0.1, 0.1), "elapsed=0"),
        (lambda: trigger_widths(1, 0.0, 0.1), "delta=0.0"),
        (lambda: trigger_widths(1, 1.0, 0.1), "delta=1.0"),
        (lambda: trigger_widths(1, 1.5, 0.1), "delta=1.5"),
        (lambda: trigger_widths(1, 0.1, -0.5), "noise_variance=-0.5"),
        (lambda: trigger_widths(1, 0.1, math.nan), "noise_variance=nan"),
        (lambda: trigger_widths(1, 0.1, math.inf), "noise_variance=inf"),
        (lambda: observation_bound(0, 0.1, 0.1, 1, 1), "step=0"),
        (lambda: observation_bound(1, 2.0, 0.1, 1, 1), "delta=2.0"),
        (lambda: observation_bound(1, 0.1, -0.1, 1, 1), "noise_variance=-0.1"),
        (lambda: observation_bound(1, 0.1, 0.1, -1, 1), "a0=-1"),
        (lambda: observation_bound(1, 0.1, 0.1, 1, -1), "b0=-1"),
    ],
)
def test_errors_name_the_argument(call, named: str) -> None:
    with pytest.raises((InvalidArgument, InvalidType), match=f"^{named}"):
        call()
