"""The trigger for noise that cannot exceed a known bound."""

from __future__ import annotations

import math
from dataclasses import dataclass

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.theory.confidence import rho
from windvane.triggers.base import Memory, exceeds, since


@component
@dataclass(frozen=True)
class BoundedNoise:
    """Fires if |y - mean| > sqrt(2 ln(pi_t / delta)) std + noise_bound, for noise with |w| <= noise_bound.

    Section 6.3 suggests bounded noise in place of Gaussian noise. The noise then needs no share of
    `delta`: all of it goes to the posterior (Lemma 1), and the noise term does not grow with time.
    `noise_bound` is in the units of the `y` it is handed.

    Guaranteed: if at every step the objective's value, given the past, is N(mean, std^2), then it fires
    between two resets with a probability of at most `delta`, however the noise behaves within its bound.
    Not guaranteed: that premise is Lemma 1's, and a Gaussian process posterior is N(mean, std^2)
    exactly only if the noise in the data is Gaussian with the model's variance, which bounded noise is not.
    It is close if the bound lies a few standard deviations out, or if the posterior rests on many
    observations; it is false if the model's noise variance understates the noise.

    >>> from windvane.triggers import replay
    >>> model = Prediction(mean=0.0, std=0.1, noise_variance=0.01)
    >>> trigger = BoundedNoise(noise_bound=0.2, delta=0.1)
    >>> verdicts = replay(trigger, [(model, y) for y in (0.4, -0.3, 0.5, 0.6, 0.0, -2.0)])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [4, 6]
    """

    noise_bound: float
    delta: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_bound", checks.real("noise_bound", self.noise_bound, at_least=0.0))
        object.__setattr__(self, "delta", checks.probability("delta", self.delta))

    def start(self) -> Memory:
        """Nothing to remember: each observation is judged by itself."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:  # noqa: ARG002
        """Lemma 1 for the posterior, the bound for the noise."""
        statistic = abs(y - prediction.mean)
        threshold = math.sqrt(rho(elapsed, self.delta)) * prediction.std + self.noise_bound
        if statistic > threshold:
            reason = f"bound broken: |y - mean| = {exceeds(statistic, threshold)}, {since(elapsed)}"
            return Verdict(True, statistic, threshold, reason), ()
        return Verdict(False, statistic, threshold), ()
