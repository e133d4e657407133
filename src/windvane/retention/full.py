"""No limit."""

from __future__ import annotations

from dataclasses import dataclass

from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Belief, Memory, Memoryless


@component
@dataclass(frozen=True)
class Full(Memoryless):
    """Keeps every observation.

    >>> from windvane.kernels import RBF
    >>> data = Dataset.empty(2)
    >>> kept, _ = Full().apply(data, Belief(RBF(0.2)), ())
    >>> kept is data
    True
    """

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:  # noqa: ARG002
        """The data as they are."""
        return data, memory
