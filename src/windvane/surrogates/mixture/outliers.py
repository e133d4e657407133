"""How noisy observations are, learned while they come in; and which of them are outliers.

With probability p an observation has `extra` variance besides the noise. That makes two densities, and by
Bayes' rule the share of the wide one: how probable it is that the observation is an outlier. Every member of
a mixture has its own opinion about that, and keeps it (`Suspect`) for fresh starts. The noise that an
observation is given follows from the share by one formula, `softened`, wherever it is needed.

What is far below may also be a plunge: f itself is low there, and the kernel did not know how steeply it
falls. That is possible only where little is known of f, and leaves the share a little below 1, which is
enough for the observation to count (docs/decisions/0049). What is grossly below, as a penalty is, pulls f
down by so much and no more (docs/decisions/0052).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from windvane.accuracy import Accuracies, Accuracy
from windvane.checks import Array
from windvane.data import IntArray
from windvane.density import normal_log_densities
from windvane.surrogates.mixture.tuning import DEEP, DRAG, GROSS, PASSES, SUSPECT
from windvane.units import FARTHEST


def gross(residual: Array, prior: Array | float) -> npt.NDArray[np.bool_]:
    """Which residuals are so far below that no kernel with that prior variance can follow them."""
    return np.asarray((residual < 0.0) & (residual * residual > GROSS * GROSS * prior))


def besides(residual: Array, prior: Array | float, least: float, plunges: float) -> Array:
    """The variance that an outlier is given besides the noise: at least `least` prior variances.

    It is as large as the outlier is far off. One that is gross keeps a say, if plunges are held possible: it
    pulls f down by 1 / DRAG prior standard deviations at most, and less where f is known.

    >>> besides(np.array([2.0, -20.0, -500.0, 500.0]), 1.0, 9.0, 0.001).tolist()
    [9.0, 400.0, 50.0, 250000.0]
    """
    square = residual * residual
    if plunges:
        square = np.where(gross(residual, prior), DRAG * np.sqrt(square * prior), square)
    return np.maximum(least * prior, square)


def log_evidence(
    residual: Array,
    variance: Array,
    noise: Array | float,
    outliers: float,
    extra: Array | float,
    plunges: float = 0.0,
    prior: Array | float = 1.0,
) -> tuple[Array, Array]:
    """The log density of residuals that are usual, plunges or outliers, and the share of the last.

    `variance` is that of f as predicted, `prior` before anything was seen, `noise` that of a usual
    observation. Gross plunges, which go as deep as they please, count among the outliers: see `besides`.

    >>> residual, known, unknown = np.array([0.1, -3.0]), np.full(2, 0.001), np.full(2, 0.3)
    >>> [log_evidence(residual, v, 0.01, 0.01, 9.0, 0.001)[1].round(3).tolist() for v in (known, unknown)]
    [[0.001, 1.0], [0.002, 0.928]]
    """
    spread = variance + noise
    usual = normal_log_densities(residual, spread)
    if not outliers:
        return usual, np.zeros(len(usual))
    wide = math.log(outliers) + normal_log_densities(residual, spread + extra)
    rare = wide
    if plunges:
        bottomless = gross(residual, prior)
        depth = np.where(bottomless, residual * residual / prior, DEEP)
        deep = math.log(plunges) + normal_log_densities(residual, depth * variance + noise)
        usual = np.where(residual < 0.0, np.logaddexp(math.log1p(-plunges) + usual, deep), usual)
        rare = np.where(bottomless, np.logaddexp(wide, math.log1p(-outliers) + deep), wide)
    usual = math.log1p(-outliers) + usual
    density = np.logaddexp(usual, wide)
    return density, np.exp(rare - density)


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
    scatter: Array | None = None  # of repeats: the log density of what they scatter, counted above as well


class Scatter(NamedTuple):
    """How repeats differ: of m values, `spare` = m - 1 say something about the noise beside the mean.

    `squares` is the sum of their squares about it, `farthest` what that would be less without the value
    farthest off; in the model's units.
    """

    spare: int
    squares: float
    farthest: float


class Precise(NamedTuple):
    """What is known of one observation: the noise variance, in the model's units, or else the `repeats`."""

    noise: float | None = None
    repeats: int = 1
    scatter: Scatter | None = None

    @staticmethod
    def of(accuracy: Accuracy | None, scale: float, prior: float) -> Precise:
        """Where f has the prior variance given."""
        if accuracy is None:
            return SINGLE
        if accuracy.variance is not None:
            return Precise(accuracy.noise(math.nan, scale, prior))
        scatter = Scatter(*accuracy.evidence(scale))
        return Precise(None, accuracy.repeats, scatter if scatter.spare else None)


SINGLE = Precise()


