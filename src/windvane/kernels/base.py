"""What a kernel is. Shared symbols: `A` is m x d, `B` is n x d, both in encoded coordinates.

A spatial kernel compares points and composes with + and *. Temporal kernels live in `temporal`.

Hyperparameters are the vector `theta` of natural logarithms, so that a fit is free of positivity
constraints; `theta_names` labels its entries.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType

IndexArray = npt.NDArray[np.intp]


class Jet(NamedTuple):
    """Kernel values and their derivatives in `A`.

    `bundle` is m x (1 + d) x n: row 0 holds k(a_i, b_j), row 1 + c its derivative in coordinate c.
    `curvature(w)`, for weights m x n, is the m x d x d matrix sum_j w_ij Hess_a k(a_i, b_j).
    """

    bundle: Array
    curvature: Callable[[Array], Array]

    def since(self, first: int) -> Jet:
        """The part that belongs to the rows of B from `first` on."""
        if not first:
            return self

        def curvature(w: Array) -> Array:
            return self.curvature(np.concatenate((np.zeros((len(w), first)), w), axis=1))

        return Jet(self.bundle[:, :, first:], curvature)


@cache
def upper_triangle(d: int) -> tuple[IndexArray, IndexArray]:
    """Row and column of each entry of a symmetric d x d matrix, upper triangle by rows."""
    rows, columns = np.triu_indices(d)
    return rows, columns


@cache
def triangle_diagonal(d: int) -> IndexArray:
    """Where the diagonal stands in that order."""
    rows, columns = upper_triangle(d)
    return np.flatnonzero(rows == columns)


class Composable:
    """What adds and multiplies: kernels of space, of time, and of both.

    >>> from windvane.kernels import RBF, Markov
    >>> 2 * RBF(0.2) * Markov(0.03)
    SpaceTime(space=RBF(lengthscale=(0.2,), variance=2.0), time=Markov(rate=0.03))
    """

    __array_ufunc__ = None  # NumPy's numbers and arrays leave + and * to the kernel

    def plus(self, other: Any) -> Any:
        """The sum, or None if this side does not know how."""
        del other

    def times(self, other: Any) -> Any:
        """The product, or None if this side does not know how."""
        del other

    def scaled(self, factor: float) -> Any:
        """The same kernel with `factor` times the variance."""
        raise InvalidArgument(
            f"factor={factor!r}: {type(self).__name__} has no variance to scale; define scaled(factor), or "
            "multiply it by a kernel that has one"
        )

    def __add__(self, other: Any) -> Any:
        made = self.plus(other)
        if made is None:
            raise InvalidType(
                f"{self!r} + {other!r}: a kernel of space is added to one of space, one of time to one of "
                "time, and one of both to one of both"
            )
        return made

    __radd__ = __add__  # the other side is no kernel: always refused

    def __mul__(self, other: Any) -> Any:
        made = self.times(other)
        if made is None and isinstance(other, Composable):
            made = other.times(self)
        if made is not None:
            return made
        if isinstance(other, np.ndarray) and other.ndim == 0:
            other = other.item()
        if isinstance(other, bool) or not isinstance(other, numbers.Real):
            raise InvalidType(
                f"{self!r} * {other!r}: a kernel is multiplied by a kernel of space, a kernel of time or a "
                "positive number"
            )
        return self.scaled(real("factor", other, above=0.0))

    __rmul__ = __mul__  # the other side is a number, or refused


class Parametric(Composable, ABC):
    """Something with hyperparameters, held as logarithms so that a fit knows no positivity constraints."""

    @property
    @abstractmethod
    def theta(self) -> Array:
        """The logarithms of the hyperparameters."""

    @property
    @abstractmethod
    def theta_names(self) -> tuple[str, ...]:
        """One label for each entry of theta."""

    @abstractmethod
    def theta_gradient(self, A: Array, /) -> Array:
        """The p x n x n derivatives of `matrix(A, A)` in theta."""

    def theta_traces(self, A: Array, inner: Array) -> Array:
        """tr(inner dK) for each of the p derivatives; `inner` is symmetric, n x n."""
        return np.asarray(self.theta_gradient(A).reshape(-1, inner.size) @ inner.reshape(-1))


class Kernel(Parametric):
    """A covariance of points with constant variance on the diagonal (except `Empirical`)."""

    @abstractmethod
    def matrix(self, A: Array, B: Array) -> Array:
        """The m x n matrix k(a_i, b_j)."""

    @abstractmethod
    def diagonal(self, A: Array) -> Array:
        """The m values k(a_i, a_i)."""

    def jet(self, A: Array, B: Array) -> Jet:
        """Values, gradients and curvature in A: from `expand`, point by point, unless a kernel is faster."""
        d = A.shape[1]
        rows = np.stack([self.expand(a, B) for a in A])
        i, j = upper_triangle(d)

        def curvature(w: Array) -> Array:
            result = np.empty((len(A), d, d))
            result[:, i, j] = result[:, j, i] = (rows[:, 1 + d :] @ w[:, :, None])[:, :, 0]
            return result

        return Jet(rows[:, : 1 + d], curvature)

    def jet_along(self, A: Array, B: Array, axes: IndexArray) -> Jet:
        """The same in these coordinates of A alone: what is left of `jet`, unless a kernel is faster."""
        whole = self.jet(A, B)
        rows = np.concatenate(([0], 1 + axes))
        return Jet(whole.bundle[:, rows], lambda w: whole.curvature(w)[:, axes[:, None], axes])

    @abstractmethod
    def expand(self, a: Array, B: Array) -> Array:
        """k(a, b_j) with all first and second derivatives at one point `a`, in rows.

        Row 0 the values, rows 1 .. d the gradient, then the upper triangle of the Hessian by rows:
        (1 + d + d (d + 1) / 2) x n.
        """

    def expand_along(self, a: Array, B: Array, axes: IndexArray) -> Array:
        """The same in these coordinates of a alone, in increasing order: what is left of `expand`, unless a
        kernel is faster.
        """
        i, j = upper_triangle(len(a))
        kept = np.isin(i, axes) & np.isin(j, axes)
        return self.expand(a, B)[np.concatenate(([0], 1 + axes, 1 + len(a) + np.flatnonzero(kept)))]

    @abstractmethod
    def with_theta(self, theta: Array) -> Kernel:
        """The same kernel with other hyperparameters."""

    @property
    @abstractmethod
    def signal(self) -> float | None:
        """k(a, a) if it is the same everywhere, else None."""

    def split(self, first: int) -> tuple[Kernel, Kernel] | None:
        """Factors over the first coordinates and the rest, k = k_1 k_2, or None if there are none."""
        del first
        return None

    def plus(self, other: Any) -> Any:
        """Two kernels of space."""
        return Sum(self, other) if isinstance(other, Kernel) else None

    def times(self, other: Any) -> Any:
        """Two kernels of space."""
        return Product(self, other) if isinstance(other, Kernel) else None


class Pair:
    """The hyperparameters of two kernels side by side; shared by every sum and product."""

    left: Any
    right: Any

    @property
    def theta(self) -> Array:
        """Both vectors, one after the other."""
        return np.concatenate((self.left.theta, self.right.theta))

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Labels prefixed by the side they belong to."""
        left = tuple(f"left.{name}" for name in self.left.theta_names)
        return left + tuple(f"right.{name}" for name in self.right.theta_names)

    def with_theta(self, theta: Array) -> Self:
        """Split theta between the two parts."""
        cut = len(self.left.theta)
        return type(self)(self.left.with_theta(theta[:cut]), self.right.with_theta(theta[cut:]))  # type: ignore[call-arg]


