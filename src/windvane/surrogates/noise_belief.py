"""How noisy observations are, learned while they come in; and which of them are outliers."""

from __future__ import annotations

import math
from typing import NamedTuple

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
PASSES = 2


def log_normal(residual: float, variance: float) -> float:
    """ln N(residual; 0, variance).

    >>> round(log_normal(0.0, 1.0), 4)
    -0.9189
    """
    return -HALF_LOG_2PI - 0.5 * (math.log(variance) + residual * residual / variance)


class Taken(NamedTuple):
    """How an observation is taken in."""

    noise: float  # the variance to give it
    after: NoiseBelief
    log_density: float  # of the observation, before it was seen
    outlier: float  # the probability that it is one


class NoiseBelief(NamedTuple):
    """The noise variance is inverse-gamma(a, b); b / a, the inverse of its mean precision, stands for it."""

    a: float
    b: float

    @property
    def value(self) -> float:
        """b / a."""
        return self.b / self.a

    @staticmethod
    def about(variance: float, doubt: float) -> NoiseBelief:
        """Centred at a variance, worth 2 `doubt` observations."""
        return NoiseBelief(doubt, doubt * variance)

    def take(self, residual: float, variance: float, outliers: float, extra: float) -> Taken:
        """Judge an observation `residual` off a prediction of f with that variance.

        With probability `outliers` it has `extra` variance. Two variational passes: the noise it is
        given depends on what is learned from it.

        >>> belief = NoiseBelief.about(0.01, 3.0)
        >>> [round(belief.take(residual, 0.04, 0.01, 9.0).outlier, 3) for residual in (0.1, 3.0)]
        [0.001, 1.0]
        """
        spread = variance + self.value
        density, share = log_normal(residual, spread), 0.0
        if outliers > 0.0:
            usual = math.log1p(-outliers) + density
            wide = math.log(outliers) + log_normal(residual, spread + extra)
            density = max(usual, wide) + math.log1p(math.exp(-abs(usual - wide)))
            share = math.exp(wide - density)
        after = self
        for _ in range(PASSES):
            noise = softened(after.value, share, extra)
            left = residual * noise / (variance + noise)  # of the residual, once f has moved
            still = variance * noise / (variance + noise)  # unknown of f
            weight = 0.5 * (1.0 - share)
            after = NoiseBelief(self.a + weight, self.b + weight * (left * left + still))
        return Taken(softened(after.value, share, extra), after, density, share)


def softened(noise: float, share: float, extra: float) -> float:
    """The noise of what is an outlier with probability `share`: its mean precision, inverted."""
    return 1.0 / ((1.0 - share) / noise + share / (noise + extra))
