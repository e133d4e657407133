"""Theorem 1 against posteriors computed here, Corollary 1 against the scaling of Theorem 1."""

from __future__ import annotations

import dataclasses
import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.errors import InvalidArgument, InvalidType
from windvane.theory import (
    RegretBound,
    corollary1_order,
    information_gain,
    reset_window,
    sublinear_region,
    theorem1_bound,
)

lambdas = st.tuples(st.floats(0.05, 1.0), st.floats(1.0, 20.0))
kernels = st.sampled_from([{}, {"nu": 2.5, "dim": 1}, {"nu": 2.5, "dim": 2}, {"nu": 4.5, "dim": 3}])
CONSTANTS = {"a0": 1.0, "b0": 1.0, "a1": 1.0, "b1": 1.0}


def bound(
    horizon: int, rate: float, window: tuple[int, int], gamma: float, noise: float = 0.5
) -> RegretBound:
    return theorem1_bound(horizon, rate, window, gamma, noise, 0.1, 2, **CONSTANTS)


def test_unrelated_arms_meet_the_exploration_term() -> None:
    """Identity Gram: every σ is 1, γ_N = N/2 ln(1 + 1/σ²), so the term is √(4 β T (T + N)) exactly."""
    gamma = information_gain(np.eye(20), 0.5)
    result = bound(200, 0.0, (20, 20), gamma)
    assert result.exploration == pytest.approx(math.sqrt(4 * result.beta * 200 * 220), rel=1e-12)
    assert (result.variance_mismatch, result.mean_mismatch) == (0.0, 0.0)
    assert result.total == result.exploration + 2.0


def test_terms_by_hand() -> None:
    """Noise variance 1/2: C1 = 8 / ln 3, the precision factors are 6 + 4 and 2 + 4, and √2 σ_n = 1."""
    result = theorem1_bound(100, 0.25, (5, 10), 3.0, 0.5, 0.1, 1, a0=1.0, b0=1.0, a1=1.0, b1=1.0, r=2.0)
    beta = 2 * math.log(2e5 * math.pi**2 / 3) + 2 * math.log(2e4 * math.sqrt(math.log(2e5 * math.pi**2 / 3)))
    y_bar = 2 * math.sqrt(math.log(8e5 * math.pi**2 / 3))
    assert result.beta == pytest.approx(beta, rel=1e-12)
    assert result.gamma == 3.0
    assert result.constant == 2.0
    assert result.exploration == pytest.approx(math.sqrt(8 / math.log(3) * 100 * beta * 21 * 3), rel=1e-12)
    assert result.variance_mismatch == pytest.approx(100 * 2 * math.sqrt(beta * 10 * 250), rel=1e-12)
    assert result.mean_mismatch == pytest.approx(100 * 2 * 6 * 250 * y_bar, rel=1e-12)
    parts = result.exploration + 2.0 + result.variance_mismatch + result.mean_mismatch
    assert result.total == pytest.approx(parts, rel=1e-15)


def test_the_domain_is_the_unit_cube_unless_said_otherwise() -> None:
    assert call_bound() == call_bound(r=1.0) != call_bound(r=2.0)
    assert call_bound(information_gain=0.0).exploration == 0.0


def test_mismatch_terms_cover_the_static_model_of_a_moving_objective() -> None:
    """Lemma 9: σ and μ of the static posterior against those of the Markov posterior, Eqs. 3 and 4."""
    rng = np.random.default_rng(0)
    closest = 0.0
    for _ in range(200):
        size, rate, noise = int(rng.integers(1, 15)), 10 ** rng.uniform(-4, -1), rng.uniform(0.3, 3.0)
        points = rng.uniform(size=size + 1)
        gram = np.exp(-0.5 * ((points[:, None] - points) / 0.3) ** 2)
        ages = np.arange(size + 1)
        aged = gram * (1 - rate) ** (np.abs(ages[:, None] - ages) / 2)
        y = rng.normal(size=size)
        moments = []
        for full in (gram, aged):
            weights = np.linalg.solve(full[:size, :size] + noise * np.eye(size), full[:size, size])
            moments.append((weights @ y, math.sqrt(full[size, size] - weights @ full[:size, size])))
        (mean, std), (aged_mean, aged_std) = moments
        result = bound(size, rate, (size, size), 1.0, noise)
        y_bar = (1 + math.sqrt(2 * noise)) * math.sqrt(math.log(80 * math.pi**2 * size**2 / 3))
        allowed_std = result.variance_mismatch / (2 * size * math.sqrt(result.beta))
        allowed_mean = result.mean_mismatch / (2 * size * y_bar) * np.abs(y).max()
        assert abs(std - aged_std) <= allowed_std
        assert abs(mean - aged_mean) <= allowed_mean
        closest = max(closest, abs(mean - aged_mean) / allowed_mean)
    assert closest > 0.05, "a bound twenty times too large would say little about the formula"