@component
@dataclass(frozen=True)
class Sum(Pair, Kernel):
    """k_1 + k_2."""

    left: Kernel
    right: Kernel

    def matrix(self, A: Array, B: Array) -> Array:
        """The sum of the two matrices."""
        return self.left.matrix(A, B) + self.right.matrix(A, B)

    @property
    def signal(self) -> float | None:
        """The sum of the two, if both are constant."""
        one, two = self.left.signal, self.right.signal
        return None if one is None or two is None else one + two

    def scaled(self, factor: float) -> Sum:
        """Both parts."""
        return Sum(self.left.scaled(factor), self.right.scaled(factor))

    def diagonal(self, A: Array) -> Array:
        """The sum of the two diagonals."""
        return self.left.diagonal(A) + self.right.diagonal(A)

    def jet(self, A: Array, B: Array) -> Jet:
        """Derivatives add."""
        return _added(self.left.jet(A, B), self.right.jet(A, B))

    def jet_along(self, A: Array, B: Array, axes: IndexArray) -> Jet:
        """Derivatives add."""
        return _added(self.left.jet_along(A, B, axes), self.right.jet_along(A, B, axes))

    def expand(self, a: Array, B: Array) -> Array:
        """Derivatives add."""
        return self.left.expand(a, B) + self.right.expand(a, B)

    def expand_along(self, a: Array, B: Array, axes: IndexArray) -> Array:
        """Derivatives add."""
        return self.left.expand_along(a, B, axes) + self.right.expand_along(a, B, axes)

    def theta_gradient(self, A: Array) -> Array:
        """Each part's own derivatives."""
        return np.concatenate((self.left.theta_gradient(A), self.right.theta_gradient(A)))


