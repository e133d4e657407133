"""A finite set of unordered alternatives, known by their index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array
from windvane.codec import component
from windvane.spaces.base import BoolArray, Domain, listed, read_only, rows


@final
@component
@dataclass(frozen=True)
class Arms(Domain):
    """The integers 0 to n - 1; a point is an int.

    Arms have no geometry of their own: the one coordinate is the index itself, not scaled, and a
    kernel for arms looks it up.

    >>> arms = Arms(46)
    >>> arms.encode(7)
    array([7.])
    >>> arms.decode(np.array([7.0]))
    7
    >>> arms.encode(46)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: x=46: must be an integer at least 0 and at most 45
    """

    n: int

    def __post_init__(self) -> None:
        # Above 2**53 a float no longer holds every index.
        object.__setattr__(self, "n", checks.integer("n", self.n, at_least=1, at_most=2**53))

    @property
    def dim(self) -> int:
        """One: the index."""
        return 1

    @cached_property
    def free(self) -> BoolArray:
        """[False]: an index does not move continuously."""
        return read_only(np.zeros(1, dtype=np.bool_))

    @property
    def size(self) -> int:
        """The number of arms."""
        return self.n

    @property
    def by_number(self) -> bool:
        """True: a point is the index of an arm."""
        return True

    def encode(self, x: Any) -> Array:
        """The index as an array of length 1."""
        return np.array([checks.integer("x", x, at_least=0, at_most=self.n - 1)], dtype=np.float64)

    def encode_many(self, points: Any) -> Array:
        """A sequence of ints, as an m x 1 array."""
        checked = [
            checks.integer(f"points[{i}]", point, at_least=0, at_most=self.n - 1)
            for i, point in enumerate(listed("points", points, "integers"))
        ]
        return np.array(checked, dtype=np.float64)[:, None]

    def decode(self, unit: Array) -> int:
        """The nearest index."""
        return int(self.snap(checks.array("unit", unit, (1,))[None])[0, 0])

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Arms drawn uniformly, with replacement."""
        drawn = rng.integers(self.n, size=(checks.integer("count", count, at_least=0), 1))
        return drawn.astype(np.float64)

    def everything(self) -> Array:
        """All arms in order."""
        return np.arange(self.n, dtype=np.float64)[:, None]

    def configurations(self, limit: int) -> Array | None:
        """All arms, if there are no more than `limit`."""
        return self.everything() if self.n <= limit else None

    def candidates(self, count: int) -> Array:
        """All arms, or `count` of them at equal strides."""
        if self.n <= checks.integer("count", count, at_least=1):
            return self.everything()
        return np.rint(np.linspace(0, self.n - 1, count))[:, None]

    def snap(self, units: Array) -> Array:
        """The nearest indices."""
        return np.rint(rows("units", units, 1)).clip(0, self.n - 1)

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The lowest and the highest index between the bounds."""
        return np.ceil(lower), np.floor(upper)

    def neighbours(self, unit: Array) -> Array:
        """None: no arm is closer to an arm than the others."""
        checks.array("unit", unit, (1,))
        return np.empty((0, 1))
