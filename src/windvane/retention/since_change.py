"""Keep what came since a change, where the trigger says when that was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from windvane.codec import component
from windvane.data import Dataset, Verdict
from windvane.retention.base import Test


@component
@dataclass(frozen=True)
class SinceChange:
    """Keeps the observations from `Verdict.since` on; the newest alone if the trigger does not say.

    If only the level has moved, those from before are kept as well, raised to the new one. If a regime is
    back that was there before, what is known of that one comes back with it.

    >>> data = Dataset(np.zeros((4, 1)), np.ones(4), np.arange(4.0), np.arange(1, 5))
    >>> SinceChange().keep(data, lambda kept, new: False, Verdict(True, 0.95, 0.9, since=3)).steps
    array([3, 4])
    >>> SinceChange().keep(data, lambda kept, new: False).steps
    array([4])
    """

    reads_verdict: ClassVar[bool] = True

    def keep(self, data: Dataset, test: Test, verdict: Verdict | None = None) -> Dataset:  # noqa: ARG002
        """A tail of the data, so it stays oldest first."""
        if verdict is None or verdict.since is None:
            return data.take(slice(-1, None))
        since = int(np.searchsorted(data.steps, verdict.since))
        change = verdict.change
        if change is not None and change.kind == "level":
            return data.raised(slice(since), change.level)
        kept = data.take(slice(since, None))
        if change is not None and change.past is not None:
            return change.past.raised(slice(None), change.level).joined(kept)
        return kept
