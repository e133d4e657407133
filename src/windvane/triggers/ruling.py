"""From a verdict to what is done about an observation: whoever runs a loop asks here.

A trigger says what it thinks of an observation. Whether that is heeded depends on the reset window, on
whether the model is trusted yet, and on what was set aside before.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from windvane.data import Observation, Opinion, Prediction, Verdict
from windvane.digits import estimate, rounded
from windvane.moments import NamedSteps, Sentence
from windvane.triggers.base import Memory, Trigger
from windvane.triggers.window import Decision, ResetWindow


class Ruling(NamedTuple):
    """What was decided about an observation."""

    verdict: Verdict
    monitored: bool
    elapsed: int
    decision: Decision
    set_aside: bool
    outlier: Observation | None  # set aside before and not confirmed, or the newest as the surrogate sees it


def judge(
    trigger: Trigger,
    window: ResetWindow,
    memory: Memory,
    prediction: Prediction,
    new: Observation,
    elapsed: int,
    *,
    opinion: Opinion | None = None,
    held: Observation | None = None,
    trusted: bool = True,
    may_set_aside: bool = True,
) -> tuple[Ruling, Memory]:
    """What to do about an observation, and the trigger's memory if nothing is reset.

    `opinion` is what the surrogate makes of it. `held` was set aside before, and this is the second look.
    `trusted`: the model has learned enough to be contradicted.

    >>> import numpy as np
    >>> from windvane.triggers import PosteriorBound
    >>> new = Observation(np.array([0.5]), 3.0, 1.0, 1)
    >>> ruling, _ = judge(PosteriorBound(), ResetWindow(), (), Prediction(0.0, 0.1, 0.01), new, 1)
    >>> ruling.decision
    'triggered'
    """
    monitored = held is not None or trusted  # a suspicion is always followed up
    heard = {"opinion": opinion} if getattr(trigger, "reads_opinion", False) else {}
    verdict, after = trigger.test(memory, prediction, new.y, elapsed, **heard)
    decision = window.decide(verdict.fired and monitored, elapsed)
    set_aside = (
        verdict.suspect
        and monitored
        and may_set_aside
        and decision == "no"  # not where the window forces a reset anyway, or forbids one
        and window.decide(True, elapsed) == "triggered"
    )
    if not monitored:
        after = trigger.start()
    elif verdict.suspect and not set_aside:  # a suspicion that nobody follows up is none
        after = memory
    outlier = held if decision != "triggered" else None
    if decision == "no" and monitored and not set_aside and opinion is not None and opinion.outlier > 0.5:
        outlier = outlier or new
    return Ruling(verdict, monitored, elapsed, decision, set_aside, outlier), after


def reason(ruling: Ruling, new: Observation, prediction: Prediction, sign: float) -> Sentence:
    """In words, why there was a reset, a suspicion or an outlier; y is `sign` times the caller's."""
    why: Sentence = ()
    if ruling.set_aside or ruling.decision == "triggered":
        why = ruling.verdict.sentence or (ruling.verdict.reason,)
    elif ruling.decision == "forced":
        end = "the upper end N_high of the reset window"
        why = (f"forced: {ruling.elapsed} steps since the last reset, {end}",)
    if ruling.outlier is None:
        return why
    spread = math.hypot(prediction.std, math.sqrt(prediction.noise_variance))
    first, second, mean = (sign * each + 0.0 for each in (ruling.outlier.y, new.y, prediction.mean))
    was, now, predicted = rounded(first, spread), rounded(second, spread), estimate(mean, spread)
    if ruling.outlier is new:
        return (f"outlier: y = {now} where {predicted} was predicted",)
    looked = f"the second look, y = {now} where {predicted} was predicted, does not confirm it"
    aside = f": y = {was} was set aside, and {looked}"
    outlier = ("outlier at ", NamedSteps(ruling.outlier.step), aside)
    return (*outlier, "; ", *why) if why else outlier
