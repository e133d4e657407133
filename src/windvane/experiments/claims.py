"""A claim of the paper, and whether it holds here, by one rule for all of them.

A claim is a number of checks: one algorithm against another on one task, a figure against a limit, a share
of the runs. Each is decided by an interval around what was measured, and by nothing else: the claim's side
of the limit, the other side, or both, and then the runs do not decide it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from windvane.checks import Array
from windvane.experiments.results import Group
from windvane.late import stats
from windvane.theory.proportion import wilson

Verdict = Literal["holds", "holds in part", "does not hold", "undecided", "not tested"]
Check = bool | None  # the claim's side, the other side, or undecided

ENOUGH = 20  # runs, below which nothing is decided
ERRORS = 2.0  # standard errors on either side of a mean
CONFIDENCE = 0.95  # of the interval of a median or of a share

RULE = (
    "How a verdict comes about. A claim is split into checks: one algorithm against another on one task, or "
    "a figure against a limit that is named. Algorithms are compared on the same seeds, by the mean of the "
    "logarithms of their ratios of R_T / T. A check is decided for the claim if the mean lies more than "
    f"{ERRORS:g} standard errors on the claim's side of the limit, against it if it lies so far on the other "
    "side, and else it is open. Medians and shares have their intervals of "
    f"{CONFIDENCE:.0%} instead, and close means close on both sides. With fewer than {ENOUGH} runs every "
    "check is open, but for what is computed and not measured. A claim holds if all of its checks are "
    "decided for it, and does not hold if more than half are decided against it. Otherwise it holds in part "
    "if at least half are decided for it, and is undecided if not."
)


@dataclass(frozen=True)
class Claim:
    """What the paper says (in our words), the verdict, and the figures it rests on."""

    text: str
    verdict: Verdict
    evidence: str


def verdict_of(checks: Iterable[Check]) -> Verdict:
    """By the rule; None is an open check.

    >>> verdict_of([True, True]), verdict_of([True, False]), verdict_of([False])
    ('holds', 'holds in part', 'does not hold')
    >>> verdict_of([True] + 11 * [False]), verdict_of([True] + 11 * [None])
    ('does not hold', 'undecided')
    >>> verdict_of([True, True, None]), verdict_of([None]), verdict_of([])
    ('holds in part', 'undecided', 'not tested')
    """
    outcomes = list(checks)
    if not outcomes:
        return "not tested"
    if all(outcomes):
        return "holds"
    if 2 * outcomes.count(False) > len(outcomes):
        return "does not hold"
    return "holds in part" if 2 * outcomes.count(True) >= len(outcomes) else "undecided"


def judged(text: str, checks: Iterable[Check], evidence: str) -> Claim:
    """A claim with the verdict of its checks; how many went which way is said if they differ.

    >>> judged("A is better.", [True, None, False], "0.5 against 0.6").evidence
    '0.5 against 0.6 (of 3 checks 1 for it, 1 against it, 1 open)'
    """
    outcomes = list(checks)
    tally = ""
    if len(set(outcomes)) > 1:
        sides = ((True, "for it"), (False, "against it"), (None, "open"))
        counts = [f"{outcomes.count(side)} {name}" for side, name in sides if outcomes.count(side)]
        tally = f" (of {len(outcomes)} checks {', '.join(counts)})"
    return Claim(text, verdict_of(outcomes), evidence.rstrip(".") + tally)


class Interval(NamedTuple):
    """Where a figure lies, as far as the runs tell.

    >>> Interval(0.2, 0.4).above(0.1), Interval(0.2, 0.4).above(0.5), Interval(0.2, 0.4).above(0.3)
    (True, False, None)
    >>> Interval(0.9, 1.05).within(0.8, 1.1), Interval(1.2, 1.4).within(0.8, 1.1)
    (True, False)
    """

    low: float
    high: float

    def above(self, limit: float) -> Check:
        """Whether the figure is above the limit."""
        if self.low > limit:
            return True
        return False if self.high < limit else None

    def below(self, limit: float) -> Check:
        """Whether the figure is below the limit."""
        above = self.above(limit)
        return None if above is None else not above

    def within(self, low: float, high: float) -> Check:
        """Whether the figure lies between the two."""
        if low <= self.low and self.high <= high:
            return True
        return False if self.high < low or self.low > high else None


ANYWHERE = Interval(-math.inf, math.inf)


def mean_of(values: Array) -> Interval:
    """The mean of a figure that each run has, and two standard errors on either side.

    >>> mean_of(np.ones(20)), mean_of(np.ones(19)) == ANYWHERE
    (Interval(low=1.0, high=1.0), True)
    """
    if len(values) < ENOUGH:
        return ANYWHERE
    middle, error = mean_and_error(values)
    return Interval(middle - ERRORS * error, middle + ERRORS * error)


def mean_and_error(values: Array) -> tuple[float, float]:
    """The mean and its standard error, which is infinite for a single run."""
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return float(values.mean()), error


def median_of(values: Array) -> Interval:
    """The median: the order statistics that enclose it, whatever the distribution.

    >>> median_of(np.arange(50.0))
    Interval(low=17.0, high=32.0)
    """
    if len(values) < ENOUGH:
        return ANYWHERE
    first = _rank(len(values))
    ordered = np.sort(values)
    return Interval(float(ordered[first]), float(ordered[-1 - first]))


@lru_cache(maxsize=64)
def _rank(runs: int) -> int:
    """How many may lie outside of the interval of a median on either side."""
    return max(0, int(stats.binom.ppf(0.5 - 0.5 * CONFIDENCE, runs, 0.5)) - 1)


def share_of(hits: Sequence[bool] | npt.NDArray[np.bool_]) -> Interval:
    """The probability of what happened in some of the runs, after Wilson.

    >>> [round(end, 2) for end in share_of([True] * 20)]
    [0.84, 1.0]
    """
    if len(hits) < ENOUGH:
        return ANYWHERE
    return Interval(*wilson(int(np.sum(hits)), len(hits), CONFIDENCE))


def happens(hits: Sequence[bool] | npt.NDArray[np.bool_]) -> Check:
    """Whether something occurs at all, in any of enough runs.

    >>> happens([False] * 20 + [True]), happens([False] * 20), happens([True])
    (True, False, None)
    """
    return bool(np.any(hits)) if len(hits) >= ENOUGH else None


def ratios(ours: Group, rival: Group) -> Array:
    """ln of our R_T / T over the rival's on the same seeds, as far as both have them."""
    return log_ratios(*paired(ours, rival))


