"""From the rows of a file to a log: values checked, times in order."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from windvane.accuracy import Accuracy
from windvane.errors import InvalidArgument, WindvaneError
from windvane.reading import noise_of_one
from windvane.replay.cells import missing, moment, number, point
from windvane.replay.layout import NOISE
from windvane.replay.log import Log
from windvane.replay.rows import LogReading, LogRow


class Checked(NamedTuple):
    """An observation in the caller's terms; `time` is None where a study was told none."""

    place: str
    x: Any
    y: float
    time: float | None
    metadata: dict[str, Any]
    journal: bool
    noise: float | None
    repeats: tuple[float, ...]
    outcomes: Mapping[str, float] = MappingProxyType({})
    gone: bool = False  # taken back: it has its place in time, and nothing else


def checked(row: LogRow, reading: LogReading) -> Checked:
    """An observation in the caller's terms; an error names the file and the line."""
    if row.entry is not None and row.entry.gone:
        return gone(row)
    try:
        values = _values(row.repeats)
        y = Accuracy.of_repeats(values)[0] if values else row.y
        if missing(y):
            raise InvalidArgument(
                "y is missing or NaN; take the observation out, or have it skipped: skip_missing=True, or "
                "--skip-missing in a shell"
            )
        time = None if missing(row.time) else moment(row.time)
        noise = {name: number(name, cell) for name, cell in row.noise.items() if not missing(cell)}
        x, value = point(reading.space, row.raw), number(reading.y or "y", y)
        outcomes = {name: number(name, cell) for name, cell in row.outcomes.items() if not missing(cell)}
        known = noise_of_one(*(noise.get(name) for name in NOISE))
        return Checked(row.place, x, value, time, row.metadata, row.journal, known, values, outcomes)
    except WindvaneError as error:
        raise type(error)(f"{reading.path}, {row.place}: {error}") from None


def gone(row: LogRow) -> Checked:
    """One of which nothing counts but its place in time."""
    time = None if missing(row.time) else moment(row.time)
    return Checked(row.place, None, math.nan, time, {}, True, None, (), gone=True)


def _values(cell: Any) -> tuple[float, ...]:
    """Repeats: a list, or the text of one; none if the cell is empty."""
    if missing(cell):
        return ()
    try:
        found = json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise InvalidArgument(f"values={cell!r}: must be a list of repeats, as in [1.2, 1.4]")
    return tuple(number(f"values[{i}]", each) for i, each in enumerate(found))


def assembled(
    rows: list[Checked],
    resets: list[tuple[int, str]],
    path: Path,
    *,
    metadata: Sequence[str],
    outcomes: Collection[str],
    sort: bool,
    notes: list[str],
) -> Log:
    """A log of all of them."""
    times: list[float] | None = None
    gaps = any(row.gone for row in rows)
    if all(row.journal for row in rows):
        times, late = _as_the_study_did([(row.time, row.gone) for row in rows], gaps)
        rows = [row for row in rows if not row.gone]
        if late:
            some = "A time was" if late == 1 else f"{late} times were"
            notes.append(f"{some} before the one above; the study took the newest, and so it is here.")
    elif any(row.time is not None for row in rows):
        times = [row.time for row in rows if row.time is not None]
        if sort and any(later < sooner for sooner, later in pairwise(times)):
            order = sorted(range(len(rows)), key=times.__getitem__)  # stable
            rows, times = [rows[i] for i in order], [times[i] for i in order]
            notes.append("The lines were not in the order of time, and have been sorted.")
    return Log(
        points=tuple(row.x for row in rows),
        values=tuple(row.y for row in rows),
        times=None if times is None else tuple(times),
        metadata=tuple(row.metadata for row in rows) if metadata else (),
        source=str(path),
        places=tuple(row.place for row in rows),
        notes=tuple(notes),
        noise=_some([row.noise for row in rows], None),
        repeats=_some([row.repeats for row in rows], ()),
        resets=tuple(resets),
        outcomes=tuple(row.outcomes for row in rows) if outcomes else (),
        gaps=gaps,
    )


def _some(cells: list[Any], nothing: Any) -> tuple[Any, ...]:
    """The cells of a column; () if there is nothing in them."""
    return tuple(cells) if any(cell != nothing for cell in cells) else ()


def _as_the_study_did(told: list[tuple[float | None, bool]], gaps: bool) -> tuple[list[float] | None, int]:
    """The model's times: one after the last where none was told, and never before it; and how many were.

    With `gaps`, some are of nothing that counts any longer: a step has passed, but no time that was told.
    """
    if all(time is None for time, _ in told) and not gaps:
        return None, 0
    clock = StudyClock()
    times = [at for time, gone in told if (at := clock.at(time, gone)) is not None]
    return times, clock.late


class StudyClock:
    """The time of a study's model, which does not go back; `late` counts the times that would have."""

    def __init__(self) -> None:
        self._last: float | None = None
        self.late = 0

    def at(self, time: float | None, gone: bool = False) -> float | None:
        """The time of the next observation, which was told `time`; None if nothing of it counts."""
        if time is None:
            self._last = 1.0 if self._last is None else self._last + 1.0
        elif not gone:
            self.late += self._last is not None and time < self._last
            self._last = time if self._last is None else max(time, self._last)
        return None if gone else self._last
