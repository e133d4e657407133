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
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from windvane.checks import Array
from windvane.kernels import Kernel, Markov, Static, Temporal
from windvane.late import lapack
from windvane.surrogates.factor import inverse_triangle
from windvane.surrogates.mixture.hypotheses import Hypothesis, same
from windvane.surrogates.mixture.seasons import recurring
from windvane.surrogates.mixture.tuning import (
    AS_GOOD,
    CLEARLY,
    CLIMBS,
    FEWEST_TO_SEEK,
    FINENESS,
    HOPELESS,
    LOUDER,
    MOST_FREQUENCIES,
    MOST_TO_SEEK,
    PROMISING,
    SEEN,
    SHORTEST,
    SWUNG,
)

FREE = Static(0.5) + Static(0.5) * Markov(0.3)  # a model without a season, from which one stands out
HARMONICS = np.array((0.8, 0.2))  # of a wave and its half: between a season, 2 to 1, and a swing, all wave


class Found(NamedTuple):
    """The period of a season, in steps, its shape, and by how much the noise is larger than was thought."""

    period: float
    swings: bool = False
    louder: float = 1.0


class Peak(NamedTuple):
    """The evidence of a season, its frequency per step, its shape, and how much louder the noise is."""

    evidence: float
    frequency: float
    swings: bool
    louder: float


