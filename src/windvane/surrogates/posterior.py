"""A Gaussian process at one moment: all that an acquisition is handed."""

from __future__ import annotations

import numpy as np

from windvane.checks import Array
from windvane.late import lapack
from windvane.surrogates.candidates import resolves
from windvane.surrogates.gp import GP
from windvane.surrogates.surface import Local, Surface

JITTER = (1e-12, 1e-9, 1e-6)  # of the largest variance, added to a covariance that is singular to rounding


def joint_sample(mean: Array, covariance: Array, rng: np.random.Generator) -> Array:
    """mean + L e for covariance = L L' and e standard normal; the same e for the same generator.

    >>> joint_sample(np.zeros(2), np.ones((2, 2)), np.random.default_rng(0)).round(3)
    array([0.126, 0.126])
    """
    drawn = rng.standard_normal(len(mean))
    largest = max(float(np.diagonal(covariance).max(initial=0.0)), 1e-300)
    for jitter in JITTER:
        L, failed = lapack.dpotrf(covariance + jitter * largest * np.eye(len(mean)), lower=1, clean=1)
        if not failed:
            return np.asarray(mean + L @ drawn)
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(mean + vectors @ (np.sqrt(np.maximum(values, 0.0)) * drawn))


class Posterior:
    """A GP at one moment: what an acquisition is handed."""

    def __init__(self, gp: GP, now: float) -> None:
        self._gp, self._now = gp, now
        self.size = len(gp)
        self.candidates = gp.candidates
        self.grid = gp.grid
        self.resolved = resolves(gp.kernel, gp.grid)
        self.observed = gp.X

    def on_candidates(self) -> tuple[Array, Array]:
        """Mean and variance on the candidates."""
        return self._gp.on_candidates(self._now)

    def on_observed(self) -> tuple[Array, Array]:
        """Mean and variance at the data's points, to rank them."""
        return self._gp.on_data(self._now)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance at m points."""
        return self._gp.at(points, self._now)

    def mean(self, points: Array) -> Array:
        """The mean alone at m points: O(m n)."""
        return self._gp.mean_at(points, self._now)

    def prior(self, points: Array) -> Array:
        """The variance at m points before any observation."""
        return self._gp.prior_at(points, self._now)

    def covariance(self, points: Array) -> Array:
        """The joint covariance of m points, m x m."""
        return self._gp.covariance(points, self._now)

    def draw(self, points: Array, rng: np.random.Generator) -> Array:
        """One joint sample of f at m points."""
        return joint_sample(self.mean(points), self.covariance(points), rng)

    def surface(self, points: Array) -> Surface:
        """Mean and variance at m points with derivatives."""
        return self._gp.surface(points, self._now)

    def local(self, x: Array) -> Local:
        """The same at one point, in plain numbers."""
        return self._gp.local(x, self._now)
