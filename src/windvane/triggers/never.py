"""The trigger that never fires."""

from __future__ import annotations

import math
from dataclasses import dataclass

from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.triggers.base import Memory


@component
@dataclass(frozen=True)
class Never:
    """Never fires: the statistic is |y - mean|, for the record, and the threshold is infinite.

    >>> from windvane.triggers import replay
    >>> (verdict,) = replay(Never(), [(Prediction(0.0, 0.1, 0.01), 1e9)])
    >>> verdict.fired, verdict.statistic, verdict.threshold
    (False, 1000000000.0, inf)
    """

    def start(self) -> Memory:
        """Nothing to remember."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """Not fired, whatever happens."""
        return Verdict(False, abs(y - prediction.mean), math.inf), ()
