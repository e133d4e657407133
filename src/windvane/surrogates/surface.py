"""A posterior with its first and second derivatives in x at m points.

With k the covariances of a point, J their gradients (d x n), v = W k and w = K~^-1 k = W' v: s = prior - v'v,
ds = -2 J w, and Hess s = -2 (J K~^-1 J' + sum_i w_i Hess k_i). Only the Hessian needs products of J with the
factor, so they are made when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.kernels import Jet
from windvane.surrogates.factor import above, below

FEW = 3  # dimensions


class Surface(NamedTuple):
    """Mean mu and variance s of f with gradients (m x d), and their Hessians on demand."""

    mean: Array
    variance: Array
    mean_gradient: Array
    variance_gradient: Array
    bend: Callable[[Array | float, Array], Array]  # a, c (m) -> a Hess(mu) + c Hess(s), m x d x d

    @staticmethod
    def of(
        jet: Jet,
        tau: Array | None,
        W: Array,
        alpha: Array,
        prior: Array,
        tau_mean: Array | None = None,
    ) -> Surface:
        """Assemble from kernel derivatives, the factor and the weights of the mean.

        tau fades the covariances; `tau_mean`, if given, those of the mean alone.
        """
        m, rows, n = jet.bundle.shape
        k = jet.bundle[:, 0] if tau is None else jet.bundle[:, 0] * tau
        v = above(k, W)
        w = v @ W  # K~^-1 k for each point
        if tau is not None:
            w *= tau
        fading = tau if tau_mean is None else tau_mean
        weights = alpha if fading is None else alpha * fading
        slopes = jet.bundle[:, 1:]
        means = jet.bundle @ weights

        def bend(a: Array | float, c: Array) -> Array:
            B = slopes.reshape(m * (rows - 1), n) if tau is None else (slopes * tau).reshape(-1, n)
            V = above(B, W).reshape(m, rows - 1, n)
            both = np.multiply.outer(np.broadcast_to(a, (m,)), weights) - (2.0 * c)[:, None] * w
            return jet.curvature(both) - (2.0 * c)[:, None, None] * (V @ V.transpose(0, 2, 1))

        return Surface(
            means[:, 0],
            np.maximum(prior - np.vecdot(v, v), 0.0),
            means[:, 1:],
            -2.0 * (slopes @ w[:, :, None])[:, :, 0],
            bend,
        )


class Local(NamedTuple):
    """The same at a single point, in plain numbers: for the last leg of a climb.

    With D the covariances of the point and their derivatives (rows as in `Kernel.expand`), `means` is
    D alpha. With V = W B', B the first 1 + d rows of D, `gram` is V'V, but for its first row, which has
    D K~^-1 k for all rows of D: second derivatives need no product with W. (In few dimensions D has few
    rows, and it is cheaper to multiply them all than to read W twice.)
    """

    means: list[float]
    gram: list[list[float]]
    prior: float

    @staticmethod
    def of(D: Array, W: Array, alpha: Array, prior: float, dim: int) -> Local:
        """Assemble; D already carries the temporal factors."""
        if dim <= FEW:
            V = below(W, D.T)
            return Local((D @ alpha).tolist(), (V[:, : 1 + dim].T @ V).tolist(), prior)
        V = below(W, D[: 1 + dim].T)
        gram = (V.T @ V).tolist()
        gram[0] = (D @ (V[:, 0] @ W)).tolist()
        return Local((D @ alpha).tolist(), gram, prior)
