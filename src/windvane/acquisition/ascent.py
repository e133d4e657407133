"""Newton ascent of many points at once between bounds.

Each point carries its own trust radius. The Hessian is made negative definite by taking the
absolute values of its eigenvalues, so saddles are left on the side that goes up; coordinates that
push against a wall, or are discrete, stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from windvane.acquisition.base import Derivatives
from windvane.acquisition.utility import Utility, gradient_and_hessian, utility_at
from windvane.checks import Array
from windvane.spaces.base import BoolArray
from windvane.spaces.region import Bounds

FIELD = (5, 3)  # how many of the most hopeful go on at the first step, and at each after that
STRIDES = np.array((0.1, 0.3, 0.6))  # lengths of the first step, which only follows the gradient
SHORTEST = 1e-3  # a climb whose trust radius has shrunk to this has arrived
SAME = 0.01  # points this close are on the way to the same summit


class Summits(NamedTuple):
    """Where the ascents ended, and how high: m x d and m."""

    points: Array
    values: Array


def newton_steps(
    x: Array, gradient: Array, hessian: Array, bounds: Bounds, radius: Array
) -> tuple[Array, Array, BoolArray]:
    """Steps p within the radius and the box, the gain they promise, and whether the radius cut them.

    Coordinates that push against a wall are held; those that would cross one stop there. The fine
    work along the walls is left to `climb`.
    """
    bounds, x = bounds.along, x if bounds.axes is None else x[:, bounds.axes]
    lower, upper, free = bounds.lower, bounds.upper, bounds.free
    held = ~free | ((x <= lower) & (gradient <= 0.0)) | ((x >= upper) & (gradient >= 0.0))
    inside, slope = _without(held, hessian, gradient)
    step = uphill(inside, slope)
    length = np.sqrt(np.vecdot(step, step))
    step *= np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, None]
    step = np.where(held, 0.0, np.clip(x + step, lower, upper) - x)
    return step, np.vecdot(step, gradient), np.asarray(length > radius)


def spread(steps: Array, bounds: Bounds) -> Array:
    """Steps along the axes of the bounds in all coordinates: 0 in the others."""
    if bounds.axes is None:
        return steps
    whole = np.zeros((len(steps), len(bounds.lower)))
    whole[:, bounds.axes] = steps
    return whole


def uphill(hessian: Array, gradient: Array) -> Array:
    """|H|^-1 g, where |H| has the absolute values of H's eigenvalues, kept away from 0: it always goes up."""
    values, vectors = np.linalg.eigh(hessian)
    size = np.abs(values)
    np.maximum(size, 1e-8 + 1e-6 * size.max(axis=1, keepdims=True), out=size)
    along = (gradient[:, None, :] @ vectors)[:, 0] / size
    return np.asarray((vectors @ along[:, :, None])[:, :, 0])


def _without(held: BoolArray, matrix: Array, gradient: Array) -> tuple[Array, Array]:
    """The quadratic model with some coordinates held where they are."""
    if not held.any():
        return matrix, gradient
    m, d = gradient.shape
    matrix = np.where(held[:, :, None] | held[:, None, :], 0.0, matrix)
    matrix.reshape(m, d * d)[:, :: d + 1] += held
    return matrix, np.where(held, 0.0, gradient)


def leading(x: Array, hope: Array, count: int) -> BoolArray:
    """The `count` most hopeful climbs, and of those close together the most hopeful."""
    order = np.argsort(-hope, kind="stable")
    ranked = x[order]
    norms = np.vecdot(ranked, ranked)
    close = norms[:, None] + norms - 2.0 * (ranked @ ranked.T) < SAME * SAME
    fresh = ~np.tril(close, -1).any(axis=1)
    fresh &= np.cumsum(fresh) <= count
    kept = np.empty(len(x), dtype=bool)
    kept[order] = fresh
    return kept


def stride(
    surface_at: Callable[[Array], Derivatives],
    value_at: Callable[[Array], Array],
    start: Array,
    utility: Utility,
    *,
    bounds: Bounds,
) -> Summits:
    """One step from every start along its gradient, as long as does it most good: needs no Hessian."""
    surface = surface_at(start)
    partials, std = utility_at(utility, surface)
    slope = partials.mean if isinstance(partials.mean, float) else partials.mean[:, None]
    gradient = (
        slope * surface.mean_gradient + (partials.std / (2.0 * std))[:, None] * surface.variance_gradient
    )
    inner, x = bounds.along, start if bounds.axes is None else start[:, bounds.axes]
    held = ~inner.free | ((x <= inner.lower) & (gradient <= 0.0)) | ((x >= inner.upper) & (gradient >= 0.0))
    gradient[held] = 0.0
    gradient /= np.maximum(np.sqrt(np.vecdot(gradient, gradient)), 1e-300)[:, None]
    m, d = start.shape
    trials = start + STRIDES[:, None, None] * spread(gradient, bounds)
    np.clip(trials, bounds.lower, bounds.upper, out=trials)
    heights = value_at(trials.reshape(-1, d)).reshape(len(STRIDES), m)
    best, row = np.argmax(heights, axis=0), np.arange(m)
    top = heights[best, row]
    better = top > partials.value
    return Summits(np.where(better[:, None], trials[best, row], start), np.where(better, top, partials.value))


def ascend(
    surface_at: Callable[[Array], Derivatives],
    value_at: Callable[[Array], Array],
    start: Array,
    utility: Utility,
    *,
    bounds: Bounds,
    radius: float,
    iterations: int,
    tolerance: float,
    narrowing: bool = True,
) -> Summits:
    """Climb the utility from every start until the promised gain is below the tolerance."""
    x = start.copy()
    surface = surface_at(x)
    partials, std = utility_at(utility, surface)
    value = partials.value
    gradient, hessian = gradient_and_hessian(surface, partials, std)
    trust = np.full(len(x), radius)
    live = np.arange(len(x))
    for iteration in range(iterations):
        step, promise, cut = newton_steps(x[live], gradient, hessian, bounds, trust[live])
        going = (promise > tolerance) | (cut & (trust[live] > SHORTEST))
        if narrowing and len(live) > 1:
            going &= leading(x[live], value[live] + promise, FIELD[min(iteration, len(FIELD) - 1)])
        if not going.all():
            live, step, gradient, hessian = live[going], step[going], gradient[going], hessian[going]
            if not len(live):
                break
        trial = x[live] + spread(step, bounds)
        np.clip(trial, bounds.lower, bounds.upper, out=trial)
        last = iteration == iterations - 1
        if last:
            height = value_at(trial)
        else:
            surface = surface_at(trial)
            partials, std = utility_at(utility, surface)
            height = partials.value
        better = height > value[live]
        rose = live[better]
        x[rose], value[rose] = trial[better], height[better]
        trust[live] = np.where(better, trust[live] * 2.0, np.sqrt(np.vecdot(step, step)) * 0.25)
        if last:
            break
        fresh_gradient, fresh_hessian = gradient_and_hessian(surface, partials, std)
        if better.all():
            gradient, hessian = fresh_gradient, fresh_hessian
        else:
            gradient = np.where(better[:, None], fresh_gradient, gradient)
            hessian = np.where(better[:, None, None], fresh_hessian, hessian)
    return Summits(x, value)
