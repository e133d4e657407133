"""A within-model objective that stands still and jumps: what a reset is for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, integer, real
from windvane.tasks.within_model import GridTask


class Jumps(GridTask):
    """A sample of GP(0, k) in the unit square, of which a share is replaced at a few steps.

    A jump is one step of the chain of Assumption 2 with eps = `share`: f becomes sqrt(1 - share) f +
    sqrt(share) g, where g is new. With share 1 nothing is left of f, with share 0.5 its correlation with
    what follows is 0.71. Between jumps nothing moves. The `count` jumps cut the horizon into equal parts;
    `steps` has the first step of each new part.

    `rate` is eps averaged over the steps, count share / T: the best constant guess, for algorithms that
    must be told one.

    >>> task = Jumps(horizon=300, seed=1)
    >>> task.steps, round(task.rate, 4)
    ((101, 201), 0.0067)
    >>> task.optimum(100) == task.optimum(1), task.optimum(101) == task.optimum(1)
    (True, False)
    """

    name = "jumps"

    def __init__(self, *, share: float = 1.0, count: int = 2, horizon: int = 300, **options: Any) -> None:
        length = integer("horizon", horizon, at_least=1)
        number = integer("count", count, at_least=0, at_most=length - 1)
        self.share = real("share", share, at_least=0.0, at_most=1.0)
        super().__init__(rate=self.share * number / length, horizon=length, **options)
        self.steps = tuple(1 + length * part // (number + 1) for part in range(1, number + 1))

    def _rates(self) -> Array:
        rates = np.zeros(self.horizon)
        rates[_rows(self.steps)] = self.share
        return rates


def _rows(steps: tuple[int, ...]) -> npt.NDArray[np.intp]:
    return np.array(steps, dtype=np.intp) - 1
