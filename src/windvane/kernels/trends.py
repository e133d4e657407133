"""Smooth covariances of times: stationary, with a lengthscale in steps (or in the caller's clock).

With s = |t - t'| / lengthscale each is a profile g(s) with g(0) = 1. Unlike `Markov` they do not
forget the past given the present, so no single factor moves a posterior on in time.

The hyperparameter is learned as a rate, 1 / lengthscale, so that the bounds and the prior of a
`Search` on `rate` hold for these kernels too: a rate near 0 is an objective that stands still.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.kernels.state_space import StateSpace
from windvane.kernels.temporal import Temporal

SQRT3, SQRT5 = math.sqrt(3.0), math.sqrt(5.0)


@dataclass(frozen=True)
class Trend(Temporal):
    """The common part: a profile of the scaled distance in time."""

    lengthscale: float

    def __post_init__(self) -> None:
        name = f"{type(self).__name__}(lengthscale)"
        object.__setattr__(self, "lengthscale", real(name, self.lengthscale, above=0.0))

    @abstractmethod
    def profile(self, s: Array) -> Array:
        """g(s) for s >= 0."""

    @abstractmethod
    def steepness(self, s: Array) -> Array:
        """s g'(s)."""

    def matrix(self, s: Array, t: Array) -> Array:
        """g(|s_i - t_j| / lengthscale)."""
        return self.profile(np.abs(s[:, None] - t[None, :]) / self.lengthscale)

    def variance(self, t: float) -> float:
        """1 at every time."""
        del t
        return 1.0

    def decay(self, start: float, stop: float) -> float | None:
        """None: what happened before the present still says where it is heading."""
        del start, stop
        return None

    @property
    def theta(self) -> Array:
        """ln(1 / lengthscale)."""
        return -np.log([self.lengthscale])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """`rate`."""
        return ("rate",)

    def with_theta(self, theta: Array) -> Trend:
        """Another lengthscale."""
        return type(self)(float(np.exp(-theta[0])))

    def theta_gradient(self, t: Array) -> Array:
        """d k / d ln(1 / lengthscale) = s g'(s)."""
        return self.steepness(np.abs(t[:, None] - t[None, :]) / self.lengthscale)[None]


@component
@dataclass(frozen=True)
class TimeRBF(Trend):
    """exp(-s^2 / 2): changes so smoothly that it can be extrapolated for about a lengthscale.

    >>> TimeRBF(10.0).cross(np.array([0.0]), 10.0).round(4)
    array([0.6065])
    """

    def profile(self, s: Array) -> Array:
        """exp(-s^2 / 2)."""
        return np.asarray(np.exp(-0.5 * s * s))

    def steepness(self, s: Array) -> Array:
        """-s^2 exp(-s^2 / 2)."""
        return -s * s * self.profile(s)


@component
@dataclass(frozen=True)
class TimeMatern32(Trend):
    """(1 + a) exp(-a), a = sqrt(3) s: once differentiable, a value and a slope.

    >>> TimeMatern32(10.0).cross(np.array([0.0]), 10.0).round(4)
    array([0.4834])
    """

    def profile(self, s: Array) -> Array:
        """(1 + a) exp(-a)."""
        a = SQRT3 * s
        return np.asarray((1.0 + a) * np.exp(-a))

    def steepness(self, s: Array) -> Array:
        """-a^2 exp(-a)."""
        a = SQRT3 * s
        return np.asarray(-a * a * np.exp(-a))

    def state_space(self) -> StateSpace:
        """The state is (f, f'/lambda) with lambda = sqrt(3)/l, which makes P the identity."""
        rate = SQRT3 / self.lengthscale

        def transition(dt: float) -> Array:
            r = rate * dt
            return math.exp(-r) * np.array([[1.0 + r, r], [-r, 1.0 - r]])

        value = np.array([1.0, 0.0])
        return StateSpace(transition, np.eye(2), value, all_of(value))


@component
@dataclass(frozen=True)
class TimeMatern52(Trend):
    """(1 + a + a^2/3) exp(-a), a = sqrt(5) s: twice differentiable.

    >>> TimeMatern52(10.0).cross(np.array([0.0]), 10.0).round(4)
    array([0.524])
    """

    def profile(self, s: Array) -> Array:
        """(1 + a + a^2/3) exp(-a)."""
        a = SQRT5 * s
        return np.asarray((1.0 + a + a * a / 3.0) * np.exp(-a))

    def steepness(self, s: Array) -> Array:
        """-(a^2/3) (1 + a) exp(-a)."""
        a = SQRT5 * s
        return np.asarray(-(a * a / 3.0) * (1.0 + a) * np.exp(-a))

    def state_space(self) -> StateSpace:
        """The state is (f, f'/lambda, f''/lambda^2) with lambda = sqrt(5)/l.

        It moves by exp(F r), r = lambda dt, with F the companion matrix of (z + 1)^3: its only eigenvalue is
        -1, so that with N = F + 1, exp(F r) = exp(-r) (1 + N r + N^2 r^2 / 2). P are derivatives of the
        kernel at 0, where it is 1 - a^2 / 6 + a^4 / 24 - ...
        """
        rate = SQRT5 / self.lengthscale
        unit, once = np.eye(3), np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [-1.0, -3.0, -2.0]])
        twice = once @ once / 2.0

        def transition(dt: float) -> Array:
            r = rate * dt
            return np.asarray(math.exp(-r) * (unit + r * once + r * r * twice))

        third = 1.0 / 3.0
        stationary = np.array([[1.0, 0.0, -third], [0.0, third, 0.0], [-third, 0.0, 1.0]])
        value = np.array([1.0, 0.0, 0.0])
        return StateSpace(transition, stationary, value, all_of(value))


def all_of(loading: Array) -> Callable[[float], Array]:
    """What lasts of a trend: it is worth following while it lasts, so its whole uncertainty counts."""
    return lambda dt: loading  # noqa: ARG005
