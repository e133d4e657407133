"""RBF and Matern kernels with one lengthscale, or one for each coordinate (ARD).

With the scaled squared distance q = sum_c (a_c - b_c)^2 / l_c^2, each kernel is v g(q). With
u_c = (a_c - b_c) / l_c^2, its gradient in a is 2 v g' u and its Hessian 4 v g'' u u' + 2 v g' diag(1/l^2).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidArgument
from windvane.kernels.base import IndexArray, Jet, Kernel, triangle_diagonal, upper_triangle

MANY = 32  # coordinates, beyond which most are options of a choice, and 0 in most points
SQRT3, SQRT5 = math.sqrt(3.0), math.sqrt(5.0)


@dataclass(frozen=True)
class Stationary(Kernel):
    """The common part of the kernels that are a profile of the scaled distance."""

    lengthscale: tuple[float, ...] = field(default=(0.2,))
    variance: float = 1.0
    _last_scales: Array = field(init=False, repr=False, compare=False)

    def __init__(self, lengthscale: float | Sequence[float] = 0.2, variance: float = 1.0) -> None:
        name = type(self).__name__
        several = isinstance(lengthscale, list | tuple) or np.ndim(lengthscale) > 0
        scales: Any = lengthscale if several else (lengthscale,)
        if len(scales) == 0:
            raise InvalidArgument(
                f"{name}(lengthscale): must be a positive number, or one for each coordinate"
            )
        if all(type(scale) is float and 0.0 < scale < math.inf for scale in scales):
            checked = tuple(scales)
        else:
            checked = tuple(real(f"{name}(lengthscale)", scale, above=0.0) for scale in scales)
        object.__setattr__(self, "lengthscale", checked)
        object.__setattr__(self, "variance", real(f"{name}(variance)", variance, above=0.0))
        object.__setattr__(self, "_last_scales", np.asarray(checked) ** -2.0)

    @abstractmethod
    def profile(self, q: Array) -> Array:
        """v g(q), for q >= 0; may work in place on q."""

    @abstractmethod
    def derivatives(self, q: Array) -> tuple[Array, Array, Array]:
        """v g, 2 v g' and 4 v g''; may work in place on q."""

    def _scales(self, dim: int) -> Array:
        """1 / l_c^2 for each of `dim` coordinates."""
        scales = self._last_scales
        if len(scales) != dim:
            if len(self.lengthscale) > 1:
                raise InvalidArgument(
                    f"kernel: {type(self).__name__} has {len(scales)} lengthscales, "
                    f"the space has {dim} coordinates"
                )
            scales = np.full(dim, self.lengthscale[0] ** -2.0)
            object.__setattr__(self, "_last_scales", scales)
        return scales

    def _squared(self, A: Array, B: Array) -> Array:
        scales = self._scales(A.shape[1])
        if A.shape[0] == 1:  # the hot path: one new point against all others
            gap = B - A
            gap *= gap
            return (gap @ scales)[None]
        if A.shape[1] > MANY and 2 * np.count_nonzero(A) < A.size:
            return self._sparse(A, B)
        if A is not B:  # one product; equal points come out equal to rounding
            root = np.sqrt(scales)
            a, b = A * root, B * root
            q = a @ b.T
            q *= -2.0
            q += np.vecdot(a, a)[:, None]
            q += np.vecdot(b, b)
            return np.maximum(q, 0.0, out=q)
        q = np.zeros((A.shape[0], B.shape[0]))
        for c, scale in enumerate(scales):  # one pass per coordinate; equal points come out equal
            gap = A[:, c, None] - B[None, :, c]
            gap *= gap
            gap *= scale
            q += gap
        return q

    def _sparse(self, A: Array, B: Array, axes: Any = slice(None)) -> Array:
        """q in these coordinates, from one product of those in which a point of A and one of B is not 0.

        Points with the same options are equal, exactly.
        """
        root = np.sqrt(self._scales(A.shape[1])[axes])
        a, b = A[:, axes] * root, B[:, axes] * root
        both = a.any(axis=0) & b.any(axis=0)
        q: Array = a[:, both] @ b[:, both].T
        q *= -2.0
        q += np.vecdot(a, a)[:, None]
        q += np.vecdot(b, b)
        return np.maximum(q, 0.0, out=q)

    def matrix(self, A: Array, B: Array) -> Array:
        """The m x n matrix v g(q)."""
        return self.profile(self._squared(A, B))

    @property
    def signal(self) -> float | None:
        """v."""
        return self.variance

    def scaled(self, factor: float) -> Stationary:
        """Another variance."""
        return type(self)(self.lengthscale, factor * self.variance)

    def diagonal(self, A: Array) -> Array:
        """v, m times."""
        return np.full(A.shape[0], self.variance)

    def _derived(self, A: Array, B: Array) -> tuple[Array, Array, Array, Array, Array]:
        """1 / l^2, u, v g, 2 v g' and 4 v g'' for one point (d) or several (m x d)."""
        scales = self._scales(A.shape[-1])
        gap = A[..., None] - B.T
        u = gap * scales[:, None]
        gap *= u
        return scales, u, *self.derivatives(np.add.reduce(gap, axis=-2))

    def _derived_along(
        self, A: Array, B: Array, axes: IndexArray
    ) -> tuple[Array, Array, Array, Array, Array]:
        """The same, 1 / l^2 and u in some coordinates only."""
        scales = self._scales(A.shape[-1])[axes]
        held = np.ones(A.shape[-1], dtype=np.bool_)
        held[axes] = False
        gap = A[..., axes, None] - B.T[axes]
        u = gap * scales[:, None]
        gap *= u
        q = self._sparse(np.atleast_2d(A), B, held).reshape(*A.shape[:-1], len(B))
        q += np.add.reduce(gap, axis=-2)
        return scales, u, *self.derivatives(q)

    def jet(self, A: Array, B: Array) -> Jet:
        """Values, 2 v g' u, and weighted sums of the Hessian."""
        return self._jet(A.shape[1], *self._derived(A, B))

    def jet_along(self, A: Array, B: Array, axes: IndexArray) -> Jet:
        """The same; the other coordinates count in q alone."""
        return self._jet(len(axes), *self._derived_along(A, B, axes))

    @staticmethod
    def _jet(d: int, scales: Array, u: Array, value: Array, first: Array, second: Array) -> Jet:
        m, n = value.shape
        bundle = np.empty((m, 1 + d, n))
        bundle[:, 0] = value
        np.multiply(u, first[:, None, :], out=bundle[:, 1:])

        def curvature(w: Array) -> Array:
            result = (u * (second * w)[:, None, :]) @ u.transpose(0, 2, 1)
            result.reshape(m, d * d)[:, :: d + 1] += np.vecdot(first, w)[:, None] * scales
            return result

        return Jet(bundle, curvature)

    def expand(self, a: Array, B: Array) -> Array:
        """v g, 2 v g' u, and 4 v g'' u_i u_j + 2 v g' [i = j] / l_i^2."""
        return self._expanded(len(a), *self._derived(a, B))

    def expand_along(self, a: Array, B: Array, axes: IndexArray) -> Array:
        """The same; the other coordinates count in q alone."""
        return self._expanded(len(axes), *self._derived_along(a, B, axes))

    @staticmethod
    def _expanded(d: int, scales: Array, u: Array, value: Array, first: Array, second: Array) -> Array:
        i, j = upper_triangle(d)
        rows = np.empty((1 + d + len(i), len(value)))
        rows[0] = value
        np.multiply(u, first, out=rows[1 : 1 + d])
        hessian = rows[1 + d :]
        np.multiply(u[i], u[j], out=hessian)
        hessian *= second
        hessian[triangle_diagonal(d)] += scales[:, None] * first
        return rows

    @property
    def theta(self) -> Array:
        """ln(lengthscales), ln(variance)."""
        return np.log((*self.lengthscale, self.variance))

    @property
    def theta_names(self) -> tuple[str, ...]:
        """`lengthscale[c]` for each scale, then `variance`."""
        return (*(f"lengthscale[{c}]" for c in range(len(self.lengthscale))), "variance")

    def with_theta(self, theta: Array) -> Stationary:
        """The same profile with other scales."""
        values = np.exp(theta)
        return type(self)([float(v) for v in values[:-1]], float(values[-1]))

    def theta_gradient(self, A: Array) -> Array:
        """d k / d ln l_c = -2 v g' (a_c - b_c)^2 / l_c^2 and d k / d ln v = k."""
        scales = self._scales(A.shape[1])
        gaps = (A[:, None, :] - A[None, :, :]) ** 2 * scales
        value, first, _ = self.derivatives(gaps.sum(-1))
        by_coordinate = -first[None] * gaps.transpose(2, 0, 1)
        if len(self.lengthscale) == 1:
            by_coordinate = by_coordinate.sum(0, keepdims=True)
        return np.concatenate((by_coordinate, value[None]))

    def theta_traces(self, A: Array, inner: Array) -> Array:
        """As above, without d x n x n numbers: sum_ij M_ij (a_i - a_j)^2 = 2 (sum_ij M_ij a_i^2 - a'Ma)."""
        value, first, _ = self.derivatives(self._squared(A, A))
        M, columns = first * inner, (A - A.mean(axis=0)).T
        squares = 2.0 * (columns * columns @ M.sum(axis=1) - np.vecdot(columns @ M, columns))
        by_coordinate = -self._scales(A.shape[1]) * squares
        if len(self.lengthscale) == 1:
            by_coordinate = by_coordinate.sum(keepdims=True)
        return np.concatenate((by_coordinate, (float(np.vdot(value, inner)),)))


