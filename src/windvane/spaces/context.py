"""A context: a parameter that is observed, not chosen.

Encoded it is an ordinary part of a point, so a product kernel over settings and contexts is what a kernel
with one lengthscale for each coordinate is anyway. What is periodic sits on a circle of diameter 1: two
coordinates, where the end of the range is next to its beginning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array
from windvane.codec import IF_USED, component
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces.base import Option, Parameter, in_unit
from windvane.spaces.parameters import Choice, Integer, Real

HOW = "a range, as in wv.Context(0, 100), or a wv.Real, wv.Integer or wv.Choice"
ROUND = 1e-9  # how far off the circle rounding leaves a point


@final
@component
@dataclass(frozen=True, init=False, repr=False)
class Context(Parameter):
    """What is measured before a point is asked for: a load, an hour, a temperature.

    A range of real numbers, or a `Real`, an `Integer` or a `Choice`. With `period`, the range is one turn of
    something periodic: `hi` is `lo` again (of an integer: `hi` is next to `lo`). A value outside of the range
    is refused, unless `clip`: then it counts as the end of the range.

    >>> Context(0, 100, unit="%")
    Context(parameter=Real(lo=0.0, hi=100.0, log=False, unit='%'))
    >>> Context(0, 24, period=True).encode("hour", 6.0)
    array([0.5, 1. ])
    >>> Context(0, 100, unit="%").encode("load", 120)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: load=120: must be a finite number at least 0 and at most 100 (in %); ...
    >>> Context(0, 100, clip=True).encode("load", 120)
    array([1.])
    """

    parameter: Parameter
    period: bool = field(default=False, metadata=IF_USED)
    clip: bool = field(default=False, metadata=IF_USED)

    def __init__(
        self,
        parameter: Parameter | float,
        hi: float | None = None,
        *,
        log: bool = False,
        unit: str = "",
        period: bool = False,
        clip: bool = False,
    ) -> None:
        for name, flag in (("period", period), ("clip", clip)):
            if not isinstance(flag, bool):
                raise InvalidType(f"Context({name}={flag!r}): must be True or False")
        object.__setattr__(self, "parameter", _ranged(parameter, hi, log, unit))
        object.__setattr__(self, "period", period)
        object.__setattr__(self, "clip", clip)
        values = self.values
        if period and (isinstance(values, Choice) or values.log):
            raise InvalidArgument("Context(period=True): must be a range of numbers, not on a log scale")
        if period and values.size is not None and values.size < 3:
            raise InvalidArgument("Context(period=True): an integer needs at least 3 values to go around")
        if clip and (period or isinstance(values, Choice)):
            what = "what is periodic" if period else "a choice"
            raise InvalidArgument(f"Context(clip=True): {what} has no ends; leave clip out")

    @property
    def values(self) -> Real | Integer | Choice:
        """The parameter that says which values are possible."""
        assert isinstance(self.parameter, Real | Integer | Choice)
        return self.parameter

    @property
    def dim(self) -> int:
        """That of its values; two if periodic."""
        return 2 if self.period else self.parameter.dim

    @property
    def size(self) -> int | None:
        """The number of values."""
        return self.parameter.size

    @property
    def fine(self) -> bool:
        """As its values are."""
        return self.parameter.fine and not self.period

    def encode(self, name: str, value: Any) -> Array:
        """As its values are, or on the circle; clipped if that is allowed."""
        return self._encoded(name, self.observed(name, value))

    def observed(self, name: str, value: Any) -> Option:
        """The value as a native Python object, clipped if that is allowed; an error names a way out."""
        values = self.values
        if isinstance(values, Choice):
            return values.decode(values.encode(name, value))
        check = checks.real if isinstance(values, Real) else checks.integer
        try:
            number = check(name, value)
        except (InvalidArgument, InvalidType):
            values.encode(name, value)  # says what is allowed
            raise
        if self.clip:
            return min(max(number, values.lo), values.hi)
        if not values.lo <= number <= values.hi:
            kind = "a finite number" if isinstance(values, Real) else "an integer"
            allowed = checks.bounds_text(at_least=values.lo, at_most=values.hi)
            remedy = "declare a wider range"
            if self.period:
                remedy = "bring it into the range, of which hi is lo again"
            else:
                remedy += ", or Context(..., clip=True) to take the nearest end"
            raise InvalidArgument(
                f"{in_unit(f'{name}={value!r}: must be {kind} {allowed}', values.unit)}; {remedy}"
            )
        return number

    def _encoded(self, name: str, value: Option) -> Array:
        if not self.period:
            return self.parameter.encode(name, value)
        values = self.values
        assert not isinstance(values, Choice)
        return np.asarray(_on_circle(np.array([(float(value) - values.lo) / self._turn]))[0])

    @property
    def _turn(self) -> float:
        """The length of a period."""
        values = self.values
        assert not isinstance(values, Choice)
        return float(values.hi - values.lo) if isinstance(values, Real) else float(values.size)

    def decode(self, block: Array) -> Option:
        """The nearest value."""
        if not self.period:
            return self.parameter.decode(block)
        values = self.values
        assert not isinstance(values, Choice)
        turn = float(_turns(block[None])[0])
        if isinstance(values, Integer):
            return values.lo + round(turn * values.size) % values.size
        return min(values.lo + turn * self._turn, values.hi)

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Uniform over the values."""
        if not self.period:
            return self.parameter.sample(rng, count)
        size = self.parameter.size
        return _on_circle(rng.random(count) if size is None else rng.integers(size, size=count) / size)

    def levels(self) -> Array:
        """All values if there is no continuum, else one in the middle."""
        if not self.period:
            return self.parameter.levels()
        size = self.parameter.size
        return _on_circle(np.array([0.5]) if size is None else np.arange(size) / size)

    def snap(self, blocks: Array) -> Array:
        """The nearest values."""
        if not self.period:
            return self.parameter.snap(blocks)
        size = self.parameter.size
        if size is not None:
            return self.levels()[np.rint(_turns(blocks) * size).astype(np.intp) % size]
        away = blocks - 0.5
        on = np.abs(np.sqrt(np.vecdot(away, away)) - 0.5) <= ROUND
        return np.where(on[:, None], blocks, _on_circle(_turns(blocks)))

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """As its values do; a circle is held at a point, or not at all."""
        return (lower, upper) if self.period else self.parameter.tighten(lower, upper)

    def neighbours(self, block: Array) -> Array:
        """None: it is not for anybody to change."""
        return np.empty((0, len(block)))


