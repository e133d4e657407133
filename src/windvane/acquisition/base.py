"""What an acquisition is handed: a posterior at the present, a domain, and the state of the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from windvane.checks import Array
from windvane.spaces.base import Domain


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
    def hessian(self) -> Callable[[Array], Array]:
        """c -> Hess(mean) + c Hess(variance)."""
        ...


class Local(Protocol):
    """The posterior at one point in plain numbers; see `surrogates.surface`."""

    @property
    def means(self) -> list[float]:
        """mu, its d derivatives, and the upper triangle of its Hessian."""
        ...

    @property
    def gram(self) -> list[list[float]]:
        """The first 1 + d rows of V'V, where V = W D' and D has k and its derivatives in the same order."""
        ...

    @property
    def prior(self) -> float:
        """k(x, x)."""
        ...


class Posterior(Protocol):
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

    def surface(self, points: Array) -> Derivatives:
        """Mean and variance at m points with derivatives."""
        ...

    def local(self, x: Array) -> Local:
        """The same at one point, in plain numbers."""
        ...


class Moment(NamedTuple):
    """Where the loop stands: the global step t, the steps since the reset t_r, the dimension d."""

    step: int
    elapsed: int
    dim: int
    information_gain: Callable[[], float]


@dataclass(frozen=True)
class Choice:
    """A maximiser and the acquisition's value there."""

    point: Array
    value: float


class Acquisition(Protocol):
    """Chooses the next point; pure: the generator is made fresh for each step."""

    def propose(
        self,
        posterior: Posterior,
        domain: Domain,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Choice:
        """The next point, encoded."""
        ...
