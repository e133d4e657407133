"""The minimum of a smooth function of a few numbers in a box, where a guess of its curvature is cheap.

Newton steps with that guess, corrected so that it explains how the gradient changed over the last step
(BFGS, damped as in Nocedal & Wright, Procedure 18.2), in a trust region that is a box as well. From a start
near the minimum that is three or four evaluations; docs/decisions/0027 has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from windvane.checks import Array

BoolArray = npt.NDArray[np.bool_]

RADIUS, WIDEST = 2.0, 4.0  # of the trust region to begin with, and at most: the largest entry of a step
TOLERANCE = 1e-4  # a step that promises less ends the descent
EVALUATIONS = 40  # at most, whatever the function


class Slope(NamedTuple):
    """A gradient, and a curvature that is not indefinite."""

    gradient: Array
    curvature: Array


class Place(Protocol):
    """A function at one point."""

    @property
    def value(self) -> float:
        """What is to be minimised; infinite where it is not defined."""
        ...

    def slope(self) -> Slope:
        """Its derivatives."""
        ...


P = TypeVar("P", bound=Place)


@dataclass(frozen=True)
class Minimum(Generic[P]):
    """Where a descent ended."""

    point: Array
    place: P


def descend(at: Callable[[Array], P], start: Array, low: Array, high: Array) -> Minimum[P]:
    """The minimum that is reached from `start`.

    >>> class Bowl(NamedTuple):
    ...     point: Array
    ...     value: float
    ...     def slope(self):
    ...         return Slope(2.0 * (self.point - 3.0), 2.0 * np.eye(2))
    >>> bowl = lambda x: Bowl(x, float((x - 3.0) @ (x - 3.0)))
    >>> descend(bowl, np.zeros(2), np.full(2, -1.0), np.array([1.0, 9.0])).point.round(3)
    array([1., 3.])
    """
    place = at(start)
    point, radius = start, RADIUS
    if not math.isfinite(place.value):
        return Minimum(point, place)
    gradient, curvature = place.slope()
    for _ in range(EVALUATIONS - 1):
        floor, ceiling = np.maximum(low - point, -radius), np.minimum(high - point, radius)
        after = np.clip(point + _valley(gradient, curvature, floor, ceiling), low, high)
        step = after - point
        promise = -float(gradient @ step) - 0.5 * float(step @ curvature @ step)
        if promise < TOLERANCE:
            break
        there = at(after)
        gain = place.value - there.value
        if gain <= 0.0:
            radius = 0.35 * float(np.abs(step).max())
            continue
        before = gradient
        gradient, guess = there.slope()
        curvature = _explaining(guess, step, gradient - before)
        point, place = after, there
        if gain > 0.75 * promise:
            radius = min(2.0 * radius, WIDEST)
        elif gain < 0.25 * promise:
            radius = 0.5 * float(np.abs(step).max())
    return Minimum(point, place)


def _valley(gradient: Array, curvature: Array, low: Array, high: Array) -> Array:
    """The s in a box around 0 that minimises gradient' s + s' curvature s / 2.

    Entries that leave the box are held at its wall, one round after another, and let go when they are
    pulled back; with the few entries that there are, a handful of rounds.

    >>> bend, wall = np.array([[2.0, 1.0], [1.0, 2.0]]), np.ones(2)
    >>> _valley(np.array([-4.0, -2.0]), bend, -wall, wall).round(3)
    array([1. , 0.5])
    """
    p = len(gradient)
    bend = curvature + max(1e-6 * float(np.trace(curvature)) / max(p, 1), 1e-9) * np.eye(p)
    step: Array = np.asarray(np.linalg.solve(bend, -gradient), dtype=np.float64)
    held = np.zeros(p, dtype=np.bool_)
    for _ in range(4 * p):
        beyond = (step < low) | (step > high)
        if beyond.any():
            held |= beyond
            np.clip(step, low, high, out=step)
            _let_go(step, ~held, gradient, bend)
            continue
        slope = gradient + bend @ step
        back = held & (((step <= low) & (slope < 0.0)) | ((step >= high) & (slope > 0.0)))
        if not back.any():
            break
        held[int(np.argmax(np.where(back, np.abs(slope), -1.0)))] = False
        _let_go(step, ~held, gradient, bend)
    return step


def _let_go(step: Array, free: BoolArray, gradient: Array, bend: Array) -> None:
    """Move the free entries of the step to where they belong, given the others."""
    if free.any():
        pull = gradient[free] + bend[np.ix_(free, ~free)] @ step[~free]
        step[free] = np.linalg.solve(bend[np.ix_(free, free)], -pull)


def _explaining(guess: Array, step: Array, change: Array) -> Array:
    """The guessed curvature, such that the step changed the gradient as it did."""
    pushed = guess @ step
    expected, seen = float(step @ pushed), float(step @ change)
    if expected <= 0.0:
        return guess
    if seen < 0.2 * expected:  # bent the other way: only as far as the curvature stays positive
        share = 0.8 * expected / (expected - seen)
        change = share * change + (1.0 - share) * pushed
    return guess - np.outer(pushed, pushed) / expected + np.outer(change, change) / float(step @ change)
