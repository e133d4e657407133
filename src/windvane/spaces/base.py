"""What every domain can do, whatever its points look like.

The optimiser works on encoded points only: rows of `d` float coordinates. A coordinate is *free* if
it moves continuously in [0, 1]; the others sit at the levels of an integer, in the one-hot block of
a choice, or hold the index of an arm. Shapes: `m x d`, one encoded point a row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from windvane import checks
from windvane.checks import Array, IntArray
from windvane.codec import written
from windvane.errors import InvalidArgument, InvalidType

BoolArray = npt.NDArray[np.bool_]
Option = str | int | float | bool
LONGEST_UNIT = 20


class SeenContext(NamedTuple):
    """What was observed beside the settings: the values as the caller will see them, and encoded by axis."""

    values: dict[str, Option]
    fixed: dict[int, float]


class Domain(ABC):
    """The points that can be asked for, and how they are written as rows of numbers.

    `encode` and `encode_many` are the door: they validate. Everything else takes and returns encoded
    points. A domain is immutable, hashable, and plain JSON through `windvane.codec`.
    """

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of encoded coordinates, d."""

    @property
    @abstractmethod
    def free(self) -> BoolArray:
        """Which of the d coordinates move continuously in [0, 1]; read-only."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The number of distinct points, or None if there is a continuum of them."""

    @property
    def enumerated(self) -> bool:
        """Whether all points are in memory anyway, so that they are searched one by one however many."""
        return False

    def numbers(self, units: Array) -> IntArray:
        """Where the nearest points are in `everything`, of a domain that is `enumerated`."""
        raise InvalidArgument(f"numbers(): the {len(units)} points of a {type(self).__name__} have none")

    @property
    def by_number(self) -> bool:
        """Whether a point is a number, whatever else it may be told as."""
        return False

    @cached_property
    def fine(self) -> BoolArray:
        """Which coordinates have so many levels that a climb may move along them, and round at the end."""
        return read_only(np.zeros(self.dim, dtype=np.bool_))

    @cached_property
    def free_axes(self) -> tuple[int, ...]:
        """The coordinates that move continuously."""
        return tuple(np.flatnonzero(self.free).tolist())

    @cached_property
    def continuous(self) -> bool:
        """Whether all coordinates do; no coordinates are one point, and no continuum."""
        return 0 < len(self.free_axes) == self.dim

    @property
    def choices(self) -> tuple[int, ...]:
        """The coordinates that are part of the one-hot block of a choice."""
        return ()

    @property
    def choice_blocks(self) -> tuple[tuple[int, ...], ...]:
        """The same, those of each choice together."""
        return ()

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of what is observed, not chosen."""
        return ()

    @property
    def axes_of_contexts(self) -> Mapping[str, tuple[int, ...]]:
        """The coordinates of each of these."""
        return {}

    @cached_property
    def context_axes(self) -> tuple[int, ...]:
        """The coordinates of all of them."""
        return tuple(axis for axes in self.axes_of_contexts.values() for axis in axes)

    def seen(self, context: Any) -> SeenContext | None:
        """What a caller says of the contexts, checked; None for a domain that has none."""
        if context is not None:
            raise InvalidArgument(
                f"context={context!r}: this space has no contexts; declare them, as in "
                "wv.Space(gain=wv.Real(0, 1), load=wv.Context(0, 100))"
            )
        return None

    def settings(self, limit: int) -> Array | None:
        """All combinations of what is chosen, contexts at any value; None if more than `limit`."""
        return self.everything() if self.size is not None and self.size <= limit else None

    @property
    def parameter_count(self) -> int:
        """The paper's dimension d: the number of parameters, which may have more coordinates."""
        return self.dim

    @abstractmethod
    def encode(self, x: Any) -> Array:
        """The point `x` as d coordinates; an error says what is wrong with it."""

    @abstractmethod
    def encode_many(self, points: Any) -> Array:
        """At least one point, as m x d coordinates."""

    @abstractmethod
    def decode(self, unit: Array) -> Any:
        """The feasible point nearest to d coordinates, in the caller's terms."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """`count` points drawn uniformly: count x d."""

    @abstractmethod
    def everything(self) -> Array:
        """All points in lexicographic order, size x d. Look at `size` first."""

    @abstractmethod
    def configurations(self, limit: int) -> Array | None:
        """Every combination of the discrete coordinates, with the free ones at 0.5.

        None if there are more than `limit`.
        """

    @abstractmethod
    def candidates(self, count: int) -> Array:
        """At most `count` distinct points that cover the domain; the same ones on every call.

        All points if there are no more than `count`.
        """

    @abstractmethod
    def snap(self, units: Array) -> Array:
        """The nearest feasible points, m x d."""

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds of the d coordinates, drawn in to the outermost feasible values between them."""
        return lower, upper

    @abstractmethod
    def neighbours(self, unit: Array) -> Array:
        """The points that differ from `unit` by one step of one discrete parameter, k x d."""


