"""A finite list of settings with coordinates: recipes, compiled configurations, positions of a stage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array, IntArray
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces.base import BoolArray, Domain, Option, listed, read_only, row_keys, rows
from windvane.spaces.parameters import FEW, Choice
from windvane.spaces.settings_table import TableColumn, read

MOST = 100_000  # settings: the covariances of each with up to 300 observations are kept in memory
CHUNK = 2**22  # numbers of a matrix of distances at a time
SCALES = ("linear", "log")


@final
@component
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Candidates(Domain):
    """m settings of which one is chosen; a point is its number, 0 to m - 1.

    Each setting has coordinates, so the model learns from one about those near it. An m x d array, a list of
    dicts, a dict of columns, or a data frame: numbers are scaled to [0, 1] over their range, on a log scale
    with `scale={"gain": "log"}`; strings and booleans are choices. A setting is told by its number, or as a
    row of the list.

    >>> recipes = Candidates([{"gain": 0.1, "mode": "a"}, {"gain": 1.0, "mode": "a"}, {"gain": 10.0, "mode": "b"}],
    ...     scale={"gain": "log"})
    >>> recipes
    Candidates(3 settings of gain, mode)
    >>> recipes.encode(1).round(3)
    array([0.5  , 0.707, 0.   ])
    >>> recipes.decode(recipes.encode({"gain": 10, "mode": "b"})), recipes.row(2)
    (2, {'gain': 10.0, 'mode': 'b'})
    >>> recipes.encode({"gain": 2.0, "mode": "b"})
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: x={'gain': 2.0, 'mode': 'b'}: is none of the 3 settings
    """  # noqa: E501 - a list of settings reads better on one line

    rows: Any  # an m x d array, or (name, values) of each column
    scale: tuple[tuple[str | int, str], ...]
    _names: tuple[str, ...] | None = field(init=False)  # of the columns; None for those of an array
    _columns: tuple[TableColumn, ...] = field(init=False)
    _table: Array = field(init=False)  # m x columns: numbers, and ranks of options
    _units: Array = field(init=False)  # m x d
    _at: dict[bytes, int] = field(init=False)  # from an encoded setting to its number

    def __init__(self, rows: Any, *, scale: Any = ()) -> None:
        names, columns = read(rows)
        count = len(columns[0].values)
        if count > MOST:
            raise InvalidArgument(f"rows: {count:,} settings; at most {MOST:,}, as each of them is looked at")
        scales = _scales(scale, names, len(columns))
        for i, key in enumerate(range(len(columns)) if names is None else names):
            if key in scales:
                columns[i] = _logarithmic(key, columns[i])
        table = np.stack([column.values for column in columns], axis=1)
        units = np.concatenate([column.coordinates for column in columns], axis=1)
        table.setflags(write=False)
        units.setflags(write=False)
        values = {
            "rows": table if names is None else _written(names, columns),
            "scale": tuple(scales.items()),
            "_names": names,
            "_columns": tuple(columns),
            "_table": table,
            "_units": units,
            "_at": _places(units, table),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        what = f"{len(self._columns)} coordinates" if self._names is None else ", ".join(self._names)
        return f"Candidates({self.size} settings of {what})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Candidates)
            and self._names == other._names
            and self.scale == other.scale
            and np.array_equal(self._table, other._table)
            and all(a.choice == b.choice for a, b in zip(self._columns, other._columns, strict=True))
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self._names, self._table.shape, self._table.tobytes()))

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the columns are called; None if they are those of an array."""
        return self._names

    @property
    def options(self) -> dict[str, Choice]:
        """The columns of strings or booleans, as choices."""
        pairs = zip(self._names or (), self._columns, strict=False)
        return {name: column.choice for name, column in pairs if column.choice is not None}

    @property
    def columns(self) -> tuple[TableColumn, ...]:
        """The columns of the table."""
        return self._columns

    @property
    def dim(self) -> int:
        """One coordinate for a column of numbers, one for each option of a choice."""
        return int(self._units.shape[1])

    @property
    def parameter_count(self) -> int:
        """The number of columns in which the settings differ, at least 1."""
        return max(sum(column.varies for column in self._columns), 1)

    @cached_property
    def free(self) -> BoolArray:
        """All False: there is nothing between two settings."""
        return read_only(np.zeros(self.dim, dtype=np.bool_))

    @cached_property
    def fine(self) -> BoolArray:
        """True for numbers of many levels, which have an order."""
        flags = [
            column.choice is None and column.levels > FEW
            for column in self._columns
            for _ in range(column.coordinates.shape[1])
        ]
        return read_only(np.array(flags, dtype=np.bool_))

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """The coordinates of columns of strings or booleans."""
        flags = [c.choice is not None for c in self._columns for _ in range(c.coordinates.shape[1])]
        return tuple(np.flatnonzero(flags).tolist())

    @cached_property
    def choice_blocks(self) -> tuple[tuple[int, ...], ...]:
        """The same, those of each column together."""
        ends = np.cumsum([c.coordinates.shape[1] for c in self._columns]).tolist()
        blocks = zip(self._columns, [0, *ends], ends, strict=False)
        return tuple(tuple(range(at, end)) for c, at, end in blocks if c.choice is not None and end > at)

    @property
    def size(self) -> int:
        """The number of settings, m."""
        return len(self._units)

    @property
    def enumerated(self) -> bool:
        """True: they are all in memory."""
        return True

    @property
    def by_number(self) -> bool:
        """True: a point is the number of a setting."""
        return True

    def row(self, number: int) -> Array | dict[str, Option]:
        """The setting of that number, as it was given: a row of numbers, or a dict."""
        number = checks.integer("number", number, at_least=0, at_most=self.size - 1)
        if self._names is None:
            return np.array(self._table[number])
        return {name: column.value(number) for name, column in zip(self._names, self._columns, strict=True)}

    def number(self, x: Any, name: str = "x") -> int:
        """The number of a setting that is given by its number or as a row; an error calls it `name`."""
        if isinstance(x, Mapping):
            return self._found(name, x, self._named(name, x))
        if (isinstance(x, np.ndarray) and x.ndim) or isinstance(x, list | tuple):
            return self._found(name, x, self._numbered(name, x))
        x = x.item() if isinstance(x, np.ndarray) else x
        if isinstance(x, float | str) or x is None:
            raise InvalidType(f"{name}={x!r}: must be {self._allowed}")
        return checks.integer(name, x, at_least=0, at_most=self.size - 1)

    def encode(self, x: Any) -> Array:
        """The coordinates of a setting, given by its number or as a row."""
        return np.array(self._units[self.number(x)])

    def encode_many(self, points: Any) -> Array:
        """Numbers or rows, as an m x d array."""
        return self._units[self.number_many(points)]

    def number_many(self, points: Any) -> IntArray:
        """The numbers of settings that are given by their numbers or as rows."""
        items = points if isinstance(points, range) and len(points) else listed("points", points, "settings")
        if isinstance(points, range) or set(map(type, items)) == {int}:  # many at once
            found = np.array(items)
            if found.dtype == np.int64 and found.min() >= 0 and found.max() < self.size:
                return found
        each = (self.number(point, f"points[{i}]") for i, point in enumerate(items))
        return np.fromiter(each, dtype=np.int64, count=len(items))

    def decode(self, unit: Array) -> int:
        """The number of the nearest setting."""
        unit = checks.array("unit", unit, (self.dim,)) if self.dim else np.empty(0)
        found = self._at.get((unit + 0.0).tobytes())
        return int(self.numbers(unit[None])[0]) if found is None else found

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Settings drawn uniformly, with replacement."""
        return self._units[rng.integers(self.size, size=checks.integer("count", count, at_least=0))]

    def everything(self) -> Array:
        """All settings in the order given; read-only."""
        return self._units

    def configurations(self, limit: int) -> Array | None:
        """All settings, if there are no more than `limit`."""
        return self._units if self.size <= limit else None

    def candidates(self, count: int) -> Array:
        """All settings, or `count` of them at equal strides through the list."""
        if self.size <= checks.integer("count", count, at_least=1):
            return self._units
        return self._units[np.rint(np.linspace(0, self.size - 1, count)).astype(np.intp)]

    def snap(self, units: Array) -> Array:
        """The nearest settings."""
        return np.asarray(self._units[self.numbers(rows("units", units, self.dim))])

    def neighbours(self, unit: Array) -> Array:
        """None: a list is searched as a whole."""
        del unit
        return np.empty((0, self.dim))

    def numbers(self, units: Array) -> IntArray:
        """The numbers of the nearest settings, the first of those equally near."""
        found = np.array([self._at.get(key, -1) for key in row_keys(units)], dtype=np.int64)
        others = np.flatnonzero(found < 0)  # what is no setting to the last bit
        squares = np.vecdot(self._units, self._units) if len(others) else np.empty(0)
        step = max(CHUNK // self.size, 1)
        for start in range(0, len(others), step):
            some = others[start : start + step]
            found[some] = np.argmin(squares - 2.0 * (units[some] @ self._units.T), axis=1)
        return found

    @cached_property
    def _by_values(self) -> dict[bytes, int]:
        return {key: number for number, key in enumerate(row_keys(self._table))}

    @property
    def _allowed(self) -> str:
        row = (
            f"a row of {len(self._columns)} numbers"
            if self._names is None
            else f"a dict with the keys {', '.join(map(repr, self._names))}"
        )
        return f"the number of a setting, an integer at least 0 and at most {self.size - 1}, or {row}"

    def _found(self, name: str, x: Any, values: Array) -> int:
        number = self._by_values.get(values.tobytes())
        if number is None:
            raise InvalidArgument(f"{name}={x!r}: is none of the {self.size} settings")
        return number

    def _named(self, name: str, x: Mapping[Any, Any]) -> Array:
        if self._names is None:
            raise InvalidType(f"{name}={x!r}: must be {self._allowed}")
        if len(x) != len(self._names) or any(key not in x for key in self._names):
            raise InvalidArgument(f"{name}={x!r}: must be {self._allowed}")
        pairs = zip(self._names, self._columns, strict=True)
        return np.array([column.number(f"{name}[{key!r}]", x[key]) for key, column in pairs])

    def _numbered(self, name: str, x: Any) -> Array:
        if self._names is not None:
            raise InvalidType(f"{name}={x!r}: must be {self._allowed}")
        return checks.array(name, x, (len(self._columns),)) + 0.0


def _written(names: tuple[str, ...], columns: list[TableColumn]) -> tuple[tuple[str, list[Option]], ...]:
    """The columns in order: JSON may sort the keys of an object."""
    count = range(len(columns[0].values))
    return tuple((name, [c.value(i) for i in count]) for name, c in zip(names, columns, strict=True))


def _places(units: Array, table: Array) -> dict[bytes, int]:
    """From an encoded setting to its number; an error if two are the same."""
    places: dict[bytes, int] = {}
    for number, key in enumerate(row_keys(units)):
        other = places.setdefault(key, number)
        if other != number:
            if np.array_equal(table[other], table[number]):
                raise InvalidArgument(f"rows[{number}]: equals rows[{other}]; all settings must differ")
            raise InvalidArgument(
                f"rows[{number}]: cannot be told apart from rows[{other}] once scaled to the range of its "
                "column; use a log scale, or leave out what is so far away"
            )
    return places


def _scales(scale: Any, names: tuple[str, ...] | None, count: int) -> dict[str | int, str]:
    """The scales that are not linear, by column."""
    pairs = list(scale.items()) if isinstance(scale, Mapping) else scale
    if not isinstance(pairs, Sequence) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
        raise InvalidType(f'scale={scale!r}: must be a dict such as {{"gain": "log"}}')
    known: list[str | int] = list(range(count)) if names is None else list(names)
    for key, value in pairs:
        if isinstance(key, bool) or key not in known:
            raise InvalidArgument(
                f"scale: there is no column {key!r}; there are {', '.join(map(repr, known))}"
            )
        checks.one_of(f"scale[{key!r}]", value, SCALES)
    return {key: value for key, value in pairs if value == "log"}


def _logarithmic(key: str | int, column: TableColumn) -> TableColumn:
    if column.choice is not None:
        raise InvalidArgument(f"scale[{key!r}]='log': the column has no numbers; leave it out")
    if column.lo <= 0.0:
        raise InvalidArgument(
            f"scale[{key!r}]='log': all numbers must be above 0, the smallest is {column.lo!r}"
        )
    if column.varies and math.log(column.lo) == math.log(column.hi):
        raise InvalidArgument(
            f"scale[{key!r}]='log': {column.lo!r} and {column.hi!r} have the same logarithm"
        )
    return replace(column, log=True)
