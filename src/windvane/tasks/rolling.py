"""Points moved cyclically: what leaves a range on one side returns on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from windvane.checks import integer, real
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Arms, Box, Choice, Context, Integer, Real, Space
from windvane.spaces.base import Domain, Parameter

SEAM = 1e-9  # fractions of a range this close to one of its ends are that end; encoding rounds


@final
@dataclass(frozen=True)
class Roll:
    """A cyclic move of the points of a space, parameter by parameter.

    >>> arms = roll(Arms(10), 3)
    >>> arms.forth(9), arms.back(2)
    (2, (9, False))
    """

    space: Domain
    parameters: tuple[tuple[str, Parameter], ...]
    by: tuple[float, ...]

    def __add__(self, other: Roll) -> Roll:
        """Both moves at once."""
        both = tuple(mine + theirs for mine, theirs in zip(self.by, other.by, strict=True))
        return Roll(self.space, self.parameters, both)

    def forth(self, x: Any) -> Any:
        """Where the point x is moved to."""
        return self._join([_turn(p, v, by) for p, v, by in self._each(x)])

    def back(self, x: Any, near: Any = None) -> tuple[Any, bool]:
        """The point that is moved to x, and whether x is on a seam, where both ends of a range meet.

        On a seam it is the end that is nearer to the point `near`, else the lower one.
        """
        ends = [None] * len(self.by) if near is None else self._split(near)
        turned = [_unturn(p, v, by, end) for (p, v, by), end in zip(self._each(x), ends, strict=True)]
        return self._join([value for value, _ in turned]), any(seam for _, seam in turned)

    def _each(self, x: Any) -> list[tuple[Parameter, Any, float]]:
        values = self._split(x)
        return [(p, v, by) for (_, p), v, by in zip(self.parameters, values, self.by, strict=True)]

    def _split(self, x: Any) -> list[Any]:
        self.space.encode(x)  # refuses what is not a point
        if isinstance(self.space, Box):
            return [float(value) for value in x]
        return [x] if isinstance(self.space, Arms) else [x[name] for name, _ in self.parameters]

    def _join(self, values: list[Any]) -> Any:
        if isinstance(self.space, Box):
            return np.array(values)
        if isinstance(self.space, Arms):
            return values[0]
        return {name: value for (name, _), value in zip(self.parameters, values, strict=True)}


def roll(space: Domain, by: Any) -> Roll:
    """The move of a space by fractions of its ranges, or by whole levels where there are levels."""
    if isinstance(space, Arms):
        return Roll(space, (("x", Integer(0, space.n - 1)),), (integer("by", by),))
    if isinstance(space, Box):
        each = isinstance(by, list | tuple) or (isinstance(by, np.ndarray) and by.ndim > 0)
        amounts = list(by) if each else [by] * space.dim
        if len(amounts) != space.dim:
            raise InvalidArgument(f"by={by!r}: must be a number, or {space.dim} of them")
        reals = tuple((f"x[{i}]", Real(lo, hi)) for i, (lo, hi) in enumerate(space.bounds))
        checked = [real(f"by[{i}]" if each else "by", amount) for i, amount in enumerate(amounts)]
        return Roll(space, reals, tuple(checked))
    if isinstance(space, Space):
        return Roll(space, space.parameters, _named(space, by))
    raise InvalidType(f"task: lives in {space!r}, which is neither a Box nor Arms nor a Space")


def _named(space: Space, by: Any) -> tuple[float, ...]:
    known = {name: p for name, p in space.parameters if name not in space.contexts}
    if not isinstance(by, Mapping):
        raise InvalidType(f"by={by!r}: must be a dict with some of the keys {', '.join(map(repr, known))}")
    for name in by:
        if name not in known:
            raise InvalidArgument(f"by: unknown key {name!r}; allowed: {', '.join(map(repr, known))}")
    return tuple(
        (real if isinstance(parameter, Real) else integer)(f"by[{name!r}]", by.get(name, 0))
        for name, parameter in space.parameters
    )


def _turn(parameter: Parameter, value: Any, by: float) -> Any:
    """The value moved by a fraction of the range, or by so many levels; a context is what it is."""
    if isinstance(parameter, Context):
        return value
    if isinstance(parameter, Real):
        place = (_fraction(parameter, value) + by) % 1.0
        return value if _whole(by) else parameter.decode(np.array([place]))
    if isinstance(parameter, Integer):
        return parameter.lo + (int(value) - parameter.lo + int(by)) % parameter.size
    if isinstance(parameter, Choice):
        rank = int(np.argmax(parameter.encode("x", value))) if parameter.dim else 0
        return parameter.options[(rank + int(by)) % parameter.size]
    raise InvalidType(f"task: has a parameter {parameter!r}, which cannot be moved")


def _unturn(parameter: Parameter, value: Any, by: float, near: Any) -> tuple[Any, bool]:
    """The value that is moved to this one, and whether this one is on the seam."""
    if not isinstance(parameter, Real) or _whole(by):
        return _turn(parameter, value, -by), False
    place = (_fraction(parameter, value) - by) % 1.0
    if SEAM < place < 1.0 - SEAM:
        return parameter.decode(np.array([place])), False
    upper = near is not None and _fraction(parameter, near) > 0.5
    return (parameter.hi if upper else parameter.lo), True


def _whole(by: float) -> bool:
    """Whether a move by this fraction ends where it began."""
    return abs(by - round(by)) < SEAM


def _fraction(parameter: Real, value: Any) -> float:
    return float(parameter.encode("x", value)[0])