def _decay(s: Array) -> Array:
    """exp(-s), with one temporary: on 200 x 2,500 points temporaries take most of the time."""
    decay = np.negative(s)
    return np.exp(decay, out=decay)


@component
@dataclass(frozen=True, init=False)
class RBF(Stationary):
    """The squared-exponential (SE) kernel v exp(-q/2).

    Lengthscales are in units of the encoded space, where every coordinate runs from 0 to 1.

    >>> RBF(0.2).matrix(np.array([[0.0]]), np.array([[0.0], [0.2]])).round(4)
    array([[1.    , 0.6065]])
    """

    def profile(self, q: Array) -> Array:
        """v exp(-q/2)."""
        q *= -0.5
        np.exp(q, out=q)
        if self.variance != 1.0:
            q *= self.variance
        return q

    def derivatives(self, q: Array) -> tuple[Array, Array, Array]:
        """2 g' = -g, 4 g'' = g."""
        value = self.profile(q)
        return value, -value, value

    def split(self, first: int) -> tuple[Kernel, Kernel] | None:
        """exp(-(q_1 + q_2)/2) is a product; the variance goes to the first factor."""
        scales = self.lengthscale
        if len(scales) == 1:
            return RBF(scales, self.variance), RBF(scales)
        return RBF(scales[:first], self.variance), RBF(scales[first:])


