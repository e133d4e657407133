"""How times are written: one way for every message, table and axis.

The caller's time is a number in any unit, or a datetime, which is kept as its seconds since 1970. A number
that is a date of this century in these seconds is written as that date, in UTC; any other as the number it
is. Where nobody told a time, an observation is a step, and nothing but its number is written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime

EARLIEST, LATEST = 978_307_200.0, 4_102_444_800.0  # 2001 and 2100, in seconds since 1970


def is_date(time: float) -> bool:
    """Whether a time is meant as a date.

    >>> is_date(1_772_366_400.0), is_date(81.0)
    (True, False)
    """
    return EARLIEST <= time < LATEST


def utc(seconds: float) -> str:
    """Seconds since 1970 as date and time.

    >>> utc(1_772_366_400.25)
    '2026-03-01 12:00:00 UTC'
    """
    return datetime.fromtimestamp(math.floor(seconds), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def time_text(time: float) -> str:
    """A time as the caller told it.

    >>> time_text(1_772_366_400.0), time_text(40.5)
    ('2026-03-01 12:00:00 UTC', 'time 40.5')
    """
    return utc(time) if is_date(time) else f"time {time:.10g}"


def place_text(step: int, time: float | None) -> str:
    """When something happened: the time, if one was told, and the number of the step.

    >>> place_text(81, 81.0), place_text(81, 40.5)
    ('step 81', 'time 40.5 (step 81)')
    """
    if time is None or not math.isfinite(time) or time == step:
        return f"step {step}"
    return f"{time_text(time)} (step {step})"


def in_times(text: str, time_of: Callable[[int], float | None]) -> str:
    """A sentence that speaks of steps, with the times that the caller told of them.

    >>> in_times("a sudden change at step 81 is believed", {81: 1_772_366_400.0}.get)
    'a sudden change at 2026-03-01 12:00:00 UTC (step 81) is believed'
    >>> in_times("a sudden change at step 81 is believed", {81: 81.0}.get)
    'a sudden change at step 81 is believed'
    >>> in_times("the regime of steps 11 to 20 is back", lambda step: 0.5 * step)
    'the regime of time 5.5 to time 10 (steps 11 to 20) is back'
    """

    def span(found: re.Match[str]) -> str:
        steps = int(found[1]), int(found[2])
        times = [time for time in map(time_of, steps) if time is not None and math.isfinite(time)]
        if len(times) < 2 or all(step == time for step, time in zip(steps, times, strict=True)):
            return found[0]
        return f"{' to '.join(map(time_text, times))} ({found[0]})"

    text = re.sub(r"\bsteps (\d+) to (\d+)\b", span, text)
    return re.sub(r"\bstep (\d+)\b", lambda found: place_text(int(found[1]), time_of(int(found[1]))), text)


def span_text(duration: float, dates: bool) -> str:
    """How long something lasts: in a unit if it is between dates, else in the caller's.

    >>> span_text(5400.0, True), span_text(20.0, True), span_text(1.5, False)
    ('1.5 h', '20 s', '1.5')
    """
    if not dates:
        return f"{duration:.6g}"
    for size, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if duration >= 1.5 * size or (unit != "days" and duration >= size):
            return f"{duration / size:.3g} {unit}"
    return f"{duration:.3g} s"
