"""Optuna's distributions as Windvane's parameters, value by value.

A column is one parameter of a study. `inward` takes a value as Optuna writes it to what the space of the
optimiser holds, `outward` takes it back: exactly onto the grid, never out of the range.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, final

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Choice, Integer, Real, Space
from windvane.spaces.base import Parameter

MOST_LEVELS = 2**40  # of a wv.Integer; a finer grid is a range of real numbers that is rounded
FEW = 10  # options of a choice, each of which is tried once
NOTHING = "nothing to choose"  # the name of a parameter that has one value
ON_GRID = 1e-8  # steps: as far from the grid as Optuna tolerates


@dataclass(frozen=True)
class Column(ABC):
    """A named parameter; two are equal if their names and distributions are."""

    name: str
    distribution: Any

    @cached_property
    @abstractmethod
    def parameter(self) -> Parameter:
        """What the optimiser's space has in its place."""

    @abstractmethod
    def inward(self, value: Any) -> Any:
        """The value in the optimiser's space; None if the distribution does not allow it."""

    @abstractmethod
    def outward(self, inner: Any) -> Any:
        """The value as Optuna wants it."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Any:
        """A value at random, uniform on the distribution's own scale."""


@final
class Options(Column):
    """A choice among any objects: the optimiser sees their places in the list, of equals the first."""

    @cached_property
    def parameter(self) -> Parameter:
        choices = self.distribution.choices
        return Choice([at for at in range(len(choices)) if self.inward(choices[at]) == at])

    def inward(self, value: Any) -> Any:
        try:
            return int(self.distribution.to_internal_repr(value))
        except ValueError:
            return None

    def outward(self, inner: Any) -> Any:
        return self.distribution.choices[inner]

    def draw(self, rng: np.random.Generator) -> Any:
        return self.outward(int(rng.integers(len(self.distribution.choices))))


class _Number(Column):
    """What numbers of all kinds share: an end on either side."""

    def _within(self, value: Any) -> float | None:
        number = float(value)
        return number if self.distribution.low <= number <= self.distribution.high else None


@final
class Range(_Number):
    """A real number."""

    @cached_property
    def parameter(self) -> Parameter:
        low, high, log = self.distribution.low, self.distribution.high, self.distribution.log
        log = log and math.log(low) < math.log(high)  # so close that a line is as good as a logarithm
        try:
            return Real(low, high, log=log)
        except InvalidArgument as error:
            raise InvalidArgument(f"parameter {self.name!r}: {error}") from error

    def inward(self, value: Any) -> Any:
        return self._within(value)

    def outward(self, inner: Any) -> Any:
        return float(inner)

    def draw(self, rng: np.random.Generator) -> Any:
        low, high = self.distribution.low, self.distribution.high
        return self.outward(self.parameter.decode(rng.random(1)) if low < high else low)


@final
class Grid(_Number):
    """Numbers at equal distances: the optimiser sees 0, 1, 2, ..."""

    @cached_property
    def _exact(self) -> tuple[Decimal, Decimal, int]:
        """The lowest number, the step and the last index; decimal, so that 3 * 0.1 is 0.3."""
        low, high, step = (Decimal(str(getattr(self.distribution, end))) for end in ("low", "high", "step"))
        return low, step, int((high - low) / step)

    @cached_property
    def parameter(self) -> Parameter:
        last = self._exact[2]
        return Integer(0, last) if last <= MOST_LEVELS else Real(0, last)

    @property
    def levels(self) -> int:
        """How many there are."""
        return self._exact[2] + 1

    def inward(self, value: Any) -> Any:
        number = self._within(value)
        if number is None:
            return None
        low, step, last = self._exact
        index = (Decimal(str(number)) - low) / step
        nearest = round(index)
        return min(nearest, last) if abs(index - nearest) < ON_GRID else None

    def outward(self, inner: Any) -> Any:
        low, step, last = self._exact
        value = low + min(max(round(inner), 0), last) * step
        return int(value) if isinstance(self.distribution, IntDistribution) else float(value)

    def draw(self, rng: np.random.Generator) -> Any:
        return self.outward(int(rng.integers(self._exact[2] + 1)))


@final
class LogInteger(_Number):
    """An integer on a logarithmic scale."""

    @cached_property
    def parameter(self) -> Parameter:
        low, high = self.distribution.low, self.distribution.high
        kind = Integer if high <= MOST_LEVELS else Real
        return kind(low, high, log=True)

    def inward(self, value: Any) -> Any:
        number = self._within(value)
        return int(number) if number is not None and number == int(number) else None

    def outward(self, inner: Any) -> Any:
        return min(max(round(inner), self.distribution.low), self.distribution.high)

    def draw(self, rng: np.random.Generator) -> Any:
        low, high = math.log(self.distribution.low - 0.5), math.log(self.distribution.high + 0.5)
        return self.outward(math.exp(rng.uniform(low, high)))


