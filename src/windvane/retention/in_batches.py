"""A budget for models that are cheaper to rebuild once than to shrink at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Belief, Memory, Memoryless
from windvane.retention.budget import Budget

KEPT = 0.8  # of the largest number


@component
@dataclass(frozen=True)
class InBatches(Memoryless):
    """Keeps at most `max_points` observations; once there are more, a fifth goes together, as `Budget` says.

    >>> import numpy as np
    >>> from windvane.kernels import RBF
    >>> data = Dataset(np.linspace(0, 1, 11)[:, None], np.ones(11), np.arange(11.0), np.arange(1, 12))
    >>> len(InBatches(10).apply(data, Belief(RBF(0.2)), ())[0])
    8
    """

    max_points: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_points", checks.integer("max_points", self.max_points, at_least=1))

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:
        """Nothing, or a fifth at once."""
        if len(data) <= self.max_points:
            return data, memory
        return Budget(math.ceil(KEPT * self.max_points)).apply(data, belief, memory)
