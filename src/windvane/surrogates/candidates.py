"""Which fixed points a posterior is kept on, for a domain and a kernel.

All points of a small finite domain; a tensor grid in one to three continuous dimensions, where a
product kernel makes it cheap; otherwise a Sobol sequence.
"""

from __future__ import annotations

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel
from windvane.spaces.base import Domain
from windvane.surrogates.cache import CandidateCache, GridCache, PointCache

EVERYTHING = 4096  # finite domains up to this size are searched exactly
SCATTERED = 1024
LINE, SQUARE, CUBE = 512, 48, 16  # points along each axis of a grid in 1, 2, 3 dimensions


def candidate_cache(domain: Domain, kernel: Kernel) -> CandidateCache:
    """The candidates of a domain."""
    if domain.size is not None and domain.size <= EVERYTHING:
        return PointCache(kernel, domain.everything())
    if domain.free.all() and domain.dim <= 3:
        return _grid(domain.dim, kernel)
    return PointCache(kernel, domain.candidates(SCATTERED))


def _grid(dim: int, kernel: Kernel) -> CandidateCache:
    if dim == 1:
        cache: CandidateCache = PointCache(kernel, _axis(LINE))
        cache.shape = (LINE,)
    elif dim == 2:
        cache = GridCache.build(kernel, _axis(SQUARE), _axis(SQUARE))
        cache.shape = (SQUARE, SQUARE)
    else:
        axis = _axis(CUBE)
        plane = np.concatenate((np.repeat(axis, CUBE, axis=0), np.tile(axis, (CUBE, 1))), axis=1)
        cache = GridCache.build(kernel, axis, plane)
        cache.shape = (CUBE, CUBE, CUBE)
    return cache


def _axis(count: int) -> Array:
    return np.linspace(0.0, 1.0, count)[:, None]
