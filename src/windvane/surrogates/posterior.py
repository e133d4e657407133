"""A Gaussian process at one moment: all that an acquisition is handed."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from windvane.checks import Array, IntArray
from windvane.late import lapack, special
from windvane.surrogates.candidates import resolves
from windvane.surrogates.gp import GP
from windvane.surrogates.surface import Local, Surface

SMALLEST = 1e-20  # a variance, where rounding leaves none
FAINTEST = 1e-100  # a probability of which a score is made
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


def score_above(mean: Array, variance: Array, level: float) -> Array:
    """By how many standard deviations a Gaussian is above a level, in the mean.

    >>> score_above(np.array([0.0, 2.0]), np.array([1.0, 4.0]), 1.0)
    array([-1. ,  0.5])
    """
    return np.asarray((mean - level) / np.sqrt(np.maximum(variance, SMALLEST)))


def mixed_score(weights: Array, scores: Array) -> Array:
    """z with Phi(z) = sum_i w_i Phi(z_i), for scores in rows.

    So far out that rounding leaves nothing of a probability, the z_i that is least so: what is left of the
    others there is nothing beside it.

    >>> mixed_score(np.array([0.5, 0.5]), np.array([[-20.0, 0.0, 1.0], [-30.0, 0.0, 2.0]])).round(2)
    array([-20.03,   0.  ,   1.34])
    """
    if len(weights) == 1:
        return np.asarray(scores[0])
    tail = weights @ special.ndtr(scores)
    low = tail <= 0.5
    tail[~low] = weights @ special.ndtr(-scores[:, ~low])  # the smaller of the two: 1 - tail would be rounded
    found = special.ndtri(np.maximum(tail, FAINTEST))
    found = np.where(low, found, -found)
    far = tail < FAINTEST
    if far.any():
        found[far] = np.where(low[far], scores[:, far].max(axis=0), scores[:, far].min(axis=0))
    return np.asarray(found)


class Joint(Protocol):
    """A posterior that knows the joint covariance of points."""

    def covariance(self, points: Array) -> Array:
        """m x m."""
        ...


def resolved(posterior: Joint, points: Array, others: Array, noise_variance: float) -> Array:
    """cov(x, z)^2 / ((var(x) + noise) var(z)): the share of var f(z) that an observation at x resolves."""
    joint, m = posterior.covariance(np.concatenate((points, others))), len(points)
    variance = np.maximum(np.diagonal(joint), SMALLEST)
    return np.asarray(joint[:m, m:] ** 2 / ((variance[:m, None] + noise_variance) * variance[m:]))


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

    def surface(self, points: Array, axes: IntArray | None = None) -> Surface:
        """Mean and variance at m points with derivatives, in these coordinates if any are named."""
        return self._gp.surface(points, self._now, axes)

    def local(self, x: Array, axes: IntArray | None = None) -> Local:
        """The same at one point, in plain numbers."""
        return self._gp.local(x, self._now, axes)
