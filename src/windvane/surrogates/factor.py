"""The inverse Cholesky factor of a growing and shrinking covariance matrix.

For K = L L' the factor W = L^-1 is kept, so that every solve is a product: K^-1 b = W' (W b).
Its error grows with the square root of K's condition number only, and products are what BLAS
does best. `append` and `drop` cost O(n^2). Copies share what they have in common (see `buffers`).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from windvane.checks import Array
from windvane.late import blas, lapack
from windvane.surrogates.buffers import Tail, twin

SMALL = 64  # rows up to which LAPACK inverts a triangle
LARGE = 512  # rows from which it pays to tell BLAS that a factor is a triangle
WHOLE = 96  # rows up to which a triangle is multiplied as if it were full
BLOCKS = 5  # times as many, up to which two blocks are the fastest


def below(W: Array, B: Array) -> Array:
    """W B for a lower triangular W; a larger one without most of the zeros, in two blocks, or more.

    >>> below(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([1.0, 1.0]))
    array([2., 4.])
    """
    n = len(W)
    if n <= WHOLE:
        return np.asarray(W @ B)
    half = n // 2
    product = np.empty(B.shape)
    if n <= BLOCKS * WHOLE:
        np.matmul(W[:half, :half], B[:half], out=product[:half])
        np.matmul(W[half:], B, out=product[half:])
        return product
    product[:half] = below(W[:half, :half], B[:half])
    product[half:] = below(W[half:, half:], B[half:])
    product[half:] += W[half:, :half] @ B[:half]
    return product


def inverse_triangle(L: Array, out: Array | None = None) -> Array:
    """L^-1 for a lower triangular L, by halves: LAPACK's own is slow beyond a few dozen rows.

    Written to `out`, if that is given; it has to be zero above the diagonal.

    >>> inverse_triangle(np.array([[2.0, 0.0], [1.0, 4.0]]))
    array([[ 0.5  ,  0.   ],
           [-0.125,  0.25 ]])
    """
    n = len(L)
    W = np.zeros((n, n), order="F") if out is None else out
    if n <= SMALL:
        W[:] = lapack.dtrtri(L, lower=1)[0]
        return W
    half = n // 2
    first, second = W[:half, :half], W[half:, half:]
    inverse_triangle(L[:half, :half], first)
    inverse_triangle(L[half:, half:], second)
    if n <= LARGE:
        np.negative(second @ (L[half:, :half] @ first), out=W[half:, :half])
    else:
        right = blas.dtrmm(-1.0, first, L[half:, :half], side=1, lower=1)
        W[half:, :half] = blas.dtrmm(1.0, second, right, lower=1, overwrite_b=1)
    return W


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
        self._tail = Tail(0)
        self.inverse_diagonal = np.empty(0)  # of K^-1 = W'W; a new array after every change
        self.log_determinant = 0.0  # of K

    @staticmethod
    def of(K: Array, noises: Array) -> Factor:
        """The factor of K, whose diagonal contains the noises.

        If K is not positive definite to rounding, then row by row: no pivot falls below the noise, so that
        this cannot fail.
        """
        factor = Factor()
        if len(K) and not factor.rebuild(K):
            for i, noise in enumerate(noises.tolist()):
                v = factor.project(K[i, :i])
                factor.append(v, noise + max(float(K[i, i]) - noise - float(v @ v), 0.0))
        return factor

    def copy(self) -> Factor:
        """The same factor, O(1); neither of the two notices what becomes of the other."""
        return twin(self)

    @property
    def W(self) -> Array:
        """The factor, as a view."""
        return self._buffer[: self.n, : self.n]

    def project(self, k: Array) -> Array:
        """v = W k, so that k' K^-1 k = v'v."""
        return below(self.W, k)

    def back(self, v: Array) -> Array:
        """w = W' v; with v = W k this is K^-1 k."""
        return np.asarray(v @ self.W)

    def append(self, v: Array, pivot: float) -> Array:
        """Add a row with v = W k and pivot = k(x,x) + noise - v'v > 0; returns w = K^-1 k."""
        n = self.n
        if n == len(self._buffer):
            self._move(2 * n)
        if not self._tail.claim(n):
            self._move(len(self._buffer))
            self._tail.claim(n)
        w = self.back(v)
        root = math.sqrt(pivot)
        row = self._buffer[n]
        np.multiply(w, -1.0 / root, out=row[:n])
        row[n] = 1.0 / root
        diagonal = row[: n + 1] * row[: n + 1]
        diagonal[:n] += self.inverse_diagonal
        self.inverse_diagonal = diagonal
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
        buffer = np.zeros_like(self._buffer)
        buffer[:j, :j] = self._buffer[:j, :j]
        buffer[j : n - 1, :j] = fresh[:, :j]
        buffer[j : n - 1, j : n - 1] = fresh[:, j + 1 :]
        pivot = column[j]
        remaining = self.inverse_diagonal - column * column / pivot
        self._take(buffer, np.concatenate((remaining[:j], remaining[j + 1 :])))
        self.log_determinant += math.log(pivot)
        return np.asarray(column)

    def rebuild(self, K: Array) -> bool:
        """Factor K from scratch; False (and nothing changed) if K is not positive definite to rounding."""
        n = len(K)
        L, info = lapack.dpotrf(K, lower=1, clean=1)
        if info != 0:
            return False
        W = inverse_triangle(L)
        capacity = len(self._buffer)
        while capacity < n:
            capacity *= 2
        buffer = np.zeros((capacity, capacity))
        buffer[:n, :n] = W
        self._take(buffer, np.einsum("ij,ij->j", W, W))
        self.log_determinant = 2.0 * float(np.log(np.diagonal(L)).sum())
        return True

    def clear(self) -> None:
        """Forget everything."""
        self._take(np.zeros_like(self._buffer), np.empty(0))
        self.log_determinant = 0.0

    def _take(self, buffer: Array, inverse_diagonal: Array) -> None:
        """Read another buffer from now on, one that nobody else has."""
        self.n = len(inverse_diagonal)
        self._buffer, self._tail, self.inverse_diagonal = buffer, Tail(self.n), inverse_diagonal

    def _move(self, capacity: int) -> None:
        """To a buffer of one's own: the old one is full, or another copy has gone on in it."""
        buffer = np.zeros((capacity, capacity))
        buffer[: self.n, : self.n] = self.W
        self._take(buffer, self.inverse_diagonal)
