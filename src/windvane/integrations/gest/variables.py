"""Variables of a VOCS as parameters of a `Space`, value by value.

`inward` takes a value as it stands in a result to what the space holds, `outward` takes it back as it is
suggested: one of the values of a discrete variable is the very object that the VOCS has.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from gest_api.vocs import BaseVariable, ContextualVariable, ContinuousVariable, DiscreteVariable

from windvane.checks import real
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.spaces import Choice, Context, Integer, Real
from windvane.spaces.base import Option, Parameter

ROUNDING = 1e-9  # of the range: a number that a file or a table has rounded is still the one suggested


@dataclass(frozen=True)
class Variable(ABC):
    """A named variable of a VOCS, and the parameter that the optimiser has in its place."""

    name: str

    @cached_property
    @abstractmethod
    def parameter(self) -> Parameter:
        """What the optimiser's space has in its place."""

    @abstractmethod
    def inward(self, name: str, value: Any) -> Option:
        """The value in the optimiser's space; an error says what is allowed, and calls it `name`."""

    @abstractmethod
    def outward(self, inner: Any) -> Any:
        """The value as it is suggested."""


@final
@dataclass(frozen=True)
class RealVariable(Variable):
    """A real number."""

    low: float
    high: float

    @cached_property
    def parameter(self) -> Parameter:
        return Real(self.low, self.high)

    def inward(self, name: str, value: Any) -> Option:
        return within(name, value, self.low, self.high)

    def outward(self, inner: Any) -> Any:
        return float(inner)


@final
@dataclass(frozen=True)
class IntegerVariable(Variable):
    """An integer."""

    low: int
    high: int

    @cached_property
    def parameter(self) -> Parameter:
        return Integer(self.low, self.high)

    def inward(self, name: str, value: Any) -> Option:
        number = within(name, value, self.low, self.high)
        if abs(number - round(number)) > ROUNDING * max(self.high - self.low, 1):
            raise InvalidArgument(f"{name}={value!r}: must be an integer")
        return round(number)

    def outward(self, inner: Any) -> Any:
        return int(inner)


@final
@dataclass(frozen=True)
class OrderedVariable(Variable):
    """Numbers in ascending order: the optimiser sees their places 0, 1, 2, ..."""

    values: tuple[float, ...]

    @cached_property
    def parameter(self) -> Parameter:
        return Integer(0, len(self.values) - 1)

    def inward(self, name: str, value: Any) -> Option:
        number = real(name, single(value))
        places = np.array(self.values, dtype=np.float64)
        nearest = int(np.argmin(np.abs(places - number)))
        gaps = np.diff(places)
        if abs(places[nearest] - number) > ROUNDING * (gaps.min() if len(gaps) else 1.0):
            raise InvalidArgument(f"{name}={value!r}: must be one of {', '.join(map(repr, self.values))}")
        return nearest

    def outward(self, inner: Any) -> Any:
        return self.values[inner]


@final
@dataclass(frozen=True)
class UnorderedVariable(Variable):
    """Values without an order."""

    values: tuple[Option, ...]

    @cached_property
    def parameter(self) -> Parameter:
        return Choice(self.values)

    def inward(self, name: str, value: Any) -> Option:
        value = single(value)
        self.parameter.encode(name, value)
        return self.values[self._place(value)]

    def _place(self, value: Any) -> int:
        return next(
            at
            for at, option in enumerate(self.values)
            if option == value and isinstance(option, bool) == isinstance(value, bool)
        )

    def outward(self, inner: Any) -> Any:
        return inner


@final
@dataclass(frozen=True)
class ObservedVariable(Variable):
    """A context: measured, not chosen."""

    context: Context

    @cached_property
    def parameter(self) -> Parameter:
        return self.context

    def inward(self, name: str, value: Any) -> Option:
        value = single(value)
        if isinstance(self.context.values, Integer) and isinstance(value, float) and value.is_integer():
            value = int(value)  # a table with a gap holds integers as floats
        return self.context.observed(name, value)

    def outward(self, inner: Any) -> Any:
        return inner


