"""The limit of SW-GP-UCB: forget what is old."""

from __future__ import annotations

from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Belief, Memory, Memoryless


@component
@dataclass(frozen=True)
class SlidingWindow(Memoryless):
    """Keeps the last `size` observations: W of SW-GP-UCB.

    >>> import numpy as np
    >>> from windvane.kernels import RBF
    >>> data = Dataset(np.zeros((5, 2)), np.ones(5), np.arange(5.0), np.arange(1, 6))
    >>> kept, _ = SlidingWindow(3).apply(data, Belief(RBF(0.2)), ())
    >>> kept.steps
    array([3, 4, 5])
    """

    size: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", checks.integer("size", self.size, at_least=1))

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:  # noqa: ARG002
        """The last `size` rows."""
        return data if len(data) <= self.size else data.take(slice(-self.size, None)), memory
