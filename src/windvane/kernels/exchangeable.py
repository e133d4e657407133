"""Arms of which no two are told apart beforehand: a part in common, and a part of each alone."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from windvane.checks import Array, integer, real
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.kernels.base import Kernel


@component
@dataclass(frozen=True)
class Exchangeable(Kernel):
    """k(i, j) = variance if i = j, else correlation * variance, for any two of `arms` arms.

    Each arm is a part that all have in common plus a part of its own: what moves all of them is learned from
    any of them. `odds` = correlation / (1 - correlation) is the variance of the first beside that of the
    second; its logarithm, and that of the variance, are the hyperparameters.

    >>> kernel = Exchangeable(46, 0.75)
    >>> kernel.matrix(np.array([[0.0]]), np.array([[0.0], [1.0]]))
    array([[1.  , 0.75]])
    >>> kernel.odds
    3.0
    """

    arms: int
    correlation: float = 0.5
    variance: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", integer("Exchangeable(arms)", self.arms, at_least=1))
        correlation = real("Exchangeable(correlation)", self.correlation, above=0.0, below=1.0)
        object.__setattr__(self, "correlation", correlation)
        object.__setattr__(self, "variance", real("Exchangeable(variance)", self.variance, above=0.0))

    @property
    def odds(self) -> float:
        """The variance in common beside that of an arm alone."""
        return self.correlation / (1.0 - self.correlation)

    def scaled(self, factor: float) -> Exchangeable:
        """The variance."""
        return Exchangeable(self.arms, self.correlation, factor * self.variance)

    def matrix(self, A: Array, B: Array) -> Array:
        """The variance where the arms are the same, the covariance elsewhere."""
        return np.where(A[:, 0, None] == B[:, 0], self.variance, self.correlation * self.variance)

    @property
    def signal(self) -> float | None:
        """The variance."""
        return self.variance

    def diagonal(self, A: Array) -> Array:
        """The variance, m times."""
        return np.full(len(A), self.variance)

    def expand(self, a: Array, B: Array) -> Array:
        """Arms have no derivatives."""
        del a, B
        raise InvalidType(
            "kernel: Exchangeable compares arms; a continuous space needs RBF, Matern32 or Matern52"
        )

    @property
    def theta(self) -> Array:
        """ln(odds), then ln(variance)."""
        return np.array([math.log(self.odds), math.log(self.variance)])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Both labels."""
        return ("odds", "variance")

    def with_theta(self, theta: Array) -> Exchangeable:
        """The correlation is the logistic function of ln(odds)."""
        odds, variance = theta.tolist()
        return Exchangeable(self.arms, 1.0 / (1.0 + math.exp(-odds)), math.exp(variance))

    def theta_gradient(self, A: Array) -> Array:
        """d k / d ln(odds) = r (1 - r) v between different arms, r the correlation; d k / d ln v = k."""
        slope = self.correlation * (1.0 - self.correlation) * self.variance
        return np.stack((np.where(A[:, 0, None] == A[:, 0], 0.0, slope), self.matrix(A, A)))