def paired(ours: Group, rival: Group) -> tuple[Array, Array]:
    """R_T / T of both on the seeds that they share."""
    others = dict(zip(rival.seeds, rival.average.tolist(), strict=True))
    pairs = [
        (a, others[seed]) for seed, a in zip(ours.seeds, ours.average.tolist(), strict=True) if seed in others
    ]
    first, second = np.array(pairs).reshape(-1, 2).T
    return first, second


def log_ratios(ours: Array, rival: Array) -> Array:
    """ln of ours over the rival's; a regret of nothing counts as a thousandth of the mean of both."""
    least = 1e-3 * float(np.mean([ours, rival])) if len(ours) else 1.0
    least = max(least, 1e-300)
    return np.asarray(np.log(np.maximum(ours, least)) - np.log(np.maximum(rival, least)))


def lower(ours: Group, rival: Group) -> Check:
    """Whether our regret is lower than the rival's on the same seeds."""
    return mean_of(ratios(ours, rival)).below(0.0)


def similar(ours: Group, rival: Group, tolerance: float) -> Check:
    """Whether the two regrets differ by at most this share, in either direction."""
    return mean_of(ratios(ours, rival)).within(math.log1p(-tolerance), math.log1p(tolerance))


def close(values: Array, paper: float, tolerance: float) -> Check:
    """Whether the median is within a share of the paper's figure, above it or below it."""
    return median_of(values).within(paper * (1.0 - tolerance), paper * (1.0 + tolerance))


def spread_ratio(ours: Array, rival: Array) -> Interval:
    """ln of the ratio of two standard deviations over the same seeds; its error by leaving out seeds.

    >>> values = np.arange(30.0)
    >>> spread_ratio(values, 2.0 * values).below(0.0), spread_ratio(values, values).below(0.0)
    (True, None)
    """
    if len(ours) < ENOUGH:
        return ANYWHERE
    both = np.array([ours, rival])
    if not both.std(axis=1).all():
        return ANYWHERE

    def ratio(kept: Array) -> float:
        first, second = kept.std(axis=1, ddof=1)
        return float(np.log(first / second))

    with np.errstate(divide="ignore"):
        others = np.array([ratio(np.delete(both, run, axis=1)) for run in range(len(ours))])
    error = math.sqrt((len(others) - 1) * float(others.var()))
    middle = ratio(both)
    return Interval(middle - ERRORS * error, middle + ERRORS * error)
