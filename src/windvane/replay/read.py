"""Logs in files: CSV, JSON lines, Parquet; made by hand, by a data logger, or by a study's export."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple

from windvane.accuracy import Accuracy
from windvane.checks import one_of
from windvane.errors import InvalidArgument, InvalidType, StorageFailure, WindvaneError
from windvane.extras import require
from windvane.reading import noise_of_one
from windvane.replay.cells import missing, moment, number, point
from windvane.replay.layout import NOISE, VALUES, Layout, layout_of
from windvane.replay.log import Log
from windvane.spaces import Domain

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
}  # fmt: skip
EXTRA = "parquet"
OFTEN = 2_000  # observations between two calls of on_progress
RESET = "reset"  # one that was asked for
ENTRIES = ("told", "reset", "retracted", "corrected", "redefined")  # that say what counts
TOLD = "told"  # the records of a study's journal that are measurements


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


class LogReading(NamedTuple):
    """What to make of a file."""

    path: Path
    space: Domain | None
    metadata: tuple[str, ...]


def read_log(
    path: str | os.PathLike[str],
    space: Domain | None = None,
    *,
    format: str | None = None,
    metadata: Sequence[str] = (),
    sort: bool = False,
    skip_missing: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Log:
    """The measurements in a file; an error names the file and the line.

    CSV has a header: x1, x2, ... or the names of parameters (or arm), `y` or `value`, and `time` if there
    are times; `noise_variance` or `std` is the noise of a value, where the cell is not empty, and `values` a
    list of repeats, as in [1.2, 1.4], which y is the mean of. Other columns are ignored, unless `metadata`
    names them. A line of JSON is an object with "x" (a list, an arm, or an object of parameters), "y" or
    "value", which may be a list of repeats, "time", and "noise_variance" or "std". Parquet has the columns of
    CSV.
    Of what a study exported, in each of the three, only the measurements count.

    Points are checked against `space`. Times must not go back, unless `sort`; a study has already put
    them in order. Without `skip_missing` an observation whose y is empty or NaN is an error.
    `on_progress` is called with the number of observations read, now and then.
    """
    file = _file(path)
    kind = _format(file) if format is None else one_of("format", format, set(FORMATS.values()))
    if isinstance(metadata, str):
        raise InvalidType(f"metadata={metadata!r}: must be a list of names")
    reading = LogReading(file, space, tuple(metadata))
    readers: dict[str, Callable[[LogReading], Iterator[LogRow]]] = {
        "csv": _csv, "jsonl": _json_lines, "parquet": _parquet,
    }  # fmt: skip
    rows: list[Checked] = []
    resets: list[tuple[int, str]] = []
    skipped = outside = 0
    try:
        for row in as_it_counts(readers[kind](reading)):
            if row.entry is not None and row.entry.kind == RESET:
                resets.append((sum(not each.gone for each in rows), row.entry.reason))
            elif row.entry is not None and row.entry.before and not _inside(row, reading):
                outside += 1
                rows.append(_gone(row))
            elif skip_missing and missing(row.y) and missing(row.repeats):
                skipped += 1
            else:
                rows.append(_checked(row, reading))
                if on_progress is not None and len(rows) % OFTEN == 0:
                    on_progress(len(rows))
    except (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidArgument(f"{file}: cannot be read as {kind}: {error}") from None
    except WindvaneError:
        raise
    except OSError as error:
        raise StorageFailure(f"{file}: {error.strerror or error}") from error
    if all(row.gone for row in rows):
        why = f"; {skipped} without a value were skipped" if skipped else ""
        raise InvalidArgument(f"{file}: has no observations{why}")
    notes = [f"{skipped} observations without a value were skipped."] if skipped else []
    if outside:
        notes.append(f"{outside} observations from before the space changed lie outside, and are left out.")
    return _assembled(rows, resets, reading, sort, notes)


def as_it_counts(rows: Iterator[LogRow]) -> Iterator[LogRow]:
    """The rows of a study's journal as its own later records say that they count; any others as they are."""
    first = next(rows, None)
    if first is None:
        return
    if first.entry is None:
        yield first
        yield from rows
        return
    found = [row for row in (first, *rows) if row.entry is not None]
    if all(row.entry is not None and row.entry.kind in (TOLD, RESET) for row in found):
        yield from found
        return
    right = {
        row.entry.record: row for row in found if row.entry and row.entry.kind in ("retracted", "corrected")
    }
    changed = max((row.entry.seq for row in found if row.entry and row.entry.kind == "redefined"), default=0)
    for row in found:
        entry = row.entry
        if entry is None or entry.kind not in (TOLD, RESET):
            continue
        word = right.get(entry.seq) if entry.kind == TOLD else None
        gone = word is not None and word.entry is not None and word.entry.kind == "retracted"
        if word is not None and not gone:
            row = row._replace(y=word.y, noise=word.noise, repeats=word.repeats)
        time = row.time if missing(entry.time) else entry.time
        yield row._replace(time=time, entry=entry._replace(gone=gone, before=entry.seq < changed))


