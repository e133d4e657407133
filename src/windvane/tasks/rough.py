"""Samples of a rough Gaussian process in the unit square: still, with jumps, or drifting."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer
from windvane.kernels import Matern32
from windvane.tasks.base import index_of
from windvane.tasks.changes import random_steps
from windvane.tasks.markov import chain
from windvane.tasks.within_model import GridTask

REACH = 7.0  # lengthscales between the square and its image in the torus


class Rough(GridTask):
    """The chain of Assumption 2 with a Matern kernel of nu = 3/2, replaced at `count` random steps.

    Fields are drawn on the grid by circulant embedding (Dietrich and Newsam 1997): on a torus the covariance
    is diagonal in Fourier space, and at seven lengthscales the way round it adds less than 1e-4. `steps` has
    the first step after each jump.

    >>> task = Rough(count=2, seed=1)
    >>> task.steps, task.kernel
    ((73, 151), Matern32(lengthscale=(0.15,), variance=1.0))
    >>> task.optimum(72) == task.optimum(1), task.optimum(73) == task.optimum(1)
    (True, False)
    """

    name = "rough"

    def __init__(
        self,
        *,
        rate: float = 0.0,
        count: int = 0,
        horizon: int = 200,
        lengthscale: float = 0.15,
        noise_variance: float = 0.01,
        **options: Any,
    ) -> None:
        super().__init__(
            rate=rate, horizon=horizon, lengthscale=lengthscale, noise_variance=noise_variance, **options
        )
        self.kernel = Matern32(lengthscale)
        number = integer("count", count, at_least=0, at_most=self.horizon - 1)
        self.steps = random_steps(np.random.default_rng((self.seed, 5)), self.horizon, number)

    def _rates(self) -> Array:
        rates = np.full(self.horizon, self.rate)
        rates[[0, *(step - 1 for step in self.steps)]] = 1.0
        return rates

    @cached_property
    def _basis(self) -> Array:
        """The fields are their own weights."""
        return np.eye(self._side)

    @cached_property
    def _weights(self) -> Array:
        """The fields, T x side x side."""
        rates = self._rates()
        moved = np.flatnonzero(rates > 0.0)
        path = chain(self._fields(len(moved)), rates[moved])
        if len(moved) == self.horizon:
            return path
        last = np.searchsorted(moved, np.arange(self.horizon), side="right") - 1
        return path[last] if len(moved) > 1 else np.broadcast_to(path[0], (self.horizon, *path.shape[1:]))

    def _fields(self, count: int) -> Array:
        """Independent samples of GP(0, k) on the grid, count x side x side."""
        step = 1.0 / (self._side - 1)
        n = self._side + math.ceil(REACH * self.kernel.lengthscale[0] / step)
        n += n % 2
        lag = step * np.minimum(np.arange(n), n - np.arange(n))
        corner = np.stack(np.meshgrid(lag, lag, indexing="ij"), axis=-1).reshape(-1, 2)
        covariance = self.kernel.matrix(np.zeros((1, 2)), corner).reshape(n, n)
        amplitude = np.sqrt(np.maximum(np.fft.fft2(covariance).real, 0.0)) / n
        rng = np.random.default_rng((self.seed, 1))
        fields = np.empty((count + count % 2, self._side, self._side))
        for pair in range(0, count, 2):  # the real and the imaginary part are independent
            white = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
            drawn = np.fft.fft2(amplitude * white)[: self._side, : self._side]
            fields[pair], fields[pair + 1] = drawn.real, drawn.imag
        return fields[:count]

    def field(self, t: int) -> Array:
        """f_t on the grid, side x side."""
        return np.array(self._weights[index_of(t, self.horizon)])
