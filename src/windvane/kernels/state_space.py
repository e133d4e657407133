"""The state-space form of a temporal kernel: s(t + dt) = A(dt) s(t) + noise, f = h's.

With a state, a posterior on fixed candidates moves on in time exactly, without touching the data
(docs/decisions/0015). A temporal kernel brings its own by the method `state_space`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from windvane.checks import Array, array
from windvane.kernels.base import upper_triangle

if TYPE_CHECKING:
    from windvane.kernels.temporal import Temporal

VANISHED = 1e-4  # relative to the prior: what so old an observation adds is below rounding for any decision
LONGEST = 1e4
REMEMBERED = 64  # lengths of time: most callers have one, the length of a step
KERNELS = 256  # state spaces: a season that is learned has another one after every fit
MANY = 1024  # ages of observations: whole numbers of steps for most callers


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A(dt), the stationary covariance P, and the loading h: k_T(t, t + dt) = h' A(dt) P h.

    Sums and products of kernels are sums and products of their state spaces. `lasting_loading` is for
    kernels of which more counts than the forecast keeps, see `lasting`.

    >>> turning = StateSpace(
    ...     lambda dt: np.array([[math.cos(dt), math.sin(dt)], [-math.sin(dt), math.cos(dt)]]),
    ...     stationary=np.eye(2),
    ...     loading=np.array([1.0, 0.0]),
    ... )
    >>> turning.covariance(math.pi)
    -1.0
    >>> (turning * turning).covariance(math.pi)
    1.0
    """

    transition: Callable[[float], Array]  # A, p x p
    stationary: Array  # P, p x p
    loading: Array  # h, p
    lasting_loading: Callable[[float], Array] | None = None

    def __post_init__(self) -> None:
        loading = array("StateSpace(loading)", self.loading, ("p",))
        square = (len(loading), len(loading))
        object.__setattr__(self, "loading", loading)
        object.__setattr__(self, "stationary", array("StateSpace(stationary)", self.stationary, square))
        array("StateSpace(transition)", self.transition(0.0), square)

    def __add__(self, other: StateSpace) -> StateSpace:
        """Of a sum: the states of both, side by side."""
        return StateSpace(
            lambda dt: _beside(self.transition(dt), other.transition(dt)),
            _beside(self.stationary, other.stationary),
            np.concatenate((self.loading, other.loading)),
            lambda dt: np.concatenate((self.lasting(dt), other.lasting(dt))),
        )

    def __mul__(self, other: StateSpace) -> StateSpace:
        """Of a product: every entry of one state times every entry of the other."""
        return StateSpace(
            lambda dt: _kronecker(self.transition(dt), other.transition(dt)),
            _kronecker(self.stationary, other.stationary),
            np.outer(self.loading, other.loading).ravel(),
            lambda dt: np.outer(self.lasting(dt), other.lasting(dt)).ravel(),
        )

    def scaled(self, factor: float) -> StateSpace:
        """The same with `factor` times the variance."""
        return replace(self, stationary=factor * self.stationary)

    def lasting(self, dt: float) -> Array:
        """The loading of what is known now and still matters after dt.

        Unless `lasting_loading` says otherwise, that is what a forecast over dt keeps: A(dt)' h.
        """
        if self.lasting_loading is None:
            return np.asarray(self.loading @ self.transition(dt))
        return self.lasting_loading(dt)

    @cached_property
    def step(self) -> Callable[[float], tuple[Array, Array]]:
        """dt -> A, and S -> A S A' as a matrix on upper triangles; the last few are remembered."""
        i, j = upper_triangle(len(self.loading))

        @lru_cache(maxsize=REMEMBERED)
        def moved(dt: float) -> tuple[Array, Array]:
            A = self.transition(dt)
            straight = A[i[:, None], i] * A[j[:, None], j]
            crossed = A[i[:, None], j] * A[j[:, None], i]
            return A, np.asarray(straight + np.where(i == j, 0.0, crossed))

        return moved

    def arriving(self, ages: Array) -> Array:
        """A(age) P h for each of n ages, p x n: the covariances of the state at present with f then."""
        return np.array([self._arrival(age) for age in ages.tolist()]).reshape(-1, len(self.loading)).T

    @cached_property
    def _arrival(self) -> Callable[[float], Array]:
        source = self.stationary @ self.loading
        return lru_cache(maxsize=MANY)(lambda dt: self.transition(dt) @ source)

    def covariance(self, dt: float) -> float:
        """k_T(t, t + dt) = h' A(dt) P h."""
        return float(self.loading @ self.transition(dt) @ self.stationary @ self.loading)

    @property
    def variance(self) -> float:
        """k_T(t, t) = h' P h."""
        return float(self.loading @ self.stationary @ self.loading)

    @cached_property
    def reach(self) -> float:
        """How long ago an observation can be and still say something: its covariance stays below VANISHED."""
        start, most = self.stationary @ self.loading, VANISHED * self.variance
        reach = dt = 1.0
        while dt < LONGEST:  # to the end, as a covariance may pass through zero and come back
            says = abs(float(self.loading @ self.transition(dt) @ start)) > most
            dt *= 1.05
            if says:
                reach = dt
        return reach if reach < LONGEST else math.inf


@lru_cache(maxsize=KERNELS)
def state_space(temporal: Temporal) -> StateSpace:
    """The state space of a kernel, made once; one that has none says so.

    >>> from windvane.kernels import Markov
    >>> state_space(Markov(0.19)).covariance(1.0)
    0.9
    """
    return temporal.state_space()


def _beside(one: Array, two: Array) -> Array:
    """Two matrices as one, along the diagonal; at this size SciPy's is ten times as slow.

    >>> _beside(np.ones((1, 1)), np.full((1, 2), 2.0))
    array([[1., 0., 0.],
           [0., 2., 2.]])
    """
    (n, m), (p, q) = one.shape, two.shape
    whole = np.zeros((n + p, m + q))
    whole[:n, :m], whole[n:, m:] = one, two
    return whole


def _kronecker(one: Array, two: Array) -> Array:
    """The Kronecker product; at this size NumPy's is six times as slow."""
    (n, m), (p, q) = one.shape, two.shape
    return (one[:, None, :, None] * two[None, :, None, :]).reshape(n * p, m * q)