def variable(name: str, given: BaseVariable, context: Context | None = None) -> Variable:
    """The variable of this name; an error if it is of a kind that cannot be optimised.

    `context` says more about a contextual variable than the VOCS can.

    >>> variable("gain", ContinuousVariable(domain=[0.1, 10.0])).parameter
    Real(lo=0.1, hi=10.0, log=False)
    >>> variable("taps", ContinuousVariable(domain=[1, 8], dtype=int)).parameter
    Integer(lo=1, hi=8, log=False)
    >>> lens = variable("lens", DiscreteVariable(values={50, 35, 85}))
    >>> lens.inward("lens", 85.0), lens.outward(0)
    (2, 35)
    """
    try:
        if isinstance(given, ContextualVariable):
            return _contextual(name, given, context)
        if isinstance(given, ContinuousVariable):
            return _continuous(name, given)
        if isinstance(given, DiscreteVariable):
            return _discrete(name, given)
    except WindvaneError as error:
        raise InvalidArgument(f"vocs: variable {name!r}: {error}") from None
    raise InvalidType(
        f"vocs: variable {name!r}: must be a ContinuousVariable or a DiscreteVariable, "
        f"not a {type(given).__name__}"
    )


def within(name: str, value: Any, low: float, high: float) -> float:
    """A number in the range, on its end if rounding has put it just outside."""
    number = real(name, single(value))
    nearest = min(max(number, low), high)
    if abs(number - nearest) > ROUNDING * (high - low):
        raise InvalidArgument(
            f"{name}={value!r}: must be a finite number at least {low:g} and at most {high:g}"
        )
    return nearest


def single(value: Any) -> Any:
    """The one element of an array, as a table of NumPy hands it over; anything else as it is."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return value.item()
    return value.item() if isinstance(value, np.generic) else value


def _continuous(name: str, given: ContinuousVariable) -> Variable:
    low, high = given.domain
    kind = _kind(given.dtype)
    if kind in "iu":
        real("domain[0]", low)
        real("domain[1]", high)
        made: Variable = IntegerVariable(name, math.ceil(low), math.floor(high))
    elif kind == "f":
        made = RealVariable(name, low, high)
    else:
        raise InvalidArgument(f"dtype={given.dtype!r}: must be a kind of float or int")
    _ = made.parameter  # which checks the bounds
    return made


def _contextual(name: str, given: ContextualVariable, context: Context | None) -> Variable:
    if context is not None:
        return ObservedVariable(name, context)
    low, high = given.domain
    if not (math.isfinite(low) and math.isfinite(high)):
        raise InvalidArgument(
            f"domain={given.domain!r}: a contextual variable needs a range; give it a finite domain, or "
            f"contexts={{{name!r}: wv.Context(lo, hi)}}"
        )
    return ObservedVariable(name, Context(low, high))


def _discrete(name: str, given: DiscreteVariable) -> Variable:
    _kind(given.dtype)
    values = [single(value) for value in given.values]
    for value in values:
        if type(value) not in (str, int, float, bool):
            raise InvalidArgument(f"values: {value!r} is not a string, a number or a boolean")
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidArgument(f"values: {value!r} is not finite")
    if any(isinstance(value, str | bool) for value in values):
        # a set has no order, and that of strings changes from run to run
        return UnorderedVariable(name, tuple(sorted(values, key=lambda value: (type(value).__name__, value))))
    ordered = tuple(sorted(values))
    if all(isinstance(value, int) for value in ordered) and ordered[-1] - ordered[0] == len(ordered) - 1:
        return IntegerVariable(name, ordered[0], ordered[-1])
    return OrderedVariable(name, ordered)


def _kind(dtype: Any) -> str:
    """NumPy's letter for the kind of a single value."""
    try:
        if isinstance(dtype, str):
            dtype = dtype.removeprefix("builtins.")  # as a file of Xopt has it
        found = np.dtype(float if dtype is None else dtype)
    except TypeError:
        raise InvalidArgument(f"dtype={dtype!r}: must be a kind of float or int") from None
    if found.shape:
        raise InvalidArgument(f"dtype={dtype!r}: arrays are not supported; give a variable for each element")
    return found.kind
