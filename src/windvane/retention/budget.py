"""A bound on the cost of a step: drop what newer observations replace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windvane import checks
from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Belief, Memory, Memoryless

_CANDIDATES = 16  # a fixed number, so that a step costs O(n d)
_NOT_NEWER = np.where(np.tri(_CANDIDATES, dtype=bool), np.inf, 0.0)  # row i: infinite up to column i


@component
@dataclass(frozen=True)
class Budget(Memoryless):
    """Keeps at most `max_points` observations, so that memory and time per step stay bounded.

    Among the 16 oldest observations, or the older half of fewer than 32, the one goes that has the
    nearest newer observation, in encoded coordinates; of equals the oldest. What was measured again
    nearby is replaced, what nothing newer replaces stays. So the newest `max_points - 15` are always
    in use, as in a sliding window, and at most 15 places go to isolated older observations, which a
    window would forget and the optimiser explore again. More than 16 over, the oldest go first.

    >>> from windvane.kernels import RBF
    >>> x = np.array([[0.1], [0.5], [0.9], [0.52], [0.3]])
    >>> data = Dataset(x, np.ones(5), np.arange(5.0), np.arange(1, 6))
    >>> kept, _ = Budget(4).apply(data, Belief(RBF(0.2)), ())
    >>> kept.steps
    array([1, 3, 4, 5])
    """

    max_points: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_points", checks.integer("max_points", self.max_points, at_least=1))

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:  # noqa: ARG002
        """Drop one observation after the other until the rest fit."""
        if len(data) > self.max_points + _CANDIDATES:
            data = data.take(slice(-self.max_points - _CANDIDATES, None))
        while len(data) > self.max_points:
            rows = np.arange(len(data) - 1)
            rows[_most_replaced(data) :] += 1
            data = data.take(rows)
        return data, memory


def _most_replaced(data: Dataset) -> int:
    """The row, among the oldest, that has the nearest newer observation."""
    count = min(_CANDIDATES, len(data) // 2)
    norms = np.einsum("ij,ij->i", data.X, data.X)
    # count x n: |x - x'|^2 = |x|^2 - 2 x.x' + |x'|^2, of which |x|^2 is added after the minimum
    squared = (-2.0 * data.X[:count]) @ data.X.T
    squared += norms
    squared[:, :count] += _NOT_NEWER[:count, :count]
    nearest = squared.min(axis=1) + norms[:count]
    return int(nearest.round(12).argmin())  # rounded, so that of equals the oldest goes
