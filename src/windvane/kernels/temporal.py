"""Covariances of times, and the separable model of space and time.

k((x, t), (x', t')) = k_S(x, x') k_T(t, t'). With `decay`, a posterior moves on in time without
touching its data: past covariances to the present scale by one number per step.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidArgument
from windvane.kernels.base import Composable, Kernel, Pair, Parametric, Product, Sum
from windvane.kernels.state_space import StateSpace, state_space

ONE = np.ones((1, 1))
NEAREST = 2.0**-53  # the distance of the largest number below 1


class Temporal(Parametric):
    """A covariance of times. Times do not go back: `now` is never before a time it is compared with.

    A kernel of your own needs `matrix`; with a `state_space` it can be a hypothesis of `auto`. It has no
    hyperparameters to learn unless it says so.
    """

    @abstractmethod
    def matrix(self, s: Array, t: Array) -> Array:
        """The matrix k_T(s_i, t_j)."""

    def variance(self, t: float) -> float:
        """k_T(t, t)."""
        return float(self.matrix(np.array([t]), np.array([t]))[0, 0])

    def cross(self, times: Array, now: float) -> Array:
        """k_T(times_i, now)."""
        return self.matrix(times, np.array([now]))[:, 0]

    def correlation(self, times: Array, now: float) -> Array:
        """How much of f then is left now, from 0 to 1: 0 where the two go against each other."""
        spread = np.sqrt([self.variance(float(time)) * self.variance(now) for time in times])
        return np.asarray(np.clip(self.cross(times, now) / spread, 0.0, 1.0))

    def decay(self, start: float, stop: float) -> float | None:
        """The factor f with k_T(s, stop) = f k_T(s, start) for every s <= start, or None if there is none."""
        del start, stop
        return None

    def state_space(self) -> StateSpace:
        """The kernel in state-space form; `windvane.kernels.state_space` remembers it."""
        raise InvalidArgument(
            f"{self!r}: has no finite state; use Static, Markov, TimeMatern32, TimeMatern52, TimePeriodic, "
            "sums and products of them, or define state_space() in your own kernel: it returns a "
            "windvane.kernels.StateSpace"
        )

    @property
    def theta(self) -> Array:
        """None to learn."""
        return np.empty(0)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """None to learn."""
        return ()

    def with_theta(self, theta: Array) -> Temporal:
        """The same kernel with other hyperparameters."""
        del theta
        return self

    def theta_gradient(self, t: Array) -> Array:
        """p x n x n."""
        return np.empty((0, len(t), len(t)))

    def plus(self, other: Any) -> Any:
        """Two kernels of time."""
        return TemporalSum(self, other) if isinstance(other, Temporal) else None

    def times(self, other: Any) -> Any:
        """Two kernels of time, or one of space and one of time."""
        if isinstance(other, Temporal):
            return TemporalProduct(self, other)
        return SpaceTime(other, self) if isinstance(other, Kernel) else None

    def scaled(self, factor: float) -> Temporal:
        """The product with a constant."""
        return TemporalProduct(Static(factor), self)


@component
@dataclass(frozen=True)
class Static(Temporal):
    """k_T = share: nothing changes. A share below 1 makes it one part of a sum.

    >>> Static().decay(1.0, 5.0)
    1.0
    """

    share: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", real("Static(share)", self.share, above=0.0))

    def matrix(self, s: Array, t: Array) -> Array:
        """The share everywhere."""
        return np.full((len(s), len(t)), self.share)

    def variance(self, t: float) -> float:
        """The share."""
        del t
        return self.share

    def decay(self, start: float, stop: float) -> float | None:
        """Nothing fades."""
        del start, stop
        return 1.0

    def scaled(self, factor: float) -> Static:
        """Another share."""
        return Static(factor * self.share)

    def state_space(self) -> StateSpace:
        """One number that stays."""
        return StateSpace(lambda dt: ONE, np.full((1, 1), self.share), np.ones(1))  # noqa: ARG005

    @property
    def theta(self) -> Array:
        """ln(share)."""
        return np.log([self.share])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """`share`."""
        return ("share",)

    def with_theta(self, theta: Array) -> Static:
        """Another share."""
        return Static(float(np.exp(theta[0])))

    def theta_gradient(self, t: Array) -> Array:
        """The kernel itself."""
        return self.matrix(t, t)[None]


class Rated(Temporal):
    """A temporal kernel with one hyperparameter, its rate."""

    rate: float

    @property
    def theta(self) -> Array:
        """ln(rate)."""
        return np.log([max(self.rate, 1e-300)])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """`rate`."""
        return ("rate",)


@component
@dataclass(frozen=True)
class Markov(Rated):
    """(1 - eps)^(|t - t'| / 2), Assumption 2: the rate of change eps is known.

    >>> float(Markov(0.19).cross(np.array([0.0]), 1.0)[0])
    0.9
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", real("Markov(rate)", self.rate, at_least=0.0, at_most=1.0))

    def matrix(self, s: Array, t: Array) -> Array:
        """(1 - eps)^(|s_i - t_j| / 2)."""
        return np.asarray((1.0 - self.rate) ** (np.abs(s[:, None] - t[None, :]) / 2.0))

    def variance(self, t: float) -> float:
        """1 at every time (Remark 1)."""
        del t
        return 1.0

    def decay(self, start: float, stop: float) -> float | None:
        """(1 - eps)^(dt/2)."""
        return math.pow(1.0 - self.rate, (stop - start) / 2.0)

    def state_space(self) -> StateSpace:
        """The value itself: it forgets the past given the present."""
        root = math.sqrt(1.0 - self.rate)
        return StateSpace(lambda dt: np.full((1, 1), root**dt), ONE, np.ones(1))

    def with_theta(self, theta: Array) -> Markov:
        """Another rate, at most 1."""
        return Markov(min(float(np.exp(theta[0])), 1.0))

    def theta_gradient(self, t: Array) -> Array:
        """d k / d ln eps = -eps (|dt|/2) (1 - eps)^(|dt|/2 - 1)."""
        half = np.abs(t[:, None] - t[None, :]) / 2.0
        left = max(1.0 - self.rate, NEAREST)  # at a rate of 1 it may be infinite: that of the next rate below
        return (-self.rate * half * left ** (half - 1.0))[None]


@component
@dataclass(frozen=True)
class Wiener(Rated):
    """1 + s2 min(t, t'), UI-TVBO: every step injects the variance s2 (`rate`). Times count from 0.

    >>> float(Wiener(0.03).cross(np.array([10.0]), 50.0)[0])
    1.3
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", real("Wiener(rate)", self.rate, at_least=0.0))

    def matrix(self, s: Array, t: Array) -> Array:
        """1 + s2 min(s_i, t_j)."""
        return np.asarray(1.0 + self.rate * np.minimum(s[:, None], t[None, :]))

    def variance(self, t: float) -> float:
        """1 + s2 t."""
        return 1.0 + self.rate * t

    def decay(self, start: float, stop: float) -> float | None:
        """What is known stays; only the prior grows."""
        del start, stop
        return 1.0

    def with_theta(self, theta: Array) -> Wiener:
        """Another rate."""
        return Wiener(float(np.exp(theta[0])))

    def theta_gradient(self, t: Array) -> Array:
        """d k / d ln s2 = s2 min(t, t')."""
        return (self.rate * np.minimum(t[:, None], t[None, :]))[None]


@component
@dataclass(frozen=True)
class TemporalSum(Pair, Temporal):
    """k_1 + k_2."""

    left: Temporal
    right: Temporal

    def matrix(self, s: Array, t: Array) -> Array:
        """The sum of the two matrices."""
        return self.left.matrix(s, t) + self.right.matrix(s, t)

    def variance(self, t: float) -> float:
        """The sum of the two variances."""
        return self.left.variance(t) + self.right.variance(t)

    def decay(self, start: float, stop: float) -> float | None:
        """One factor only if both parts share it."""
        one, two = self.left.decay(start, stop), self.right.decay(start, stop)
        return one if one == two else None

    def state_space(self) -> StateSpace:
        """Both states."""
        return state_space(self.left) + state_space(self.right)

    def theta_gradient(self, t: Array) -> Array:
        """Each part's own derivatives."""
        return np.concatenate((self.left.theta_gradient(t), self.right.theta_gradient(t)))


@component
@dataclass(frozen=True)
class TemporalProduct(Pair, Temporal):
    """k_1 k_2."""

    left: Temporal
    right: Temporal

    def matrix(self, s: Array, t: Array) -> Array:
        """The entrywise product of the two matrices."""
        return self.left.matrix(s, t) * self.right.matrix(s, t)

    def variance(self, t: float) -> float:
        """The product of the two variances."""
        return self.left.variance(t) * self.right.variance(t)

    def decay(self, start: float, stop: float) -> float | None:
        """The product of the two factors."""
        one, two = self.left.decay(start, stop), self.right.decay(start, stop)
        return None if one is None or two is None else one * two

    def state_space(self) -> StateSpace:
        """The products of their entries."""
        return state_space(self.left) * state_space(self.right)

    def theta_gradient(self, t: Array) -> Array:
        """The product rule."""
        k1, k2 = self.left.matrix(t, t), self.right.matrix(t, t)
        return np.concatenate((self.left.theta_gradient(t) * k2, self.right.theta_gradient(t) * k1))


@component
@dataclass(frozen=True)
class SpaceTime(Composable):
    """The separable model k_S(x, x') k_T(t, t').

    >>> from windvane.kernels import RBF
    >>> RBF(0.2) * Markov(0.03)
    SpaceTime(space=RBF(lengthscale=(0.2,), variance=1.0), time=Markov(rate=0.03))
    """

    space: Kernel
    time: Temporal

    def plus(self, other: Any) -> Any:
        """Two of both that share one part."""
        if not isinstance(other, SpaceTime):
            return None
        if other.space == self.space:
            return SpaceTime(self.space, TemporalSum(self.time, other.time))
        if other.time == self.time:
            return SpaceTime(Sum(self.space, other.space), self.time)
        raise InvalidArgument(
            "kernel: two space-time kernels can be added if they share the spatial or the temporal part"
        )

    def times(self, other: Any) -> Any:
        """Space by space, and time by time."""
        if isinstance(other, SpaceTime):
            return SpaceTime(Product(self.space, other.space), TemporalProduct(self.time, other.time))
        if isinstance(other, Temporal):
            return SpaceTime(self.space, TemporalProduct(self.time, other))
        return SpaceTime(Product(self.space, other), self.time) if isinstance(other, Kernel) else None

    def scaled(self, factor: float) -> SpaceTime:
        """The spatial part."""
        return SpaceTime(self.space.scaled(factor), self.time)
