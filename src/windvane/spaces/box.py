"""A box of real numbers: the hot path of most optimisers, so `encode` costs a few microseconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array, unmasked
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces.base import (
    BoolArray,
    Domain,
    interval,
    listed,
    read_only,
    rows,
    shape_text,
    uncountable,
)
from windvane.spaces.sobol import sobol

_FLOAT = np.dtype(np.float64)


@final
@component
@dataclass(frozen=True, init=False)
class Box(Domain):
    """Real coordinates, each between two bounds; a point is a 1-D array.

    >>> box = Box([(0, 1), (-5, 5)])
    >>> box.encode([0.25, 0.0])
    array([0.25, 0.5 ])
    >>> box.decode(np.array([1.0, 1.0]))
    array([1., 5.])
    >>> box.encode([0.25, 6.0])
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: x[1]=6.0: must be a finite number at least -5 and at most 5
    """

    bounds: tuple[tuple[float, float], ...]

    def __init__(self, bounds: Sequence[tuple[float, float]] | Array) -> None:
        object.__setattr__(self, "bounds", _pairs(bounds))

    @cached_property
    def _lower(self) -> Array:
        return np.array([lo for lo, _ in self.bounds])

    @cached_property
    def _upper(self) -> Array:
        return np.array([hi for _, hi in self.bounds])

    @cached_property
    def _width(self) -> Array:
        return self._upper - self._lower

    @cached_property
    def _shape(self) -> tuple[int]:
        return (len(self.bounds),)

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return len(self.bounds)

    @cached_property
    def free(self) -> BoolArray:
        """All True: every coordinate is continuous."""
        return read_only(np.ones(self.dim, dtype=np.bool_))

    @property
    def size(self) -> int | None:
        """None: a box is a continuum."""
        return None

    def encode(self, x: Any) -> Array:
        """The point scaled to the unit cube."""
        return self._encode("x", x)

    def encode_many(self, points: Any) -> Array:
        """An m x d array, or a list of points, scaled to the unit cube."""
        if not isinstance(points, np.ndarray):
            each = enumerate(listed("points", points, f"points, or an nx{self.dim} array"))
            return np.stack([self._encode(f"points[{i}]", point) for i, point in each])
        values = _numbers("points", points)
        if values.ndim != 2 or values.shape[1] != self.dim or not len(values):
            raise InvalidArgument(f"points: must have shape nx{self.dim}, got {shape_text(values)}")
        return self._scale("points", values)

    def decode(self, unit: Array) -> Array:
        """The point at these unit coordinates; never outside the bounds, not even by rounding."""
        if type(unit) is not np.ndarray or unit.shape != self._shape or not math.isfinite(unit.sum()):
            unit = checks.array("unit", unit, (self.dim,))
        unit = np.minimum(np.maximum(unit, 0.0), 1.0)
        # Below 1, unit * width rounds to less than the true hi - lo, so the sum cannot pass hi.
        return np.where(unit == 1.0, self._upper, self._lower + unit * self._width)

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Points drawn uniformly from the unit cube."""
        return rng.random((checks.integer("count", count, at_least=0), self.dim))

    def everything(self) -> Array:
        """Not for a box: it is a continuum."""
        raise uncountable("a Box")

    def configurations(self, limit: int) -> Array | None:
        """One row, the centre: there is nothing discrete to combine."""
        return np.full((1, self.dim), 0.5) if limit >= 1 else None

    def candidates(self, count: int) -> Array:
        """`count` Sobol points."""
        return sobol(self.dim, checks.integer("count", count, at_least=1))

    def snap(self, units: Array) -> Array:
        """The same points, clipped to the unit cube."""
        return rows("units", units, self.dim).clip(0.0, 1.0)

    def neighbours(self, unit: Array) -> Array:
        """None: there is no discrete parameter to step."""
        checks.array("unit", unit, (self.dim,))
        return np.empty((0, self.dim))

    def _encode(self, name: str, x: Any) -> Array:
        if type(x) is not np.ndarray or x.dtype != _FLOAT:
            x = _numbers(name, x)
        if x.shape != self._shape:
            raise InvalidArgument(f"{name}: must have shape {self.dim}, got {shape_text(x)}")
        return self._scale(name, x)

    def _scale(self, name: str, values: Array) -> Array:
        inside = (values >= self._lower) & (values <= self._upper)  # False for NaN
        if np.count_nonzero(inside) < inside.size:  # several times faster than inside.all()
            index = np.argwhere(~inside)[0]
            lo, hi = self.bounds[index[-1]]
            where = name + "".join(f"[{i}]" for i in index)
            checks.real(where, float(values[tuple(index)]), at_least=lo, at_most=hi)
        return (values - self._lower) / self._width


def _pairs(bounds: Any) -> tuple[tuple[float, float], ...]:
    pairs = listed("bounds", bounds, "pairs, as in Box([(0, 1), (-5, 5)])")
    return tuple(_pair(f"bounds[{i}]", pair) for i, pair in enumerate(pairs))


def _pair(name: str, pair: Any) -> tuple[float, float]:
    ends = listed(name, pair, "two numbers (lo, hi), as in Box([(0, 1)])")
    if len(ends) != 2:
        raise InvalidArgument(f"{name}={pair!r}: must be two numbers (lo, hi), as in Box([(0, 1)])")
    return interval(name, *ends)


def _numbers(name: str, value: Any) -> Array:
    # np.array(..., dtype=float) would accept "0.5", None and True; a caller who passes them is mistaken.
    try:
        result = unmasked(value)
    except ValueError:  # ragged
        raise InvalidType(f"{name}: must be an array of numbers, got rows of different lengths") from None
    mixed = isinstance(value, list | tuple) and any(isinstance(item, bool | np.bool_) for item in value)
    if mixed or result.dtype.kind not in "iuf":
        raise InvalidType(f"{name}={value!r}: must be an array of numbers")
    return result.astype(np.float64)
