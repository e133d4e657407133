"""The trigger whose false alarms have the stated probability, not merely at most that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.theory.confidence import pi_t
from windvane.triggers.base import Memory, exceeds, since

_quantile = NormalDist().inv_cdf


@component
@dataclass(frozen=True)
class ExactBound:
    """Fires if |y - mean| > z_t sqrt(std^2 + sigma_n^2): the bound of Lemma 3 without its slack.

    While the objective stands still and the model is right, e_t = (y - mean) / sqrt(std^2 + sigma_n^2)
    are independent standard normals, however the queries were chosen. z_t is the two-sided quantile
    of level a_t = 1 - (1 - delta)^(1 / pi_t). The reciprocals of pi_t sum to one (Remark 2), so the
    probability of no alarm at all, the product of all 1 - a_t, is 1 - delta: a run without end has a false
    alarm with probability `delta`, exactly. The first T steps have spent almost all of it: 94% by
    T = 10, 99% by T = 60.

    `Likelihood` is the same test at the levels delta / pi_t, and on the scale of -ln p(y). These are a
    little lower, and their false alarms a little rarer than stated (9.7% at delta = 0.1). Whenever
    `PosteriorBound` or `Likelihood` of the same `delta` fires, so does this one: it is never later.

    Exact for one stretch that starts from unselected data: a point that is kept because it fired the
    last trigger was selected for being surprising.

    >>> from windvane.triggers import replay
    >>> model = Prediction(mean=0.0, std=0.1, noise_variance=0.01)
    >>> verdicts = replay(ExactBound(delta=0.1), [(model, y) for y in (0.1, -0.3, 0.2, 0.5, 0.0, -2.0)])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [4, 6]
    >>> verdicts[3].reason
    'bound broken: |y - mean| = 0.5 > 0.407, 3.54 standard deviations off, 4 steps after ...'
    """

    delta: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.probability("delta", self.delta))

    def start(self) -> Memory:
        """Nothing to remember: each observation is judged by itself."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """The two-sided test of e_t at level a_t, in the units of y."""
        spread = math.hypot(prediction.std, math.sqrt(prediction.noise_variance))
        level = -math.expm1(math.log1p(-self.delta) / pi_t(elapsed))
        statistic = abs(y - prediction.mean)
        threshold = -_quantile(0.5 * level) * spread
        if statistic > threshold:
            off = statistic / spread if spread > 0.0 else math.inf
            figures = f"|y - mean| = {exceeds(statistic, threshold)}, {off:.3g} standard deviations off"
            return Verdict(True, statistic, threshold, f"bound broken: {figures}, {since(elapsed)}"), ()
        return Verdict(False, statistic, threshold), ()
