"""What a trigger promises about false alarms, in words and figures that mean what they say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from windvane.optimizer import Optimizer
from windvane.theory.confidence import pi_t
from windvane.triggers import (
    BelievedChange,
    BoundedNoise,
    Confirmed,
    EDetector,
    ExactBound,
    Likelihood,
    NoImprovement,
    Periodic,
    PosteriorBound,
    alarm,
)

STRETCH = "between two resets, however long, while nothing changes and the model is right"
OTHERWISE = "It is not the probability that this alarm was false, which no trigger knows."


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What is known about false alarms of a trigger.

    `delta` bounds the probability of any false alarm between two resets (`exact` if it is that probability
    and no mere bound), None where nothing is promised. `at_step` is the probability of a false alarm at this
    very step, where it can be computed. `belief` is the weight that the model itself gave to the change, for
    a model that weighs hypotheses. `words` say what the figures mean.
    """

    delta: float | None = None
    exact: bool = False
    at_step: float | None = None
    belief: float | None = None
    words: str


NO_ALARM = Promise(words="The reset window was over: the trigger itself had raised no alarm, true or false.")


def two_sided(sigmas: float) -> float:
    """The probability that a standard normal is at least so far from 0.

    >>> round(two_sided(1.959964), 6)
    0.05
    """
    return math.erfc(abs(sigmas) / math.sqrt(2.0))


def promise(
    optimizer: Optimizer, *, elapsed: int, statistic: float | None, threshold: float | None, spread: float
) -> Promise:
    """What the optimiser's trigger promised when it fired with this statistic over this threshold.

    `elapsed` counts the steps since the reset before; `spread` is the standard deviation of y as predicted.
    """
    composition = optimizer.composition
    trigger = alarm(composition.trigger)
    found = _of(trigger, elapsed, statistic, threshold, spread)
    words = [found.words]
    if isinstance(composition.trigger, Confirmed):
        words.append(
            "Besides, the alarm had to be confirmed by a second look, so a single outlier raised none."
        )
    if found.delta is not None and not composition.given:
        words.append("The model was learned from the data, so that it is right is an assumption.")
    at_step = None if isinstance(composition.trigger, Confirmed) else found.at_step
    return replace(found, at_step=at_step, words=" ".join(words))


def _of(
    trigger: object, elapsed: int, statistic: float | None, threshold: float | None, spread: float
) -> Promise:
    tail = None if threshold is None or not spread > 0.0 else two_sided(threshold / spread)
    if isinstance(trigger, BelievedChange):
        return _belief(statistic)
    if isinstance(trigger, PosteriorBound):
        words = f"Lemma 3: the probability of any false alarm {STRETCH}, is at most {trigger.delta:g}."
        words = f"{words} {OTHERWISE}"
        if trigger.noise_cap is not None:
            words += " With noise_cap the lemma no longer holds once the cap is in force."
        return Promise(words=words, delta=trigger.delta, at_step=tail)
    if isinstance(trigger, ExactBound):
        words = f"The probability of any false alarm {STRETCH}, is {trigger.delta:g}, exactly. {OTHERWISE}"
        return Promise(words=words, delta=trigger.delta, exact=True, at_step=tail)
    if isinstance(trigger, Likelihood):
        words = f"The probability of any false alarm {STRETCH}, is at most {trigger.delta:g}. {OTHERWISE}"
        return Promise(words=words, delta=trigger.delta, at_step=trigger.delta / pi_t(elapsed))
    if isinstance(trigger, BoundedNoise):
        words = (
            f"The probability of any false alarm {STRETCH} and the noise keeps to its bound, is at most "
            f"{trigger.delta:g}. {OTHERWISE}"
        )
        return Promise(words=words, delta=trigger.delta)
    if isinstance(trigger, EDetector):
        return _evidence(trigger, statistic)
    if isinstance(trigger, Periodic):
        return Promise(
            words="The clock resets here, whatever is observed: the reset says nothing about a change."
        )
    if isinstance(trigger, NoImprovement):
        return Promise(
            words="A lack of improvement resets here: it is no test for change, and promises nothing."
        )
    return Promise(words=f"{type(trigger).__name__} says nothing about its false alarms.")


def _evidence(trigger: EDetector, statistic: float | None) -> Promise:
    if trigger.run_length is not None:
        words = (
            "While nothing changes and the model is right, a false alarm takes at least "
            f"{trigger.run_length:g} steps on average; that one comes in the end is part of the bargain. "
            f"{OTHERWISE}"
        )
        return Promise(words=words)
    assert trigger.delta is not None
    words = f"Ville's inequality: the probability of any false alarm {STRETCH}, is at most {trigger.delta:g}."
    if statistic is not None:
        words += (
            f" Evidence as strong as this, at any step at all, has a probability of at most "
            f"{math.exp(-statistic):.2g} then."
        )
    return Promise(words=f"{words} {OTHERWISE}", delta=trigger.delta)


def _belief(statistic: float | None) -> Promise:
    words = "This model weighs hypotheses instead of testing one, so there is no delta."
    if statistic is not None:
        words += (
            f" It gave the change a weight of {statistic:.3g} and all other hypotheses together "
            f"{1.0 - statistic:.2g}: probabilities that are only as good as its hypotheses and their prior "
            "weights."
        )
    return Promise(words=words, belief=statistic)
