"""The rows of a log as they are found in a file, and which of a study's journal count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from windvane.replay.cells import missing
from windvane.spaces import Domain

RESET = "reset"  # one that was asked for
TOLD = "told"  # the records of a study's journal that are measurements
ENTRIES = (TOLD, RESET, "retracted", "corrected", "redefined")  # that say what counts


class JournalEntry(NamedTuple):
    """What a study wrote of a record beside the measurement; `record` is the one that it is about, if any."""

    seq: int
    kind: str
    record: int | None
    reason: str
    time: Any  # as it was told
    gone: bool = False  # it was taken back
    before: bool = False  # it was told before the space changed


class LogRow(NamedTuple):
    """An observation as it was found; `journal` if a study wrote it down."""

    place: str
    raw: Any
    y: Any
    time: Any
    metadata: dict[str, Any]
    journal: bool
    noise: dict[str, Any]  # noise_variance or std, as it was found
    repeats: Any = None
    entry: JournalEntry | None = None
    outcomes: Mapping[str, Any] = MappingProxyType({})  # of constraints, as they were found


class LogReading(NamedTuple):
    """What to make of a file."""

    path: Path
    space: Domain | None
    metadata: tuple[str, ...]
    outcomes: tuple[str, ...] = ()  # the constraints whose values are wanted
    y: str | None = None  # the column of the value, if it is not called y or value
    time: str | None = None  # the column of the time, if it is not called time
    decimal_comma: bool = False
    units: Mapping[str, str] = MappingProxyType({})  # that are known, by the names of columns


def as_it_counts(read: Callable[[], Iterator[LogRow]]) -> Iterator[LogRow]:
    """The rows of a study's journal as its own later records say that they count; any others as they are.

    What later records say is collected first, so a journal is read twice.
    """
    rows = read()
    first = next(rows, None)
    if first is None:
        return
    if first.entry is None:
        yield first
        yield from rows
        return
    right: dict[int | None, LogRow] = {}
    changed = 0
    amended = False
    for row in chain((first,), rows):
        if row.entry is not None and row.entry.kind not in (TOLD, RESET):
            amended = True
            if row.entry.kind == "redefined":
                changed = max(changed, row.entry.seq)
            else:
                right[row.entry.record] = row
    for row in read():
        entry = row.entry
        if entry is None or entry.kind not in (TOLD, RESET):
            continue
        if not amended:
            yield row
            continue
        word = right.get(entry.seq) if entry.kind == TOLD else None
        gone = word is not None and word.entry is not None and word.entry.kind == "retracted"
        if word is not None and not gone:
            row = row._replace(y=word.y, noise=word.noise, repeats=word.repeats, outcomes=word.outcomes)
        time = row.time if missing(entry.time) else entry.time
        yield row._replace(time=time, entry=entry._replace(gone=gone, before=entry.seq < changed))