def test_exploration_term_covers_random_blocks() -> None:
    """Σ 4 σ_t² over blocks of random length, with γ of the candidates by full enumeration."""
    rng = np.random.default_rng(1)
    points = np.linspace(0, 1, 4)
    gram = np.exp(-0.5 * ((points[:, None] - points) / 0.3) ** 2)
    horizon, low, high, noise = 300, 3, 9, 0.5
    choices = combinations_with_replacement(range(4), high)
    gamma = max(information_gain(gram[np.ix_(rows, rows)], noise) for rows in choices)
    total, elapsed, length = 0.0, 0, high
    cov = gram.copy()
    for _ in range(horizon):
        x = int(cov.diagonal().argmax())
        total += 4 * cov[x, x]
        cov = cov - np.outer(cov[x], cov[x]) / (cov[x, x] + noise)
        elapsed += 1
        if elapsed == length:
            cov, elapsed, length = gram.copy(), 0, int(rng.integers(low, high + 1))
    result = bound(horizon, 0.0, (low, high), gamma, noise)
    allowed = result.exploration**2 / (horizon * result.beta)
    assert total <= allowed <= 5 * total


def scaling(rate: float, horizon: int, lambda1: float, lambda2: float, kernel: dict) -> np.ndarray:
    """The terms of Theorem 1 with Corollary 1's window and γ = N_high^ξ, free of β, ȳ and constants."""
    xi = corollary1_order(0.5, 1, **kernel).xi
    low, high = reset_window((lambda1 * rate, lambda2 * rate), horizon, constant=1.0, **kernel)
    assert high is not None
    result = bound(horizon, rate, (low, high), high**xi)
    reference = bound(horizon, 1.0, (1, 1), 1.0)
    return np.array(
        [
            result.exploration / reference.exploration,
            result.variance_mismatch / reference.variance_mismatch,
            result.mean_mismatch / reference.mean_mismatch,
        ]
    )


@pytest.mark.parametrize("kernel", [{}, {"nu": 2.5, "dim": 2}, {"nu": 4.5, "dim": 1}])
@pytest.mark.parametrize(("lambda1", "lambda2"), [(1.0, 1.0), (0.01, 1.0), (1.0, 100.0), (0.1, 30.0)])
def test_corollary_1_is_the_scaling_of_theorem_1(kernel: dict, lambda1: float, lambda2: float) -> None:
    rate, horizon = 1e-18, 10**15
    order = corollary1_order(rate, horizon, lambda1, lambda2, **kernel)
    terms = np.array([order.exploration, order.variance_mismatch, order.mean_mismatch]) / horizon
    np.testing.assert_allclose(scaling(rate, horizon, lambda1, lambda2, kernel), terms, rtol=2e-3)


@pytest.mark.parametrize("kernel", [{}, {"nu": 2.5, "dim": 2}])
def test_the_static_term_grows_as_theorem_1_without_resets(kernel: dict) -> None:
    """√(T^(1+ξ)); the paper's √(T^(1-ξ)) fails here for Matérn."""
    terms = []
    for horizon in (10**3, 10**6):
        order = corollary1_order(1e-30, horizon, **kernel)
        result = bound(horizon, 0.0, (horizon, horizon), horizon**order.xi)
        terms.append((order.static, result.exploration / math.sqrt(result.beta)))
    assert terms[1][0] / terms[0][0] == pytest.approx(terms[1][1] / terms[0][1], rel=1e-9)


def test_the_squared_exponential_orders_by_hand() -> None:
    order = corollary1_order(1e-8, 10**4, lambda1=1e-4, lambda2=1e4)
    assert order.static == pytest.approx(1e2)
    assert order.exploration == pytest.approx(10**3.5)
    assert order.variance_mismatch == pytest.approx(10**4.5)
    assert order.mean_mismatch == pytest.approx(1e5)
    assert order.largest == order.mean_mismatch
    assert order.rate_exponent == 1 / 8


@given(st.floats(1e-6, 0.04), st.integers(1, 10**6), lambdas, kernels)
def test_knowing_less_costs_more(rate: float, horizon: int, pair: tuple[float, float], kernel: dict) -> None:
    exact = corollary1_order(rate, horizon, **kernel)
    vague = corollary1_order(rate, horizon, *pair, **kernel)
    assert vague.static == exact.static
    assert vague.largest >= exact.largest
    ratio = corollary1_order(rate / 16, horizon, *pair, **kernel).variance_mismatch / vague.variance_mismatch
    assert ratio == pytest.approx(16**-exact.rate_exponent)


@given(st.integers(10, 10**4), lambdas, kernels)
def test_the_region_is_where_the_static_term_stops_dominating(
    horizon: int, pair: tuple[float, float], kernel: dict
) -> None:
    edge = sublinear_region(horizon, *pair, **kernel)
    inside = corollary1_order(edge * 0.999, horizon, *pair, **kernel)
    outside = corollary1_order(edge * 1.001, horizon, *pair, **kernel)
    assert inside.largest == inside.static
    assert outside.largest > outside.static


def test_the_printed_matern_region_is_too_large() -> None:
    horizon, lambda1, lambda2, kernel = 100, 0.5, 2.0, {"nu": 2.5, "dim": 2}
    xi = 6 / 11
    printed = min(lambda1**xi / lambda2 ** (1 - xi), lambda1 ** (3 * (1 - xi))) / horizon ** (4 - xi)
    order = corollary1_order(printed, horizon, lambda1, lambda2, **kernel)
    assert order.largest > 1.2 * order.static
    assert sublinear_region(horizon, lambda1, lambda2, **kernel) < printed / 2


