"""Within-model comparison (Section 6.2.1): the objective is drawn from the model's own prior.

f_1 = g_1, f_t = sqrt(1 - eps) f_{t-1} + sqrt(eps) g_t (Assumption 2) with independent g_t ~ GP(0, k),
on a 100 x 100 grid of the unit square with linear interpolation (Appendix A.1).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.errors import InvalidArgument
from windvane.kernels import RBF
from windvane.spaces import Box
from windvane.tasks.base import Optimum

NEGLIGIBLE = 1e-14  # eigenvalues below this share of the largest are left out


class WithinModel:
    """A sample path of the Markov chain of Assumption 2 in the unit square, SE kernel.

    The grid's covariance is a Kronecker product K_1 x K_1, so a sample is Phi Z Phi' with a small
    matrix Z of independent normals and Phi = U sqrt(Lambda) from the 100 x 100 eigenproblem: no
    10^4 x 10^4 factor. The chain runs on Z.

    >>> task = WithinModel(rate=0.03, horizon=10, seed=1)
    >>> task.optimum(3) >= task.value([0.2, 0.4], 3)
    True
    """

    name = "within-model"

    def __init__(
        self,
        *,
        rate: float = 0.03,
        horizon: int = 400,
        seed: int = 0,
        lengthscale: float = 0.2,
        noise_variance: float = 0.02,
        dim: int = 2,
        grid: int = 100,
    ) -> None:
        if integer("dim", dim) != 2:
            raise InvalidArgument(
                f"dim={dim}: this task is drawn on a grid of the unit square; dim must be 2"
            )
        self.rate = real("rate", rate, at_least=0.0, at_most=1.0)
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self.kernel = RBF(real("lengthscale", lengthscale, above=0.0))
        self.space = Box([(0.0, 1.0)] * 2)
        self._side = integer("grid", grid, at_least=2)

    @cached_property
    def _axis(self) -> Array:
        return np.linspace(0.0, 1.0, self._side)

    @cached_property
    def _basis(self) -> Array:
        """Phi, side x r, with Phi Phi' = K_1."""
        values, vectors = np.linalg.eigh(self.kernel.matrix(self._axis[:, None], self._axis[:, None]))
        kept = values > NEGLIGIBLE * values[-1]
        return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))

    @cached_property
    def _weights(self) -> Array:
        """Z_t for t = 1 .. T, T x r x r."""
        r = self._basis.shape[1]
        rng = np.random.default_rng((self.seed, 1))
        fresh = rng.standard_normal((self.horizon, r, r))
        stay, move = math.sqrt(1.0 - self.rate), math.sqrt(self.rate)
        for t in range(1, self.horizon):
            fresh[t] = stay * fresh[t - 1] + move * fresh[t]
        return fresh

    def _row(self, u: float) -> Array:
        """The basis, interpolated linearly at a coordinate."""
        place = u * (self._side - 1)
        low = min(int(place), self._side - 2)
        share = place - low
        return np.asarray((1.0 - share) * self._basis[low] + share * self._basis[low + 1])

    def _moment(self, t: int) -> int:
        return integer("t", t, at_least=1, at_most=self.horizon) - 1

    def field(self, t: int) -> Array:
        """f_t on the grid, side x side."""
        return np.asarray(self._basis @ self._weights[self._moment(t)] @ self._basis.T)

    def value(self, x: Any, t: int) -> float:
        """f_t(x), bilinear between grid points."""
        u, v = self.space.encode(x)
        return float(self._row(float(u)) @ self._weights[self._moment(t)] @ self._row(float(v)))

    def optimum(self, t: int) -> Optimum:
        """The largest grid value: a bilinear interpolant attains its maximum on the grid."""
        field = self.field(t)
        row, column = divmod(int(field.argmax()), self._side)
        return Optimum(float(field[row, column]), np.array([self._axis[row], self._axis[column]]))
