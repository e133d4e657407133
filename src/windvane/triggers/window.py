"""When a reset is allowed, and when it is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from windvane import checks
from windvane.codec import component
from windvane.errors import InvalidArgument

Decision: TypeAlias = Literal["no", "triggered", "forced"]


@component
@dataclass(frozen=True)
class ResetWindow:
    """Resets only between N_low = `low` and N_high = `high` steps after the last one (Alg. 1, line 8).

    Before `low` a trigger that fires is not heeded; at `high` a reset is forced if the trigger is
    silent. `high=None` never forces one. Past `high`, which Alg. 1 never reaches, a reset stays due.

    >>> window = ResetWindow(low=2, high=4)
    >>> [window.decide(True, elapsed) for elapsed in (1, 2, 3, 4)]
    ['no', 'triggered', 'triggered', 'triggered']
    >>> [window.decide(False, elapsed) for elapsed in (1, 2, 3, 4)]
    ['no', 'no', 'no', 'forced']
    """

    low: int = 1
    high: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", checks.integer("reset_window: N_low", self.low, at_least=1))
        if self.high is None:
            return
        object.__setattr__(self, "high", checks.integer("reset_window: N_high", self.high, at_least=1))
        if self.low > self.high:
            raise InvalidArgument(f"reset_window=({self.low}, {self.high}): N_low must not be above N_high")

    def decide(self, fired: bool, elapsed: int) -> Decision:
        """Whether to reset now, and whether the trigger or the clock is the cause."""
        if fired:
            return "triggered" if elapsed >= self.low else "no"
        return "forced" if self.high is not None and elapsed >= self.high else "no"
