"""Which fixed points a posterior is kept on, for a domain and a kernel.

All points of a small finite domain and of a list, and all arms whose covariances are given; a tensor grid
in one to three continuous dimensions, where a product kernel makes it cheap; otherwise a Sobol sequence.
"""

from __future__ import annotations

import math

import numpy as np

from windvane.checks import Array
from windvane.kernels import Empirical, Kernel, Product, Stationary, Sum
from windvane.spaces.base import Domain
from windvane.surrogates.cache import CandidateCache, GridCache, PointCache

EVERYTHING = 4096  # finite domains up to this size are searched exactly
SCATTERED = 1024
LINE, SQUARE, CUBE = (256, 1024), (32, 96), (16, 16)  # fewest and most along an axis in 1, 2, 3 dimensions
WORK = 8e9  # n^2 M, what a fresh posterior on M candidates costs: for more data there are fewer candidates
LEAST = (64, 16, 8)  # along an axis in 1, 2, 3 dimensions, and
LEAST_SCATTERED = 256  # in more, however many the data
PER_LENGTHSCALE = 9.5  # grid points to a lengthscale: between them the bound hides no summit worth having
ENOUGH = 9.0  # the same, with room for the two ends of an axis


def candidate_cache(domain: Domain, kernel: Kernel, data: int = 0) -> CandidateCache:
    """The candidates of a domain, for that many data to begin with.

    None where a context is part of every point: what is asked for has the context of the moment, which nobody
    knows before (docs/decisions/0035).
    """
    if domain.context_axes:
        return PointCache(kernel, np.empty((0, domain.dim)))
    most = int(WORK / max(data, 1) ** 2)
    if domain.size is not None and (domain.size <= EVERYTHING or domain.enumerated or _tabulated(kernel)):
        return PointCache(kernel, domain.everything())
    if domain.continuous and domain.dim <= 3:
        return _grid(domain.dim, kernel, most)
    return PointCache(kernel, domain.candidates(min(SCATTERED, max(most, LEAST_SCATTERED))))


def resolves(kernel: Kernel, shape: tuple[int, ...] | None) -> bool:
    """Whether candidates of this shape are a grid so fine that no summit worth having hides between them."""
    return (
        shape is not None and isinstance(kernel, Stationary) and min(kernel.lengthscale) * shape[0] >= ENOUGH
    )


def _tabulated(kernel: Kernel) -> bool:
    """Whether the covariances of all points are in memory already, more than their rows will ever need."""
    if isinstance(kernel, Sum | Product):
        return _tabulated(kernel.left) or _tabulated(kernel.right)
    return isinstance(kernel, Empirical)


def _grid(dim: int, kernel: Kernel, most: int) -> CandidateCache:
    fewest, finest = (LINE, SQUARE, CUBE)[dim - 1]
    finest = min(finest, max(int(most ** (1.0 / dim)), LEAST[dim - 1]))
    axis = _axis(kernel, min(fewest, finest), finest)
    side = len(axis)
    if dim == 1:
        cache: CandidateCache = PointCache(kernel, axis)
    elif dim == 2:
        cache = GridCache.build(kernel, axis, axis)
    else:
        plane = np.concatenate((np.repeat(axis, side, axis=0), np.tile(axis, (side, 1))), axis=1)
        cache = GridCache.build(kernel, axis, plane)
    cache.shape = (side,) * dim
    return cache


def _axis(kernel: Kernel, fewest: int, most: int) -> Array:
    shortest = min(kernel.lengthscale) if isinstance(kernel, Stationary) else 0.0
    wanted = math.ceil(PER_LENGTHSCALE / shortest) if shortest > PER_LENGTHSCALE / most else most
    return np.linspace(0.0, 1.0, min(max(wanted, fewest), most))[:, None]
