"""Logs in files: CSV, JSON lines, Parquet; made by hand, by a data logger, or by a study's export."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from windvane.checks import one_of
from windvane.digits import counted
from windvane.errors import InvalidArgument, InvalidType, StorageFailure, WindvaneError
from windvane.replay.cells import missing, point
from windvane.replay.checked import Checked, assembled, checked, gone
from windvane.replay.checked import StudyClock as StudyClock
from windvane.replay.formats import READERS
from windvane.replay.formats import delimiter_of as delimiter_of
from windvane.replay.layout import OUTCOME, PREFIX
from windvane.replay.log import Log
from windvane.replay.rows import RESET, LogReading, LogRow, as_it_counts
from windvane.spaces import Domain
from windvane.unit_labels import units_of

FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet",
}  # fmt: skip
OFTEN = 2_000  # observations between two calls of on_progress


class AskedReset(NamedTuple):
    """A reset that was asked for, between two observations of a study's journal."""

    reason: str


class LogStream:
    """A log in a file, read from the beginning to the end as often as is wanted, and never kept.

    The arguments are those of `read_log`. `skipped` and `outside` count, of the last reading, what had no
    value, and what lies outside of a space that has changed since.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        space: Domain | None = None,
        *,
        format: str | None = None,
        metadata: Sequence[str] = (),
        outcomes: Sequence[str] | Mapping[str, str] = (),
        skip_missing: bool = False,
        y: str | None = None,
        time: str | None = None,
        decimal_comma: bool = False,
    ) -> None:
        self.path = _file(path)
        self.kind = _format(self.path) if format is None else one_of("format", format, set(FORMATS.values()))
        for name, given in (("metadata", metadata), ("outcomes", outcomes)):
            if isinstance(given, str):
                raise InvalidType(f"{name}={given!r}: must be a list of names")
        for name, column in (("y", y), ("time", time)):
            if column is not None and (not isinstance(column, str) or not column):
                raise InvalidType(f"{name}={column!r}: must be the name of a column")
        if decimal_comma and self.kind != "csv":
            raise InvalidArgument(
                f"decimal_comma: is for tables of text; {self.path} has numbers as they are"
            )
        units = _units(space, outcomes if isinstance(outcomes, Mapping) else {})
        self._reading = LogReading(
            self.path, space, tuple(metadata), tuple(outcomes), y, time, bool(decimal_comma), units
        )
        self._skip_missing = skip_missing
        self.skipped = self.outside = 0

    def rows(self) -> Iterator[Checked | AskedReset]:
        """Each observation, checked, in the order of the file; an error names the file and the line."""
        self.skipped = self.outside = 0
        reading = self._reading
        try:
            for row in as_it_counts(lambda: READERS[self.kind](reading)):
                if row.entry is not None and row.entry.kind == RESET:
                    yield AskedReset(row.entry.reason)
                elif row.entry is not None and row.entry.before and not _inside(row, reading):
                    self.outside += 1
                    yield gone(row)
                elif self._skip_missing and missing(row.y) and missing(row.repeats):
                    self.skipped += 1
                else:
                    yield checked(row, reading)
        except (UnicodeDecodeError, csv.Error, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidArgument(f"{self.path}: cannot be read as {self.kind}: {error}") from None
        except WindvaneError:
            raise
        except OSError as error:
            raise StorageFailure(f"{self.path}: {error.strerror or error}") from error

    def empty(self) -> InvalidArgument:
        """The error about a log without observations."""
        why = f", but {self.skipped} without a value" if self.skipped else ""
        if self.outside:
            why += f", but {self.outside} outside of the space, which has changed since"
        return InvalidArgument(f"{self.path}: has no observations{why}")


def read_log(
    path: str | os.PathLike[str],
    space: Domain | None = None,
    *,
    format: str | None = None,
    metadata: Sequence[str] = (),
    outcomes: Sequence[str] | Mapping[str, str] = (),
    sort: bool = False,
    skip_missing: bool = False,
    y: str | None = None,
    time: str | None = None,
    decimal_comma: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Log:
    """The measurements in a file; an error names the file and the line.

    CSV has a header: x1, x2, ... or the names of parameters (or arm), `y` or `value`, and `time` if there
    are times; `noise_variance` or `std` is the noise of a value, where the cell is not empty, and `values` a
    list of repeats, as in [1.2, 1.4], which y is the mean of. Other columns are ignored, unless `metadata`
    names them. A line of JSON is an object with "x" (a list, an arm, or an object of parameters), "y" or
    "value", which may be a list of repeats, "time", and "noise_variance" or "std". Parquet has the columns of
    CSV.
    `outcomes` are the names of constraints: their values are in columns of these names, or of `outcome.heat`,
    of a line of JSON also in an object "outcomes"; a cell that is empty was not measured.
    A unit may stand beside a name, `force [N]`, or in an object "units" of a line of JSON; another than that
    of the space, or of a constraint where `outcomes` is a dict of units by name, is refused.
    Of what a study exported, in each of the three, only the measurements count.

    `y` and `time` name the columns of the value and of the time if they are called otherwise. In a table of
    text 0,5 is a number only with `decimal_comma`, and 0.5 only without: neither is guessed.
    Points are checked against `space`. Times must not go back, unless `sort`; a study has already put
    them in order. Without `skip_missing` an observation whose y is empty or NaN is an error.
    `on_progress` is called with the number of observations read, now and then.
    """
    log = LogStream(
        path,
        space,
        format=format,
        metadata=metadata,
        outcomes=outcomes,
        skip_missing=skip_missing,
        y=y,
        time=time,
        decimal_comma=decimal_comma,
    )
    rows: list[Checked] = []
    resets: list[tuple[int, str]] = []
    for row in log.rows():
        if isinstance(row, AskedReset):
            resets.append((sum(not each.gone for each in rows), row.reason))
            continue
        rows.append(row)
        if on_progress is not None and len(rows) % OFTEN == 0:
            on_progress(len(rows))
    if all(row.gone for row in rows):
        raise log.empty()
    notes = [f"Skipped: {counted(log.skipped, 'observation')} without a value."] if log.skipped else []
    if log.outside:
        left = counted(log.outside, "observation")
        notes.append(f"Left out: {left} outside of the space, which has changed since.")
    return assembled(rows, resets, log.path, metadata=metadata, outcomes=outcomes, sort=sort, notes=notes)


def _units(space: Domain | None, outcomes: Mapping[str, str]) -> dict[str, str]:
    """The units that are known, by each name that a column of such values may have."""
    known = {f"{prefix}{name}": unit for name, unit in outcomes.items() for prefix in ("", OUTCOME)}
    return known | {
        f"{prefix}{name}": unit for name, unit in units_of(space).items() for prefix in ("", PREFIX)
    }


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
