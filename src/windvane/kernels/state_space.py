"""Temporal kernels with a finite state: s(t + dt) = A(dt) s(t) + noise, f = h's.

A constant, a Markov chain, a Matern-3/2 trend, and sums of them. With a state, a posterior on fixed
candidates moves on in time exactly, without touching the data (docs/decisions/0015).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument
from windvane.kernels.base import upper_triangle
from windvane.kernels.temporal import Markov, Static, Temporal, TemporalProduct, TemporalSum
from windvane.kernels.trends import TimeMatern32

VANISHED = 1e-4  # relative to the prior: what so old an observation adds is below rounding for any decision
LONGEST = 1e4
REMEMBERED = 64  # lengths of time: most callers have one, the length of a step


@dataclass(frozen=True, eq=False)
class StateSpace:
    """A(dt), the stationary covariance P, and the loading h: k_T(t, t + dt) = h' A(dt) P h.

    >>> space = state_space(Markov(0.19))
    >>> float(space.loading @ space.transition(1.0) @ space.stationary @ space.loading)
    0.9
    """

    transition: Callable[[float], Array]
    stationary: Array  # P, p x p
    loading: Array  # h, p
    lasting: Callable[[float], Array]  # dt -> the loading of what is known now and still matters after dt

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

    @property
    def variance(self) -> float:
        """k_T(t, t) = h' P h."""
        return float(self.loading @ self.stationary @ self.loading)

    @cached_property
    def reach(self) -> float:
        """How long ago an observation can be and still say something: its covariance falls to VANISHED."""
        start, most = self.stationary @ self.loading, VANISHED * self.variance
        dt = 1.0
        while dt < LONGEST and abs(float(self.loading @ self.transition(dt) @ start)) > most:
            dt *= 1.05
        return dt if dt < LONGEST else math.inf

    def scaled(self, factor: float) -> StateSpace:
        """The same with `factor` times the variance."""
        return StateSpace(self.transition, factor * self.stationary, self.loading, self.lasting)


@cache
def state_space(temporal: Temporal) -> StateSpace:
    """The state-space form of a kernel that has one."""
    one = np.ones(1)
    if isinstance(temporal, Static):
        still = np.ones((1, 1))
        return StateSpace(lambda dt: still, np.full((1, 1), temporal.share), one, lambda dt: one)  # noqa: ARG005
    if isinstance(temporal, Markov):
        root = math.sqrt(1.0 - temporal.rate)
        return StateSpace(
            lambda dt: np.full((1, 1), root**dt), np.ones((1, 1)), one, lambda dt: np.full(1, root**dt)
        )
    if isinstance(temporal, TimeMatern32):
        return _matern32(temporal.lengthscale)
    if isinstance(temporal, TemporalProduct) and isinstance(temporal.left, Static):
        return state_space(temporal.right).scaled(temporal.left.share)
    if isinstance(temporal, TemporalSum):
        left, right = state_space(temporal.left), state_space(temporal.right)
        return StateSpace(
            lambda dt: _beside(left.transition(dt), right.transition(dt)),
            _beside(left.stationary, right.stationary),
            np.concatenate((left.loading, right.loading)),
            lambda dt: np.concatenate((left.lasting(dt), right.lasting(dt))),
        )
    raise InvalidArgument(
        f"{temporal!r}: has no finite state; allowed are Static, Markov, TimeMatern32, "
        "Static(share) * one of them, and sums"
    )


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


def _matern32(lengthscale: float) -> StateSpace:
    """The state is (f, f'/lambda) with lambda = sqrt(3)/l, which makes P the identity."""
    rate = math.sqrt(3.0) / lengthscale
    value = np.array([1.0, 0.0])

    def transition(dt: float) -> Array:
        r = rate * dt
        return math.exp(-r) * np.array([[1.0 + r, r], [-r, 1.0 - r]])

    # A trend is worth following while it lasts: its whole uncertainty counts.
    return StateSpace(transition, np.eye(2), value, lambda dt: value)  # noqa: ARG005
