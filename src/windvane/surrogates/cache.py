"""Covariances between the data and a fixed set of M candidate points.

The posterior on the candidates only ever needs sums sum_i c_i k(x_i, .) over the data. A
`PointCache` keeps the rows k(x_i, .), O(n M) a sum. A `GridCache` uses that a product kernel on a
tensor grid separates, sum_i c_i k_A(x_i, .) k_B(x_i, .) = K_A' diag(c) K_B: a small matrix
product that stays in the processor's cache.

Rows live in slots: dropping a point frees its slot, and nothing is moved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from windvane.checks import Array
from windvane.data import IntArray
from windvane.kernels import Kernel


class Slots:
    """Which buffer row holds which data point, oldest point first."""

    def __init__(self) -> None:
        self.used = 0  # slots ever used
        self._free: list[int] = []
        self._reused = False
        self.of: IntArray = np.empty(0, dtype=np.int64)

    def add(self) -> int:
        """The slot of a new, newest point."""
        if self._free:
            slot = self._free.pop()
        else:
            slot = self.used
            self.used += 1
        self.of = np.concatenate((self.of, (slot,)))
        return slot

    def remove(self, j: int) -> None:
        """Free the slot of the j-th oldest point."""
        self._free.append(int(self.of[j]))
        self._reused = True
        self.of = np.concatenate((self.of[:j], self.of[j + 1 :]))

    def spread(self, c: Array) -> Array:
        """Weights of the data in slot order; free slots weigh 0."""
        if not self._reused:  # append-only: slot order is data order
            return c
        result = np.zeros(self.used)
        result[self.of] = c
        return result

    def spread_rows(self, C: Array) -> Array:
        """The same for each row of C."""
        if not self._reused:
            return C
        result = np.zeros((len(C), self.used))
        result[:, self.of] = C
        return result


class CandidateCache(ABC):
    """Fixed candidate points, and the sums over the data that a posterior on them needs."""

    points: Array  # M x d
    prior: Array  # k(c, c), M
    shape: tuple[int, ...] | None = None  # if the candidates are a tensor grid

    @abstractmethod
    def row(self, x: Array) -> Array:
        """k(x, candidates), M values."""

    @abstractmethod
    def add(self, x: Array) -> Array:
        """Remember the newest point; returns its row."""

    @abstractmethod
    def remove(self, j: int) -> None:
        """Forget the j-th oldest point."""

    @abstractmethod
    def contract(self, c: Array) -> Array:
        """sum_i c_i k(x_i, candidates), M values, for weights of the n data points."""

    @abstractmethod
    def contract_many(self, C: Array) -> Array:
        """The same for each row of C, q x n: q x M values."""

    @abstractmethod
    def rows(self) -> Array:
        """The n x M matrix k(x_i, candidates)."""

    @abstractmethod
    def fresh(self, kernel: Kernel) -> CandidateCache:
        """The same candidates with no data, for a kernel that may differ."""


def _grown(buffer: Array, needed: int) -> Array:
    if needed <= len(buffer):
        return buffer
    result = np.zeros((max(needed, 2 * len(buffer)), *buffer.shape[1:]))
    result[: len(buffer)] = buffer
    return result


class PointCache(CandidateCache):
    """Any kernel, any candidates: the rows themselves."""

    def __init__(self, kernel: Kernel, points: Array) -> None:
        self._kernel = kernel
        self.points = points
        self.prior = kernel.diagonal(points)
        self._slots = Slots()
        self._rows = np.zeros((16, len(points)))

    def row(self, x: Array) -> Array:
        return np.asarray(self._kernel.matrix(x[None, :], self.points)[0])

    def add(self, x: Array) -> Array:
        slot = self._slots.add()
        self._rows = _grown(self._rows, slot + 1)
        row = self.row(x)
        self._rows[slot] = row
        return row

    def remove(self, j: int) -> None:
        self._slots.remove(j)

    def contract(self, c: Array) -> Array:
        return np.asarray(self._slots.spread(c) @ self._rows[: self._slots.used])

    def contract_many(self, C: Array) -> Array:
        return np.asarray(self._slots.spread_rows(C) @ self._rows[: self._slots.used])

    def rows(self) -> Array:
        return self._rows[self._slots.of]

    def fresh(self, kernel: Kernel) -> PointCache:
        cache = PointCache(kernel, self.points)
        cache.shape = self.shape
        return cache


class GridCache(CandidateCache):
    """A tensor grid A x B and a kernel k_A k_B: two thin factors instead of the rows."""

    def __init__(self, kernels: tuple[Kernel, Kernel], first: Array, second: Array) -> None:
        self._kernels = kernels
        self._axes = (first, second)
        self._cut = first.shape[1]
        a, b = len(first), len(second)
        self.points = np.concatenate((np.repeat(first, b, axis=0), np.tile(second, (a, 1))), axis=1)
        self.prior = np.outer(kernels[0].diagonal(first), kernels[1].diagonal(second)).ravel()
        self._slots = Slots()
        self._left, self._right = np.zeros((16, a)), np.zeros((16, b))

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

    def _factors(self, x: Array) -> tuple[Array, Array]:
        left = self._kernels[0].matrix(x[None, : self._cut], self._axes[0])[0]
        return left, self._kernels[1].matrix(x[None, self._cut :], self._axes[1])[0]

    def row(self, x: Array) -> Array:
        left, right = self._factors(x)
        return np.multiply.outer(left, right).ravel()

    def add(self, x: Array) -> Array:
        slot = self._slots.add()
        self._left, self._right = _grown(self._left, slot + 1), _grown(self._right, slot + 1)
        left, right = self._factors(x)
        self._left[slot], self._right[slot] = left, right
        return np.multiply.outer(left, right).ravel()

    def remove(self, j: int) -> None:
        self._slots.remove(j)

    def contract(self, c: Array) -> Array:
        used = self._slots.used
        weighted = self._slots.spread(c)[:, None] * self._left[:used]
        return np.asarray(weighted.T @ self._right[:used]).ravel()

    def contract_many(self, C: Array) -> Array:
        used = self._slots.used
        spread = self._slots.spread_rows(C)
        weighted = spread[:, None, :] * self._left[:used].T
        product = weighted.reshape(-1, used) @ self._right[:used]
        return np.asarray(product).reshape(len(C), -1)

    def rows(self) -> Array:
        left, right = self._left[self._slots.of], self._right[self._slots.of]
        return np.asarray((left[:, :, None] * right[:, None, :]).reshape(len(left), len(self.points)))

    def fresh(self, kernel: Kernel) -> CandidateCache:
        cache = GridCache.build(kernel, *self._axes)
        cache.shape = self.shape
        return cache