@given(st.integers(10, 10**4), lambdas, kernels)
def test_theorem_1_is_sublinear_beyond_the_region(
    horizon: int, pair: tuple[float, float], kernel: dict
) -> None:
    """ε = T^-(4-ξ) / λ2 suffices whatever λ1, since no block outlasts T."""
    order = corollary1_order(0.01, horizon, **kernel)
    rate = horizon ** -(4 - order.xi) / pair[1]
    assert rate >= sublinear_region(horizon, *pair, **kernel) * (1 - 1e-9)
    window = reset_window(
        (pair[0] * rate * (1 - 1e-9), pair[1] * rate * (1 - 1e-9)), horizon, constant=1.0, **kernel
    )
    assert window == (horizon, horizon)
    result = bound(horizon, rate, (horizon, horizon), horizon**order.xi)
    reference = bound(horizon, 1.0, (1, 1), 1.0)
    assert horizon * result.variance_mismatch / reference.variance_mismatch <= order.static * (1 + 1e-9)
    assert horizon * result.mean_mismatch / reference.mean_mismatch <= order.static * (1 + 1e-9)


@pytest.mark.parametrize("dim", [1, 3])
def test_a_very_smooth_matern_is_the_squared_exponential(dim: int) -> None:
    smooth = corollary1_order(0.001, 1000, 0.1, 3.0, nu=1e9, dim=dim)
    plain = corollary1_order(0.001, 1000, 0.1, 3.0)
    for field in dataclasses.fields(plain):
        assert getattr(smooth, field.name) == pytest.approx(getattr(plain, field.name), rel=1e-6, abs=1e-6)
    rough = corollary1_order(0.001, 1000, 0.1, 3.0, nu=2.5, dim=dim)
    assert rough.largest > 1.1 * plain.largest
    region = sublinear_region(1000, 0.1, 3.0)
    assert region == pytest.approx(1e-15, rel=1e-9)
    assert sublinear_region(1000, 0.1, 3.0, nu=1e9, dim=dim) == pytest.approx(region, rel=1e-6)


def call_bound(**changed: object) -> RegretBound:
    arguments = {
        "horizon": 100,
        "rate": 0.1,
        "window": (5, 10),
        "information_gain": 3.0,
        "noise_variance": 0.1,
        "delta": 0.1,
        "dim": 2,
        **CONSTANTS,
    }
    return theorem1_bound(**{**arguments, **changed})


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"horizon": 0}, "horizon=0"),
        ({"rate": 1.5}, "rate=1.5"),
        ({"rate": -0.5}, "rate=-0.5"),
        ({"window": 5}, "window=5"),
        ({"window": (5, 101)}, r"window\[1\]=101"),
        ({"window": (11, 10)}, r"window\[0\]=11"),
        ({"window": (0, 10)}, r"window\[0\]=0"),
        ({"information_gain": -1.0}, "information_gain=-1.0"),
        ({"noise_variance": 0.0}, "noise_variance=0.0"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"dim": 0}, "dim=0"),
        ({"a0": -1.0}, "a0=-1.0"),
        ({"b0": -1.0}, "b0=-1.0"),
        ({"a1": -1.0}, "a1=-1.0"),
        ({"b1": -1.0}, "b1=-1.0"),
        ({"r": 0.0}, "r=0.0"),
    ],
)
def test_theorem_errors_name_the_argument(changed: dict, named: str) -> None:
    call_bound()
    with pytest.raises((InvalidArgument, InvalidType), match=f"^{named}"):
        call_bound(**changed)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: corollary1_order(0.0, 100), "rate=0.0"),
        (lambda: corollary1_order(1.0, 100), "rate=1.0"),
        (lambda: corollary1_order(0.1, 0), "horizon=0"),
        (lambda: corollary1_order(0.1, 100, lambda1=0.0), "lambda1=0.0"),
        (lambda: corollary1_order(0.1, 100, lambda1=1.5), "lambda1=1.5"),
        (lambda: corollary1_order(0.1, 100, lambda2=0.5), "lambda2=0.5"),
        (lambda: corollary1_order(0.1, 100, lambda2=10.0), "lambda2=10.0: must be below 1/rate"),
        (lambda: corollary1_order(0.1, 100, nu=2.0, dim=1), "nu=2.0"),
        (lambda: sublinear_region(0), "horizon=0"),
        (lambda: sublinear_region(100, 0.0), "lambda1=0.0"),
        (lambda: sublinear_region(100, 1.0, 0.9), "lambda2=0.9"),
        (lambda: sublinear_region(100, nu=1.5, dim=1), "nu=1.5"),
    ],
)
def test_corollary_errors_name_the_argument(call, named: str) -> None:
    with pytest.raises((InvalidArgument, InvalidType), match=f"^{named}"):
        call()


def test_results_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        call_bound().beta = 1.0  # type: ignore[misc]
