"""Where to climb from: the basins that the cached candidates and the observed points show."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from windvane.acquisition.base import Posterior
from windvane.acquisition.climb import uphill
from windvane.checks import Array
from windvane.data import IntArray

FAR, NEAR = 8, 4  # starts among the candidates, and in the cloud around the observed points
BASES, AROUND = 8, 8  # observed points with a cloud, and points in each
REACH = (0.05, 0.2)  # standard deviations of the cloud along each axis


def grid_maxima(scores: Array, shape: tuple[int, ...]) -> IntArray:
    """The candidates of a tensor grid that are not below any neighbour, diagonal ones included."""
    field = scores.reshape(shape)
    around = field
    for axis in range(field.ndim):
        wide = around.copy()
        low = tuple(slice(None, -1) if a == axis else slice(None) for a in range(field.ndim))
        high = tuple(slice(1, None) if a == axis else slice(None) for a in range(field.ndim))
        np.maximum(wide[low], around[high], out=wide[low])
        np.maximum(wide[high], around[low], out=wide[high])
        around = wide
    return np.flatnonzero(field >= around)


def refine(scores: Array, shape: tuple[int, ...], rows: IntArray) -> tuple[Array, Array]:
    """Peaks of the grid moved to the top of the quadratic through their neighbours: m x d points, m heights.

    Plain numbers: there are a handful of peaks, and NumPy would take longer to set up.
    """
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    points, heights = [], []
    for row in rows.tolist():
        places = [row // stride % side for stride, side in zip(strides, shape, strict=True)]
        inner = [a for a, side in enumerate(shape) if 0 < places[a] < side - 1]
        gradient, hessian = _differences(scores, row, [strides[a] for a in inner])
        offset = [min(max(p, -0.6), 0.6) for p in uphill(hessian, gradient)] if inner else []
        gain = sum(p * g for p, g in zip(offset, gradient, strict=True))
        where = [float(place) for place in places]
        for a, p in zip(inner, offset, strict=True):
            where[a] += p
        points.append([place / (side - 1) for place, side in zip(where, shape, strict=True)])
        heights.append(scores.item(row) + 0.5 * gain)
    return np.array(points), np.array(heights)


def _differences(scores: Array, row: int, strides: list[int]) -> tuple[list[float], list[list[float]]]:
    """Gradient and Hessian by central differences, in steps of the grid."""
    at = scores.item
    gradient = [0.5 * (at(row + s) - at(row - s)) for s in strides]
    hessian = [[0.0] * len(strides) for _ in strides]
    for a, s in enumerate(strides):
        hessian[a][a] = at(row + s) - 2.0 * at(row) + at(row - s)
        for b, r in enumerate(strides[:a]):
            mixed = 0.25 * (at(row + s + r) - at(row + s - r) - at(row - s + r) + at(row - s - r))
            hessian[a][b] = hessian[b][a] = mixed
    return gradient, hessian


def best_of(scores: Array, rows: IntArray, count: int) -> IntArray:
    """The `count` rows with the highest scores, best first."""
    if len(rows) > count:
        rows = rows[np.argpartition(-scores[rows], count)[:count]]
    return rows[np.argsort(-scores[rows], kind="stable")]


def spread_out(points: Array, scores: Array, count: int, apart: float) -> IntArray:
    """Greedily the best, skipping whatever lies within `apart` of one already chosen."""
    order = np.argsort(-scores, kind="stable")
    ranked = points[order]
    norms = np.vecdot(ranked, ranked)
    near = norms[:, None] + norms - 2.0 * (ranked @ ranked.T) < apart * apart
    chosen: list[int] = []
    blocked = np.zeros(len(order), dtype=bool)
    for i in range(len(order)):
        if not blocked[i]:
            chosen.append(i)
            if len(chosen) == count:
                break
            blocked |= near[i]
    return order[chosen]


@cache
def _jitter(dim: int) -> Array:
    """Fixed normal directions, half of them short, half of them long."""
    directions = np.random.default_rng(0).standard_normal((BASES * AROUND, dim))
    return directions * np.where(np.arange(BASES * AROUND) % 2, *REACH)[:, None]


def scattered_starts(posterior: Posterior, scores: Array, multiplier: float) -> Array:
    """The best candidates, and the best of a cloud around the best observed points, spread out.

    The bound often peaks in a gap between observations near the best of them, a basin that no fixed
    candidate falls into; the cloud finds it.
    """
    candidates = posterior.candidates
    dim = candidates.shape[1]
    apart = 0.25 * np.sqrt(dim) * len(candidates) ** (-1.0 / dim)
    top = best_of(scores, np.arange(len(scores)), 4 * FAR)
    far = candidates[top][spread_out(candidates[top], scores[top], FAR, apart)]
    mean, variance = posterior.on_observed()
    seen = mean + multiplier * np.sqrt(variance)
    bases = posterior.observed[best_of(seen, np.arange(len(seen)), BASES)]
    cloud = np.repeat(bases, AROUND, axis=0)
    cloud += _jitter(dim)[: len(cloud)]
    np.clip(cloud, 0.0, 1.0, out=cloud)
    mean, variance = posterior.at(cloud)
    heights = mean + multiplier * np.sqrt(variance)
    near = cloud[spread_out(cloud, heights, NEAR, apart / 4.0)]
    return np.concatenate((far, near, bases[:1]))
