"""A within-model objective that comes back: a year of seasons."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, real
from windvane.tasks.within_model import GridTask


class Seasonal(GridTask):
    """f_t = cos(a) g + sin(a) h in the unit square with a = 2 pi (t - 1) / `period`; g, h ~ GP(0, k).

    At every step it is a sample of GP(0, k); two steps apart by d have the correlation cos(2 pi d / period).
    So the objective drifts smoothly, is upside down after half a period, and the same after a whole one.

    It has no rate of change in the sense of Assumption 2. For algorithms that must be told one, `rate` is
    the eps whose correlation (1 - eps)^(d/2) falls to one half after the same time, a sixth of the period.

    >>> task = Seasonal(period=150.0, seed=1)
    >>> round(task.rate, 3), bool(np.isclose(task.optimum(1), task.optimum(151)))
    (0.054, True)
    """

    name = "seasonal"

    def __init__(self, *, period: float = 150.0, horizon: int = 300, **options: Any) -> None:
        self.period = real("period", period, at_least=2.0)
        super().__init__(rate=1.0 - 0.5 ** (12.0 / self.period), horizon=horizon, **options)

    def _rates(self) -> Array:
        return np.full(self.horizon, self.rate)

    @cached_property
    def _weights(self) -> Array:
        """Z_t for t = 1 .. T, T x r x r."""
        r = self._basis.shape[1]
        ends = np.random.default_rng((self.seed, 1)).standard_normal((2, r, r))
        angle = 2.0 * np.pi * np.arange(self.horizon) / self.period
        shares = np.stack((np.cos(angle), np.sin(angle)), axis=1)
        return np.asarray(np.einsum("te,eij->tij", shares, ends))
