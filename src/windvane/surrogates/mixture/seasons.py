"""What it means that the objective comes back: the hypotheses of a season."""

from __future__ import annotations

from windvane.hypothesis_names import SEASON, SWING
from windvane.kernels import Markov, Temporal, TemporalProduct, TemporalSum, TimePeriodic
from windvane.surrogates.mixture.hypotheses import Hypothesis
from windvane.surrogates.mixture.tuning import ITS_OWN, OF_A_DAY, SWAYED


def season(period: float) -> Temporal:
    """The kernel of a season of so many steps: a day is like the one before, but for a part of its own."""
    own = Markov(OF_A_DAY).scaled(ITS_OWN)
    return TemporalSum(TimePeriodic(period).scaled(1.0 - ITS_OWN), own)


def swing(period: float) -> Temporal:
    """The kernel of a swing: to the opposite and back, so that half of it says where the rest leads."""
    return TemporalProduct(TimePeriodic(period, (0.0, 1.0)), Markov(SWAYED))


def recurring(period: float, swings: bool) -> Temporal:
    """The kernel of what comes back after so many steps, in one of the two shapes."""
    return swing(period) if swings else season(period)


def recurrence(period: float, swings: bool, weight: float) -> Hypothesis:
    """The hypothesis of that, with its weight before anything is seen."""
    name = SWING if swings else SEASON
    return Hypothesis(f"{name}{period:.3g} steps", recurring(period, swings), weight)
