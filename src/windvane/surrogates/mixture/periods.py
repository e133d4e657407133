"""How the period of a season is found in the data.

A scan of the evidence over all periods would cost a factorisation for each. Its slope, though, at a model
without a season costs next to nothing: with K~ the covariance of the data under that model, alpha = K~^-1 y
and B = (alpha alpha' - K~^-1) k_S, taken entry by entry, a further covariance c k_S cos(w (t - t')) adds

    c (e(w)* B e(w)) / 2 + O(c^2),    e_i(w) = exp(i w t_i),

to the log evidence. Where that is largest, the evidence itself is computed, and climbed. A season is taken up
only if it explains the data clearly better than the best of the other hypotheses, each with the noise that
suits it better: one that was fitted under a fast drift is too small for a season (docs/decisions/0028).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel, Markov, Static, Temporal
from windvane.kernels.periodic import WEIGHTS
from windvane.late import lapack
from windvane.surrogates.factor import inverse_triangle
from windvane.surrogates.mixture.hypotheses import Hypothesis
from windvane.surrogates.mixture.seasons import season
from windvane.surrogates.mixture.tuning import (
    AS_GOOD,
    CLEARLY,
    FEWEST_TO_SEEK,
    FINENESS,
    LOUDER,
    MOST_FREQUENCIES,
    MOST_TO_SEEK,
    PROMISING,
    SEEN,
    SHORTEST,
)

FREE = Static(0.5) + Static(0.5) * Markov(0.3)  # a model without a season, from which one stands out
HARMONICS = np.array(WEIGHTS[1:])


class Found(NamedTuple):
    """The period of a season, in steps, and by how much the noise is larger than was thought."""

    period: float
    louder: float = 1.0


class Sample:
    """Some of the data, evenly spaced in their order, with all that does not depend on the hypothesis."""

    def __init__(self, kernel: Kernel, X: Array, y: Array, times: Array, noise: float) -> None:
        rows = np.arange(len(y))
        if len(y) > MOST_TO_SEEK:
            rows = np.linspace(0, len(y) - 1, MOST_TO_SEEK).round().astype(np.intp)
        self.y, self.times, self.noise = y[rows], times[rows] - times[0], noise
        self.space = kernel.matrix(X[rows], X[rows])
        self.span = float(self.times[-1])

    def factor(self, temporal: Temporal, louder: float, level: Temporal | None = None) -> Array:
        """L of K~, or of what it would be with more noise, where that is singular to rounding."""
        K = self.space * temporal.matrix(self.times, self.times)
        if level is not None:
            K += level.matrix(self.times, self.times)
        noise = louder * self.noise
        while True:
            trial = K.copy()
            trial.reshape(-1)[:: len(K) + 1] += noise
            L, failed = lapack.dpotrf(trial.T, lower=1, clean=1, overwrite_a=1)
            if not failed:
                return np.asarray(L)
            noise *= 10.0

    def evidence(self, temporal: Temporal, louder: float, level: Temporal | None = None) -> float:
        """ln p(y), but for a constant."""
        L = self.factor(temporal, louder, level)
        z = lapack.dtrtrs(L, self.y, lower=1)[0]
        return -0.5 * float(z @ z) - float(np.log(np.diagonal(L)).sum())

    def slopes(self, frequencies: Array) -> Array:
        """d ln p(y) / d c for a covariance c k_S cos(2 pi f (t - t')) that is added to FREE."""
        W = inverse_triangle(self.factor(FREE, 1.0))
        alpha = (W @ self.y) @ W
        B = (np.outer(alpha, alpha) - W.T @ W) * self.space
        angles = 2.0 * math.pi * np.outer(self.times, frequencies)
        waves = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
        found = np.einsum("if,if->f", waves, B @ waves)
        return np.asarray(0.5 * (found[: len(frequencies)] + found[len(frequencies) :]))


def promising(sample: Sample) -> list[float]:
    """The frequencies, per step, at which a season is most likely, the best first."""
    grain = FINENESS / sample.span
    first = math.ceil(1.0 / FINENESS)  # below SEEN: what is longer than that must not look as if it were shorter
    last = min(math.floor(1.0 / (SHORTEST * grain)), first + MOST_FREQUENCIES)
    if last < first:
        return []
    numbers, harmonics = np.arange(first, last + 1), np.arange(1, len(HARMONICS) + 1)
    grid = np.unique(np.outer(harmonics, numbers))
    slopes = sample.slopes(grain * grid)
    total = HARMONICS @ slopes[np.searchsorted(grid, np.outer(harmonics, numbers))]
    walled = np.concatenate(([-math.inf], total, [-math.inf]))
    peaks = np.flatnonzero((total >= walled[:-2]) & (total >= walled[2:]))
    best = peaks[np.argsort(-total[peaks], kind="stable")][:PROMISING]
    return [float(each) for each in grain * numbers[best]]


def climbed(sample: Sample, frequency: float, louder: float, height: float) -> tuple[float, float]:
    """The frequency nearby at which a season has the most evidence, and that evidence, by two parabolas."""
    most, width = 1.0 / SHORTEST, 0.5 * FINENESS / sample.span
    for _ in range(2):
        sides = (max(frequency - width, 0.5 * frequency), min(frequency + width, most))
        heights = [sample.evidence(season(1.0 / side), louder) for side in sides]
        bend = 2.0 * height - heights[0] - heights[1]
        places = [(height, frequency), *zip(heights, sides, strict=True)]
        if bend > 0.0 and height > max(heights) - bend:
            top = frequency + 0.5 * width * (heights[1] - heights[0]) / bend
            if sides[0] < top < sides[1]:
                places.append((sample.evidence(season(1.0 / top), louder), top))
        height, frequency = max(places)
        width /= 3.0
    return frequency, height


def sought(sample: Sample, rivals: Iterable[Hypothesis], present: float | None) -> Found | None:
    """The season in the data, if there is one: `present` is the period that was found before, if any.

    `rivals` are the hypotheses that it has to beat, the most likely first.
    """
    if present is not None and sample.span < SEEN * present:
        return Found(present)  # too short a time to say anything else
    if len(sample.y) < FEWEST_TO_SEEK:
        return None
    places = promising(sample)
    if present is not None:
        places.append(1.0 / present)
    if not places:
        return None
    trials = [(sample.evidence(season(1.0 / f), louder), f, louder) for f in places for louder in LOUDER]
    height, frequency, louder = max(trials)
    frequency, height = climbed(sample, frequency, louder, height)
    if sample.span < SEEN / frequency:
        return None
    needed = CLEARLY if present is None else 0.0
    for rival in rivals:
        for each in LOUDER:
            if height - sample.evidence(rival.temporal, each, rival.level) < needed:
                return None
    if present is not None and sample.evidence(season(present), louder) > height - AS_GOOD:
        return Found(present, louder)
    return Found(1.0 / frequency, louder)
