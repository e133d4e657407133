"""Covariances between the data and a fixed set of M candidate points.

The posterior on the candidates only ever needs sums sum_i c_i k(x_i, .) over the data. A
`PointCache` keeps the rows k(x_i, .), O(n M) a sum. A `GridCache` uses that a product kernel on a
tensor grid separates, sum_i c_i k_A(x_i, .) k_B(x_i, .) = K_A' diag(c) K_B: a small matrix
product that stays in the processor's cache.

Copies share what they have in common (see `buffers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel
from windvane.surrogates.buffers import Rows, twin

LARGE = 16_384  # candidates above which matrices with a column for each are made a part at a time


class CandidateCache(ABC):
    """Fixed candidate points, and the sums over the data that a posterior on them needs."""

    points: Array  # M x d
    prior: Array  # k(c, c), M
    shape: tuple[int, ...] | None = None  # if the candidates are a tensor grid
    _data: Rows  # what is remembered of each data point

    def copy(self) -> Self:
        """The same cache, O(1); neither of the two notices what becomes of the other."""
        other = twin(self)
        other._data = self._data.copy()
        return other

    def emptied(self) -> Self:
        """The same candidates with no data."""
        other = twin(self)
        other._data = Rows(self._data.width)
        return other

    def remove(self, j: int) -> None:
        """Forget the j-th oldest point."""
        self._data.drop(j)

    @abstractmethod
    def add(self, x: Array) -> Array:
        """Remember the newest point; returns its row k(x, candidates), M values."""

    @abstractmethod
    def add_many(self, X: Array) -> None:
        """Remember n points, the newest last."""

    @abstractmethod
    def contract(self, c: Array) -> Array:
        """sum_i c_i k(x_i, candidates), M values, for weights of the n data points."""

    @abstractmethod
    def contract_many(self, C: Array) -> Array:
        """The same for each row of C, q x n: q x M values."""

    @abstractmethod
    def rows(self) -> Array:
        """The n x M matrix k(x_i, candidates)."""


class PointCache(CandidateCache):
    """Any kernel, any candidates: the rows themselves."""

    def __init__(self, kernel: Kernel, points: Array) -> None:
        self._kernel = kernel
        self.points = points
        self.prior = kernel.diagonal(points)
        self._data = Rows(len(points))

    def add(self, x: Array) -> Array:
        row = np.asarray(self._kernel.matrix(x[None, :], self.points)[0])
        self._data.append(row)
        return row

    def add_many(self, X: Array) -> None:
        if len(self.points) <= LARGE:
            self._data.extend(self._kernel.matrix(X, self.points))
            return
        room = self._data.room(len(X))
        for start in range(0, len(self.points), LARGE):  # no second matrix of that size beside the first
            some = slice(start, start + LARGE)
            room[:, some] = self._kernel.matrix(X, self.points[some])

    def contract(self, c: Array) -> Array:
        return np.asarray(self._data.spread(c) @ self._data.span)

    def contract_many(self, C: Array) -> Array:
        return np.asarray(self._data.spread(C) @ self._data.span)

    def rows(self) -> Array:
        return self._data.array


class GridCache(CandidateCache):
    """A tensor grid A x B and a kernel k_A k_B: two thin factors instead of the rows."""

    def __init__(self, kernels: tuple[Kernel, Kernel], first: Array, second: Array) -> None:
        self._kernels = kernels
        self._axes = (first, second)
        self._cut = first.shape[1]
        a, b = len(first), len(second)
        self.points = np.concatenate((np.repeat(first, b, axis=0), np.tile(second, (a, 1))), axis=1)
        self.prior = np.outer(kernels[0].diagonal(first), kernels[1].diagonal(second)).ravel()
        self._width = a
        self._data = Rows(a + b)  # k_A(x, A) and k_B(x, B), side by side

    @staticmethod
    def build(kernel: Kernel, first: Array, second: Array) -> CandidateCache:
        """A grid cache if the kernel separates, else the same grid as plain points."""
        kernels = kernel.split(first.shape[1])
        if kernels is not None:
            return GridCache(kernels, first, second)
        a, b = len(first), len(second)
        return PointCache(
            kernel, np.concatenate((np.repeat(first, b, axis=0), np.tile(second, (a, 1))), axis=1)
        )

    def _factors(self, X: Array) -> Array:
        left = self._kernels[0].matrix(X[:, : self._cut], self._axes[0])
        return np.concatenate((left, self._kernels[1].matrix(X[:, self._cut :], self._axes[1])), axis=1)

    def add(self, x: Array) -> Array:
        factors = self._factors(x[None, :])[0]
        self._data.append(factors)
        return np.asarray(np.multiply.outer(factors[: self._width], factors[self._width :])).ravel()

    def add_many(self, X: Array) -> None:
        self._data.extend(self._factors(X))

    def contract(self, c: Array) -> Array:
        span, a = self._data.span, self._width
        weighted = self._data.spread(c)[:, None] * span[:, :a]
        return np.asarray(weighted.T @ span[:, a:]).ravel()

    def contract_many(self, C: Array) -> Array:
        span, a = self._data.span, self._width
        weighted = self._data.spread(C)[:, None, :] * span[:, :a].T
        product = weighted.reshape(len(C) * a, len(span)) @ span[:, a:]
        return np.asarray(product).reshape(len(C), len(self.points))

    def rows(self) -> Array:
        both, a = self._data.array, self._width
        return np.asarray((both[:, :a, None] * both[:, None, a:]).reshape(len(both), len(self.points)))
