"""Keep nothing."""

from __future__ import annotations

from dataclasses import dataclass

from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Test


@component
@dataclass(frozen=True)
class Empty:
    """Forgets every observation, as R-GP-UCB does at its periodic resets.

    >>> import numpy as np
    >>> data = Dataset(np.zeros((3, 2)), np.ones(3), np.arange(3.0), np.arange(1, 4))
    >>> kept = Empty().keep(data, lambda kept, observation: False)
    >>> len(kept), kept.dim
    (0, 2)
    """

    def keep(self, data: Dataset, test: Test) -> Dataset:  # noqa: ARG002
        """No row, of the same dimension."""
        return Dataset.empty(data.dim)
