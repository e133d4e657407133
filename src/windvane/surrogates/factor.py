"""The inverse Cholesky factor of a growing and shrinking covariance matrix.

For K = L L' the factor W = L^-1 is kept, so that every solve is a product: K^-1 b = W' (W b).
Its error grows with the square root of K's condition number only, and products are what BLAS
does best. `append` and `drop` cost O(n^2).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from windvane.checks import Array
from windvane.late import lapack

WHOLE = 96  # rows up to which a triangle is multiplied as if it were full


def below(W: Array, B: Array) -> Array:
    """W B for a lower triangular W; a larger one without most of the zeros, in two blocks.

    >>> below(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([1.0, 1.0]))
    array([2., 4.])
    """
    n = len(W)
    if n <= WHOLE:
        return np.asarray(W @ B)
    half = n // 2
    product = np.empty(B.shape)
    np.matmul(W[:half, :half], B[:half], out=product[:half])
    np.matmul(W[half:], B, out=product[half:])
    return product


def above(B: Array, W: Array) -> Array:
    """B W' for a lower triangular W and rows B; a larger one without most of the zeros, in blocks.

    >>> above(np.array([[1.0, 1.0]]), np.array([[2.0, 0.0], [1.0, 3.0]]))
    array([[2., 4.]])
    """
    n = len(W)
    if n <= WHOLE:
        return np.asarray(B @ W.T)
    product = np.empty(B.shape)
    blocks = 2 if n < 2 * WHOLE else 4
    ends = [n * i // blocks for i in range(blocks + 1)]
    for start, end in pairwise(ends):
        np.matmul(B[:, :end], W[start:end, :end].T, out=product[:, start:end])
    return product


class Factor:
    """W = L^-1 (lower triangular, n x n) in a buffer that grows by doubling.

    >>> factor = Factor()
    >>> _ = factor.append(factor.project(np.empty(0)), 4.0)
    >>> _ = factor.append(factor.project(np.array([2.0])), 2.0)  # K = [[4, 2], [2, 2 + 1]] has pivot 2
    >>> factor.W
    array([[ 0.5       ,  0.        ],
           [-0.35355339,  0.70710678]])
    """

    def __init__(self, capacity: int = 32) -> None:
        self.n = 0
        self._buffer = np.zeros((capacity, capacity))
        self._diagonal = np.zeros(capacity)  # of K^-1 = W'W
        self.log_determinant = 0.0  # of K

    @property
    def W(self) -> Array:
        """The factor, as a view."""
        return self._buffer[: self.n, : self.n]

    @property
    def inverse_diagonal(self) -> Array:
        """The diagonal of K^-1, as a view."""
        return self._diagonal[: self.n]

    def project(self, k: Array) -> Array:
        """v = W k, so that k' K^-1 k = v'v."""
        return below(self.W, k)

    def back(self, v: Array) -> Array:
        """w = W' v; with v = W k this is K^-1 k."""
        return np.asarray(v @ self.W)

    def append(self, v: Array, pivot: float) -> Array:
        """Add a row with v = W k and pivot = k(x,x) + noise - v'v > 0; returns w = K^-1 k."""
        n = self.n
        if n == len(self._diagonal):
            self._grow()
        w = self.back(v)
        root = math.sqrt(pivot)
        row = self._buffer[n]
        np.multiply(w, -1.0 / root, out=row[:n])
        row[n] = 1.0 / root
        self._diagonal[n] = 0.0
        self._diagonal[: n + 1] += row[: n + 1] * row[: n + 1]
        self.log_determinant += math.log(pivot)
        self.n = n + 1
        return w

    def drop(self, j: int) -> Array:
        """Remove row and column j of K; returns the column K^-1 e_j of the matrix before.

        Rotations of the rows j..n turn column j of W into a multiple of e_n; then the last row and
        column j go. The sequence of rotations has a closed form in running sums: with u = W[j:, j],
        S_i = sum_{k<=i} u_k W_k and r_i = |u_{<=i}|, row i becomes
        (u_{i+1} S_i / r_i - r_i W_{i+1}) / r_{i+1}.
        """
        n = self.n
        lower = self.W[j:]
        u = lower[:, j].copy()
        r = np.sqrt(np.cumsum(u * u))
        sums = u[:, None] * lower
        np.cumsum(sums, axis=0, out=sums)
        column = sums[-1].copy()
        fresh = sums[:-1]
        fresh *= (u[1:] / (r[:-1] * r[1:]))[:, None]
        np.subtract((r[:-1] / r[1:])[:, None] * lower[1:], fresh, out=fresh)
        self._buffer[j : n - 1, :j] = fresh[:, :j]
        self._buffer[j : n - 1, j : n - 1] = fresh[:, j + 1 :]
        self._buffer[n - 1, :n] = 0.0
        pivot = column[j]
        remaining = self._diagonal[:n] - column * column / pivot
        self._diagonal[:j] = remaining[:j]
        self._diagonal[j : n - 1] = remaining[j + 1 :]
        self.log_determinant += math.log(pivot)
        self.n = n - 1
        return np.asarray(column)

    def rebuild(self, K: Array) -> bool:
        """Factor K from scratch; False (and nothing changed) if K is not positive definite to rounding."""
        n = len(K)
        L, info = lapack.dpotrf(K, lower=1, clean=1)
        if info != 0:
            return False
        W, info = lapack.dtrtri(L, lower=1)
        if info != 0:
            return False
        capacity = len(self._diagonal)
        while capacity < n:
            capacity *= 2
        self._buffer = np.zeros((capacity, capacity))
        self._diagonal = np.zeros(capacity)
        self._buffer[:n, :n] = np.tril(W)
        self._diagonal[:n] = np.einsum("ij,ij->j", W, W)
        self.log_determinant = 2.0 * float(np.log(np.diagonal(L)).sum())
        self.n = n
        return True

    def clear(self) -> None:
        """Forget everything."""
        self._buffer[: self.n, : self.n] = 0.0
        self._diagonal[: self.n] = 0.0
        self.log_determinant = 0.0
        self.n = 0

    def _grow(self) -> None:
        capacity = 2 * len(self._diagonal)
        buffer, diagonal = np.zeros((capacity, capacity)), np.zeros(capacity)
        buffer[: self.n, : self.n] = self.W
        diagonal[: self.n] = self.inverse_diagonal
        self._buffer, self._diagonal = buffer, diagonal