def scattered(
    estimates: Sequence[NoiseEstimate], scatter: Scatter, outliers: float, extra: float
) -> tuple[Array, Array]:
    """The log density of what repeats scatter about their mean, and the share of an outlier among them.

    If all of them are usual, their squares say how large the noise is, as far as that is not known. Else the
    one farthest off has `extra` variance, and the others say it.

    >>> belief = NoiseEstimate.about(0.01, 3.0)
    >>> [scattered([belief], Scatter(4, *far), 0.01, 9.0)[1][0] > 0.5 for far in ((0.2, 0.1), (20, 19.9))]
    [np.False_, np.True_]
    """
    spare, squares, farthest = scatter
    density, share = [], []
    chance = min(outliers * (spare + 1), 0.5)
    wide = max(extra, farthest)
    for a, b in estimates:
        usual = _scatter_density(a, b, spare, squares)
        if not chance:
            density.append(usual)
            share.append(0.0)
            continue
        lone = _scatter_density(a, b, spare - 1, squares - farthest)
        lone -= 0.5 * (math.log(2.0 * math.pi * wide) + farthest / wide)
        usual, lone = math.log1p(-chance) + usual, math.log(chance) + lone
        total = float(np.logaddexp(usual, lone))
        density.append(total)
        share.append(math.exp(lone - total))
    return np.array(density), np.array(share)


def scatters(accuracy: Accuracies | None, scale: float) -> list[tuple[int, Scatter]]:
    """How repeats differ, and of which rows they are."""
    if accuracy is None:
        return []
    spare, squares, farthest = accuracy.evidence(scale)
    return [
        (row, Scatter(int(spare[row]), float(squares[row]), float(farthest[row])))
        for row in np.flatnonzero(spare).tolist()
    ]


def _scatter_density(a: float, b: float, count: int, squares: float) -> float:
    """ln of the density of `count` normal values with this sum of squares, whose variance is IG(a, b)."""
    more = a + 0.5 * count
    gammas = math.lgamma(more) - math.lgamma(a) - 0.5 * count * math.log(2.0 * math.pi)
    return gammas + a * math.log(b) - more * math.log(b + 0.5 * squares)


def take(
    estimates: list[NoiseEstimate],
    residual: Array,
    variance: Array,
    outliers: float,
    extra: float,
    known: Precise = SINGLE,
    plunges: float = 0.0,
    prior: float = 1.0,
    given: float | None = None,
) -> Taken:
    """Judge an observation that is `residual` off predictions of f with these variances.

    An outlier has `extra` variance, and is `given` as much if that is not another number.

    Two variational passes: the noise it is given depends on what is learned from it. From noise that is
    `known` nothing is learned about that of others. Repeats are judged twice: what they scatter says how
    large the noise is, and their mean, which has an m-th of it, where f is.

    >>> belief = NoiseEstimate.about(0.01, 3.0)
    >>> taken = take([belief, belief], np.array([0.1, 3.0]), np.array([0.04, 0.04]), 0.01, 9.0)
    >>> taken.share.round(3)
    array([0.001, 1.   ])
    """
    given = extra if given is None else given
    if known.noise is not None:
        density, share = log_evidence(residual, variance, known.noise, outliers, extra, plunges, prior)
        return Taken(softened(known.noise, share, given), estimates, density, share)
    before, m = np.array(estimates), known.repeats
    a, b = before[:, 0], before[:, 1]
    within = np.zeros(len(a))
    if known.scatter is not None:
        spare, squares, farthest = known.scatter
        within, lone = scattered(estimates, known.scatter, outliers, extra)
        a, b = a + 0.5 * (spare - lone), b + 0.5 * (squares - lone * farthest)
    density, share = log_evidence(residual, variance, b / a / m, outliers, extra, plunges, prior)
    weight = 0.5 * (1.0 - share)
    noise = softened(b / a / m, share, given)
    a = a + weight
    for _ in range(PASSES):
        gain = noise / (variance + noise)
        left, still = residual * gain, variance * gain  # of the residual, once f has moved; unknown of f
        b_after = b + weight * (m * (left * left + still))
        noise = softened(b_after / a / m, share, given)
    after = [NoiseEstimate(*pair) for pair in zip(a.tolist(), b_after.tolist(), strict=True)]
    if known.scatter is not None:
        return Taken(noise, after, density + within, share, within)
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


def noises(usual: Array, steps: IntArray, suspects: Suspects, scale: float) -> Array:
    """The noise of each observation at a fresh start, given what is remembered of the outliers among them.

    `usual` is what they have if there are none.

    >>> noises(np.array([0.01, 0.01]), np.array([3, 4]), {4: Suspect(1.0, 6.0)}, scale=2.0)
    array([0.01, 9.01])
    """
    found = usual.copy()
    for step, (share, size) in suspects.items():
        row = int(np.searchsorted(steps, step))
        if row < len(steps) and steps[row] == step:
            found[row] = softened(float(usual[row]), share, min(size / scale, FARTHEST) ** 2)
    return found


def doubted(steps: IntArray, suspects: Suspects) -> IntArray:
    """The steps, of those given, that are more probably outliers than not."""
    return np.array([step for step in steps.tolist() if step in suspects and suspects[step].share > 0.5], int)
