"""No limit."""

from __future__ import annotations

from dataclasses import dataclass

from windvane.codec import component
from windvane.data import Dataset


@component
@dataclass(frozen=True)
class Full:
    """Keeps every observation.

    >>> data = Dataset.empty(2)
    >>> Full().apply(data) is data
    True
    """

    def apply(self, data: Dataset) -> Dataset:
        """The data as they are."""
        return data
