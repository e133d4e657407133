"""Newton ascent of many points at once inside the unit cube.

Each point carries its own trust radius. The Hessian is made negative definite by taking the
absolute values of its eigenvalues, so saddles are left on the side that goes up; coordinates that
push against a wall, or are discrete, stay where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from windvane.acquisition.base import Derivatives
from windvane.checks import Array
from windvane.spaces.base import BoolArray

SMALLEST_VARIANCE = 1e-18
NARROW = 2  # steps that every point is given
FIELD = (6, 4, 3, 2)  # how many of the most hopeful go on at each step after that
SHORTEST = 1e-3  # a climb whose trust radius has shrunk to this has arrived
SAME = 0.01  # points this close are on the way to the same summit


class Summits(NamedTuple):
    """Where the ascents ended, and how high: m x d and m."""

    points: Array
    values: Array


def ucb_value(surface: Derivatives, multiplier: float) -> tuple[Array, Array]:
    """mu + c sigma at the surface's points, and sigma."""
    sigma = np.sqrt(np.maximum(surface.variance, SMALLEST_VARIANCE))
    return surface.mean + multiplier * sigma, sigma


def ucb_derivatives(surface: Derivatives, multiplier: float, sigma: Array) -> tuple[Array, Array]:
    """Gradient and Hessian of mu + c sigma.

    For sigma = sqrt(s): Hess sigma = Hess s / 2 sigma - ds ds' / 4 sigma^3.
    """
    c = multiplier / (2.0 * sigma)
    ds = surface.variance_gradient
    gradient = surface.mean_gradient + c[:, None] * ds
    bend = (c / (2.0 * sigma * sigma))[:, None] * ds
    return gradient, surface.hessian(c) - bend[:, :, None] * ds[:, None, :]


def newton_steps(
    x: Array, gradient: Array, hessian: Array, free: BoolArray, radius: Array
) -> tuple[Array, Array, BoolArray]:
    """Steps p within the radius and the cube, the gain they promise, and whether the radius cut them.

    Coordinates that push against a wall, or would cross one, are taken there and held; the others
    then move as if those were constants.
    """
    held = ~free | ((x <= 0.0) & (gradient <= 0.0)) | ((x >= 1.0) & (gradient >= 0.0))
    step, cut = _bounded(*_without(held, gradient, hessian), radius)
    target = x + step
    crossing = (target < 0.0) | (target > 1.0)
    rows = np.flatnonzero(crossing.any(axis=1))
    if len(rows):
        over, start, curve = crossing[rows], x[rows], hessian[rows]
        to_wall = np.where(over, np.clip(target[rows], 0.0, 1.0) - start, 0.0)
        bent = gradient[rows] + (curve @ to_wall[:, :, None])[:, :, 0]
        inner, _ = _bounded(*_without(held[rows] | over, bent, curve), radius[rows])
        step[rows] = np.clip(start + to_wall + inner, 0.0, 1.0) - start
    return step, np.vecdot(step, gradient), cut


def _without(held: BoolArray, gradient: Array, hessian: Array) -> tuple[Array, Array]:
    """The quadratic model with some coordinates held where they are."""
    if not held.any():
        return gradient, hessian
    m, d = gradient.shape
    hessian = np.where(held[:, :, None] | held[:, None, :], 0.0, hessian)
    hessian.reshape(m, d * d)[:, :: d + 1] -= held
    return np.where(held, 0.0, gradient), hessian


def _bounded(gradient: Array, hessian: Array, radius: Array) -> tuple[Array, BoolArray]:
    """The Newton step cut to the radius, and where that shortened it."""
    step = uphill(hessian, gradient)
    length = np.sqrt(np.vecdot(step, step))
    step *= np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, None]
    return step, length > radius


def uphill(hessian: Array, gradient: Array) -> Array:
    """|H|^-1 g, where |H| has the absolute values of H's eigenvalues, kept away from 0."""
    values, vectors = np.linalg.eigh(hessian)
    size = np.abs(values)
    floor = 1e-8 + 1e-6 * size.max(axis=1, keepdims=True)
    along = (gradient[:, None, :] @ vectors)[:, 0] / np.maximum(size, floor)
    return np.asarray((vectors @ along[:, :, None])[:, :, 0])


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


def ascend(
    surface_at: Callable[[Array], Derivatives],
    start: Array,
    multiplier: float,
    *,
    free: BoolArray,
    radius: float,
    iterations: int,
    tolerance: float,
    narrowing: bool = True,
) -> Summits:
    """Climb mu + c sigma from every start until the promised gain is below the tolerance."""
    x = start.copy()
    surface = surface_at(x)
    value, sigma = ucb_value(surface, multiplier)
    gradient, hessian = ucb_derivatives(surface, multiplier, sigma)
    trust = np.full(len(x), radius)
    live = np.arange(len(x))
    for iteration in range(iterations):
        step, promise, cut = newton_steps(x[live], gradient, hessian, free, trust[live])
        going = (promise > tolerance) | (cut & (trust[live] > SHORTEST))
        if narrowing and len(live) > 1 and iteration >= NARROW:
            going &= leading(x[live], value[live] + promise, FIELD[min(iteration - NARROW, len(FIELD) - 1)])
        if not going.all():
            live, step, gradient, hessian = live[going], step[going], gradient[going], hessian[going]
            if not len(live):
                break
        trial = x[live] + step
        np.clip(trial, 0.0, 1.0, out=trial)
        surface = surface_at(trial)
        height, sigma = ucb_value(surface, multiplier)
        better = height > value[live]
        rose = live[better]
        x[rose], value[rose] = trial[better], height[better]
        trust[live] = np.where(better, trust[live] * 2.0, np.sqrt(np.vecdot(step, step)) * 0.25)
        fresh_gradient, fresh_hessian = ucb_derivatives(surface, multiplier, sigma)
        if better.all():
            gradient, hessian = fresh_gradient, fresh_hessian
        else:
            gradient = np.where(better[:, None], fresh_gradient, gradient)
            hessian = np.where(better[:, None, None], fresh_hessian, hessian)
    return Summits(x, value)