def _inside(row: LogRow, reading: LogReading) -> bool:
    try:
        point(reading.space, row.raw)
    except WindvaneError:
        return False
    return True


def _file(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InvalidType(f"log={path!r}: must be a path, or a wv.Log")
    file = Path(path).expanduser()
    if file.is_dir():
        raise InvalidArgument(f"{file}: is a folder; must be a file")
    if not file.exists():
        raise InvalidArgument(f"{file}: there is no such file")
    return file


def _format(file: Path) -> str:
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    kind = FORMATS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise InvalidArgument(
            f"{file}: must end in {', '.join(FORMATS)} (or .gz after it), or say which of csv, jsonl and "
            "parquet it is: format=, or --format in a shell"
        )
    return kind


def _opened(file: Path) -> IO[str]:
    # utf-8-sig: spreadsheets write a byte order mark
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


# -- the three formats -------------------------------------------------------------------------------------


def _csv(reading: LogReading) -> Iterator[LogRow]:
    with _opened(reading.path) as file:
        first = file.readline()
        header = [name.strip() for name in next(csv.reader([first], delimiter=_delimiter(first)), [])]
        if not any(header):
            raise InvalidArgument(f"{reading.path}: line 1 must be a header that names the columns")
        layout = _layout(header, reading)
        lines = csv.reader(file, delimiter=_delimiter(first))
        for cells in lines:
            place = f"line {lines.line_num + 1}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InvalidArgument(
                    f"{reading.path}, {place}: has {len(cells)} cells, but the header names {len(header)}"
                )
            yield from _tabular(dict(zip(header, cells, strict=True)), place, layout, reading)


def _delimiter(header: str) -> str:
    """A comma, unless the header has none, but another of the usual ones."""
    return next((mark for mark in (",", ";", "\t") if mark in header), ",")


def _parquet(reading: LogReading) -> Iterator[LogRow]:
    parquet, arrow = require("pyarrow.parquet", EXTRA), require("pyarrow", EXTRA)
    try:
        table = parquet.ParquetFile(reading.path)
        layout = _layout(list(table.schema_arrow.names), reading)
        count = 0
        for batch in table.iter_batches():
            for cells in batch.to_pylist():
                count += 1
                yield from _tabular(cells, f"row {count}", layout, reading)
    except arrow.ArrowException as error:
        raise InvalidArgument(f"{reading.path}: cannot be read as parquet: {error}") from None


def _layout(header: list[str], reading: LogReading) -> Layout:
    for name in header:
        if header.count(name) > 1:
            raise InvalidArgument(f"{reading.path}: two columns are called {name!r}")
    if all(_numeric(name) for name in header):
        raise InvalidArgument(f"{reading.path}: line 1 must be a header that names the columns, not numbers")
    for name in reading.metadata:
        if name not in header:
            raise InvalidArgument(f"{reading.path}: metadata {name!r}: there is no such column")
    try:
        return layout_of(header, reading.space, reading.metadata)
    except WindvaneError as error:
        raise type(error)(f"{reading.path}: {error}") from None


