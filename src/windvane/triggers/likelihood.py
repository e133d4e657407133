"""The trigger on the density of an observation."""

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
_LEAST_VARIANCE = 1e-300  # keeps a certain prediction finite: what it did not predict has no density


@component
@dataclass(frozen=True)
class Likelihood:
    """Fires if the predictive density of y, from N(mean, std^2 + noise variance), is too low.

    The statistic is -ln p(y). The threshold is its value where the two-sided tail has the probability
    delta / pi_t: each step's false alarm has exactly that probability while the objective stands still
    and the model is right, so it fires between two resets with a probability of at most `delta`.
    The promise is that of `PosteriorBound`, kept without slack: there the widths of posterior and
    noise are added, here their variances, so a smaller change is seen.

    >>> from windvane.triggers import replay
    >>> model = Prediction(mean=0.0, std=0.1, noise_variance=0.01)
    >>> verdicts = replay(Likelihood(delta=0.1), [(model, y) for y in (0.1, -0.3, 0.2, 0.5, 0.0, -2.0)])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [4, 6]
    >>> verdicts[3].reason
    'unlikely observation: -ln p(y) = 5.21 > 3.15, 3.54 standard deviations off, 4 steps after ...'
    """

    delta: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.probability("delta", self.delta))

    def start(self) -> Memory:
        """Nothing to remember: each observation is judged by itself."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """The two-sided tail test at level delta / pi_t, on the scale of -ln p(y)."""
        mean, std, noise_variance = prediction
        variance = max(std * std + noise_variance, _LEAST_VARIANCE)
        limit = _quantile(0.5 * self.delta / pi_t(elapsed))
        peak = 0.5 * math.log(2.0 * math.pi * variance)  # -ln p(mean)
        statistic = peak + 0.5 * (y - mean) * (y - mean) / variance
        threshold = peak + 0.5 * limit * limit
        if statistic > threshold:
            off = abs(y - mean) / math.sqrt(variance)
            figures = f"-ln p(y) = {exceeds(statistic, threshold)}, {off:.3g} standard deviations off"
            reason = f"unlikely observation: {figures}, {since(elapsed)}"
            return Verdict(True, statistic, threshold, reason), ()
        return Verdict(False, statistic, threshold), ()