@component
@dataclass(frozen=True)
class Product(Pair, Kernel):
    """k_1 k_2."""

    left: Kernel
    right: Kernel

    def matrix(self, A: Array, B: Array) -> Array:
        """The entrywise product of the two matrices."""
        return self.left.matrix(A, B) * self.right.matrix(A, B)

    @property
    def signal(self) -> float | None:
        """The product of the two, if both are constant."""
        one, two = self.left.signal, self.right.signal
        return None if one is None or two is None else one * two

    def scaled(self, factor: float) -> Product:
        """One of the two."""
        return Product(self.left.scaled(factor), self.right)

    def diagonal(self, A: Array) -> Array:
        """The product of the two diagonals."""
        return self.left.diagonal(A) * self.right.diagonal(A)

    def jet(self, A: Array, B: Array) -> Jet:
        """The product rule, twice."""
        return _multiplied(self.left.jet(A, B), self.right.jet(A, B))

    def jet_along(self, A: Array, B: Array, axes: IndexArray) -> Jet:
        """The product rule, twice."""
        return _multiplied(self.left.jet_along(A, B, axes), self.right.jet_along(A, B, axes))

    def expand(self, a: Array, B: Array) -> Array:
        """The product rule, twice."""
        return _expanded(self.left.expand(a, B), self.right.expand(a, B), len(a))

    def expand_along(self, a: Array, B: Array, axes: IndexArray) -> Array:
        """The product rule, twice."""
        one, two = self.left.expand_along(a, B, axes), self.right.expand_along(a, B, axes)
        return _expanded(one, two, len(axes))

    def split(self, first: int) -> tuple[Kernel, Kernel] | None:
        """A product splits if both parts do."""
        one, two = self.left.split(first), self.right.split(first)
        if one is None or two is None:
            return None
        return Product(one[0], two[0]), Product(one[1], two[1])

    def theta_gradient(self, A: Array) -> Array:
        """The product rule."""
        k1, k2 = self.left.matrix(A, A), self.right.matrix(A, A)
        return np.concatenate((self.left.theta_gradient(A) * k2, self.right.theta_gradient(A) * k1))


def _added(one: Jet, two: Jet) -> Jet:
    """The jet of a sum."""
    return Jet(one.bundle + two.bundle, lambda w: one.curvature(w) + two.curvature(w))


def _multiplied(one: Jet, two: Jet) -> Jet:
    """The jet of a product."""
    k1, k2 = one.bundle[:, :1], two.bundle[:, :1]
    bundle = one.bundle * k2 + two.bundle * k1
    bundle[:, :1] = k1 * k2
    g1, g2 = one.bundle[:, 1:], two.bundle[:, 1:]

    def curvature(w: Array) -> Array:
        mixed = (g1 * w[:, None, :]) @ g2.transpose(0, 2, 1)
        return one.curvature(w * k2[:, 0]) + two.curvature(w * k1[:, 0]) + mixed + mixed.transpose(0, 2, 1)

    return Jet(bundle, curvature)


def _expanded(one: Array, two: Array, d: int) -> Array:
    """Values and derivatives of a product in d coordinates."""
    result: Array = one * two[0] + two * one[0]
    result[0] = one[0] * two[0]
    i, j = upper_triangle(d)
    result[1 + d :] += one[1 + i] * two[1 + j] + one[1 + j] * two[1 + i]
    return result
