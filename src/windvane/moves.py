"""Moves from the present setting to the next: how far one may go at a time, and what that costs.

Both are spelt the same way: a number is for the whole range of every parameter, as the model sees it (on a
log scale: of the logarithm); a dict, or for a box a list, is in the units of the parameters. Choices have no
distance, contexts are not moved by anybody: neither is limited or charged for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType, UnknownName
from windvane.spaces.axes import Axis, ordered_axes
from windvane.spaces.base import Domain
from windvane.units import FARTHEST

HAIR = 1e-12  # so that rounding does not carry a move beyond its limit, or a level out of reach
CORNER = 1e-3  # of the range: within it the price of a move rises as a parabola, so that it has derivatives


@final
@component
@dataclass(frozen=True)
class PerAxis:
    """A number for each ordered coordinate: of its whole range in `ranges`, or of one unit in `units`."""

    ranges: tuple[float | None, ...]
    units: tuple[float | None, ...]


@final
@component
@dataclass(frozen=True)
class Moves:
    """The longest step, and the price of moving; None where there is none."""

    max_step: PerAxis | None = None
    move_cost: PerAxis | None = None


def per_axis(name: str, given: Any, space: Domain, *, least: str | None = None) -> PerAxis:
    """What a caller says, for each ordered coordinate; `least` says why a number must not be below a step.

    >>> from windvane.spaces import Box
    >>> per_axis("max_step", [0.5, 2.0], Box([(0, 1), (0, 10)]))
    PerAxis(ranges=(None, None), units=(0.5, 2.0))
    """
    axes = ordered_axes(space)
    if not axes:
        raise InvalidArgument(f"{name}: this space has no parameter with an order, so there is no distance")
    nothing = (None,) * len(axes)
    if isinstance(given, Mapping):
        names = [axis.name for axis in axes]
        if not all(isinstance(key, str) for key in names):
            raise InvalidType(f"{name}={given!r}: must be a number, or a list with one for each coordinate")
        if not given:
            raise InvalidArgument(f"{name}: must not be empty; its keys are {', '.join(map(repr, names))}")
        for key in given:
            if key not in names:
                known = ", ".join(map(repr, names))
                raise UnknownName(f"{name}: {key!r} is not a parameter with an order; those are {known}")
        amounts = dict(given)
        return PerAxis(nothing, tuple(_amount(name, amounts.get(axis.name), axis, least) for axis in axes))
    if isinstance(given, list | tuple | np.ndarray) and np.ndim(given) == 1:
        if any(isinstance(axis.name, str) for axis in axes):
            raise InvalidType(f"{name}={given!r}: must be a number, or a dict of numbers by parameter")
        if len(given) != len(axes):
            raise InvalidArgument(f"{name}={given!r}: must have {len(axes)} numbers, one for each coordinate")
        return PerAxis(
            nothing, tuple(_amount(name, each, axis, least) for each, axis in zip(given, axes, strict=True))
        )
    return PerAxis((real(name, given, above=0.0),) * len(axes), nothing)


def _amount(name: str, value: Any, axis: Axis, least: str | None) -> float | None:
    if value is None:
        return None
    amount = real(f"{name}[{axis.name!r}]", value, above=0.0)
    if least is not None and amount < axis.step:
        raise InvalidArgument(f"{name}[{axis.name!r}]={value!r}: must be at least {axis.step:g}, {least}")
    return amount


def within_reach(limit: PerAxis, space: Domain, point: Array) -> tuple[Array, Array]:
    """Bounds of the d coordinates around a point.

    Of a range, a level of an integer is always within reach: a share that is less would hold it for ever.
    """
    lower, upper = np.full(space.dim, -np.inf), np.full(space.dim, np.inf)
    for axis, share, amount in zip(ordered_axes(space), limit.ranges, limit.units, strict=True):
        here = float(point[axis.number])
        value = axis.value(here)
        if share is not None:
            low, high = here - share, here + share
            if axis.step:
                low, high = min(low, axis.place(value - axis.step)), max(high, axis.place(value + axis.step))
        elif amount is not None:
            low, high = axis.place(value - amount), axis.place(value + amount)
        else:
            continue
        hair = HAIR if axis.step or space.size is not None else -HAIR
        lower[axis.number] = min(low - hair, here)
        upper[axis.number] = max(high + hair, here)
    return lower, upper


def steps_between(limit: PerAxis, space: Domain, start: Array, end: Array) -> int:
    """How many moves it takes at least."""
    most = 0.0
    for axis, share, amount in zip(ordered_axes(space), limit.ranges, limit.units, strict=True):
        a, b = float(start[axis.number]), float(end[axis.number])
        if amount is not None:
            whole = math.floor(amount / axis.step + HAIR) * axis.step if axis.step else amount
            most = max(most, abs(axis.value(b) - axis.value(a)) / whole)
        elif share is not None:
            levels = abs(axis.value(b) - axis.value(a)) / axis.step if axis.step else math.inf
            most = max(most, min(abs(b - a) / share, levels))
    return math.ceil(most - 1e-9)


class Toll(NamedTuple):
    """What a move to m points costs: m, and its first and second derivatives by each coordinate: m x d."""

    cost: Array
    slope: Array
    bend: Array


def toll(price: PerAxis, space: Domain, start: Array, points: Array, unit: float) -> Toll:
    """In units of y that are `unit` long. A sum over the coordinates, so there are no mixed derivatives."""
    found = Toll(np.zeros(len(points)), np.zeros(points.shape), np.zeros(points.shape))
    for axis, whole, each in zip(ordered_axes(space), price.ranges, price.units, strict=True):
        here, width = points[:, axis.number], axis.hi - axis.lo  # in whose units squares stay finite
        if whole is not None:
            gap, first, second, rate = here - start[axis.number], 1.0, 0.0, whole / unit
        elif each is not None:
            value, slope, curve = axis.jet(here)
            gap = (value - axis.value(float(start[axis.number]))) / width
            first, second, rate = slope / width, curve / width, each * width / unit
        else:
            continue
        rate = min(rate, FARTHEST)
        length = np.sqrt(gap * gap + CORNER * CORNER)
        found.cost[:] += rate * (length - CORNER)
        found.slope[:, axis.number] = rate * gap / length * first
        found.bend[:, axis.number] = rate * ((CORNER / length * first) ** 2 / length + gap / length * second)
    return found
