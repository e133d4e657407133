"""A list of recipes with coordinates, of which two matter, and whose values drift."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer, real
from windvane.spaces import Candidates
from windvane.tasks.base import Optimum, index_of

COLUMNS, RELEVANT = 4, 2
LENGTHSCALE = 0.35


@final
class Recipes:
    """Recipes drawn uniformly with four coordinates; f is drawn over the first two (SE kernel, 0.35).

    It moves on as Assumption 2 has it: f_t+1 = sqrt(1 - eps) f_t + sqrt(eps) g_t+1.

    >>> task = Recipes(count=50, horizon=20, seed=1)
    >>> task.space
    Candidates(50 settings of 4 coordinates)
    >>> best = task.optimum(1)
    >>> task.value(best.x, 1) == best
    True
    """

    name = "recipes"
    kernel = None

    def __init__(
        self,
        *,
        count: int = 300,
        rate: float = 0.01,
        horizon: int = 80,
        noise_variance: float = 0.0025,
        seed: int = 0,
    ) -> None:
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.rate = real("rate", rate, at_least=0.0, at_most=1.0)
        self.noise_variance = real("noise_variance", noise_variance, at_least=0.0)
        rows = self._generator().uniform(size=(integer("count", count, at_least=1, at_most=2000), COLUMNS))
        self.space = Candidates(rows)

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @cached_property
    def _values(self) -> Array:
        """T x count."""
        rng, count = self._generator(), self.space.size
        rows = rng.uniform(size=(count, COLUMNS))[:, :RELEVANT]
        gap = (rows[:, None] - rows) / LENGTHSCALE
        root = np.linalg.cholesky(np.exp(-0.5 * (gap**2).sum(axis=2)) + 1e-8 * np.eye(count))
        values = np.empty((self.horizon, count))
        values[0] = root @ rng.standard_normal(count)
        for t in range(1, self.horizon):
            fresh = root @ rng.standard_normal(count)
            values[t] = math.sqrt(1.0 - self.rate) * values[t - 1] + math.sqrt(self.rate) * fresh
        return values

    def value(self, x: Any, t: int) -> float:
        """f_t of a recipe."""
        return float(self._values[index_of(t, self.horizon), self.space.number(x)])

    def optimum(self, t: int) -> Optimum:
        """The best recipe of the step."""
        row = self._values[index_of(t, self.horizon)]
        best = int(np.argmax(row))
        return Optimum(float(row[best]), best)
