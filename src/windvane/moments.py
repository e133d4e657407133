"""How times are written: one way for every message, table and axis.

The caller's time is a number in any unit, or a datetime, which is kept as its seconds since 1970. A number
that is a date of this century in these seconds is written as that date, in UTC; any other as the number it
is. Where nobody told a time, an observation is a step, and nothing but its number is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

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


class NamedSteps(NamedTuple):
    """A step that a sentence names, or the first of several up to the `last`; with its time if one was told.

    >>> str(NamedSteps(81)), str(NamedSteps(81, 40.5)), str(NamedSteps(11, 11.0, 20, 20.0))
    ('step 81', 'time 40.5 (step 81)', 'steps 11 to 20')
    >>> str(NamedSteps(11, 5.5, 20, 10.0))
    'time 5.5 to time 10 (steps 11 to 20)'
    """

    step: int
    time: float | None = None
    last: int | None = None
    last_time: float | None = None

    def __str__(self) -> str:
        if self.last is None:
            return place_text(self.step, self.time)
        ends = ((self.step, self.time), (self.last, self.last_time))
        steps = f"steps {self.step} to {self.last}"
        times = [time for _, time in ends if time is not None and math.isfinite(time)]
        if len(times) < len(ends) or all(step == time for step, time in ends):
            return steps
        return f"{' to '.join(map(time_text, times))} ({steps})"

    def at(self, time_of: Callable[[int], float | None]) -> NamedSteps:
        """The same with the times that were told, or without any."""
        last_time = None if self.last is None else time_of(self.last)
        return self._replace(time=time_of(self.step), last_time=last_time)

    def earlier(self, steps: int) -> NamedSteps:
        """The same by so many steps earlier, though not before the first."""
        last = None if self.last is None else max(1, self.last - steps)
        return self._replace(step=max(1, self.step - steps), last=last)


Sentence: TypeAlias = tuple[str | NamedSteps, ...]
"""A sentence in parts, so that the steps it names can be told in times, counted anew or named otherwise."""


def in_words(sentence: Sentence) -> str:
    """The text of a sentence.

    >>> in_words(("a sudden change at ", NamedSteps(81, 40.5), " is believed"))
    'a sudden change at time 40.5 (step 81) is believed'
    """
    return "".join(map(str, sentence))


def with_steps(sentence: Sentence, told: Callable[[NamedSteps], str | NamedSteps]) -> Sentence:
    """The sentence with something else in the place of the steps it names.

    >>> with_steps(("changed at ", NamedSteps(81)), lambda named: named.earlier(2))
    ('changed at ', NamedSteps(step=79, time=None, last=None, last_time=None))
    """
    return tuple(told(part) if isinstance(part, NamedSteps) else part for part in sentence)


def sentence_to_json(sentence: Sentence) -> list[Any]:
    """Plain JSON.

    >>> sentence_to_json(("changed at ", NamedSteps(81)))
    ['changed at ', {'step': 81, 'time': None, 'last': None, 'last_time': None}]
    """
    return [part._asdict() if isinstance(part, NamedSteps) else part for part in sentence]


def sentence_from_json(parts: Iterable[Any]) -> Sentence:
    """What `sentence_to_json` wrote."""
    return tuple(part if isinstance(part, str) else NamedSteps(**part) for part in parts)


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
