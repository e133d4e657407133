"""The axis of time that figures of events share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from windvane.checks import Array, one_of
from windvane.data import Event

Clock = Literal["step", "time"]


def axis(events: Sequence[Event], against: Clock) -> tuple[Array, str]:
    """Where each event lies, and what the axis is called."""
    if one_of("against", against, ("step", "time")) == "step":
        return np.array([event.step for event in events], dtype=np.float64), "step"
    return since_first(np.array([event.time for event in events], dtype=np.float64))


def since_first(times: Array) -> tuple[Array, str]:
    """Times as they are, or since the first one if they would all begin with the same digits.

    >>> since_first(np.array([1.0, 2.0]))
    (array([1., 2.]), 'time')
    >>> since_first(np.array([1.7e9, 1.7e9 + 60.0]))
    (array([ 0., 60.]), 'time since 1700000000')
    """
    first, span = float(times[0]), float(times[-1] - times[0])
    if abs(first) > 20.0 * span:
        return times - first, f"time since {first:.12g}"
    return times, "time"
