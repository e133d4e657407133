"""What a cell of a table means: text or a typed value, in terms of the parameter that it is for."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Arms, Box, Candidates, Choice, Domain, Integer, Parameter, Space

WITH_COMMA = re.compile(r"[+-]?(\d+(,\d+)+|,\d+)([eE][+-]?\d+)?")
WITH_POINT = re.compile(r"[+-]?(\d+(\.\d+)+(,\d+)?|\.\d+)([eE][+-]?\d+)?")
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
DATE = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b")  # in whatever order


def number(name: str, cell: Any) -> float:
    """A finite number.

    >>> number("gain", " 0.5 "), number("gain", 2)
    (0.5, 2.0)
    >>> number("gain", "high")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: gain='high': must be a finite number
    """
    try:
        if isinstance(cell, bool | np.bool_) or not isinstance(cell, str | numbers.Real):
            raise ValueError
        value = float(cell)
    except (ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InvalidArgument(f"{name}={cell!r}: must be a finite number{_comma(cell)}")
    return value


def _comma(cell: Any) -> str:
    """What a number with a comma in it may mean, if that is what it is."""
    text = cell.strip() if isinstance(cell, str) else ""
    if not WITH_COMMA.fullmatch(text):
        return ""
    decimal, whole = text.replace(",", ".", 1), text.replace(",", "")
    if GROUPED.fullmatch(text):
        between = f"{whole} with commas between thousands"
        both = between if text.count(",") > 1 else f"{decimal} with a decimal comma, or {between}"
        return f"; is it {both}? Write it without, or say decimal_comma=True, --decimal-comma in a shell"
    return f"; if this is {decimal}, say decimal_comma=True, or --decimal-comma in a shell"


def with_point(name: str, cell: Any) -> Any:
    """A cell of a table with decimal commas as other tables have it; what is no number stays as it is.

    >>> with_point("gain", "0,5"), with_point("gain", " -1,25e3 "), with_point("gain", "7")
    ('0.5', '-1.25e3', '7')
    >>> with_point("gain", "1.250")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: gain='1.250': is it 1250 with a point between thousands, or 1.250 ...
    """
    text = cell.strip() if isinstance(cell, str) else ""
    if WITH_COMMA.fullmatch(text) and text.count(",") == 1:
        return text.replace(",", ".")
    if WITH_POINT.fullmatch(text) and not DATE.match(text):
        decimal, whole = text.replace(",", "."), text.replace(".", "")
        if "," in text or text.count(".") > 1:
            raise InvalidArgument(f"{name}={cell!r}: write it without points between thousands")
        raise InvalidArgument(
            f"{name}={cell!r}: is it {whole} with a point between thousands, or {decimal} with a decimal "
            "point? With decimal_comma (--decimal-comma in a shell) a decimal mark is a comma"
        )
    return cell


def whole(name: str, cell: Any) -> int:
    """A whole number; 7.0 is one, since tables with gaps turn integers into floats."""
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, str) and cell.strip().lstrip("+-").isdecimal():
        return int(cell)  # a float would not hold all digits
    value = number(name, cell)
    if not value.is_integer():
        raise InvalidArgument(f"{name}={cell!r}: must be a whole number")
    return int(value)


def moment(cell: Any) -> float:
    """A time: a number, or a date and time in ISO 8601, as seconds since 1970 (UTC unless it says otherwise).

    >>> moment("12.5"), moment("1970-01-01T01:00:00"), moment("1970-01-01 01:00:00+01:00")
    (12.5, 3600.0, 0.0)
    """
    text = cell.strip() if isinstance(cell, str) else ""
    if DATE.match(text) or (any(mark in text[1:] for mark in "-:") and "e-" not in text.lower()):
        try:
            cell = datetime.fromisoformat(text)
        except ValueError:
            raise InvalidArgument(
                f"time={cell!r}: must be a number, or a date with the year first, as in 2026-01-31T12:00:00"
            ) from None
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if isinstance(cell, datetime):
        return (cell if cell.tzinfo else cell.replace(tzinfo=UTC)).timestamp()
    return number("time", cell)


def missing(cell: Any) -> bool:
    """Whether nothing was measured: an empty cell, null or NaN."""
    if isinstance(cell, str):
        return cell.strip().lower() in ("", "nan", "na", "null", "none")
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def point(space: Domain | None, raw: Any) -> Any:
    """A point of the space from cells: a list, a single cell or a dict of them; checked if there is a space.

    Without a space it is what the cells look like: numbers, or a whole number for an arm.
    """
    if space is None:
        return _natural(raw)
    found = raw
    if isinstance(space, Box):
        found = np.array([number(name, cell) for name, cell in _coordinates(raw)])
    elif isinstance(space, Arms):
        cells = raw if isinstance(raw, Sequence) and not isinstance(raw, str) else [raw]
        if len(cells) != 1 or isinstance(raw, Mapping):
            raise InvalidArgument(f"x={raw!r}: must be an arm, 0 to {space.n - 1}")
        found = whole("x", cells[0])
    elif isinstance(space, Candidates):
        found = _candidate(space, raw)
    elif isinstance(space, Space) and isinstance(raw, Mapping):
        known = dict(space.parameters)
        found = {str(name): _value(str(name), known.get(str(name)), cell) for name, cell in raw.items()}
    space.encode(found)
    return found


def _candidate(space: Candidates, raw: Any) -> int:
    """The number of a setting that is given by its number or by the cells of its row."""
    if isinstance(raw, Mapping):
        row = {str(name): cell for name, cell in raw.items()}
        for name, choice in space.options.items():
            if name in row:
                row[name] = _option(choice, row[name])
        numbers = {name: number(name, cell) for name, cell in row.items() if name not in space.options}
        return space.number({**row, **numbers})
    if isinstance(raw, Sequence | np.ndarray) and not isinstance(raw, str):
        return space.number([number(name, cell) for name, cell in _coordinates(raw)])
    return space.number(whole("x", raw))


def _coordinates(raw: Any) -> list[tuple[str, Any]]:
    if isinstance(raw, Mapping):
        return [(str(name), cell) for name, cell in raw.items()]
    cells = list(raw) if isinstance(raw, Sequence | np.ndarray) and not isinstance(raw, str) else [raw]
    return [(f"x[{i}]", cell) for i, cell in enumerate(cells)]


def _natural(raw: Any) -> Any:
    if isinstance(raw, Mapping):
        return {str(name): _number_or_text(cell) for name, cell in raw.items()}
    if isinstance(raw, bool) or raw is None:
        raise InvalidType(f"x={raw!r}: must be a list of numbers, a whole number, or an object")
    if isinstance(raw, int | np.integer):
        return int(raw)
    return [number(name, cell) for name, cell in _coordinates(raw)]


def _number_or_text(cell: Any) -> Any:
    if isinstance(cell, str):
        try:
            return number("", cell)
        except InvalidArgument:
            return cell
    return cell


def _value(name: str, parameter: Parameter | None, cell: Any) -> Any:
    parameter = None if parameter is None else parameter.values
    if isinstance(parameter, Integer):
        return whole(name, cell)
    if isinstance(parameter, Choice):
        return _option(parameter, cell)
    return cell if parameter is None else number(name, cell)


def _option(choice: Choice, cell: Any) -> Any:
    """The option that is written like this: 8 for "8" and "8.0", True for "true"."""
    if not isinstance(cell, str):
        return cell
    text = cell.strip()
    for option in choice.options:
        if option in (cell, text):
            return option
    for option in choice.options:
        if str(option).lower() == text.lower() and not isinstance(option, str):
            return option
        if (
            isinstance(option, int | float)
            and not isinstance(option, bool)
            and _number_or_text(text) == option
        ):
            return option
    return cell
