"""The TuRBO trigger: performance alone, no model."""

from __future__ import annotations

from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.triggers.base import Memory, since


@component
@dataclass(frozen=True)
class NoImprovement:
    """Fires after `patience` steps in a row that did not improve on the best y since the last reset.

    An improvement is y > best + tolerance |best|; TuRBO uses a tolerance of 0.001, the paper none, and
    a patience of d, the problem's dimension. The first step counts as an improvement, so it fires at step
    patience + 1 at the earliest. `best` is the largest y seen, even where the gain was too small
    to count. The memory is (best, failures in a row), or `()` before the first observation.

    >>> from windvane.triggers import replay
    >>> unused = Prediction(0.0, 1.0, 0.01)
    >>> verdicts = replay(NoImprovement(patience=2), [(unused, y) for y in (1.0, 0.9, 1.1, 1.0, 1.1, 1.2)])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [5]
    >>> verdicts[4].reason
    'no improvement on 1.1 for 2 steps in a row, 5 steps after the last reset or start'
    """

    patience: int
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "patience", checks.integer("patience", self.patience, at_least=1))
        object.__setattr__(self, "tolerance", checks.real("tolerance", self.tolerance, at_least=0.0))

    def start(self) -> Memory:
        """Nothing seen yet."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """Fired from the `patience`-th failure in a row on."""
        best, failures = y, 0
        if memory:
            best = memory[0]
            failures = 0 if y > best + self.tolerance * abs(best) else int(memory[1]) + 1
        fired = failures >= self.patience
        reason = ""
        if fired:
            count = f"{failures} {'step' if failures == 1 else 'steps'} in a row"
            reason = f"no improvement on {best:.6g} for {count}, {since(elapsed)}"
        verdict = Verdict(fired, float(failures), float(self.patience - 1), reason)
        return verdict, (y if y > best else best, failures)
