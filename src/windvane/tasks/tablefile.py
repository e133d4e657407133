"""Tables in files: one row per moment, one column per arm."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument, InvalidType

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npy")
LABEL_NAMES = frozenset(
    ("date", "day", "datetime", "epoch", "index", "label", "month", "step", "t", "time", "timestamp", "year")
)


@dataclass(frozen=True, eq=False)
class TableFile:
    """What a file holds: `labels`, one per row or none at all; `arms`, the names; `values`, rows x arms."""

    labels: tuple[str, ...]
    arms: tuple[str, ...]
    values: Array


def path_of(name: str, value: Any) -> Path:
    """A path, from text or a path object."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise InvalidType(f"{name}={value!r}: must be a path, as text or as a pathlib.Path")
    if not os.fspath(value) or "\0" in os.fspath(value):
        raise InvalidArgument(f"{name}={value!r}: must be the path of a file")
    return Path(value).expanduser()


def file_of(name: str, value: Any) -> Path:
    """The path of a file that is there."""
    path = path_of(name, value)
    if path.is_dir():
        raise InvalidArgument(f"{name}={str(path)!r}: is a folder; must be a file")
    if not path.is_file():
        raise InvalidArgument(f"{name}={str(path)!r}: there is no such file")
    return path


def matrix(name: str, value: Any) -> Array:
    """A finite rows x arms array of floats; an error says where a number is not finite.

    >>> matrix("values", [[1.0, 2.0], [3.0, float("nan")]])
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: values, row 1, column 1 (counted from 0): nan; must be a finite number
    """
    try:
        given = np.asarray(value)
    except ValueError:
        given = np.empty(0, dtype=object)  # rows of different lengths
    if given.dtype.kind not in "iuf":
        raise InvalidType(f"{name}: must be a two-dimensional array of real numbers, one row a moment")
    if given.ndim != 2 or not given.size:
        have = "x".join(map(str, given.shape)) or "a single number"
        raise InvalidArgument(
            f"{name}: must be an array of rows by arms with at least one of each, got {have}"
        )
    result = np.array(given, dtype=np.float64)
    wrong = np.argwhere(~np.isfinite(result))
    if wrong.size:
        row, column = (int(i) for i in wrong[0])
        raise InvalidArgument(
            f"{name}, row {row}, column {column} (counted from 0): {result[row, column]}; "
            "must be a finite number"
        )
    return result


def read_table(path: str | os.PathLike[str], *, argument: str = "file") -> TableFile:
    """Read a .csv, .csv.gz, .tsv, .tsv.gz or .npy file.

    Text is UTF-8, separated by commas or tabs; blank lines are skipped.

    - The first line is a header if none of its cells after the first is a number, or if its first cell
      is a usual name of a time axis (date, time, timestamp, t, step, index and the like).
    - The first column holds labels, not an arm, if none of its cells is a number, or if the header calls
      it by such a name or by none. A column of numeric times *without* such a name is an arm: name it.
    - Without a header, arms are called by their indices.

    Every other cell must be a finite number. `argument` is what errors call the file.
    """
    source = file_of(argument, path)
    where = f"{argument}={str(source)!r}"
    suffix = next((known for known in SUFFIXES if source.name.lower().endswith(known)), None)
    if suffix is None:
        raise InvalidArgument(f"{where}: must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if suffix == ".npy":
        values = _load(source, where)
        return TableFile((), tuple(map(str, range(values.shape[1]))), values)
    return _parse(_lines(source, where, "\t" if ".tsv" in suffix else ","), where)


def open_binary(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked if its name ends in .gz."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def unreadable(where: str, error: Exception) -> InvalidArgument:
    """The error for a file that cannot be read to its end."""
    if isinstance(error, gzip.BadGzipFile | EOFError | zlib.error):
        return InvalidArgument(
            f"{where}: is not a complete gzip file ({error}); must be gzip, as .gz promises"
        )
    if isinstance(error, UnicodeDecodeError):
        return InvalidArgument(f"{where}: is not text in UTF-8 ({error.reason} at byte {error.start})")
    if isinstance(error, csv.Error):
        return InvalidArgument(f"{where}: is not a table ({error})")
    return InvalidArgument(f"{where}: cannot be read ({error})")


UNREADABLE = (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error)


def _load(path: Path, where: str) -> Array:
    try:
        values = np.load(path, allow_pickle=False)
    except (OSError, EOFError, ValueError, SyntaxError) as error:
        raise InvalidArgument(f"{where}: is not a .npy file of numbers ({error})") from error
    return matrix(where, values)


def _lines(path: Path, where: str, separator: str) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, with their numbers, counted from 1."""
    try:
        with open_binary(path) as stream:
            text = stream.read().decode("utf-8-sig")
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except UNREADABLE as error:
        raise unreadable(where, error) from error
    kept = [(number, row) for number, row in lines if row and row != [""]]
    if not kept:
        raise InvalidArgument(f"{where}: is empty; must hold one line a moment and one column an arm")
    return kept


def _number(cell: str) -> float | None:
    """The number in a cell, NaN and infinity included; None if it holds something else."""
    if "_" in cell:  # which float() would accept
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _is_header(row: Sequence[str]) -> bool:
    if row[0].lower() in LABEL_NAMES:
        return True
    rest = row[1:] or row
    return any(rest) and all(_number(cell) is None for cell in rest)


def _parse(lines: list[tuple[int, list[str]]], where: str) -> TableFile:
    first, top = lines[0]
    width = len(top)
    for number, row in lines:
        if len(row) != width:
            raise InvalidArgument(
                f"{where}, line {number}: has {len(row)} columns; must have {width}, as line {first}"
            )
    header = top if _is_header(top) else None
    body = lines[1:] if header else lines
    if not body:
        raise InvalidArgument(f"{where}: has a header and nothing else; must hold one line a moment")
    named = header is not None and (not header[0] or header[0].lower() in LABEL_NAMES)
    labelled = named or all(row[0] and _number(row[0]) is None for _, row in body)
    start = 1 if labelled else 0
    if width == start:
        raise InvalidArgument(
            f"{where}: holds labels and no arms; must have a column of numbers for each arm"
        )
    values = np.array([_cells(row, start, f"{where}, line {number}") for number, row in body])
    labels = tuple(row[0] for _, row in body) if labelled else ()
    return TableFile(labels, _names(header, start, width, f"{where}, line {first}"), values)


def _cells(row: list[str], start: int, where: str) -> list[float]:
    """The numbers of a line."""
    numbers = []
    for column, cell in enumerate(row[start:], start + 1):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            shown = f"{cell!r}" if cell else "is empty"
            raise InvalidArgument(f"{where}, column {column}: {shown}; must be a finite number")
        numbers.append(value)
    return numbers


def _names(header: list[str] | None, start: int, width: int, where: str) -> tuple[str, ...]:
    """The arms' names."""
    if header is None:
        return tuple(map(str, range(width - start)))
    places: dict[str, int] = {}
    for column, name in enumerate(header[start:], start + 1):
        if not name:
            raise InvalidArgument(f"{where}, column {column}: has no name; every arm of a header needs one")
        if name in places:
            raise InvalidArgument(
                f"{where}, column {column}: {name!r} is the name of column {places[name]} too"
            )
        places[name] = column
    return tuple(places)
