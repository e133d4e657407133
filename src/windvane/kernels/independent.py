"""Arms that say nothing about one another: the kernel of a finite set without a covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.kernels.base import Kernel


@component
@dataclass(frozen=True)
class Independent(Kernel):
    """k(i, j) = variance if i = j, else 0: `Empirical` of a unit matrix, for any number of arms.

    >>> Independent(2.0).matrix(np.array([[0.0]]), np.array([[0.0], [1.0]]))
    array([[2., 0.]])
    """

    variance: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", real("Independent(variance)", self.variance, above=0.0))

    def matrix(self, A: Array, B: Array) -> Array:
        """The variance where the arms are the same."""
        return np.where(A[:, 0, None] == B[:, 0], self.variance, 0.0)

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
            "kernel: Independent compares arms; a continuous space needs RBF, Matern32 or Matern52"
        )

    @property
    def theta(self) -> Array:
        """The variance is given: nothing to learn."""
        return np.empty(0)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """No labels."""
        return ()

    def with_theta(self, theta: Array) -> Independent:
        """Itself."""
        del theta
        return self

    def theta_gradient(self, A: Array) -> Array:
        """No derivatives."""
        return np.empty((0, len(A), len(A)))
