"""The highest point of a sum of Fourier features at every time at once.

f_t(x) = sum_m w_{t,m} cos(theta_m' x + tau_m) with theta and tau shared over time and weights that
change slowly, so that what is learned about one step helps with its neighbours:

1. Screen: the values of a fixed set of points at all times are one matrix product.
2. Climb: the best points of each time are starts of a Newton ascent, but a point that stays among
   the best for a while is climbed only once, at the time of its largest value.
3. Follow: the highest summits of a step, moved on by one Newton step, join those of the next step;
   forward in time, then backward.
4. Finish: the best summits of each step, to double precision.

Steps 1 to 3 are in single precision, where sines and cosines cost a tenth. For T = 400 a start costs
about as much as two more points in the screen and, in higher dimensions, is worth more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from windvane.checks import Array
from windvane.data import IntArray
from windvane.spaces.base import BoolArray
from windvane.spaces.sobol import sobol

Floats = npt.NDArray[np.floating[Any]]  # single in the search, double at the end

BLOCK = 10_000_000  # numbers in an array of the screen: 40 MB, and three or four such arrays at once
SEGMENT = 500  # steps that are screened together
BATCH = 500_000  # numbers in an array of the climb
GAP = 4  # a point that is back among the best within so many steps has not been away

# Of a curvature: in units of 1 / l^2, the typical one. None is a round number, so that a Hessian in
# single precision and the damping do not add up to a matrix that is exactly singular.
DAMPING = 1.9
DAMPING_FOLLOW = 0.019
DAMPING_FINISH = 0.00019
CALM, RESCUE = 0.2, 5.0  # factors of the damping after a step up, and after a step that was refused
# Of a length: in lengthscales.
SAME = 0.2  # summits this close are one
DRIFT = 0.25  # the longest step of a summit from one time to the next


@dataclass(frozen=True)
class Effort:
    """How much to search: points screened, starts and summits a time, steps of an ascent."""

    candidates: int
    starts: int
    pool: int
    climb: int = 6
    finalists: int = 2
    finish: int = 3

    @classmethod
    def usual(cls, dim: int, lengthscale: float) -> Effort:
        """Half a lengthscale apart, within limits; what the accuracy in `features` was measured with.

        >>> Effort.usual(1, 0.2).candidates, Effort.usual(4, 0.2).candidates, Effort.usual(8, 0.2).candidates
        (1024, 10000, 16384)
        """
        cells = dim * math.log(max(2.0 / lengthscale, 1.0))  # the logarithm: the number may overflow
        candidates = round(math.exp(min(max(cells, math.log(1024)), math.log(16384))))
        return cls(candidates, starts=candidates // 64, pool=min(candidates // 64, 48))


class Slopes(NamedTuple):
    """Values, gradients and Hessians of n points: n, n x d, n x d x d."""

    value: Floats
    gradient: Floats
    hessian: Floats

    def where(self, chosen: BoolArray, other: Slopes) -> Slopes:
        """These where chosen, the others elsewhere."""
        return Slopes(
            np.where(chosen, self.value, other.value),
            np.where(chosen[:, None], self.gradient, other.gradient),
            np.where(chosen[:, None, None], self.hessian, other.hessian),
        )


class ObjectiveSurface:
    """f_1 .. f_T in single or in double precision."""

    def __init__(self, theta: Array, tau: Array, weights: Array, precision: type[np.floating[Any]]) -> None:
        self.theta: Floats = theta.astype(precision)
        self.tau: Floats = tau.astype(precision)
        self.weights: Floats = weights.astype(precision)
        self.features, self.dim = theta.shape
        self.horizon = len(weights)
        self.upper = np.triu_indices(self.dim)
        a, b = self.upper
        one = np.ones((self.features, 1), dtype=precision)
        self._products = np.concatenate([one, -self.theta[:, a] * self.theta[:, b]], axis=1)

    def phase(self, x: Floats) -> Floats:
        """theta' x + tau, n x M."""
        phase = x @ self.theta.T
        phase += self.tau
        return phase

    def slopes(self, x: Floats, weights: Floats) -> Slopes:
        """At n points, each with its own weights (n x M), or all with the same (M)."""
        phase = self.phase(x)
        sine = np.sin(phase)
        sine *= weights
        cosine = np.cos(phase, out=phase)
        cosine *= weights
        even = cosine @ self._products
        a, b = self.upper
        hessian = np.empty((len(x), self.dim, self.dim), dtype=x.dtype)
        hessian[:, a, b] = hessian[:, b, a] = even[:, 1:]
        return Slopes(even[:, 0], -(sine @ self.theta), hessian)


