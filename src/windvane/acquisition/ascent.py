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

SMALLEST_VARIANCE = 1e-18


class Summits(NamedTuple):
    """Where the ascents ended, and how high: m x d and m."""

    points: Array
    values: Array


def ucb_value(surface: Derivatives, multiplier: float) -> tuple[Array, Array]:
    """mu + c sigma at the surface's points, and sigma."""
    sigma = np.sqrt(np.maximum(surface.variance, SMALLEST_VARIANCE))
    return surface.mean + multiplier * sigma, sigma


def ucb_derivatives(surface: Derivatives, multiplier: float, sigma: Array) -> tuple[Array, Array]:
    """Gradient and Hessian of mu + c sigma, with sigma = sqrt(s): Hess sigma = Hess s / 2 sigma - ds ds' / 4 sigma^3."""
    c = multiplier / (2.0 * sigma)
    ds = surface.variance_gradient
    gradient = surface.mean_gradient + c[:, None] * ds
    bend = (c / (2.0 * sigma * sigma))[:, None] * ds
    return gradient, surface.hessian(c) - bend[:, :, None] * ds[:, None, :]


def newton_steps(x: Array, gradient: Array, hessian: Array, free: Array, radius: Array) -> tuple[Array, Array]:
    """Steps p within the radius, and the gain the quadratic model promises."""
    held = ((x <= 0.0) & (gradient <= 0.0)) | ((x >= 1.0) & (gradient >= 0.0)) | ~free
    if held.any():
        gradient = np.where(held, 0.0, gradient)
        hessian = np.where(held[:, :, None] | held[:, None, :], 0.0, hessian)
        m, d = x.shape
        hessian.reshape(m, d * d)[:, :: d + 1] -= held
    step = uphill(hessian, gradient)
    length = np.sqrt(np.vecdot(step, step))
    step *= np.minimum(1.0, radius / np.maximum(length, 1e-300))[:, None]
    step = np.clip(x + step, 0.0, 1.0) - x
    return step, np.vecdot(step, gradient)


def uphill(hessian: Array, gradient: Array) -> Array:
    """|H|^-1 g, where |H| has the absolute values of H's eigenvalues, kept away from 0."""
    if gradient.shape[1] == 2:
        return _uphill_in_the_plane(hessian, gradient)
    values, vectors = np.linalg.eigh(hessian)
    size = np.abs(values)
    floor = 1e-8 + 1e-6 * size.max(axis=1, keepdims=True)
    along = (gradient[:, None, :] @ vectors)[:, 0] / np.maximum(size, floor)
    return np.asarray((vectors @ along[:, :, None])[:, :, 0])


def _uphill_in_the_plane(hessian: Array, gradient: Array) -> Array:
    """The same for d = 2 in closed form: |H| = (H^2 + |det H| I) / sqrt(tr H^2 + 2 |det H|) by Cayley-Hamilton."""
    a, b, c = hessian[:, 0, 0], hessian[:, 0, 1], hessian[:, 1, 1]
    g, h = gradient[:, 0], gradient[:, 1]
    bb = b * b
    size = np.abs(a * c - bb)
    p, q = a * a + bb + size, c * c + bb + size
    trace = np.sqrt(p + q) + 1e-300
    floor = 1e-8 + 1e-6 * trace
    p, q, r = p / trace + floor, q / trace + floor, b * (a + c) / trace
    scale = 1.0 / (p * q - r * r)
    step = np.empty_like(gradient)
    step[:, 0] = (q * g - r * h) * scale
    step[:, 1] = (p * h - r * g) * scale
    return step


def ascend(
    surface_at: Callable[[Array], Derivatives],
    start: Array,
    multiplier: float,
    *,
    free: Array,
    radius: float,
    iterations: int,
    tolerance: float,
) -> Summits:
    """Climb mu + c sigma from every start until the promised gain is below the tolerance."""
    x = start.copy()
    surface = surface_at(x)
    value, sigma = ucb_value(surface, multiplier)
    gradient, hessian = ucb_derivatives(surface, multiplier, sigma)
    trust = np.full(len(x), radius)
    live = np.arange(len(x))
    for _ in range(iterations):
        step, promise = newton_steps(x[live], gradient, hessian, free, trust[live])
        going = promise > tolerance
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
