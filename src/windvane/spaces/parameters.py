"""The parameters of a `Space`: each owns a block of encoded coordinates.

A real number takes one free coordinate in [0, 1]. An integer, and a real number with a step, takes one
coordinate with a level for each value. A choice among c options takes c coordinates, of which one is
1/sqrt(2) and the others are 0, so that two different options are at distance 1; a choice of one option takes
none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane import checks
from windvane.checks import Array
from windvane.codec import IF_USED, component
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces.base import Option, Parameter, checked_unit, in_unit, interval, listed

# Levels further apart than rounding errors, with room to spare: decode(encode(k)) is k exactly.
_MOST_LEVELS = 2**40
ON_GRID = 1e-9  # steps: how far a value may be from a level that it is taken for
FEW = 16  # levels of an integer up to which a search goes from one to the next


@final
@component
@dataclass(frozen=True, repr=False)
class Real(Parameter):
    """A real number between `lo` and `hi`, on a log scale if `log`; `unit` is what it is in, for messages.

    With a `step` it takes the values lo, lo + step, ..., hi and no others, exactly as they are written in
    decimal; a step that does not lead from lo to hi is refused, and so is one on a log scale.

    >>> Real(0.1, 10, log=True)
    Real(lo=0.1, hi=10.0, log=True)
    >>> Real(0, 80, unit="l/min").encode("flow", 90)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: flow=90: must be a finite number at least 0 and at most 80 (in l/min)
    >>> Real(0, 10, log=True)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: Real(lo=0.0, log=True): lo must be above 0 on a log scale
    >>> Real(0, 1, step=0.1).decode(np.array([0.33]))
    0.3
    >>> Real(0, 1, step=0.3)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: Real(lo=0.0, hi=1.0, step=0.3): does not lead from lo to hi; use hi=0.9 or hi=1.2
    """  # noqa: E501 - an error stands on one line

    lo: float
    hi: float
    log: bool = False
    unit: str = field(default="", compare=False, metadata=IF_USED)
    step: float | None = field(default=None, metadata=IF_USED)

    def __post_init__(self) -> None:
        lo, hi = interval("Real", self.lo, self.hi)
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        _check_flag("Real", self.log)
        checked_unit("Real", self.unit)
        if self.log and lo <= 0:
            raise InvalidArgument(f"Real(lo={lo!r}, log=True): lo must be above 0 on a log scale")
        if self.log and math.log(lo) == math.log(hi):
            raise InvalidArgument(f"Real(lo={lo!r}, hi={hi!r}, log=True): lo and hi have the same logarithm")
        if self.step is not None:
            step = checks.real("Real: step", self.step, above=0.0)
            object.__setattr__(self, "step", step)
            self._check_step(lo, hi, step)

    def _check_step(self, lo: float, hi: float, step: float) -> None:
        if self.log:
            raise InvalidArgument(f"Real(step={step!r}, log=True): steps are equal, so not on a log scale")
        low, high, each = map(_decimal, (lo, hi, step))
        count, rest = divmod(high - low, each)
        if count > _MOST_LEVELS:
            raise InvalidArgument(f"Real(step={step!r}): at most 2**40 steps from lo to hi")
        if rest:
            below, above = float(low + count * each), float(low + (count + 1) * each)
            other = f"hi={below!r} or hi={above!r}" if count else f"hi={above!r}"
            raise InvalidArgument(
                f"Real(lo={lo!r}, hi={hi!r}, step={step!r}): does not lead from lo to hi; use {other}"
            )

    @cached_property
    def _grid(self) -> Integer | None:
        """The numbers of the steps, if there are steps."""
        if self.step is None:
            return None
        return Integer(0, int((_decimal(self.hi) - _decimal(self.lo)) / _decimal(self.step)))

    @property
    def dim(self) -> int:
        """One."""
        return 1

    @property
    def size(self) -> int | None:
        """None: a continuum; with a step, the number of levels."""
        return None if self._grid is None else self._grid.size

    @property
    def fine(self) -> bool:
        """Whether there are many levels."""
        return self._grid is not None and self._grid.fine

    def encode(self, name: str, value: Any) -> Array:
        """The position between lo and hi."""
        number = _within(self, checks.real, name, value)
        if self._grid is not None:
            assert self.step is not None
            rank = round((number - self.lo) / self.step)
            if abs(self._value(rank) - number) > ON_GRID * self.step:
                near = f"such as {self._value(rank)!r}"
                raise InvalidArgument(
                    f"{name}={value!r}: must be {self.lo:g} plus steps of {self.step:g}, {near}"
                )
            return self._grid.encode(name, rank)
        if self.log:
            position = (math.log(number) - math.log(self.lo)) / (math.log(self.hi) - math.log(self.lo))
        else:
            position = (number - self.lo) / (self.hi - self.lo)
        return np.array([position])

    def decode(self, block: Array) -> float:
        """The value at this position, never outside the bounds, not even by rounding."""
        if self._grid is not None:
            return self._value(self._grid.decode(block))
        position = float(block[0])
        if position <= 0.0:
            return self.lo
        if position >= 1.0:
            return self.hi
        if not self.log:
            return self.lo + position * (self.hi - self.lo)
        log_lo = math.log(self.lo)
        value = math.exp(log_lo + position * (math.log(self.hi) - log_lo))
        return min(max(value, self.lo), self.hi)

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Uniform on [0, 1), or over the levels."""
        return rng.random((count, 1)) if self._grid is None else self._grid.sample(rng, count)

    def levels(self) -> Array:
        """The midpoint, which stands for the continuum; with a step, all levels."""
        return np.array([[0.5]]) if self._grid is None else self._grid.levels()

    def snap(self, blocks: Array) -> Array:
        """Clipped to [0, 1], or to the nearest levels."""
        return blocks.clip(0.0, 1.0) if self._grid is None else self._grid.snap(blocks)

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The bounds, or the lowest and the highest level between them."""
        return (lower, upper) if self._grid is None else self._grid.tighten(lower, upper)

    def neighbours(self, block: Array) -> Array:
        """None; with a step, the levels nearby."""
        return np.empty((0, 1)) if self._grid is None else self._grid.neighbours(block)

    def _value(self, rank: int) -> float:
        """lo + rank steps, in decimal, so that 3 steps of 0.1 are 0.3."""
        assert self.step is not None
        return float(_decimal(self.lo) + rank * _decimal(self.step))


@final
@component
@dataclass(frozen=True, repr=False)
class Integer(Parameter):
    """An integer from `lo` to `hi`, both included, with levels spaced as logarithms if `log`.

    >>> Integer(1, 5).levels().ravel()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> Integer(1, 4, log=True).levels().ravel().round(2)
    array([0.  , 0.5 , 0.79, 1.  ])
    >>> Integer(8, 1)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: Integer(lo=8, hi=1): hi must be at least lo
    """

    lo: int
    hi: int
    log: bool = False
    unit: str = field(default="", compare=False, metadata=IF_USED)

    def __post_init__(self) -> None:
        lo, hi = checks.integer("Integer: lo", self.lo), checks.integer("Integer: hi", self.hi)
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        _check_flag("Integer", self.log)
        checked_unit("Integer", self.unit)
        if hi < lo:
            raise InvalidArgument(f"Integer(lo={lo}, hi={hi}): hi must be at least lo")
        if self.log and lo <= 0:
            raise InvalidArgument(f"Integer(lo={lo}, log=True): lo must be at least 1 on a log scale")
        if (hi if self.log else hi - lo) > _MOST_LEVELS:
            what = "hi must be at most 2**40 on a log scale" if self.log else "hi - lo must be at most 2**40"
            raise InvalidArgument(f"Integer(lo={lo}, hi={hi}): {what}; use Real for wider ranges")

    @property
    def dim(self) -> int:
        """One."""
        return 1

    @property
    def size(self) -> int:
        """The number of levels."""
        return self.hi - self.lo + 1

    @property
    def fine(self) -> bool:
        """Whether a search moves along the levels before it rounds."""
        return self.size > FEW

    def encode(self, name: str, value: Any) -> Array:
        """The position of its level."""
        if isinstance(value, float | np.floating) and float(value).is_integer():
            value = int(value)  # 2.0, as files and other languages write it
        number = _within(self, checks.integer, name, value)
        return self._position(np.array([number - self.lo], dtype=np.float64))

    def decode(self, block: Array) -> int:
        """The integer of the nearest level."""
        return self.lo + int(self._rank(block)[0])

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Every level is equally likely."""
        return self._position(rng.integers(self.size, size=(count, 1)).astype(np.float64))

    def levels(self) -> Array:
        """From lo to hi."""
        return self._position(np.arange(self.size, dtype=np.float64)[:, None])

    def snap(self, blocks: Array) -> Array:
        """The nearest levels."""
        return self._position(self._rank(blocks))

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """The lowest and the highest level between the bounds."""
        low, high = self._rank(lower), self._rank(upper)
        low += (self._position(low) < lower) & (low < self.size - 1)
        high -= (self._position(high) > upper) & (high > 0)
        return self._position(low), self._position(high)

    def neighbours(self, block: Array) -> Array:
        """The next lower and the next higher level; where there are many, also those 2, 4, 8, ... away."""
        rank = self._rank(block)[0]
        far = 2.0 ** np.arange(max(math.ceil(math.log2(self.size / FEW)), 1))
        steps = (rank + np.concatenate((-far[::-1], far)))[:, None]
        return self._position(steps[(steps[:, 0] >= 0) & (steps[:, 0] < self.size)])

    @cached_property
    def _log_width(self) -> float:
        return float(np.log(float(self.hi)) - np.log(float(self.lo)))

    def _position(self, rank: Array) -> Array:
        """From a rank, 0 to size - 1, to its coordinate."""
        if self.size == 1:
            return np.full_like(rank, 0.5)
        if self.log:
            scaled: Array = (np.log(rank + self.lo) - np.log(float(self.lo))) / self._log_width
            return scaled
        return rank / (self.size - 1)

    def _rank(self, position: Array) -> Array:
        """From a coordinate to the rank of the nearest level."""
        top = self.size - 1
        if top == 0:
            return np.zeros_like(position)
        position = position.clip(0.0, 1.0)
        if not self.log:
            return np.rint(position * top)
        below = (np.floor(self.lo * np.exp(position * self._log_width)) - self.lo).clip(0, top - 1)
        middle = (self._position(below) + self._position(below + 1)) / 2
        rank: Array = below + (position > middle)
        return rank


