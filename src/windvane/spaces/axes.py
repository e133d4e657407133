"""The coordinates of a space along which there is a distance, with the caller's values on them."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.spaces.base import Domain
from windvane.spaces.box import Box
from windvane.spaces.candidates import Candidates
from windvane.spaces.parameters import Integer, Real
from windvane.spaces.space import Space


class Axis(NamedTuple):
    """One encoded coordinate u in [0, 1]: its value is lo + u (hi - lo), or lo (hi / lo)^u if `log`.

    >>> Axis(0, "gain", 1.0, 100.0, log=True).place(10.0)
    0.5
    """

    number: int
    name: str | int
    lo: float
    hi: float
    log: bool = False
    step: float = 0.0  # between two levels; 0 if there is a continuum

    def value(self, u: float) -> float:
        """The caller's value."""
        return float(self.jet(np.array([u]))[0][0])

    def jet(self, u: Array) -> tuple[Array, Any, Any]:
        """Values, with their first and second derivatives by u."""
        if not self.log:
            return self.lo + u * (self.hi - self.lo), self.hi - self.lo, 0.0
        width = math.log(self.hi) - math.log(self.lo)  # hi / lo may be too large for a number
        values = np.exp(math.log(self.lo) + u * width).clip(self.lo, self.hi)
        return values, width * values, width * width * values

    def place(self, value: float) -> float:
        """The coordinate of a value; those outside of the range are at its ends."""
        value = min(max(value, self.lo), self.hi)
        if self.log:
            return (math.log(value) - math.log(self.lo)) / (math.log(self.hi) - math.log(self.lo))
        return (value - self.lo) / (self.hi - self.lo)


@lru_cache(maxsize=64)
def ordered_axes(space: Domain) -> tuple[Axis, ...]:
    """The coordinates of reals and integers that are chosen; none of arms, choices and contexts.

    >>> ordered_axes(Box([(0, 5)]))
    (Axis(number=0, name=0, lo=0.0, hi=5.0, log=False, step=0.0),)
    """
    if isinstance(space, Box):
        return tuple(Axis(i, i, lo, hi) for i, (lo, hi) in enumerate(space.bounds))
    if isinstance(space, Candidates):
        return _of_columns(space)
    if not isinstance(space, Space):
        return ()
    found, number = [], 0
    for name, parameter in space.parameters:
        if isinstance(parameter, Real):
            step = parameter.step or 0.0
            found.append(Axis(number, name, parameter.lo, parameter.hi, parameter.log, step))
        elif isinstance(parameter, Integer) and parameter.hi > parameter.lo:
            found.append(Axis(number, name, parameter.lo, parameter.hi, parameter.log, 1.0))
        number += parameter.dim
    return tuple(found)


def _of_columns(space: Candidates) -> tuple[Axis, ...]:
    found, number = [], 0
    for i, column in enumerate(space.columns):
        if column.choice is None and column.varies:
            name = i if space.names is None else space.names[i]
            found.append(Axis(number, name, column.lo, column.hi, column.log))
        number += column.coordinates.shape[1]
    return tuple(found)
