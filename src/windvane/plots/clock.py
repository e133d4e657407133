"""The axis of time that figures of events share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from windvane.checks import Array, one_of
from windvane.data import Event
from windvane.extras import require
from windvane.moments import is_date
from windvane.plots.picture import EXTRA
from windvane.plots.style import text

Clock = Literal["step", "time"]
DATES = "time (UTC)"
DAY = 86_400.0  # seconds: pictures count days since 1970


def axis(events: Sequence[Event], against: Clock) -> tuple[Array, str]:
    """Where each event lies, and what the axis is called."""
    if one_of("against", against, ("step", "time")) == "step":
        return np.array([event.step for event in events], dtype=np.float64), "step"
    return since_first(np.array([event.time for event in events], dtype=np.float64))


def since_first(times: Array) -> tuple[Array, str]:
    """Times as they are, as days if they are dates, or since the first one if all begin with the same digits.

    >>> since_first(np.array([1.0, 2.0]))
    (array([1., 2.]), 'time')
    >>> since_first(np.array([7e5, 7e5 + 60.0]))
    (array([ 0., 60.]), 'time since 700000')
    >>> since_first(np.array([1772323200.0, 1772366400.0]))
    (array([20513. , 20513.5]), 'time (UTC)')
    """
    first, span = float(times[0]), float(times[-1] - times[0])
    if is_date(first):
        return times / DAY, DATES
    if abs(first) > 20.0 * span:
        return times - first, f"time since {first:.12g}"
    return times, "time"


def caption_time(panel: Any, caption: str, places: Array) -> None:
    """Say what the axis of time is, write dates where they are dates, and leave a little room at the ends."""
    pad = 0.01 * float(places[-1] - places[0]) or 0.5
    panel.set_xlim(places[0] - pad, places[-1] + pad)
    panel.set_xlabel(caption, fontsize=text(9))
    if caption == DATES:
        dates = require("matplotlib.dates", EXTRA)
        locator = dates.AutoDateLocator(tz="UTC")
        panel.xaxis.set_major_locator(locator)
        panel.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, tz="UTC"))
