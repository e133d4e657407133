"""Schedules against the printed formulas and the property each was chosen for."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.errors import InvalidArgument, InvalidType
from windvane.theory import igp_multiplier, log_beta, theorem1_beta

theorem1 = st.tuples(
    st.integers(1, 10**5),
    st.floats(1e-6, 0.99),
    st.integers(1, 20),
    st.floats(1.0, 100.0),
    st.floats(1.0, 100.0),
    st.floats(1.0, 10.0),
)


@pytest.mark.parametrize(("step", "c1", "c2"), [(1, "0.4", "4"), (400, "0.4", "4"), (286, "0.8", "0.4")])
def test_log_beta_matches_decimal_arithmetic(step: int, c1: str, c2: str) -> None:
    expected = float(Decimal(c1) * (Decimal(c2) * step).ln())
    assert log_beta(step, float(c1), float(c2)) == pytest.approx(expected, rel=1e-14)


def test_log_beta_of_the_temperature_data_is_clipped_for_two_steps() -> None:
    assert [log_beta(t, 0.8, 0.4) > 0 for t in (1, 2, 3)] == [False, False, True]
    assert log_beta(1, 0.8, 0.4) == 0.0


@given(theorem1)
def test_theorem1_beta_is_the_printed_formula(args: tuple[int, float, int, float, float, float]) -> None:
    t, delta, d, a1, b1, r = args
    inner = np.log(2 * d * a1 * np.pi**2 * t**2 / (3 * delta))
    printed = 2 * np.log(2 * np.pi**2 * t**2 / (3 * delta)) + 2 * d * np.log(
        t**2 * d * b1 * r * np.sqrt(inner)
    )
    assert theorem1_beta(*args) == pytest.approx(printed, rel=1e-12)


@given(theorem1)
def test_theorem1_grid_is_fine_enough_for_lemma_8(args: tuple[int, float, int, float, float, float]) -> None:
    """With the derivative bound of Lemma 6 at delta / 4, rounding to the grid moves f by 1 / t² at most."""
    t, delta, d, a1, b1, r = args
    pi_t = math.pi**2 * t**2 / 6
    single_point = 2 * math.log(4 * pi_t / delta)
    side = math.exp((theorem1_beta(*args) - single_point) / (2 * d))
    lipschitz = b1 * math.sqrt(math.log(d * a1 * pi_t / (delta / 4)))
    assert lipschitz * r * d / side == pytest.approx(1 / t**2, rel=1e-6)


@given(
    st.integers(1, 1000),
    st.floats(0.01, 0.99),
    st.integers(1, 5),
    st.floats(0.0, 2.0),
    st.floats(0.0, 2.0),
    st.floats(0.001, 2.0),
)
def test_theorem1_beta_never_falls_below_a_single_point_nor_over_time(
    t: int, delta: float, d: int, a1: float, b1: float, r: float
) -> None:
    beta = theorem1_beta(t, delta, d, a1, b1, r)
    assert beta >= 2 * math.log(2 * math.pi**2 * t**2 / (3 * delta)) * (1 - 1e-12)
    assert theorem1_beta(t + 1, delta, d, a1, b1, r) > beta


def test_a_constant_objective_needs_a_single_point() -> None:
    assert theorem1_beta(3, 0.1, 2, a1=0.0, b1=1.0, r=1.0) == pytest.approx(2 * math.log(60 * math.pi**2))


def test_igp_multiplier_by_hand() -> None:
    assert igp_multiplier(0.0, bound=3.0, noise_scale=1.0, delta=1 / math.e) == pytest.approx(5.0)
    assert igp_multiplier(6.0, bound=0.0, noise_scale=0.5, delta=1 / math.e) == pytest.approx(2.0)
    assert igp_multiplier(6.0, bound=1.5, noise_scale=0.0, delta=0.1) == 1.5


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: log_beta(0, 0.4, 4.0), "step=0"),
        (lambda: log_beta(1.5, 0.4, 4.0), "step=1.5"),
        (lambda: log_beta(1, -0.4, 4.0), "c1=-0.4"),
        (lambda: log_beta(1, 0.4, 0.0), "c2=0.0"),
        (lambda: theorem1_beta(0, 0.1, 1, 1, 1, 1), "step=0"),
        (lambda: theorem1_beta(1, 1.0, 1, 1, 1, 1), "delta=1.0"),
        (lambda: theorem1_beta(1, 0.1, 0, 1, 1, 1), "dim=0"),
        (lambda: theorem1_beta(1, 0.1, 1, -1, 1, 1), "a1=-1"),
        (lambda: theorem1_beta(1, 0.1, 1, 1, -1, 1), "b1=-1"),
        (lambda: theorem1_beta(1, 0.1, 1, 1, 1, 0), "r=0"),
        (lambda: igp_multiplier(-1.0, 1, 1, 0.1), "information_gain=-1.0"),
        (lambda: igp_multiplier(1.0, -1, 1, 0.1), "bound=-1"),
        (lambda: igp_multiplier(1.0, 1, -1, 0.1), "noise_scale=-1"),
        (lambda: igp_multiplier(1.0, 1, 1, 0.0), "delta=0.0"),
        (lambda: igp_multiplier(math.inf, 1, 1, 0.1), "information_gain=inf"),
    ],
)
def test_errors_name_the_argument(call, named: str) -> None:
    with pytest.raises((InvalidArgument, InvalidType), match=f"^{named}"):
        call()
