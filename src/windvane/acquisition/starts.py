"""Where to climb from: the basins that the cached candidates and the observed points show."""

from __future__ import annotations

import itertools
import math
import operator
from functools import cache

import numpy as np

from windvane.acquisition.base import PosteriorView
from windvane.acquisition.utility import SMALLEST_VARIANCE, Utility
from windvane.checks import Array
from windvane.data import IntArray
from windvane.spaces.region import Region

FEW_ROWS = 32  # up to here plain Python finds the peaks sooner than NumPy
FAR, NEAR = 5, 4  # starts among the candidates, and in the cloud around the observed points
BASES, AROUND = 8, 8  # observed points with a cloud, and points in each
REACH = (0.05, 0.2)  # standard deviations of the cloud along each axis


def grid_peaks(scores: Array, shape: tuple[int, ...], near: IntArray) -> IntArray:
    """Those of the rows `near` of a tensor grid that are not below any neighbour, diagonal ones included.

    `near` holds every row with at least a certain score, so whatever is higher is in it too.
    """
    if len(near) > FEW_ROWS:
        return near[np.isin(near, grid_maxima(scores, shape), assume_unique=True)]
    heights = dict(zip(near.tolist(), scores[near].tolist(), strict=True))
    side = shape[-1]
    steps = _neighbourhood(shape)
    peaks = []
    for row, height in heights.items():
        for step in steps:
            if heights.get(row + step, height) > height and abs((row + step) % side - row % side) <= 1:
                break
        else:
            peaks.append(row)
    return np.array(peaks)


@cache
def _neighbourhood(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The differences of flat indices between a point of a grid and its neighbours."""
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    offsets = itertools.product((-1, 0, 1), repeat=len(shape))
    return tuple(sum(map(operator.mul, offset, strides)) for offset in offsets if any(offset))


def grid_maxima(scores: Array, shape: tuple[int, ...]) -> IntArray:
    """All rows of a tensor grid that are not below any neighbour, diagonal ones included."""
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


def is_peak(scores: Array, shape: tuple[int, ...], row: int) -> bool:
    """Whether a row of a tensor grid is not below any neighbour.

    >>> is_peak(np.array([0.0, 2.0, 1.0, 1.5]), (4,), 1), is_peak(np.array([0.0, 2.0, 1.0, 1.5]), (4,), 2)
    (True, False)
    """
    place = np.unravel_index(row, shape)
    around = scores.reshape(shape)[tuple(slice(max(int(i) - 1, 0), int(i) + 2) for i in place)]
    return bool(scores[row] >= around.max())


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


def cloud_around(bases: Array) -> Array:
    """Points near the best few of some points, best first: fixed steps, inside the unit cube."""
    dim = bases.shape[1]
    cloud = np.repeat(bases[:BASES], AROUND, axis=0)
    cloud += _jitter(dim)[: len(cloud)]
    return np.clip(cloud, 0.0, 1.0, out=cloud)


def scattered_starts(
    posterior: PosteriorView, region: Region, utility: Utility, points: Array, scores: Array, bases: Array
) -> Array:
    """The best of the points, and the best of a cloud around the best observed ones, spread out.

    The bound often peaks in a gap between observations near the best of them, a basin that no fixed
    candidate falls into; the cloud finds it.
    """
    dim = points.shape[1]
    apart = 0.25 * np.sqrt(dim) * len(points) ** (-1.0 / dim)
    top = best_of(scores, np.arange(len(scores)), 4 * FAR)
    far = points[top][spread_out(points[top], scores[top], FAR, apart)]
    cloud = cloud_around(bases)
    if not region.whole or not region.space.continuous:
        cloud = region.nearest(cloud)
    mean, variance = posterior.at(cloud)
    heights = utility.value(mean, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE)))
    near = cloud[spread_out(cloud, heights, NEAR, apart / 4.0)]
    return np.concatenate((far, near, bases[:1]))
