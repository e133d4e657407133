"""Within-model comparison (Section 6.2.1): the objective is drawn from the model's own prior.

f_1 = g_1, f_t = sqrt(1 - eps) f_{t-1} + sqrt(eps) g_t (Assumption 2) with independent g_t ~ GP(0, k).
In the unit square, on a 100 x 100 grid with linear interpolation; elsewhere, from random Fourier
features (Appendix A.1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.errors import InvalidArgument
from windvane.kernels import RBF
from windvane.kernels.stationary import Stationary
from windvane.spaces import Box
from windvane.tasks.base import Optimum, index_of
from windvane.tasks.features import FEATURES, WithinModelFeatures
from windvane.tasks.markov import chain

NEGLIGIBLE = 1e-14  # eigenvalues below this share of the largest are left out
GRID = 100  # points a side, as in Appendix A.1


def within_model(
    *,
    rate: float = 0.03,
    horizon: int = 400,
    seed: int = 0,
    lengthscale: float = 0.2,
    noise_variance: float = 0.02,
    dim: int = 2,
    grid: int | None = None,
    features: int | None = None,
) -> WithinModel | WithinModelFeatures:
    """The within-model task in [0, 1]^d.

    For d = 2 it is drawn on a grid (of `grid` = 100 points per side) unless `features` are asked for;
    for every other d from M = `features` random Fourier features, 1028 unless stated (Appendix A.1).

    >>> type(within_model()).__name__, type(within_model(dim=4)).__name__
    ('WithinModel', 'WithinModelFeatures')
    >>> within_model(dim=4, grid=50)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: grid=50 with dim=4: a grid is for dim=2; leave grid out
    """
    integer("dim", dim, at_least=1)
    if grid is not None and features is not None:
        raise InvalidArgument(f"grid={grid!r} with features={features!r}: choose one of the two")
    if grid is not None and dim != 2:
        raise InvalidArgument(f"grid={grid!r} with dim={dim}: a grid is for dim=2; leave grid out")
    common: dict[str, Any] = {
        "rate": rate,
        "horizon": horizon,
        "seed": seed,
        "lengthscale": lengthscale,
        "noise_variance": noise_variance,
    }
    if dim == 2 and features is None:
        return WithinModel(grid=GRID if grid is None else grid, **common)
    return WithinModelFeatures(dim=dim, features=FEATURES if features is None else features, **common)


class GridTask(ABC):
    """The Markov chain of Assumption 2 on a grid of the unit square, SE kernel; a subclass states the rates.

    The grid's covariance is a Kronecker product K_1 x K_1, so a sample is Phi Z Phi' with a small
    matrix Z of independent normals and Phi = U sqrt(Lambda) from the 100 x 100 eigenproblem: no
    10^4 x 10^4 factor. The chain runs on Z.
    """

    def __init__(
        self,
        *,
        rate: float = 0.03,
        horizon: int = 400,
        seed: int = 0,
        lengthscale: float = 0.2,
        noise_variance: float = 0.02,
        grid: int = GRID,
    ) -> None:
        self.rate = real("rate", rate, at_least=0.0, at_most=1.0)
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self.kernel: Stationary = RBF(real("lengthscale", lengthscale, above=0.0))
        self.space = Box([(0.0, 1.0)] * 2)
        self._side = integer("grid", grid, at_least=2)
        self._optima: dict[int, Optimum] = {}

    @property
    @abstractmethod
    def name(self) -> str:
        """The name `task` knows it by."""

    @abstractmethod
    def _rates(self) -> Array:
        """eps of the step into each t = 1 .. T; the first is not used."""

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
        return chain(rng.standard_normal((self.horizon, r, r)), self._rates())

    def _row(self, u: float) -> Array:
        """The basis, interpolated linearly at a coordinate."""
        place = u * (self._side - 1)
        low = min(int(place), self._side - 2)
        share = place - low
        return np.asarray((1.0 - share) * self._basis[low] + share * self._basis[low + 1])

    def field(self, t: int) -> Array:
        """f_t on the grid, side x side."""
        return np.asarray(self._basis @ self._weights[index_of(t, self.horizon)] @ self._basis.T)

    def value(self, x: Any, t: int) -> float:
        """f_t(x), bilinear between grid points."""
        u, v = self.space.encode(x)
        weights = self._weights[index_of(t, self.horizon)]
        return float(self._row(float(u)) @ weights @ self._row(float(v)))

    def optimum(self, t: int) -> Optimum:
        """The largest grid value: a bilinear interpolant attains its maximum on the grid."""
        index = index_of(t, self.horizon)
        if index not in self._optima:
            field = self.field(t)
            row, column = divmod(int(field.argmax()), self._side)
            place = np.array([self._axis[row], self._axis[column]])
            place.setflags(write=False)
            self._optima[index] = Optimum(float(field[row, column]), place)
        return self._optima[index]


class WithinModel(GridTask):
    """A sample path of the Markov chain of Assumption 2 in the unit square, drawn on a grid.

    >>> task = WithinModel(rate=0.03, horizon=10, seed=1)
    >>> task.optimum(3) >= task.value([0.2, 0.4], 3)
    True
    """

    name = "within-model"

    def _rates(self) -> Array:
        return np.full(self.horizon, self.rate)
