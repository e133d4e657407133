"""A bound on the number of observations, for streams that never end."""

from __future__ import annotations

from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Dataset


@component
@dataclass(frozen=True)
class Budget:
    """At most `max_points` observations; the oldest goes first, because it says least about now.

    >>> import numpy as np
    >>> data = Dataset(np.zeros((5, 2)), np.ones(5), np.arange(5.0), np.arange(1, 6))
    >>> Budget(4).apply(data).steps
    array([2, 3, 4, 5])
    """

    max_points: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_points", checks.integer("max_points", self.max_points, at_least=1))

    def apply(self, data: Dataset) -> Dataset:
        """The newest `max_points` rows."""
        return data if len(data) <= self.max_points else data.take(slice(-self.max_points, None))