class Scan:
    """Some of the data, evenly spaced in their order, with all that does not depend on the hypothesis.

    `noises` are theirs, or that of each; those that are `known` are not louder than they are.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Array,
        y: Array,
        times: Array,
        noises: Array | float,
        known: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        rows = np.arange(len(y))
        if len(y) > MOST_TO_SEEK:
            rows = np.linspace(0, len(y) - 1, MOST_TO_SEEK).round().astype(np.intp)
        self.y, self.times = y[rows], times[rows] - times[0]
        self.noises = np.broadcast_to(noises, (len(y),))[rows]
        self.known = None if known is None else known[rows]
        self.space, self._kernel, self._X = kernel.matrix(X[rows], X[rows]), kernel, X[rows]
        self.span = float(self.times[-1])

    def covariance(
        self, temporal: Temporal, level: Temporal | None = None, alone: Temporal | None = None
    ) -> Array:
        """K, without the noise."""
        K = self.space * temporal.matrix(self.times, self.times)
        if alone is not None:
            K += same(self._kernel, self._X, self._X) * alone.matrix(self.times, self.times)
        return K if level is None else K + level.matrix(self.times, self.times)

    def factor(self, K: Array, louder: float) -> Array | None:
        """L of K~, if that is not singular to rounding."""
        noisy = K.copy()
        noises = louder * self.noises
        if self.known is not None:
            noises[self.known] = self.noises[self.known]
        noisy.reshape(-1)[:: len(K) + 1] += noises
        L, failed = lapack.dpotrf(noisy.T, lower=1, clean=0, overwrite_a=1)
        return None if failed else np.asarray(L)

    def evidence(self, K: Array, louder: float) -> float:
        """ln p(y), but for a constant; what is above the diagonal of L does not matter for it."""
        L = self.factor(K, louder)
        if L is None:
            return -math.inf
        z = lapack.dtrtrs(L, self.y, lower=1)[0]
        return -0.5 * float(z @ z) - float(np.log(np.diagonal(L)).sum())

    def rival(self, hypothesis: Hypothesis) -> float:
        """The evidence of a hypothesis without a season."""
        return self.best(hypothesis.temporal, hypothesis.level, hypothesis.alone)[0]

    def best(
        self, temporal: Temporal, level: Temporal | None = None, alone: Temporal | None = None
    ) -> tuple[float, float]:
        """The evidence with the noise that suits a hypothesis best, and how much louder that is."""
        K = self.covariance(temporal, level, alone)
        return max((self.evidence(K, louder), louder) for louder in LOUDER)

    def seen(self, frequency: float, swings: bool) -> bool:
        """Whether enough of the periods has passed to tell a season, or a swing, from a trend."""
        return self.span * frequency >= (SWUNG if swings else SEEN)

    def peaks(self, frequency: float) -> list[Peak]:
        """The evidence of a season of that frequency in each shape of which enough was seen."""
        found = []
        for swings in (False, True):
            if self.seen(frequency, swings):
                evidence, louder = self.best(recurring(1.0 / frequency, swings))
                found.append(Peak(evidence, frequency, swings, louder))
        return found

    def height(self, frequency: float, swings: bool, louder: float) -> float:
        """The evidence of one shape, with the noise that is given."""
        return self.evidence(self.covariance(recurring(1.0 / frequency, swings)), louder)

    def slopes(self, frequencies: Array) -> Array:
        """d ln p(y) / d c for a covariance c k_S cos(2 pi f (t - t')) that is added to FREE."""
        L = self.factor(self.covariance(FREE), 1.0)
        if L is None:
            return np.zeros(len(frequencies))
        W = inverse_triangle(np.tril(L))
        alpha = (W @ self.y) @ W
        B = (np.outer(alpha, alpha) - W.T @ W) * self.space
        angles = 2.0 * math.pi * np.outer(self.times, frequencies)
        waves = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
        found = np.einsum("if,if->f", waves, B @ waves)
        return np.asarray(0.5 * (found[: len(frequencies)] + found[len(frequencies) :]))


def promising(scan: Scan) -> list[float]:
    """The frequencies, per step, at which a season is most likely, the best first."""
    if not scan.span:  # all at one moment
        return []
    grain = FINENESS / scan.span
    first = math.ceil(SWUNG / FINENESS)
    last = min(math.floor(1.0 / (SHORTEST * grain)), first + MOST_FREQUENCIES)
    if last < first:
        return []
    numbers, harmonics = np.arange(first, last + 1), np.arange(1, len(HARMONICS) + 1)
    grid = np.unique(np.outer(harmonics, numbers))
    slopes = scan.slopes(np.asarray(grain * grid, dtype=np.float64))
    total = HARMONICS @ slopes[np.searchsorted(grid, np.outer(harmonics, numbers))]
    walled = np.concatenate(([-math.inf], total, [-math.inf]))
    peaks = np.flatnonzero((total >= walled[:-2]) & (total >= walled[2:]))
    best = peaks[np.argsort(-total[peaks], kind="stable")][:PROMISING]
    return [float(each) for each in grain * numbers[best]]


def climbed(scan: Scan, peak: Peak) -> Peak:
    """The frequency nearby at which a season has the most evidence: parabolas, narrower and narrower."""
    height, frequency, swings, louder = peak
    most, width = 1.0 / SHORTEST, 0.5 * FINENESS / scan.span
    for _ in range(CLIMBS):
        sides = (max(frequency - width, 0.5 * frequency), min(frequency + width, most))
        heights = [scan.height(side, swings, louder) for side in sides]
        bend = 2.0 * height - heights[0] - heights[1]
        places = [(height, frequency), *zip(heights, sides, strict=True)]
        if bend > 0.0 and height > max(heights) - bend:
            top = frequency + 0.5 * width * (heights[1] - heights[0]) / bend
            if sides[0] < top < sides[1]:
                places.append((scan.height(top, swings, louder), top))
        height, frequency = max(places)
        if frequency not in sides:
            width /= 3.0
    return Peak(height, frequency, swings, louder)


def sought(scan: Scan, rivals: Sequence[Hypothesis], present: Found | None) -> Found | None:
    """The season in the data, if there is one: `present` is the one that was found before, if any.

    `rivals` are the hypotheses that it has to beat, the most likely first.
    """
    if len(scan.y) < FEWEST_TO_SEEK or (
        present is not None and not scan.seen(1.0 / present.period, present.swings)
    ):
        return present  # too little to say anything else
    places = promising(scan)
    if present is not None:
        places.append(1.0 / present.period)
    peaks = sorted(peak for place in places for peak in scan.peaks(place))
    if not peaks:
        return None
    rival, margin = scan.rival(rivals[0]), CLEARLY if present is None else 0.0
    if math.isinf(rival) or peaks[-1].evidence < rival + margin - HOPELESS:
        return None
    # two of them: between two points of the grid, half of a period can look better than the whole
    ends = [climbed(scan, peak) for peak in peaks[-2:]]
    seen = [end for end in ends if scan.seen(end.frequency, end.swings)]
    if not seen:
        return None
    evidence, frequency, swings, louder = max(seen)
    if evidence < rival + margin or any(evidence < scan.rival(other) + margin for other in rivals[1:]):
        return None
    if present is not None:
        height = scan.height(1.0 / present.period, present.swings, louder)
        if height > evidence - AS_GOOD:
            return present._replace(louder=louder)
    return Found(1.0 / frequency, swings, louder)
