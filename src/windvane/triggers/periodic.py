"""The trigger of R-GP-UCB: the clock alone."""

from __future__ import annotations

from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.triggers.base import Memory, since


@component
@dataclass(frozen=True)
class Periodic:
    """Fires once `period` steps have passed, whatever was observed.

    After a reset `elapsed` starts at 1 again, so a reset follows every `period` steps. Where a reset
    is not allowed yet, it goes on firing until one is.

    >>> from windvane.triggers import replay
    >>> verdicts = replay(Periodic(3), [(Prediction(0.0, 1.0, 0.01), 0.0)] * 4)
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [3, 4]
    """

    period: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", checks.integer("period", self.period, at_least=1))

    def start(self) -> Memory:
        """Nothing to remember: the optimiser counts the steps."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """Fired from step `period` on."""
        fired = elapsed >= self.period
        reason = f"period over: {since(elapsed)}, every {self.period}" if fired else ""
        return Verdict(fired, float(elapsed), float(self.period - 1), reason), ()