def summits(
    theta: Array, tau: Array, weights: Array, lengthscale: float, effort: Effort | None = None
) -> Array:
    """The best point found for each time, T x d: theta is M x d, tau M, weights T x M."""
    dim = theta.shape[1]
    effort = effort or Effort.usual(dim, lengthscale)
    surface = ObjectiveSurface(theta, tau, weights, np.float32)
    candidates: Floats = sobol(dim, effort.candidates).astype(np.float32)
    points, times = screen(surface, candidates, effort.starts)
    x, value = climb(surface, candidates[points], times, lengthscale, DAMPING, effort.climb)
    finalists = follow(surface, x, value, times, lengthscale, effort.pool, effort.finalists)
    # Finish in double precision.
    owners = np.repeat(np.arange(surface.horizon), [len(some) for some in finalists])
    exact = ObjectiveSurface(theta, tau, weights, np.float64)
    start = np.concatenate(finalists).astype(np.float64)
    x, value = climb(exact, start, owners, lengthscale, DAMPING_FINISH, effort.finish)
    best = np.lexsort((-value, owners))
    return np.asarray(x[best[np.searchsorted(owners, np.arange(surface.horizon))]])


def screen(surface: ObjectiveSurface, candidates: Floats, count: int) -> tuple[IntArray, IntArray]:
    """Which candidates to climb, and at which times; sorted by time."""
    rows = max(1, BLOCK // max(surface.features, SEGMENT))
    found = []
    for begin in range(0, surface.horizon, SEGMENT):
        weights = surface.weights[begin : begin + SEGMENT]
        index = np.empty((len(weights), 0), dtype=np.int64)
        value = np.empty((len(weights), 0), dtype=weights.dtype)
        for first in range(0, len(candidates), rows):
            phase = surface.phase(candidates[first : first + rows])
            block = weights @ np.cos(phase, out=phase).T
            places = _largest(block, count)
            index = np.concatenate([index, first + places], axis=1)
            value = np.concatenate([value, np.take_along_axis(block, places, axis=1)], axis=1)
        best = _largest(value, count)
        index, value = np.take_along_axis(index, best, axis=1), np.take_along_axis(value, best, axis=1)
        points, times = once(index, value)
        found.append((points, begin + times))
    points, times = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.argsort(times, kind="stable")
    return points[order], times[order]


def _largest(values: Floats, count: int) -> IntArray:
    """The columns of the `count` largest of each row."""
    if count >= values.shape[1]:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, -count, axis=1)[:, -count:]


def once(index: IntArray, value: Floats) -> tuple[IntArray, IntArray]:
    """Of each run of times at which a point is among the best, the time of its largest value.

    >>> index = np.array([[7, 3], [7, 4], [7, 5]])
    >>> points, times = once(index, np.array([[1.0, 0.0], [2.0, 0.0], [1.5, 0.0]]))
    >>> points.tolist(), times.tolist()
    ([3, 4, 5, 7], [0, 1, 2, 1])
    """
    point, height = index.ravel(), value.ravel()
    time = np.repeat(np.arange(len(index)), index.shape[1])
    order = np.lexsort((time, point))
    point, time, height = point[order], time[order], height[order]
    starts = np.ones(len(point), dtype=np.bool_)
    starts[1:] = (np.diff(point) != 0) | (np.diff(time) > GAP)
    run = np.cumsum(starts)
    chosen = np.lexsort((-height, run))[starts]  # runs are contiguous, the highest of each comes first
    return point[chosen], time[chosen]


