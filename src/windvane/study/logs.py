"""Logs that a study is told: everything is read and checked before the first observation is told."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from windvane.checks import real
from windvane.errors import Conflict, InvalidArgument, StorageFailure, WindvaneError
from windvane.extras import require
from windvane.protocol.checks import LATEST, metadata_of, space_of
from windvane.protocol.measured import Measured
from windvane.reading import told_as
from windvane.replay.checked import Checked
from windvane.replay.layout import OUTCOME
from windvane.replay.read import AskedReset, LogStream, StudyClock, delimiter_of
from windvane.spaces import Choice, Domain, Space
from windvane.spelling import coordinate_names
from windvane.unit_labels import parted

if TYPE_CHECKING:
    from windvane.study.study import Study

OnChecked = Callable[[int], None] | None
OFTEN = 2_000  # observations between two calls of on_checked
UTF_8 = "utf-8-sig"  # spreadsheets write a byte order mark
EXPORTED = ("seq", "kind", "time", "metadata")  # columns of a study's export, beside those of the point


class LogObservation(NamedTuple):
    """An observation of a log as a study is told it, and the resets that were asked for before it."""

    x: Any
    measured: Measured
    time: float | None
    metadata: dict[str, Any]
    resets: tuple[str, ...] = ()


class LogFile:
    """A log that a study is to be told: checked once as a whole, then read again instead of being kept.

    Of what a study exported, only what was told counts, with the times and the metadata that were told then:
    a new study of the same definition says the same of each. Values that were taken back are left out, and
    those that were corrected are right. An error names file and line. Only what has to be sorted is kept in
    memory.
    """

    def __init__(
        self, study: Study, path: str | Path, *, sort: bool = False, on_checked: OnChecked = None, **how: Any
    ) -> None:
        comma = bool(how.get("decimal_comma"))
        names, tabular = _columns(path, lambda header: delimiter_of(header, comma))
        space = space_of(study.definition)
        _check_options(path, space, tabular)
        exported = names is not None and (not tabular or {*EXPORTED, "trial", "y"} <= names)
        limits = study.summary().constraints
        constraints = _told_of(space, limits, names if tabular else None)
        units = {name: limits[name].unit for name in constraints}
        wanted = EXPORTED if exported else ()
        self._stream = LogStream(path, space, metadata=wanted, outcomes=units, **how)
        self.path: Path = self._stream.path
        self._how = {"sort": sort, **how}
        self._stamp = self._stat()
        self.observations = 0
        self.first_time: float | None = None
        self.last_resets: tuple[str, ...] = ()
        self._gaps = self._sorted = False
        self._check(sort, on_checked)

    def _check(self, sort: bool, on_checked: OnChecked) -> None:
        """Read it all once: what is wrong is said before anything is told."""
        times = journals = rows = 0
        last: float | None = None
        behind: InvalidArgument | None = None
        for row in self._stream.rows():
            if isinstance(row, AskedReset):
                continue
            rows += 1
            journals += row.journal
            times += row.time is not None
            self._gaps = self._gaps or row.gone
            if row.gone:
                continue
            self.observations += 1
            told = self._told(row, row.time)
            if told.time is not None:
                if last is not None and told.time < last and behind is None:
                    behind = _out_of_order(f"{self.path}, {row.place}", told.time, last)
                last = told.time
                self.first_time = last if self.first_time is None else self.first_time
            if on_checked is not None and self.observations % OFTEN == 0:
                on_checked(self.observations)
        if not self.observations:
            raise self._stream.empty()
        if journals == rows:  # a study has put them in order
            return
        if times not in (0, rows):
            raise InvalidArgument(f"{self.path}: give a time to all observations or to none")
        if behind is not None and not sort:
            raise behind
        self._sorted = behind is not None

    def rows(self) -> Iterator[LogObservation]:
        """The observations in order; afterwards `last_resets` are those that were asked for at the end."""
        if not self._sorted:
            yield from self._in_order()
            return
        yield from sorted(self._in_order(), key=lambda told: told.time or 0.0)  # stable

    def _in_order(self) -> Iterator[LogObservation]:
        clock, resets = StudyClock(), list[str]()
        for row in self._stream.rows():
            if isinstance(row, AskedReset):
                resets.append(row.reason)
                continue
            at = clock.at(row.time, row.gone)
            if row.gone:
                continue
            time = at if self._gaps and row.journal else row.time
            yield self._told(row, time)._replace(resets=tuple(resets))
            resets.clear()
        self.last_resets = tuple(resets)

    def _told(self, row: Checked, time: float | None) -> LogObservation:
        try:
            beside = row.metadata
            if beside.get("kind") == "told" and beside.get("seq") not in (None, ""):
                told_at = _time(beside["time"])
                time = told_at if told_at is not None or not self._gaps else time
            if time is not None:
                real("time", time, at_least=-LATEST, at_most=LATEST)
            told = told_as(row.y, row.repeats, row.noise)
            measured = Measured.of(**told, std=None, outcomes=row.outcomes, named={})
            return LogObservation(row.x, measured, time, metadata_of(_notes(beside.get("metadata"))))
        except WindvaneError as error:
            raise type(error)(f"{self.path}, {row.place}: {error}") from None

    @property
    def digest(self) -> str:
        """Of what is in the file, whatever it is called."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:32]

    @property
    def manner(self) -> str:
        """Of how it is read: in another manner the same file has other rows."""
        how = sorted((name, value) for name, value in self._how.items() if value)
        return hashlib.sha256(repr(how).encode()).hexdigest()[:8]

    def check_unchanged(self) -> None:
        """An error if somebody writes to the file meanwhile."""
        if self._stat() != self._stamp:
            raise Conflict(f"{self.path}: was changed while it was imported; what was told so far is kept")

    def _stat(self) -> tuple[int, int]:
        try:
            found = self.path.stat()
        except OSError as error:
            raise StorageFailure(f"{self.path}: {error.strerror or error}") from error
        return found.st_size, found.st_mtime_ns