@component
@dataclass(frozen=True, init=False)
class Matern32(Stationary):
    """The Matern kernel with nu = 3/2: v (1 + s) exp(-s), s = sqrt(3 q).

    >>> Matern32(0.2).matrix(np.array([[0.0]]), np.array([[0.0], [0.2]])).round(4)
    array([[1.    , 0.4834]])
    """

    def profile(self, q: Array) -> Array:
        """v (1 + s) exp(-s)."""
        s = np.sqrt(q, out=q)
        s *= SQRT3
        decay = _decay(s)
        s += 1.0
        s *= self.variance
        s *= decay
        return s

    def derivatives(self, q: Array) -> tuple[Array, Array, Array]:
        """2 g' = -3 exp(-s); 4 g'' = 9 exp(-s) / s, which only ever multiplies u u' (zero at s = 0)."""
        s = SQRT3 * np.sqrt(q)
        decay = self.variance * np.exp(-s)
        second = 9.0 * decay / np.where(s > 0.0, s, np.inf)
        return (1.0 + s) * decay, -3.0 * decay, second


@component
@dataclass(frozen=True, init=False)
class Matern52(Stationary):
    """The Matern kernel with nu = 5/2: v (1 + s + s^2/3) exp(-s), s = sqrt(5 q).

    >>> Matern52(0.2).matrix(np.array([[0.0]]), np.array([[0.0], [0.2]])).round(4)
    array([[1.   , 0.524]])
    """

    def profile(self, q: Array) -> Array:
        """v (1 + s + s^2/3) exp(-s)."""
        s = np.sqrt(q, out=q)
        s *= SQRT5
        decay, square = _decay(s), s * s
        square /= 3.0
        s += 1.0
        s += square
        s *= self.variance
        s *= decay
        return s

    def derivatives(self, q: Array) -> tuple[Array, Array, Array]:
        """2 g' = -(5/3)(1 + s) exp(-s), 4 g'' = (25/3) exp(-s)."""
        s = SQRT5 * np.sqrt(q)
        decay = self.variance * np.exp(-s)
        return (1.0 + s + s * s / 3.0) * decay, (-5.0 / 3.0) * (1.0 + s) * decay, (25.0 / 3.0) * decay
