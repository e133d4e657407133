"""How noisy observations are, learned while they come in; and which of them are outliers.

With probability p an observation has `extra` variance besides the noise. That makes two densities, and by
Bayes' rule the share of the wide one: how probable it is that the observation is an outlier. Every member of
a mixture has its own opinion about that, and keeps it (`Suspect`) for fresh starts. The noise that an
observation is given follows from the share by one formula, `softened`, wherever it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.data import IntArray
from windvane.density import normal_log_densities
from windvane.surrogates.mixture.tuning import PASSES, SUSPECT
from windvane.surrogates.scaling import FARTHEST


def log_evidence(
    residual: Array, spread: Array, outliers: float, extra: Array | float
) -> tuple[Array, Array]:
    """The log density of residuals that are usual or outliers, and the share of the latter.

    `spread` is the variance that a usual one has, of f and of the noise together.

    >>> density, share = log_evidence(np.array([0.1, 3.0]), np.array([0.05, 0.05]), 0.01, 9.0)
    >>> share.round(3)
    array([0.001, 1.   ])
    """
    usual = normal_log_densities(residual, spread)
    if not outliers:
        return usual, np.zeros(len(usual))
    usual = math.log1p(-outliers) + usual
    wide = math.log(outliers) + normal_log_densities(residual, spread + extra)
    density = np.logaddexp(usual, wide)
    return density, np.exp(wide - density)


def softened(noise: Array | float, share: Array | float, extra: Array | float) -> Array:
    """The noise of what is an outlier with probability `share`: its mean precision, inverted."""
    return np.asarray(1.0 / ((1.0 - share) / noise + share / (noise + extra)))


class NoiseEstimate(NamedTuple):
    """The noise variance is inverse-gamma(a, b); b / a, the inverse of its mean precision, stands for it."""

    a: float
    b: float

    @property
    def value(self) -> float:
        """b / a."""
        return self.b / self.a

    @staticmethod
    def about(variance: float, doubt: float) -> NoiseEstimate:
        """Centred at a variance, worth 2 `doubt` observations."""
        return NoiseEstimate(doubt, doubt * variance)


class Taken(NamedTuple):
    """How each member of a mixture takes an observation in; one entry a member."""

    noise: Array  # the variance to give it
    after: list[NoiseEstimate]
    log_density: Array  # of the observation, before it was seen
    share: Array  # the probability that it is an outlier


def take(
    estimates: list[NoiseEstimate], residual: Array, variance: Array, outliers: float, extra: float
) -> Taken:
    """Judge an observation that is `residual` off predictions of f with these variances.

    Two variational passes: the noise it is given depends on what is learned from it.

    >>> belief = NoiseEstimate.about(0.01, 3.0)
    >>> taken = take([belief, belief], np.array([0.1, 3.0]), np.array([0.04, 0.04]), 0.01, 9.0)
    >>> taken.share.round(3)
    array([0.001, 1.   ])
    """
    prior = np.array(estimates)
    a, b = prior[:, 0], prior[:, 1]
    density, share = log_evidence(residual, variance + b / a, outliers, extra)
    weight = 0.5 * (1.0 - share)
    noise = softened(b / a, share, extra)
    a = a + weight
    for _ in range(PASSES):
        gain = noise / (variance + noise)
        left, still = residual * gain, variance * gain  # of the residual, once f has moved; unknown of f
        b_after = b + weight * (left * left + still)
        noise = softened(b_after / a, share, extra)
    after = [NoiseEstimate(*pair) for pair in zip(a.tolist(), b_after.tolist(), strict=True)]
    return Taken(noise, after, density, share)


class Suspect(NamedTuple):
    """An observation that may be an outlier: how probably, and how far off, in the caller's units."""

    share: float
    size: float


Suspects = Mapping[int, Suspect]
"""What a member holds to be outliers, by the step of the observation."""


def suspicion(share: float, extra: float, scale: float) -> Suspect | None:
    """What is worth remembering of an observation: nothing, if it is hardly an outlier."""
    return Suspect(share, scale * math.sqrt(extra)) if share >= SUSPECT else None


def noises(variance: float, steps: IntArray, suspects: Suspects, scale: float) -> Array:
    """The noise of each observation at a fresh start, given what is remembered of the outliers among them.

    >>> noises(0.01, np.array([3, 4]), {4: Suspect(1.0, 6.0)}, scale=2.0)
    array([0.01, 9.01])
    """
    found = np.full(len(steps), variance)
    for step, (share, size) in suspects.items():
        row = int(np.searchsorted(steps, step))
        if row < len(steps) and steps[row] == step:
            found[row] = softened(variance, share, min(size / scale, FARTHEST) ** 2)
    return found


def doubted(steps: IntArray, suspects: Suspects) -> IntArray:
    """The steps, of those given, that are more probably outliers than not."""
    return np.array([step for step in steps.tolist() if step in suspects and suspects[step].share > 0.5], int)
