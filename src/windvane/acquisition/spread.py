"""The first points, and the first after a change: spread over the space, before the model has a say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from windvane.acquisition.base import Acquisition, Moment, PosteriorView, Proposal
from windvane.acquisition.ucb import UCB
from windvane.checks import Array, integer
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.spaces.region import Region

SAMPLES = 512  # points among which the one farthest from all others is taken


@component
@dataclass(frozen=True)
class SpreadFirst:
    """While fewer than `count` observations are in use, the point farthest from all of them; then `then`.

    Told nothing, scale, noise and lengthscales of the first few steps are guesses, and a bound made of
    guesses settles on the first summit it finds; so it does after a reset that keeps a point or two
    (docs/decisions/0031). Points still pending count as places where somebody has been.

    >>> SpreadFirst(5).count
    5
    """

    count: int
    then: Acquisition = field(default_factory=UCB)

    def __post_init__(self) -> None:
        object.__setattr__(self, "count", integer("initial", self.count, at_least=0))
        if isinstance(self.then, type) or not hasattr(self.then, "propose"):
            raise InvalidType(f"then={self.then!r}: must be an acquisition such as wv.UCB()")

    def propose(
        self,
        posterior: PosteriorView,
        region: Region,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Proposal:
        """A far point, or what `then` says."""
        if posterior.size >= self.count or not posterior.size:
            return self.then.propose(posterior, region, moment, generator)
        points = region.listed
        if points is None or len(points) > SAMPLES:
            points = region.sample(generator(), SAMPLES)
        else:
            points = generator().permutation(points)
        return Proposal(points[int(np.argmax(clearance(points, posterior.observed, region)))], math.nan)


def clearance(points: Array, others: Array, region: Region) -> Array:
    """The squared distance of m points from the nearest of n others, in units of the region.

    Along ordered coordinates it is measured around the corner, as if the upper end were the lower one:
    otherwise the first points would all be in the corners.
    """
    width = np.where(region.upper > region.lower, region.upper - region.lower, np.inf)
    apart = np.abs(points[:, None, :] - others[None, :, :]) / width
    apart = np.where(region.climbed.free, np.minimum(apart, np.abs(1.0 - apart)), apart)
    return np.asarray((apart * apart).sum(axis=2).min(axis=1))