def climb(
    surface: ObjectiveSurface, start: Floats, times: IntArray, lengthscale: float, damping: float, steps: int
) -> tuple[Floats, Floats]:
    """Where the ascents from n starts end, each at its own time, and how high: n x d, n."""
    x, value = start.copy(), np.empty(len(start), dtype=start.dtype)
    rows = max(1, BATCH // surface.features)
    for first in range(0, len(start), rows):
        part = slice(first, first + rows)
        weights = surface.weights[times[part]]
        here = surface.slopes(x[part], weights)
        damped = np.full(len(here.value), damping / lengthscale**2)
        for _ in range(steps):
            trial = x[part] + newton(x[part], here, damped, lengthscale)
            there = surface.slopes(trial, weights)
            better = there.value > here.value
            x[part] = np.where(better[:, None], trial, x[part])
            here = there.where(better, here)
            damped *= np.where(better, CALM, RESCUE)
        value[part] = here.value
    return x, value


def follow(
    surface: ObjectiveSurface,
    x: Floats,
    value: Floats,
    times: IntArray,
    lengthscale: float,
    count: int,
    finalists: int,
) -> list[Floats]:
    """The best summits of each time, after those of the others were followed to it."""
    horizon = surface.horizon
    edges = np.searchsorted(times, np.arange(horizon + 1))
    pools = [(x[a:b], value[a:b]) for a, b in pairwise(edges)]
    for walk in (range(horizon), range(horizon - 1, -1, -1)):
        pool, heights = x[:0], value[:0]
        for t in walk:
            here = surface.slopes(pool, surface.weights[t])
            step = newton(
                pool, here, np.full(len(pool), DAMPING_FOLLOW / lengthscale**2), DRIFT * lengthscale
            )
            promised = here.value + np.vecdot(step, here.gradient) / 2
            pool, heights = (
                np.concatenate([pool + step, pools[t][0]]),
                np.concatenate([promised, pools[t][1]]),
            )
            kept = distinct(pool, heights, count, SAME * lengthscale)
            pool, heights = pools[t] = pool[kept], heights[kept]
    return [points[:finalists] for points, _ in pools]


def newton(x: Floats, here: Slopes, damping: Array, longest: float) -> Floats:
    """Steps of damped Newton ascents within the unit cube: n x d.

    Coordinates that push against a wall are held. Where the damped Hessian is not negative definite
    the step may point down; it is then turned round.
    """
    gradient = here.gradient
    held = ((x <= 0) & (gradient <= 0)) | ((x >= 1) & (gradient >= 0))
    matrix = -here.hessian.astype(np.float64)
    n, dim = x.shape
    diagonal = matrix.reshape(n, dim * dim)[:, :: dim + 1]
    diagonal += damping[:, None]
    if held.any():
        matrix[held[:, :, None] | held[:, None, :]] = 0.0
        diagonal += held
        gradient = np.where(held, 0, gradient)
    step = np.linalg.solve(matrix, gradient[:, :, None].astype(np.float64))[:, :, 0]
    scale = np.where(np.vecdot(step, gradient) < 0.0, -1.0, 1.0)
    scale *= np.minimum(1.0, longest / np.maximum(np.sqrt(np.vecdot(step, step)), 1e-300))
    return np.asarray(np.clip(x + (scale[:, None] * step).astype(x.dtype), 0, 1) - x)


def distinct(x: Floats, height: Floats, count: int, near: float) -> IntArray:
    """The `count` highest, best first; of those close together, the highest.

    >>> distinct(np.array([[0.5], [0.51], [0.9]]), np.array([1.0, 2.0, 0.0]), 2, near=0.1).tolist()
    [1, 2]
    """
    order = np.argsort(-height, kind="stable")
    ranked = x[order]
    norms = np.vecdot(ranked, ranked)
    close = norms[:, None] + norms - 2 * (ranked @ ranked.T) < near * near
    return np.asarray(order[~np.tril(close, -1).any(axis=1)][:count])
