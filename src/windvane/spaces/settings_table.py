"""A table of settings, read column by column: numbers are scaled to [0, 1], words become one-hot blocks.

What comes in is an m x d array of numbers, a list of dicts, a dict of columns, or a data frame.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces.base import Option
from windvane.spaces.parameters import Choice

MOST_OPTIONS = 256  # different words of a column: each of them is a coordinate of the model
LARGEST_WHOLE = 2**53  # above, a float no longer holds every integer
HOW = 'an m x d array of numbers, a list of dicts such as [{"gain": 1.0, "mode": "a"}, ...], or a data frame'


@final
@dataclass(frozen=True, eq=False)
class TableColumn:
    """One column of m settings: numbers, or the ranks of the options of a choice."""

    values: Array  # m
    choice: Choice | None = None
    whole: bool = False  # its numbers are integers
    log: bool = False

    @cached_property
    def lo(self) -> float:
        """The smallest number."""
        return float(self.values.min())

    @cached_property
    def hi(self) -> float:
        """The largest."""
        return float(self.values.max())

    @property
    def varies(self) -> bool:
        """Whether the settings differ in it."""
        return self.lo < self.hi

    @cached_property
    def levels(self) -> int:
        """How many different numbers there are."""
        return len(np.unique(self.values))

    @cached_property
    def coordinates(self) -> Array:
        """The m blocks of encoded coordinates, m x (1 for numbers, one an option for a choice)."""
        if self.choice is not None:
            return self.choice.levels()[self.values.astype(np.intp)]
        if not self.varies:
            return np.full((len(self.values), 1), 0.5)
        values, lo, hi = self.values, self.lo, self.hi
        if self.log:
            values, lo, hi = np.log(values), math.log(lo), math.log(hi)
        return np.clip((values - lo) / (hi - lo), 0.0, 1.0)[:, None]

    def value(self, row: int) -> Option:
        """What the setting has in this column, as a native Python object."""
        number = float(self.values[row])
        if self.choice is not None:
            return self.choice.options[int(number)]
        return int(number) if self.whole else number

    def number(self, name: str, value: Any) -> float:
        """A value as it stands in `values`; an error names it as `name`."""
        if self.choice is None:
            return checks.real(name, value) + 0.0  # no -0.0: the bytes are compared
        block = self.choice.encode(name, value)
        return float(np.argmax(block)) if len(block) else 0.0


def read(rows: Any) -> tuple[tuple[str, ...] | None, list[TableColumn]]:
    """The names of the columns, None for an array of numbers, and the columns."""
    if isinstance(rows, Mapping):
        return _named({name: _items(f"rows[{name!r}]", values) for name, values in rows.items()})
    if hasattr(rows, "columns") and hasattr(rows, "__getitem__"):  # a data frame of whatever library
        return _named({name: list(rows[name]) for name in rows.columns})
    several = isinstance(rows, Sequence) and not isinstance(rows, str | bytes)
    if (several and not len(rows)) or (isinstance(rows, np.ndarray) and not rows.size):
        raise InvalidArgument("rows: must not be empty; give at least one setting")
    if several and isinstance(rows[0], Mapping):
        return _named(_turned(rows))
    if several and all(_is_column(each) for each in rows):  # as a state has them
        return _named(dict(rows))
    if several or isinstance(rows, np.ndarray):
        try:
            table = checks.array("rows", rows, (None, None))
        except InvalidType:
            raise InvalidType(f"rows: must be {HOW}") from None
        table += 0.0  # no -0.0: rows are found by their bytes
        return None, [_numeric(f"rows[:, {i}]", values) for i, values in enumerate(table.T.copy())]
    raise InvalidType(f"rows: must be {HOW}, got {type(rows).__name__}")


def _is_column(pair: Any) -> bool:
    """Whether this is a name and a list of values."""
    return (
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and isinstance(pair[1], list | tuple)
    )


def _items(where: str, values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | np.ndarray):
        raise InvalidType(f"{where}: must be a list of values, one for each setting")
    return list(values)


def _turned(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    """A list of dicts, column by column."""
    keys = list(rows[0])
    known = set(keys)
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InvalidType(f"rows[{i}]={row!r}: must be a dict, as rows[0] is")
        if len(row) != len(keys) or any(key not in known for key in row):
            raise InvalidArgument(
                f"rows[{i}]: has the keys {', '.join(map(repr, row))}; rows[0] has "
                f"{', '.join(map(repr, keys))}, and all must have the same"
            )
    return {key: [row[key] for row in rows] for key in keys}


def _named(columns: Mapping[Any, list[Any]]) -> tuple[tuple[str, ...], list[TableColumn]]:
    if not columns:
        raise InvalidArgument(f"rows: there is no column; give {HOW}")
    lengths = {name: len(values) for name, values in columns.items()}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if not isinstance(name, str):
            raise InvalidType(
                f"column {name!r}: its name must be a string; numbers alone can be an m x d array"
            )
        if length != lengths[first]:
            raise InvalidArgument(
                f"column {name!r}: has {length} values, column {first!r} has {lengths[first]}; "
                "each needs one value for each setting"
            )
    if not lengths[first]:
        raise InvalidArgument("rows: must not be empty; give at least one setting")
    return tuple(columns), [_column(name, values) for name, values in columns.items()]


def _column(name: str, given: list[Any]) -> TableColumn:
    where = f"column {name!r}"
    values = [value.item() if isinstance(value, np.generic) else value for value in given]
    kinds = {_kind(f"{where}, row {i}", value) for i, value in enumerate(values)}
    if len(kinds) > 1:
        raise InvalidType(f"{where}: has {' and '.join(sorted(kinds))}; a column has values of one kind")
    if kinds == {"numbers"}:
        whole = all(isinstance(value, numbers.Integral) for value in values)
        return _numeric(where, np.array(values, dtype=np.float64) + 0.0, whole)
    options = list(dict.fromkeys(values))
    if len(options) > MOST_OPTIONS:
        raise InvalidArgument(
            f"{where}: has {len(options)} different words; at most {MOST_OPTIONS}, as each is a coordinate "
            "of the model. Leave out a column that only names the settings"
        )
    ranks = {option: rank for rank, option in enumerate(options)}
    return TableColumn(np.array([ranks[value] for value in values], dtype=np.float64), Choice(options))


def _kind(where: str, value: Any) -> str:
    if isinstance(value, bool):
        return "booleans"
    if isinstance(value, str):
        return "strings"
    if value is None or not isinstance(value, numbers.Real):
        raise InvalidType(f"{where}: {value!r} must be a number, a string or a boolean")
    if not math.isfinite(value):
        raise InvalidArgument(f"{where}: {value!r} must be finite")
    if isinstance(value, numbers.Integral) and abs(int(value)) > LARGEST_WHOLE:
        raise InvalidArgument(f"{where}: {value!r} is too large for an integer; at most 2**53")
    return "numbers"


def _numeric(where: str, values: Array, whole: bool = False) -> TableColumn:
    column = TableColumn(values, whole=whole)
    if not math.isfinite(column.hi - column.lo):
        raise InvalidArgument(f"{where}: the distance from {column.lo!r} to {column.hi!r} overflows")
    return column
