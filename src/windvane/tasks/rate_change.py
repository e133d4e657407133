"""A within-model objective that starts to move faster (Appendix A.2, 'Within-model with change in eps')."""

from __future__ import annotations

from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.tasks.within_model import GridTask


class RateChange(GridTask):
    """The chain of Assumption 2 in the unit square whose rate eps switches once.

    f_t moves at `rate` for t < switch and at `later_rate` for t >= switch. The paper gives the step
    (175) and the horizon (500) but not the two rates: 0.01 and 0.05 are our choice. Up to the switch
    it is the task 'within-model' of the same seed and rate, whose other options it shares.

    >>> task = RateChange(seed=1)
    >>> task.horizon, task.rate, task.later_rate, task.switch
    (500, 0.01, 0.05, 175)
    """

    name = "rate-change"

    def __init__(
        self,
        *,
        rate: float = 0.01,
        later_rate: float = 0.05,
        switch: int = 175,
        horizon: int = 500,
        **options: Any,
    ) -> None:
        super().__init__(rate=rate, horizon=horizon, **options)
        self.later_rate = real("later_rate", later_rate, at_least=0.0, at_most=1.0)
        self.switch = integer("switch", switch, at_least=1)

    def _rates(self) -> Array:
        steps = np.arange(1, self.horizon + 1)
        return np.where(steps < self.switch, self.rate, self.later_rate)