@final
@component
@dataclass(frozen=True, init=False, repr=False)
class Choice(Parameter):
    """One of several options without an order: strings, numbers or booleans.

    >>> Choice(["low", "high"])
    Choice(options=('low', 'high'))
    >>> Choice(["low", "high"]).encode("mode", "high").round(3)
    array([0.   , 0.707])
    >>> Choice(["low", "high"]).encode("mode", "medium")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: mode='medium': must be one of 'low', 'high'
    """

    options: tuple[Option, ...]

    def __init__(self, options: Sequence[Option]) -> None:
        object.__setattr__(self, "options", _distinct_options(options))

    @property
    def dim(self) -> int:
        """One coordinate an option; none for a single option."""
        return self.size if self.size > 1 else 0

    @property
    def size(self) -> int:
        """The number of options."""
        return len(self.options)

    def encode(self, name: str, value: Any) -> Array:
        """The one-hot block of an option."""
        value = value.item() if isinstance(value, np.generic) else value
        try:
            rank = self._ranks.get((isinstance(value, bool), value))
        except TypeError:  # not hashable
            raise InvalidType(f"{name}={value!r}: must be one of {self._allowed}") from None
        if rank is None:
            raise InvalidArgument(f"{name}={value!r}: must be one of {self._allowed}")
        block: Array = self._table[rank].copy()
        return block

    def decode(self, block: Array) -> Option:
        """The option with the largest coordinate, the first one if several share it."""
        return self.options[int(np.argmax(block)) if self.dim else 0]

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Every option is equally likely."""
        drawn: Array = self._table[rng.integers(self.size, size=count)]
        return drawn

    def levels(self) -> Array:
        """One block an option, in the given order."""
        return self._table.copy()

    def snap(self, blocks: Array) -> Array:
        """The option with the largest coordinate."""
        return self._table[np.argmax(blocks, axis=1)] if self.dim else blocks.copy()

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """All options, or one that is held; the bounds come back crossed if none is left."""
        if self.size < 2 or (lower < upper).all():
            return lower, upper
        left = self._table[((self._table >= lower) & (self._table <= upper)).all(axis=1)]
        if len(left) > 1:
            raise InvalidArgument("region: a choice is held at one of its options, or not at all")
        return (left[0], left[0]) if len(left) else (upper, np.minimum(lower, upper - 1.0))

    def neighbours(self, block: Array) -> Array:
        """Every other option."""
        others = np.arange(self.size) != (np.argmax(block) if self.dim else 0)
        blocks: Array = self._table[others]
        return blocks

    @cached_property
    def _table(self) -> Array:
        return np.eye(self.size, self.dim) / math.sqrt(2.0)

    @property
    def _allowed(self) -> str:
        return ", ".join(map(repr, self.options))

    @cached_property
    def _ranks(self) -> dict[tuple[bool, Option], int]:
        # Python finds True equal to 1; a Choice does not.
        return {(isinstance(option, bool), option): rank for rank, option in enumerate(self.options)}


def _within(parameter: Real | Integer, check: Callable[..., Any], name: str, value: Any) -> Any:
    """A number between the bounds; an error says what they are in."""
    try:
        return check(name, value, at_least=parameter.lo, at_most=parameter.hi)
    except (InvalidArgument, InvalidType) as error:
        raise type(error)(in_unit(str(error), parameter.unit)) from None


def _decimal(number: float) -> Decimal:
    """The number as it is written."""
    return Decimal(repr(number))


def _check_flag(owner: str, log: Any) -> None:
    if not isinstance(log, bool):
        raise InvalidType(f"{owner}(log={log!r}): must be True or False")


def _distinct_options(options: Any) -> tuple[Option, ...]:
    given = listed("options", options, "options, as in Choice(['low', 'high'])")
    native = [option.item() if isinstance(option, np.generic) else option for option in given]
    seen: dict[Option, int] = {}
    for i, option in enumerate(native):
        if type(option) not in (str, int, float, bool):
            raise InvalidType(f"options[{i}]={option!r}: must be a string, a number or a boolean")
        if isinstance(option, float) and not math.isfinite(option):
            raise InvalidArgument(f"options[{i}]={option!r}: must be finite")
        if seen.setdefault(option, i) != i:
            raise InvalidArgument(f"options[{i}]={option!r}: equals options[{seen[option]}]; all must differ")
    return tuple(native)
