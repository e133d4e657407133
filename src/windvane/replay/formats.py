"""The formats of a log, CSV, JSON lines and Parquet: each gives the same rows."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from windvane.entries import is_number
from windvane.errors import InvalidArgument, WindvaneError
from windvane.extras import require
from windvane.replay.cells import missing, with_point
from windvane.replay.layout import NOISE, OUTCOME, VALUES, Layout, layout_of
from windvane.replay.rows import ENTRIES, TOLD, JournalEntry, LogReading, LogRow
from windvane.unit_labels import UNIT, check_unit, parted

EXTRA = "parquet"


def _opened(file: Path) -> IO[str]:
    # utf-8-sig: spreadsheets write a byte order mark
    if file.suffix.lower() == ".gz":
        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _csv(reading: LogReading) -> Iterator[LogRow]:
    with _opened(reading.path) as file:
        first = file.readline()
        delimiter = delimiter_of(first, reading.decimal_comma)
        header = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
        if not any(header):
            raise InvalidArgument(f"{reading.path}: line 1 must be a header that names the columns")
        layout = _layout(header, reading)
        lines = csv.reader(file, delimiter=delimiter)
        for cells in lines:
            place = f"line {lines.line_num + 1}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InvalidArgument(
                    f"{reading.path}, {place}: has {len(cells)} cells, but the header names {len(header)}"
                )
            found = dict(zip(header, cells, strict=True))
            if reading.decimal_comma:
                try:
                    found |= {name: with_point(name, found[name]) for name in layout.figures(reading.space)}
                except WindvaneError as error:
                    raise type(error)(f"{reading.path}, {place}: {error}") from None
            yield from _tabular(found, place, layout, reading)


def delimiter_of(header: str, decimal_comma: bool = False) -> str:
    """A comma, unless the header has none, but another of the usual ones; commas in numbers leave it last.

    What stands in quotes or in the brackets of a unit separates nothing.

    >>> delimiter_of("force [N, m];y"), delimiter_of("force [a;b],y", decimal_comma=True)
    (';', ',')
    """
    usual = (";", "\t", ",") if decimal_comma else (",", ";", "\t")
    bare = re.sub(r'"[^"]*"|\[[^\]]*\]', "", header)
    return next((mark for mark in usual if mark in bare), ",")


def _parquet(reading: LogReading) -> Iterator[LogRow]:
    parquet, arrow = require("pyarrow.parquet", EXTRA), require("pyarrow", EXTRA)
    try:
        table = parquet.ParquetFile(reading.path)
        schema = table.schema_arrow
        layout = _layout(list(schema.names), reading)
        for field in schema:
            unit = (field.metadata or {}).get(UNIT.encode(), b"").decode(errors="replace")
            _check_unit(reading, field.name, f"column {field.name}", unit)
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
    if all(is_number(name) for name in header):
        raise InvalidArgument(f"{reading.path}: line 1 must be a header that names the columns, not numbers")
    for name in reading.metadata:
        if name not in header:
            raise InvalidArgument(f"{reading.path}: metadata {name!r}: there is no such column")
    try:
        layout = layout_of(
            header, reading.space, reading.metadata, reading.outcomes, y=reading.y, time=reading.time
        )
    except WindvaneError as error:
        raise type(error)(f"{reading.path}: {error}") from None
    for column, name in (*layout.columns, *layout.outcomes):
        _check_unit(reading, name, f"column {column}", parted(column)[1])
    return layout


def _check_unit(reading: LogReading, name: str, what: str, unit: str, place: str = "") -> None:
    try:
        check_unit(what, name, unit, reading.units)
    except WindvaneError as error:
        raise type(error)(f"{reading.path}{place}: {error}") from None


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
    outcomes = {name: cells[column] for column, name in layout.outcomes}
    yield LogRow(place, raw, cells[layout.y], time, metadata, layout.journal, noise, repeats, entry, outcomes)


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
    y = next((name for name in VALUES if name in found), None) if reading.y is None else reading.y
    units = found.get("units")
    for name, unit in units.items() if isinstance(units, dict) else ():
        _check_unit(reading, name, "units", str(unit), f", {place}")
    event = found.get("event")
    told = event if isinstance(event, dict) else {}
    entry = _entry(found, told.get("record"), place, reading) if journal else None
    if "x" not in found or y not in found:
        lacking = "x" if "x" not in found else reading.y or "y (or value)"
        raise InvalidArgument(f"{reading.path}, {place}: has no {lacking}; must be an object with x and y")
    time = found.get(reading.time or "time")
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
    outcomes = {name: _outcome(name, found, told) for name in reading.outcomes}
    return LogRow(place, found["x"], value, time, metadata, journal, noise, repeats, entry, outcomes)


def _outcome(name: str, found: Mapping[str, Any], event: Mapping[str, Any]) -> Any:
    """The value of a constraint in a line of JSON; None if it is not there."""
    for inside in (event.get("outcomes"), found.get("outcomes"), found):
        if isinstance(inside, Mapping) and name in inside:
            value = inside[name]
            return value.get("value") if isinstance(value, Mapping) else value
    return found.get(OUTCOME + name)


READERS: dict[str, Callable[[LogReading], Iterator[LogRow]]] = {
    "csv": _csv,
    "jsonl": _json_lines,
    "parquet": _parquet,
}