class Parameter(ABC):
    """One named part of a `Space`. `block` below is its d encoded coordinates, `blocks` is m x d."""

    def __repr__(self) -> str:
        fields = (f"{field.name}={getattr(self, field.name)!r}" for field in written(self))
        return f"{type(self).__name__}({', '.join(fields)})"

    @property
    def values(self) -> Parameter:
        """The values it takes: itself, or, of a context, the parameter that says which are possible."""
        return self

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of encoded coordinates of this parameter."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The number of values, or None if there is a continuum of them."""

    @property
    def fine(self) -> bool:
        """Whether there are so many levels, in order, that a search may move as if there were a continuum."""
        return False

    @abstractmethod
    def encode(self, name: str, value: Any) -> Array:
        """The block of a value; an error names the value as `name`."""

    @abstractmethod
    def decode(self, block: Array) -> Option:
        """The nearest value, as a native Python object."""

    @abstractmethod
    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """`count` blocks drawn uniformly, over the values if discrete."""

    @abstractmethod
    def levels(self) -> Array:
        """The blocks of all values in order if discrete, else one block, 0.5."""

    @abstractmethod
    def snap(self, blocks: Array) -> Array:
        """The nearest feasible blocks."""

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds of the block, drawn in to the outermost levels between them; crossed if there are none."""
        return lower, upper

    @abstractmethod
    def neighbours(self, block: Array) -> Array:
        """The blocks one step away: the levels on either side, any other option; none if continuous."""


def interval(name: str, lo: Any, hi: Any) -> tuple[float, float]:
    """Two finite floats, lo < hi, whose distance is finite as well."""
    lo, hi = checks.real(f"{name}: lo", lo), checks.real(f"{name}: hi", hi)
    if not lo < hi:
        raise InvalidArgument(f"{name}: lo={lo!r} must be below hi={hi!r}")
    if not np.isfinite(hi - lo):
        raise InvalidArgument(f"{name}: hi - lo overflows for lo={lo!r} and hi={hi!r}; use narrower bounds")
    return lo, hi


def checked_unit(owner: str, unit: Any) -> str:
    """What numbers are in, as errors and pages write it."""
    if not isinstance(unit, str):
        raise InvalidType(f"{owner}(unit={unit!r}): must be a string such as 'kW'")
    if len(unit) > LONGEST_UNIT or not (unit.isprintable() and unit == unit.strip()):
        raise InvalidArgument(
            f"{owner}(unit={unit!r}): must be at most {LONGEST_UNIT} printable characters, no blanks around"
        )
    return unit


def in_unit(message: str, unit: str) -> str:
    """The message of a check on a number, with the unit that the bounds are in."""
    return f"{message} (in {unit})" if unit else message


def listed(name: str, value: Any, what: str) -> list[Any]:
    """The items of a list, a tuple or an array; sets have no order and strings are a mistake."""
    items = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(items, Sequence) or isinstance(items, str | bytes):
        raise InvalidType(f"{name}={value!r}: must be a list of {what}")
    if not items:
        raise InvalidArgument(f"{name}={value!r}: must not be empty; give a list of {what}")
    return list(items)


def shape_text(array: Array) -> str:
    """A shape as errors write it."""
    return "x".join(map(str, array.shape)) or "a single number"


def read_only(array: BoolArray) -> BoolArray:
    """The same array, protected from changes by whoever is handed it."""
    array.setflags(write=False)
    return array


def rows(name: str, units: Any, dim: int) -> Array:
    """Encoded points as an m x d array, m may be 0; NaN would travel far, so it is stopped here."""
    result = np.asarray(units, dtype=np.float64)
    if result.ndim != 2 or result.shape[1] != dim:
        raise InvalidArgument(f"{name}: must have shape nx{dim}, got {shape_text(result)}")
    if not np.isfinite(result).all():
        raise InvalidArgument(f"{name}: must be finite, got NaN or infinity")
    return result


def row_keys(units: Array) -> list[bytes]:
    """The rows of m x d coordinates by their bytes, to find equal ones among many; -0.0 counts as 0.0."""
    if not units.shape[1]:
        return [b""] * len(units)
    buffer, width = (units + 0.0).tobytes(), 8 * units.shape[1]
    return [buffer[start : start + width] for start in range(0, len(buffer), width)]


def first_of_each(units: Array) -> IntArray:
    """The numbers of the first of all rows that are equal, in order: `np.unique` would sort long rows.

    >>> first_of_each(np.array([[0.0, 1.0], [2.0, 0.0], [-0.0, 1.0]]))
    array([0, 1])
    """
    found: dict[bytes, int] = {}
    for number, key in enumerate(row_keys(units)):
        found.setdefault(key, number)
    return np.array(list(found.values()), dtype=np.int64)


def uncountable(what: str) -> InvalidArgument:
    """The error for a caller that lists a continuum."""
    return InvalidArgument(
        f"everything(): {what} has continuous coordinates, so its points cannot be listed; "
        "check that size is not None first"
    )
