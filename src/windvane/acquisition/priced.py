"""A posterior whose mean is lowered by what it costs to go there: every acquisition then weighs the move.

Of an upper bound that is the bound less the price; of an improvement it is the improvement of what is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windvane.acquisition.base import Derivatives, PointDerivatives, PosteriorView
from windvane.checks import Array, IntArray
from windvane.moves import Toll

Charge = Callable[[Array], Toll]


@dataclass(frozen=True)
class _PricedSurface:
    mean: Array
    variance: Array
    mean_gradient: Array
    variance_gradient: Array
    bend: Callable[[Array | float, Array], Array]


@dataclass(frozen=True)
class _PricedPoint:
    means: list[float]
    gram: list[list[float]]
    prior: float


class PricedPosterior:
    """A posterior less the price of a move from `start`, which is among the candidates: staying is free."""

    grid = None  # the start is not on it
    resolved = False

    def __init__(self, posterior: PosteriorView, charge: Charge, start: Array) -> None:
        self._inner, self._charge, self._start = posterior, charge, start[None]
        self.size = posterior.size
        self.observed = posterior.observed
        self.candidates = posterior.candidates
        if not (self.candidates == start).all(axis=1).any():
            self.candidates = np.concatenate((posterior.candidates, self._start))

    def on_candidates(self) -> tuple[Array, Array]:
        """Mean and variance on the candidates."""
        mean, variance = self._inner.on_candidates()
        if len(self.candidates) > len(mean):
            here = self._inner.at(self._start)
            mean, variance = np.concatenate((mean, here[0])), np.concatenate((variance, here[1]))
        return mean - self._charge(self.candidates).cost, variance

    def on_observed(self) -> tuple[Array, Array]:
        """Mean and variance at the points in use, to rank them."""
        mean, variance = self._inner.on_observed()
        return mean - self._charge(self.observed).cost, variance

    def at(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance at m points."""
        mean, variance = self._inner.at(points)
        return mean - self._charge(points).cost, variance

    def mean(self, points: Array) -> Array:
        """The mean alone at m points."""
        return np.asarray(self._inner.mean(points) - self._charge(points).cost)

    def prior(self, points: Array) -> Array:
        """The variance at m points before any observation."""
        return self._inner.prior(points)

    def covariance(self, points: Array) -> Array:
        """The joint covariance of m points."""
        return self._inner.covariance(points)

    def draw(self, points: Array, rng: np.random.Generator) -> Array:
        """One joint sample of f at m points, less what it costs to go there."""
        return np.asarray(self._inner.draw(points, rng) - self._charge(points).cost)

    def surface(self, points: Array, axes: IntArray | None = None) -> Derivatives:
        """Mean and variance at m points with derivatives, in these coordinates if any are named."""
        inner, toll = self._inner.surface(points, axes), self._along(points, axes)

        def bend(a: Array | float, c: Array) -> Array:
            hessian = inner.bend(a, c).copy()
            m, d = toll.bend.shape
            weight = np.broadcast_to(np.asarray(a), (m,))[:, None]
            hessian.reshape(m, d * d)[:, :: d + 1] -= weight * toll.bend
            return hessian

        return _PricedSurface(
            inner.mean - toll.cost,
            inner.variance,
            inner.mean_gradient - toll.slope,
            inner.variance_gradient,
            bend,
        )

    def local(self, x: Array, axes: IntArray | None = None) -> PointDerivatives:
        """The same at one point, in plain numbers."""
        inner, toll = self._inner.local(x, axes), self._along(x[None], axes)
        means, d = list(inner.means), toll.slope.shape[1]
        means[0] -= float(toll.cost[0])
        row = d
        for i in range(d):
            means[i + 1] -= float(toll.slope[0, i])
            means[row + 1] -= float(toll.bend[0, i])  # the diagonal of the upper triangle
            row += d - i
        return _PricedPoint(means, inner.gram, inner.prior)

    def _along(self, points: Array, axes: IntArray | None) -> Toll:
        """The price of m points, and its derivatives in these coordinates."""
        toll = self._charge(points)
        return toll if axes is None else Toll(toll.cost, toll.slope[:, axes], toll.bend[:, axes])
