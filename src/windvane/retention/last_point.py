"""Keep the observation that fired."""

from __future__ import annotations

from dataclasses import dataclass

from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Test


@component
@dataclass(frozen=True)
class LastPoint:
    """Keeps the newest observation only: D = {(x_t, y_t)} (Alg. 1, line 9).

    >>> import numpy as np
    >>> data = Dataset(np.zeros((3, 2)), np.ones(3), np.arange(3.0), np.arange(1, 4))
    >>> LastPoint().keep(data, lambda kept, observation: False).steps
    array([3])
    """

    def keep(self, data: Dataset, test: Test) -> Dataset:  # noqa: ARG002
        """The last row."""
        return data.take(slice(-1, None))
