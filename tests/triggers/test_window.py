"""ResetWindow against a literal transcription of Alg. 1, line 8."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane import codec
from windvane.triggers import ResetWindow


def resets(fired, t_r, n_low, n_high):
    return (fired and n_low <= t_r <= n_high) or t_r == n_high


@given(st.booleans(), st.integers(1, 30), st.integers(1, 20), st.none() | st.integers(0, 20))
def test_against_algorithm_1(fired, elapsed, low, width):
    high = None if width is None else low + width
    top = math.inf if high is None else high
    if elapsed > top:
        elapsed = high  # Alg. 1 never gets past N_high
    decision = ResetWindow(low, high).decide(fired, elapsed)
    assert (decision != "no") == resets(fired, elapsed, low, top)
    if decision != "no":
        assert decision == ("triggered" if fired else "forced")


@pytest.mark.parametrize(("fired", "decision"), [(True, "triggered"), (False, "forced")])
def test_past_the_window_a_reset_stays_due(fired, decision):
    assert ResetWindow(2, 4).decide(fired, 9) == decision


def test_a_window_of_one_step_is_periodic():
    assert [ResetWindow(3, 3).decide(False, t) for t in (1, 2, 3)] == ["no", "no", "forced"]
    assert [ResetWindow(3, 3).decide(True, t) for t in (1, 2, 3)] == ["no", "no", "triggered"]


@pytest.mark.parametrize("window", [ResetWindow(), ResetWindow(2), ResetWindow(2, 9)])
def test_survives_the_codec(window):
    assert codec.decode(codec.encode(window)) == window
