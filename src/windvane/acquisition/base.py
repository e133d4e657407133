"""What an acquisition is handed: a posterior at the present, a region, and the state of the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from windvane.checks import Array, IntArray
from windvane.spaces.region import Region


class Derivatives(Protocol):
    """Mean and variance at m points with gradients (m x d) and a combined Hessian."""

    @property
    def mean(self) -> Array: ...
    @property
    def variance(self) -> Array: ...
    @property
    def mean_gradient(self) -> Array: ...
    @property
    def variance_gradient(self) -> Array: ...
    @property
    def bend(self) -> Callable[[Array | float, Array], Array]:
        """a, c -> a Hess(mean) + c Hess(variance), m x d x d."""
        ...


class PointDerivatives(Protocol):
    """The same at one point in plain numbers; see `surrogates.surface`."""

    @property
    def means(self) -> list[float]:
        """mu, its d derivatives, and the upper triangle of its Hessian."""
        ...

    @property
    def gram(self) -> list[list[float]]:
        """D K~^-1 k, where D has k and its derivatives in the same order; then D K~^-1 D' of its gradient."""
        ...

    @property
    def prior(self) -> float:
        """k(x, x)."""
        ...


class PosteriorView(Protocol):
    """The model's belief about f at the present; everything an acquisition may ask of it."""

    @property
    def size(self) -> int:
        """The number of observations in use."""
        ...

    @property
    def candidates(self) -> Array:
        """M fixed points, M x d."""
        ...

    @property
    def grid(self) -> tuple[int, ...] | None:
        """The shape of the candidates if they are a tensor grid."""
        ...

    @property
    def resolved(self) -> bool:
        """Whether they are a grid so fine that no summit worth having hides between its points."""
        ...

    @property
    def observed(self) -> Array:
        """The points in use, n x d."""
        ...

    def on_candidates(self) -> tuple[Array, Array]:
        """Mean and variance on the candidates."""
        ...

    def on_observed(self) -> tuple[Array, Array]:
        """Mean and variance at the points in use, possibly approximate: to rank them."""
        ...

    def at(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance at m points."""
        ...

    def mean(self, points: Array) -> Array:
        """The mean alone at m points: O(m n)."""
        ...

    def prior(self, points: Array) -> Array:
        """The variance at m points before any observation."""
        ...

    def covariance(self, points: Array) -> Array:
        """The joint covariance of m points, m x m; its diagonal is the variance."""
        ...

    def draw(self, points: Array, rng: np.random.Generator) -> Array:
        """One joint sample of f at m points."""
        ...

    def surface(self, points: Array, axes: IntArray | None = None) -> Derivatives:
        """Mean and variance at m points with derivatives, in these coordinates if any are named."""
        ...

    def local(self, x: Array, axes: IntArray | None = None) -> PointDerivatives:
        """The same at one point, in plain numbers."""
        ...


class Moment(NamedTuple):
    """Where the loop stands: the global step t, the steps since the reset t_r, the dimension d."""

    step: int
    elapsed: int
    dim: int
    information_gain: Callable[[], float]


@dataclass(frozen=True)
class Proposal:
    """The point to evaluate next, encoded, and what the acquisition thinks it is worth; NaN if nothing."""

    point: Array
    value: float


class Acquisition(Protocol):
    """Chooses the next point; pure: the generator is made fresh for each step."""

    def propose(
        self,
        posterior: PosteriorView,
        region: Region,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Proposal:
        """The next point, a point of the region."""
        ...
