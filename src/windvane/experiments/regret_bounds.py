"""Theorem 1 with every constant computed, for the squared exponential kernel on the unit cube.

The paper gives no values for Assumption 3 (a0, b0, a1, b1), without which its bound is not a number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.stats import norm

from windvane.checks import Array
from windvane.kernels import RBF
from windvane.spaces import Box
from windvane.theory import RegretBound, gain_upper_bound, greedy_information_gain, theorem1_bound

POINTS = 400  # candidates among which the information gain is maximised greedily


@dataclass(frozen=True)
class Problem:
    """What Theorem 1 needs to know beside the rate of change and the reset window.

    >>> Problem().constants
    {'a0': 3.3, 'b0': 2.0, 'a1': 4.3, 'b1': 10.0}
    >>> bound = Problem().bound(400, 0.03, (29, 29))
    >>> bound.total > bound.mean_mismatch > bound.variance_mismatch > bound.exploration
    True
    """

    lengthscale: float = 0.2
    dim: int = 2
    noise_variance: float = 0.02
    delta: float = 0.1

    @cached_property
    def constants(self) -> dict[str, float]:
        """Assumption 3: P{sup |f| > L} <= a0 exp(-(L/b0)^2), and a1, b1 for each derivative of f.

        The chance that |f| exceeds L anywhere is, for a high L, the expected Euler characteristic of the
        excursions (Adler and Taylor, 2007), known in closed form. b0 = 2 leaves room for its polynomial
        factor, a0 is then the least that will do, rounded up. A derivative is a field of variance 1/l^2.
        """
        steepness = 1.0 / self.lengthscale
        own = [1.0] * self.dim
        along = [math.sqrt(3.0), *own[1:]]  # a derivative is rougher along its own axis
        return {
            "a0": _least([steepness * side for side in own]),
            "b0": 2.0,
            "a1": _least([steepness * side for side in along]),
            "b1": 2.0 * steepness,
        }

    def gain(self, count: int) -> float:
        """An upper bound on gamma_n: greedy among Sobol points, over 1 - 1/e."""
        return gain_upper_bound(_greedy(self.lengthscale, self.dim, self.noise_variance, count))

    def bound(self, horizon: int, rate: float, window: tuple[int, int]) -> RegretBound:
        """Theorem 1."""
        gain, noise = self.gain(window[1]), self.noise_variance
        return theorem1_bound(horizon, rate, window, gain, noise, self.delta, self.dim, **self.constants)


@lru_cache(maxsize=256)
def _greedy(lengthscale: float, dim: int, noise_variance: float, count: int) -> float:
    points = Box([(0.0, 1.0)] * dim).candidates(POINTS)
    return greedy_information_gain(RBF(lengthscale).matrix(points, points), noise_variance, count).gain


def _least(sides: list[float]) -> float:
    """The least a with P{sup |g| > u} <= a exp(-u^2 / 4) for a field of unit variance, to one decimal."""
    u = np.linspace(0.0, 12.0, 4001)
    tail = excursion(u, sides)
    certain = np.flatnonzero(tail >= 1.0)
    tail[: certain[-1] + 1 if certain.size else 0] = 1.0
    return math.ceil(10.0 * float((tail * np.exp(0.25 * u * u)).max())) / 10.0


def excursion(u: Array, sides: list[float]) -> Array:
    """The expected Euler characteristic of {g > u} and of {g < -u} together, on the unit cube.

    g is stationary with unit variance; `sides` are the standard deviations of its derivatives.
    """
    volumes = np.array([1.0])  # elementary symmetric polynomials: the faces of each dimension
    for side in sides:
        volumes = np.append(volumes, 0.0) + side * np.append(0.0, volumes)
    total: Array = norm.sf(u)
    for dim, volume in enumerate(volumes[1:], start=1):
        hermite = hermeval(u, [0.0] * (dim - 1) + [1.0])
        total = total + volume * (2.0 * math.pi) ** (-0.5 * (dim + 1)) * hermite * np.exp(-0.5 * u * u)
    return np.asarray(2.0 * total)