Columns = tuple[Column, ...]


def column(name: str, distribution: BaseDistribution) -> Column:
    """The column of a distribution.

    >>> tenths = column("x", FloatDistribution(0.0, 1.0, step=0.1))
    >>> tenths.inward(0.3), tenths.outward(3), tenths.inward(0.35)
    (3, 0.3, None)
    >>> modes = column("mode", CategoricalDistribution([None, "fast"]))
    >>> modes.inward("fast"), modes.outward(0)
    (1, None)
    """
    if isinstance(distribution, CategoricalDistribution):
        return Options(name, distribution)
    if isinstance(distribution, FloatDistribution):
        return Range(name, distribution) if distribution.step is None else Grid(name, distribution)
    if isinstance(distribution, IntDistribution):
        return LogInteger(name, distribution) if distribution.log else Grid(name, distribution)
    raise InvalidType(
        f"parameter {name!r}: {distribution!r} is not a FloatDistribution, an IntDistribution or a "
        "CategoricalDistribution"
    )


def columns(search_space: Mapping[str, BaseDistribution]) -> Columns:
    """The columns of a search space, sorted by name: storages do not agree about any other order."""
    return tuple(column(name, search_space[name]) for name in sorted(search_space))


def space(of: Columns) -> Space:
    """The optimiser's space; with one point if there is nothing to choose."""
    return Space([(each.name, each.parameter) for each in of] or [(NOTHING, Integer(0, 0))])


def point(of: Columns, inner: Sequence[Any]) -> dict[str, Any]:
    """A point of that space from its coordinates."""
    return {each.name: value for each, value in zip(of, inner, strict=True)} or {NOTHING: 0}


def inward(of: Columns, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """A point in the optimiser's space; None if a parameter is missing or out of its range."""
    point = []
    for each in of:
        if each.name not in params:
            return None
        inner = each.inward(params[each.name])
        if inner is None:
            return None
        point.append(inner)
    return tuple(point)


def outward(of: Columns, point: Mapping[str, Any]) -> dict[str, Any]:
    """A point of the optimiser as Optuna's parameters."""
    return {each.name: each.outward(point[each.name]) for each in of}


def untried(of: Columns, trials: Sequence[Mapping[str, Any]], *, leading: bool) -> dict[str, Any]:
    """Of each choice, the first option that no trial has had, whatever became of the trial.

    An option is like nothing else, so a model that has not seen it can only guess how good the unknown is;
    where the values seen rise, it may go on for long before it looks. Where parameters are `leading` to
    different others, that holds for every option, and for a few whole numbers as well.
    """
    found = {}
    for each in of:
        if isinstance(each, Options):
            count = len(each.distribution.choices)
            count = count if leading else min(count, FEW)
        elif leading and isinstance(each, Grid) and each.levels <= FEW:
            count = each.levels
        else:
            continue
        seen = {each.inward(params[each.name]) for params in trials if each.name in params}
        new = (at for at in range(count) if at not in seen and each.inward(each.outward(at)) == at)
        first = next(new, None)
        if first is not None:
            found[each.name] = each.outward(first)
    return found


def widest(seen: Sequence[BaseDistribution]) -> BaseDistribution:
    """One distribution that contains the others, newest first; the newest itself where there is none.

    >>> widest([IntDistribution(1, 5), IntDistribution(3, 9)])
    IntDistribution(high=9, log=False, low=1, step=1)
    """
    newest = seen[0]
    if not isinstance(newest, FloatDistribution | IntDistribution) or all(each == newest for each in seen):
        return newest
    alike: list[Any] = [each for each in seen if _same_scale(newest, each)]
    low, high = min(each.low for each in alike), max(each.high for each in alike)
    return type(newest)(low, high, log=newest.log, step=newest.step)  # type: ignore[arg-type]


def _same_scale(newest: Any, other: Any) -> bool:
    """Whether two ranges are parts of one range: of the same scale, and with the same step on one grid."""
    if newest.log != other.log or newest.step != other.step:
        return False
    if newest.step is None:
        return True
    apart = (Decimal(str(other.low)) - Decimal(str(newest.low))) / Decimal(str(newest.step))
    return apart == round(apart)
