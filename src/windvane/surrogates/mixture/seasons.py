"""What it means that the objective comes back: the hypotheses of a season."""

from __future__ import annotations

from windvane.hypothesis_names import SEASON
from windvane.kernels import Markov, Temporal, TemporalSum, TimePeriodic
from windvane.surrogates.mixture.hypotheses import Hypothesis
from windvane.surrogates.mixture.tuning import ITS_OWN, OF_A_DAY


def season(period: float) -> Temporal:
    """The kernel of a season of so many steps: a day is like the one before, but for a part of its own."""
    own = Markov(OF_A_DAY).scaled(ITS_OWN)
    return TemporalSum(TimePeriodic(period).scaled(1.0 - ITS_OWN), own)


def seasons(period: float, weight: float) -> tuple[Hypothesis, ...]:
    """What a mixture weighs where there may be a season of so many steps."""
    return (Hypothesis(f"{SEASON}{period:.3g} steps", season(period), weight),)
