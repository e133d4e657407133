"""What is kept: at a reset (`Retention`), and at every other step (`Limit`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from windvane.data import Dataset, Observation

Test: TypeAlias = Callable[[Dataset, Observation], bool]
"""Whether the trigger fires for the observation, predicted from that dataset alone. Without side effects."""


@runtime_checkable
class Retention(Protocol):
    """Chooses what survives a reset."""

    def keep(self, data: Dataset, test: Test) -> Dataset:
        """The observations to go on with, oldest first; the newest in `data` is the one that fired."""
        ...


@runtime_checkable
class Limit(Protocol):
    """Bounds the observations in use; applied at every `tell`, after the newest was appended."""

    def apply(self, data: Dataset) -> Dataset:
        """The observations to go on with, oldest first; `data` itself if nothing is dropped."""
        ...
