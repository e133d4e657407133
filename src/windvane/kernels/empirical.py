"""A covariance matrix given by the user: the kernel of a finite set of arms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, array
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels.base import Kernel


@component
@dataclass(frozen=True, eq=False)
class Empirical(Kernel):
    """k(i, j) = matrix[i, j] for arms i and j, for instance the covariance of past measurements.

    >>> kernel = Empirical([[1.0, 0.5], [0.5, 1.0]])
    >>> kernel.matrix(np.array([[0.0]]), np.array([[0.0], [1.0]]))
    array([[1. , 0.5]])
    """

    covariance: Any

    def __post_init__(self) -> None:
        matrix = array("Empirical(covariance)", self.covariance, (None, None))
        rows, columns = matrix.shape
        if rows != columns:
            raise InvalidArgument(f"Empirical(covariance): must be square, got {rows}x{columns}")
        if not np.allclose(matrix, matrix.T, rtol=1e-8, atol=1e-12):
            raise InvalidArgument("Empirical(covariance): must be symmetric")
        matrix = (matrix + matrix.T) / 2.0
        smallest, largest = np.linalg.eigvalsh(matrix)[[0, -1]]
        if largest <= 0.0 or smallest < -1e-8 * largest:
            raise InvalidArgument(
                f"Empirical(covariance): must be positive semi-definite, smallest eigenvalue {smallest:.3g}"
            )
        matrix.flags.writeable = False
        object.__setattr__(self, "covariance", matrix)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Empirical) and np.array_equal(self.covariance, other.covariance)

    def __hash__(self) -> int:
        return hash(self.covariance.tobytes())

    @cached_property
    def size(self) -> int:
        """The number of arms."""
        return int(self.covariance.shape[0])

    def scaled(self, factor: float) -> Empirical:
        """The matrix, entry by entry."""
        return Empirical(factor * self.covariance)

    def matrix(self, A: Array, B: Array) -> Array:
        """Look the arms up."""
        rows, columns = A[:, 0].astype(np.intp), B[:, 0].astype(np.intp)
        return np.asarray(self.covariance[rows[:, None], columns])

    @property
    def signal(self) -> float | None:
        """Arms differ."""
        return None

    def diagonal(self, A: Array) -> Array:
        """The arms' variances."""
        arms = A[:, 0].astype(np.intp)
        return np.asarray(self.covariance[arms, arms])

    def expand(self, a: Array, B: Array) -> Array:
        """Arms have no derivatives."""
        del a, B
        raise InvalidType(
            "kernel: Empirical compares arms; a continuous space needs RBF, Matern32 or Matern52"
        )

    @property
    def theta(self) -> Array:
        """The matrix is given: nothing to learn."""
        return np.empty(0)

    @property
    def theta_names(self) -> tuple[str, ...]:
        """No labels."""
        return ()

    def with_theta(self, theta: Array) -> Empirical:
        """Itself."""
        del theta
        return self

    def theta_gradient(self, A: Array) -> Array:
        """No derivatives."""
        return np.empty((0, len(A), len(A)))
