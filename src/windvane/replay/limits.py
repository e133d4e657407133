"""What one algorithm said about a constraint in a log, and how far it was to be believed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from windvane.constraints import Constraint
from windvane.data import Event, Outcome
from windvane.moments import place_text
from windvane.theory.proportion import wilson

BELIEVED = (0.5, 0.8, 0.95)  # probabilities from which on measurements are counted
CONFIDENCE = 0.95
SHOWN = 12  # violations and resets that are listed in the text; all of them are in the data


class HeldShare(NamedTuple):
    """Of `total` measurements at which a limit was believed to hold with at least `level`, `inside` did.

    `share` of them did, with Wilson's 95 % interval; `expected` is the mean of what was believed.
    """

    level: float
    inside: int
    total: int
    share: float
    low: float
    high: float
    expected: float


@dataclass(frozen=True, eq=False)
class ConstraintAccount:
    """One algorithm's account of a constraint: what it made of each value, by step.

    Shares leave out the first `warmup` measurements of the log.
    """

    name: str
    constraint: Constraint
    outcomes: Mapping[int, Outcome]
    times: Mapping[int, float]
    warmup: int = 0

    @staticmethod
    def of(name: str, constraint: Constraint, events: Sequence[Event], warmup: int) -> ConstraintAccount:
        """That of the events of a replay."""
        told = [event for event in events if name in event.outcomes]
        return ConstraintAccount(
            name,
            constraint,
            {event.step: event.outcomes[name] for event in told},
            {event.step: event.time for event in told},
            warmup,
        )

    @property
    def violations(self) -> list[int]:
        """The steps at which the value was beyond the limit."""
        return [step for step, outcome in self.outcomes.items() if outcome.violated]

    @property
    def resets(self) -> list[int]:
        """The steps at which the model of this constraint would have been reset."""
        return [step for step, outcome in self.outcomes.items() if outcome.reset]

    def held(self, level: float = 0.0) -> HeldShare:
        """How often the limit held where that was believed with at least this probability."""
        scored = [outcome for step, outcome in self.outcomes.items() if step > self.warmup]
        counted = [outcome for outcome in scored if outcome.probability >= level]
        total, inside = len(counted), sum(not outcome.violated for outcome in counted)
        if not total:
            return HeldShare(level, 0, 0, math.nan, 0.0, 1.0, math.nan)
        expected = float(np.mean([outcome.probability for outcome in counted]))
        return HeldShare(level, inside, total, inside / total, *wilson(inside, total, CONFIDENCE), expected)

    def text(self) -> list[str]:
        """When its model would have been reset, and why."""
        return resets_text([(step, self.times[step], self.outcomes[step].reason) for step in self.resets])

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        shares = [self.held(level)._asdict() for level in (0.0, *BELIEVED)]
        return {
            "limit": str(self.constraint),
            "measured": len(self.outcomes),
            "violations": self.violations,
            "resets": [
                {
                    "step": step,
                    "time": self.times[step],
                    "reason": self.outcomes[step].reason,
                    "kept": self.outcomes[step].kept,
                }
                for step in self.resets
            ],
            "held": [
                {name: None if value != value else value for name, value in each.items()} for each in shares
            ],
        }


def resets_text(resets: Sequence[tuple[int, float, str]]) -> list[str]:
    """Steps, times and reasons of resets, not too many of them.

    >>> resets_text([(7, 7.0, "told nothing new")])
    ['  step 7: told nothing new']
    """
    places = [place_text(step, time) for step, time, _ in resets]
    lines = [f"  {place}: {reason}" for place, (*_, reason) in zip(places[:SHOWN], resets, strict=False)]
    if len(resets) > SHOWN:
        lines.append(f"  ... and {len(resets) - SHOWN} more, the last at {places[-1]}")
    return lines


def held_text(found: HeldShare) -> str:
    """A share, its interval, and of how many.

    >>> held_text(HeldShare(0.95, 19, 20, 0.95, 0.764, 0.991, 0.98))
    '95 % (76–99) of 20'
    """
    if not found.total:
        return "–"
    return f"{100 * found.share:.0f} % ({100 * found.low:.0f}–{100 * found.high:.0f}) of {found.total}"


def steps_text(steps: Sequence[int]) -> str:
    """Steps in a line, not too many of them.

    >>> steps_text([3, 7])
    'steps 3, 7'
    """
    more = f" and {len(steps) - SHOWN} more" if len(steps) > SHOWN else ""
    return f"step{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps[:SHOWN]))}{more}"