def _numeric(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _tabular(cells: dict[str, Any], place: str, layout: Layout, reading: LogReading) -> Iterator[LogRow]:
    if layout.journal and cells["kind"] not in ENTRIES:
        return
    time = None if layout.time is None else cells[layout.time]
    if layout.time is not None and not layout.journal and missing(time):
        raise InvalidArgument(f"{reading.path}, {place}: time is missing; give all times or none")
    metadata = {name: cells[name] for name in reading.metadata}
    entry = _entry(cells, cells.get("record"), place, reading) if layout.journal else None
    try:
        raw = layout.raw(cells) if entry is None or entry.kind == TOLD else None
    except WindvaneError as error:
        raise type(error)(f"{reading.path}, {place}: {error}") from None
    noise = {name: cells[name] for name in layout.noise}
    repeats = None if layout.repeats is None else cells[layout.repeats]
    yield LogRow(place, raw, cells[layout.y], time, metadata, layout.journal, noise, repeats, entry)


def _entry(found: dict[str, Any], record: Any, place: str, reading: LogReading) -> JournalEntry:
    try:
        about = None if missing(record) else int(record)
        return JournalEntry(
            int(found["seq"]), str(found["kind"]), about, str(found.get("reason") or ""), found.get("time")
        )
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"{reading.path}, {place}: seq and record must be the numbers of records"
        ) from None


def _json_lines(reading: LogReading) -> Iterator[LogRow]:
    timed: bool | None = None
    with _opened(reading.path) as file:
        for count, line in enumerate(file, start=1):
            place = f"line {count}"
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidArgument(f"{reading.path}, {place}: is not JSON: {error}") from None
            row = _json_row(found, place, reading)
            if row is None:
                continue
            if not row.journal:
                timed = (row.time is not None) if timed is None else timed
                if timed != (row.time is not None):
                    raise InvalidArgument(
                        f"{reading.path}, {place}: give a time to all observations or to none"
                    )
            yield row


def _json_row(found: Any, place: str, reading: LogReading) -> LogRow | None:
    if not isinstance(found, dict):
        raise InvalidArgument(f"{reading.path}, {place}: must be an object with x and y")
    journal = "kind" in found and "seq" in found
    if journal and found["kind"] not in ENTRIES:
        return None
    y = next((name for name in VALUES if name in found), None)
    event = found.get("event")
    told = event if isinstance(event, dict) else {}
    entry = _entry(found, told.get("record"), place, reading) if journal else None
    if "x" not in found or y is None:
        lacking = "x" if "x" not in found else "y (or value)"
        raise InvalidArgument(f"{reading.path}, {place}: has no {lacking}; must be an object with x and y")
    time = found.get("time")
    if journal and isinstance(event, dict):
        time = event.get("time", time)
    inside = found.get("metadata")
    known = {**(inside if isinstance(inside, dict) else {}), **found}
    metadata = {name: known.get(name) for name in reading.metadata}
    noise, value, repeats = {name: found.get(name) for name in NOISE}, found[y], None
    if journal:
        noise, repeats = {"noise_variance": told.get("told_variance")}, told.get("values")
    elif isinstance(value, list):
        value, repeats = None, value
    return LogRow(place, found["x"], value, time, metadata, journal, noise, repeats, entry)


# -- from rows to a log ------------------------------------------------------------------------------------


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
    gone: bool = False  # taken back: it has its place in time, and nothing else


def _checked(row: LogRow, reading: LogReading) -> Checked:
    if row.entry is not None and row.entry.gone:
        return _gone(row)
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
        x, value = point(reading.space, row.raw), number("y", y)
        return Checked(
            row.place, x, value, time, row.metadata, row.journal, noise_of_one(**_both(noise)), values
        )
    except WindvaneError as error:
        raise type(error)(f"{reading.path}, {row.place}: {error}") from None


def _gone(row: LogRow) -> Checked:
    time = None if missing(row.time) else moment(row.time)
    return Checked(row.place, None, math.nan, time, {}, True, None, (), gone=True)


def _both(noise: dict[str, float]) -> dict[str, float | None]:
    return {name: noise.get(name) for name in NOISE}


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


def _assembled(
    rows: list[Checked], resets: list[tuple[int, str]], reading: LogReading, sort: bool, notes: list[str]
) -> Log:
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
        metadata=tuple(row.metadata for row in rows) if reading.metadata else (),
        source=str(reading.path),
        places=tuple(row.place for row in rows),
        notes=tuple(notes),
        noise=_some([row.noise for row in rows], None),
        repeats=_some([row.repeats for row in rows], ()),
        resets=tuple(resets),
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
    times: list[float] = []
    last: float | None = None
    late = 0
    for time, gone in told:
        if time is None:
            last = 1.0 if last is None else last + 1.0
        elif gone:
            continue
        else:
            late += last is not None and time < last
            last = time if last is None else max(time, last)
        if not gone:
            times.append(last)
    return times, late
