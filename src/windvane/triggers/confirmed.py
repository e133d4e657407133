"""Outlier or change? A second look decides."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.errors import InvalidArgument, InvalidType
from windvane.triggers.base import Memory, Trigger, exceeds, since
from windvane.triggers.never import Never
from windvane.triggers.periodic import Periodic

_quantile = NormalDist().inv_cdf
_NO_SUSPICION = (0.0, 0)  # the side of the observation set aside, and how many in a row


@component
@dataclass(frozen=True)
class Confirmed:
    """Fires if `trigger` does and a second look confirms it; else the first was an outlier.

    Where `trigger` alone would fire, the observation is only suspect: it is set aside, the model is not
    told, and the same point is asked again. That second look is judged as if the first had never been, from
    the memory before it. It confirms a change if `trigger` fires again on the same side of the prediction,
    or if y lies on that side in the tail of N(mean, std^2 + noise variance) that has probability `level`:
    lower than most thresholds, so that a change just above one is not missed. A bound broken
    on the other side is a suspicion of its own, and a third broken bound in a row a change, whatever
    the sides. Anything else leaves the first observation an outlier.

    So an outlier resets nothing unless the second look is an outlier on the same side, or confirms it by
    chance: if a share p of observations are outliers, of either sign, about p / 2 + `level` of them do.
    A change is noticed one step later. The caller may tell another point than the one asked for: it is
    judged by the prediction for that point, and all of this still holds.

    `cooldown`: for so many steps after a start or reset nothing fires and nothing is set aside; `trigger`
    watches, but is not heeded. `min_samples`: nor before it has watched so many observations; those from
    which hyperparameters were learned do not count. The threshold is infinite meanwhile. The memory is the
    side of the observation set aside (0 if none is), how many suspicions in a row, the observations
    watched (outliers left out), and that of `trigger`.

    >>> from windvane.triggers import PosteriorBound, replay
    >>> model = Prediction(mean=0.0, std=0.1, noise_variance=0.01)
    >>> trigger = Confirmed(PosteriorBound(delta=0.1))
    >>> verdicts = replay(trigger, [(model, y) for y in (0.1, 5.0, 0.2, -0.1, 2.0, 2.1)])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.suspect]
    [2, 5]
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [6]
    >>> verdicts[5].reason
    'confirmed by a second look: bound broken: |y - mean| = 2.1 > 0.752, 6 steps after ...'
    """

    trigger: Trigger
    level: float = 0.01
    cooldown: int = 0
    min_samples: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.trigger, type) or not isinstance(self.trigger, Trigger):
            raise InvalidType(f"trigger={self.trigger!r}: must be an instance such as wv.PosteriorBound(0.1)")
        if isinstance(self.trigger, Confirmed):
            raise InvalidArgument(f"trigger={self.trigger!r}: is confirmed already; give the one within")
        if getattr(self.trigger, "reads_opinion", False):
            raise InvalidArgument(f"trigger={self.trigger!r}: tells outliers from changes by itself")
        if isinstance(self.trigger, Never | Periodic):
            raise InvalidArgument(
                f"trigger={self.trigger!r}: has nothing to confirm; give one that looks at the observations"
            )
        object.__setattr__(self, "level", checks.real("level", self.level, above=0.0, at_most=0.5))
        object.__setattr__(self, "cooldown", checks.integer("cooldown", self.cooldown, at_least=0))
        object.__setattr__(self, "min_samples", checks.integer("min_samples", self.min_samples, at_least=0))

    def start(self) -> Memory:
        """Nothing suspect, nothing seen."""
        return (*_NO_SUSPICION, 0, *self.trigger.start())

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:
        """A first look, or the second at what was set aside."""
        side, suspicions, samples = memory[0], int(memory[1]), int(memory[2])
        before = tuple(memory[3:])
        verdict, after = self.trigger.test(before, prediction, y, elapsed)
        told = (*_NO_SUSPICION, samples + 1, *after)
        if elapsed <= self.cooldown or samples < self.min_samples:
            return Verdict(False, verdict.statistic, math.inf), told

        surprise = y - prediction.mean
        if suspicions:
            same_side = side * surprise >= 0.0
            if verdict.fired and (same_side or suspicions > 1):
                return verdict.after("confirmed by a second look: "), told
            if not verdict.fired:
                return self._tail(side * surprise, prediction, elapsed), told
        if verdict.fired:
            set_aside = (math.copysign(1.0, surprise), suspicions + 1, samples, *before)
            said = verdict.after("set aside until a second look: ")
            return said._replace(fired=False, suspect=True), set_aside
        return verdict, told

    def _tail(self, surprise: float, prediction: Prediction, elapsed: int) -> Verdict:
        """Whether y is in the tail of probability `level` on the side of what was set aside."""
        limit = -_quantile(self.level) * math.hypot(prediction.std, math.sqrt(prediction.noise_variance))
        if surprise > limit:
            figures = f"{exceeds(surprise, limit)} on the same side, {since(elapsed)}"
            return Verdict(True, surprise, limit, f"confirmed by a second look: |y - mean| = {figures}")
        return Verdict(False, surprise, limit)


def alarm(trigger: Trigger) -> Trigger:
    """The trigger that finds a contradiction: the one within, if its alarms are to be confirmed.

    >>> from windvane.triggers import PosteriorBound
    >>> alarm(Confirmed(PosteriorBound(0.2))), alarm(PosteriorBound(0.3))
    (PosteriorBound(delta=0.2, noise_cap=None), PosteriorBound(delta=0.3, noise_cap=None))
    """
    return trigger.trigger if isinstance(trigger, Confirmed) else trigger