def _out_of_order(where: str, time: float, before: float) -> InvalidArgument:
    return InvalidArgument(
        f"{where}: time={time!r}: is before the one above it, {before!r}. If only the lines are out of "
        "order, have them sorted: sort=True, or --sort in a shell"
    )


def _told_of(space: Domain, constraints: Iterable[str], columns: Collection[str] | None) -> list[str]:
    """The constraints of which a log may have values: of a table, those that have a column."""
    taken = coordinate_names(space)
    return [
        name
        for name in constraints
        if columns is None or OUTCOME + name in columns or (name in columns and name not in taken)
    ]


def _columns(path: str | Path, delimiter: Callable[[str], str]) -> tuple[set[str] | None, bool]:
    """The columns of a table, and whether the file is one; lines in JSON have none.

    Of a file that cannot be read it is None; the reader of logs says what is wrong with it.
    """
    try:
        file = Path(path).expanduser()
        endings = [ending.lower() for ending in file.suffixes]
        packed = endings[-1:] == [".gz"]
        kind = endings[-2:-1] if packed else endings[-1:]
        if kind in ([".jsonl"], [".ndjson"]):
            return set(), False
        if kind == [".parquet"]:
            names = set(require("pyarrow.parquet", "parquet").read_schema(file).names)
        else:
            with gzip.open(file, "rt", encoding=UTF_8) if packed else file.open(encoding=UTF_8) as lines:
                first = lines.readline()
                headings = next(csv.reader([first], delimiter=delimiter(first)), [])
                names = {parted(name.strip())[0] for name in headings}
    except WindvaneError:
        raise
    except (OSError, ValueError, TypeError, EOFError, zlib.error):
        return None, False
    return names, True


def _check_options(path: str | Path, space: Domain, tabular: bool) -> None:
    """Refuse where the reader could take an option for another.

    It leaves out blanks around text, and a cell of a table is text whatever it was.
    """
    for name, parameter in space.parameters if isinstance(space, Space) else ():
        seen: dict[str, Any] = {}
        for option in parameter.options if isinstance(parameter, Choice) else ():
            if not tabular and not isinstance(option, str):
                continue
            text = str(option).strip()
            other = seen.setdefault(text.lower() if tabular else text, option)
            if other is not option:
                such = "a table; import JSON lines instead" if tabular else "a log; tell them one by one"
                raise InvalidArgument(f"{path}: {name}: {other!r} and {option!r} look alike in {such}")


def _time(cell: Any) -> float | None:
    """The time that a study was told, if it was told one."""
    return None if cell is None or cell == "" else real("time", float(cell))


def _notes(cell: Any) -> Mapping[str, Any]:
    """The metadata of a record: an object, or the text of one."""
    try:
        found = json.loads(cell) if isinstance(cell, str) and cell else cell or {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidArgument("metadata: must be a JSON object")
    return found
