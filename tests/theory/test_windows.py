"""Reset windows against the paper's figures and against exact integer arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.errors import InvalidArgument, InvalidType
from windvane.theory import reset_time, reset_window, window_exponent

rates = st.floats(0.0, 1.0)


def exact_length(rate: Fraction, power: int, root: int, constant: int = 12) -> int:
    """The smallest n with n >= constant rate^(-power/root), decided in integers."""
    n = 1
    while n**root * rate**power < constant**root:
        n += 1
    return n


@pytest.mark.parametrize(("rate", "period"), [(0.01, 38), (0.03, 29), (0.05, 26), (0.001, 68)])
def test_reset_time_gives_the_paper_table(rate: float, period: int) -> None:
    assert reset_time(rate, 400) == period


def test_reset_time_at_0_2_is_18_where_the_paper_prints_17() -> None:
    assert reset_time(0.2, 400) == 18


@given(st.integers(1, 1000))
def test_reset_time_is_exact(thousandths: int) -> None:
    assert reset_time(thousandths / 1000) == exact_length(Fraction(thousandths, 1000), 1, 4)


@pytest.mark.parametrize(
    ("rate", "period"), [(1e-4, 120), (1 / 81, 36), (1 / 16, 24), (1.0, 12), (1e-8, 1200)]
)
def test_rounding_error_does_not_add_a_step(rate: float, period: int) -> None:
    assert reset_time(rate) == period


@pytest.mark.parametrize(
    ("rate", "horizon", "period"), [(0.0, 400, 400), (1e-9, 400, 400), (0.01, 37, 37), (1, 1, 1)]
)
def test_reset_time_never_exceeds_the_horizon(rate: float, horizon: int, period: int) -> None:
    assert reset_time(rate, horizon) == period


def test_reset_time_with_another_constant_and_exponent() -> None:
    assert reset_time(0.25, constant=3.0, exponent=0.5) == 6
    assert reset_time(0.5, constant=0.1) == 1


@pytest.mark.parametrize(
    ("bounds", "window"),
    [
        ((0.01, 0.05), (26, 38)),
        ((0.001, 0.1), (22, 68)),
        ((0.0, 1.0), (1, 400)),
        ((0.03, 0.03), (29, 29)),
        ((0.0, 0.0), (400, 400)),
        ((1.0, 1.0), (1, 12)),
    ],
)
def test_reset_window_of_the_paper_variants(bounds: tuple[float, float], window: tuple[int, int]) -> None:
    assert reset_window(bounds, 400) == window


def test_no_horizon_leaves_the_window_open() -> None:
    assert reset_window((0.0, 0.1)) == (22, None)
    assert reset_window((0.001, 0.1)) == (22, 68)


@given(st.integers(1, 999))
def test_matern_window_is_exact(thousandths: int) -> None:
    """nu = 2.5, d = 2: xi = 6/11, so the exponent is 11/38."""
    rate = Fraction(thousandths, 1000)
    expected = exact_length(rate, 11, 38)
    assert reset_window((float(rate), float(rate)), nu=2.5, dim=2) == (expected, expected)


@given(st.lists(rates, min_size=4, max_size=4), st.integers(1, 10**6), st.sampled_from([None, 2.1, 2.5, 7.5]))
def test_a_wider_belief_gives_a_wider_window(values: list[float], horizon: int, nu: float | None) -> None:
    lowest, low, high, highest = sorted(values)
    inner = reset_window((low, high), horizon, nu=nu, dim=3)
    outer = reset_window((lowest, highest), horizon, nu=nu, dim=3)
    assert inner[1] is not None
    assert outer[1] is not None
    assert 1 <= outer[0] <= inner[0] <= inner[1] <= outer[1] <= horizon


@pytest.mark.parametrize("dim", [1, 2, 6])
def test_a_very_smooth_matern_is_the_squared_exponential(dim: int) -> None:
    assert window_exponent(1e9, dim) == pytest.approx(window_exponent(), rel=1e-6)
    assert window_exponent(2.5, dim) > window_exponent() == 0.25
    assert reset_window((0.001, 0.1), 400, nu=1e9, dim=dim) == reset_window((0.001, 0.1), 400)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: reset_time(-0.1, 400), "rate=-0.1"),
        (lambda: reset_time(1.1, 400), "rate=1.1"),
        (lambda: reset_time(math.nan, 400), "rate=nan"),
        (lambda: reset_time(0.0), "rate=0.0"),
        (lambda: reset_time(1e-300, exponent=2.0), "rate=1e-300"),
        (lambda: reset_time(0.1, 0), "horizon=0"),
        (lambda: reset_time(0.1, 1.5), "horizon=1.5"),
        (lambda: reset_time(0.1, 400, constant=0.0), "constant=0.0"),
        (lambda: reset_time(0.1, 400, exponent=0.0), "exponent=0.0"),
        (lambda: reset_window(0.1, 400), "rate_bounds=0.1"),
        (lambda: reset_window((0.1, 0.2, 0.3), 400), r"rate_bounds=\(0.1, 0.2, 0.3\)"),
        (lambda: reset_window((0.2, 0.1), 400), r"rate_bounds=\(0.2, 0.1\): the lower"),
        (lambda: reset_window((-0.1, 0.1), 400), r"rate_bounds\[0\]=-0.1"),
        (lambda: reset_window((0.1, 1.1), 400), r"rate_bounds\[1\]=1.1"),
        (lambda: reset_window((0.0, 0.0)), r"rate_bounds=\(0.0, 0.0\)"),
        (lambda: reset_window((0.1, 0.2), 400, nu=2.0, dim=1), "nu=2.0"),
        (lambda: reset_window((0.1, 0.2), 400, nu=2.5), "dim=None"),
        (lambda: reset_window((0.1, 0.2), 400, constant=-1.0), "constant=-1.0"),
    ],
)
def test_errors_name_the_argument(call, named: str) -> None:
    with pytest.raises((InvalidArgument, InvalidType), match=f"^{named}"):
        call()