def _ranged(parameter: Any, hi: Any, log: Any, unit: Any) -> Parameter:
    if isinstance(parameter, Context) or (
        isinstance(parameter, Parameter) and not isinstance(parameter, Real | Integer | Choice)
    ):
        raise InvalidType(f"Context({parameter!r}): must be {HOW}")
    if not isinstance(parameter, Parameter):
        if hi is None:
            raise InvalidType(f"Context({parameter!r}): must be {HOW}")
        try:
            return Real(parameter, hi, log, unit)
        except (InvalidArgument, InvalidType) as error:
            raise type(error)(str(error).replace("Real", "Context", 1)) from None
    if hi is not None or log or unit:
        raise InvalidArgument(f"Context({parameter!r}): says its range, log and unit itself; leave them out")
    return parameter


def _on_circle(turns: Array) -> Array:
    """Points of the circle of diameter 1 in the unit square, for shares of a turn: m x 2."""
    angle = 2.0 * math.pi * turns
    return np.stack((0.5 + 0.5 * np.cos(angle), 0.5 + 0.5 * np.sin(angle)), axis=-1)


def _turns(blocks: Array) -> Array:
    """Shares of a turn, from 0 to below 1; 0 in the middle of the circle."""
    away = blocks - 0.5
    return np.asarray(np.arctan2(away[:, 1], away[:, 0]) / (2.0 * math.pi) % 1.0)
