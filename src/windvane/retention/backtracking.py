"""Keep the recent observations that agree with each other (Alg. 2)."""

from __future__ import annotations

from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Dataset
from windvane.retention.base import Test


@component
@dataclass(frozen=True)
class Backtracking:
    """From the newest backwards, keeps observations while the trigger is silent, at most `cap` of them.

    Each observation is tested against the newer ones already kept, the newest against the prior
    alone; if that one fires, nothing is kept. The paper's cap is 2d, d being the problem's dimension.
    Without a `cap` it is twice the number of encoded coordinates, which can be more than 2d.

    >>> import numpy as np
    >>> y = np.array([5.0, 5.1, 0.3, 5.2, 0.1, 0.2])
    >>> data = Dataset(np.zeros((6, 2)), y, np.arange(6.0), np.arange(1, 7))
    >>> def far(kept, observation):
    ...     return len(kept) > 0 and abs(observation.y - kept.y.mean()) > 1.0
    >>> Backtracking().keep(data, far).steps
    array([5, 6])
    >>> Backtracking(cap=1).keep(data, far).steps
    array([6])
    """

    cap: int | None = None

    def __post_init__(self) -> None:
        if self.cap is not None:
            object.__setattr__(self, "cap", checks.integer("cap", self.cap, at_least=1))

    def keep(self, data: Dataset, test: Test) -> Dataset:
        """Alg. 2; what is kept is a tail of `data`, so it stays oldest first."""
        cap = 2 * data.dim if self.cap is None else self.cap
        keep = data.take(slice(len(data), None))
        for first in reversed(range(len(data))):
            if len(keep) >= cap or test(keep, data[first]):
                break
            keep = data.take(slice(first, None))
        return keep
