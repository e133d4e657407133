"""NoImprovement against a slow transcription that keeps the whole history."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from windvane.data import Prediction
from windvane.triggers import NoImprovement, replay

UNUSED = Prediction(0.0, 1.0, 0.01)
LEVELS = st.integers(-3, 3).map(float) | st.floats(-1e6, 1e6)


def failures_in_a_row(history, tolerance):
    """How many observations at the end of the history did not improve on all before them."""
    failures = 0
    for i in range(len(history) - 1, 0, -1):
        best = max(history[:i])
        if history[i] > best + tolerance * abs(best):
            break
        failures += 1
    return failures


@given(st.lists(LEVELS, max_size=25), st.integers(1, 5), st.sampled_from([0.0, 1e-3, 0.5]))
def test_against_the_transcription(ys, patience, tolerance):
    verdicts = replay(NoImprovement(patience, tolerance), [(UNUSED, y) for y in ys])
    wanted = [failures_in_a_row(ys[: i + 1], tolerance) for i in range(len(ys))]
    assert [verdict.statistic for verdict in verdicts] == wanted
    assert [verdict.fired for verdict in verdicts] == [failures >= patience for failures in wanted]
    assert {verdict.threshold for verdict in verdicts} <= {patience - 1.0}


def test_small_gains_raise_the_best_but_do_not_count():
    trigger = NoImprovement(2, tolerance=0.1)
    verdicts = replay(trigger, [(UNUSED, y) for y in (1.0, 1.05, 1.14)])
    assert [verdict.statistic for verdict in verdicts] == [0.0, 1.0, 2.0]  # 1.14 < 1.05 + 0.105


def test_the_tolerance_asks_for_more_also_below_zero():
    verdicts = replay(NoImprovement(2, tolerance=0.5), [(UNUSED, y) for y in (-2.0, -2.0, -1.5, -0.5)])
    assert [verdict.statistic for verdict in verdicts] == [0.0, 1.0, 2.0, 0.0]


def test_the_memory_is_best_and_failures():
    trigger = NoImprovement(3)
    _, memory = trigger.test(trigger.start(), UNUSED, -2.0, 1)
    assert memory == (-2.0, 0)
    _, memory = trigger.test(memory, UNUSED, -2.0, 2)
    assert memory == (-2.0, 1)
    _, memory = trigger.test(memory, UNUSED, -1.0, 3)
    assert memory == (-1.0, 0)
