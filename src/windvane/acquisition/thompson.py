"""Thompson sampling: the maximiser of one function drawn from the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windvane.acquisition.base import Moment, PosteriorView, Proposal
from windvane.acquisition.starts import best_of, cloud_around
from windvane.checks import Array
from windvane.codec import component
from windvane.spaces.region import Region

MOST = 768  # points of a joint sample: a factorisation of that size takes some ten milliseconds
OBSERVED = 128  # points in use among them, those with the highest means


@component
@dataclass(frozen=True)
class Thompson:
    """x_t = argmax of a joint sample of f on many points of the region, by the generator of the step.

    All points of a small finite region; otherwise a random part of the candidates, the points in use, and
    a cloud around the best of them.
    """

    def propose(
        self,
        posterior: PosteriorView,
        region: Region,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Proposal:
        """The highest point of the sample."""
        del moment
        rng = generator()
        points = sample_points(posterior, region, rng)
        heights = posterior.draw(points, rng)
        best = int(np.argmax(heights))
        return Proposal(points[best], float(heights[best]))


def sample_points(posterior: PosteriorView, region: Region, rng: np.random.Generator) -> Array:
    """Where the function is drawn."""
    if region.listed is not None and len(region.listed) <= MOST:
        return region.listed
    seen, near = np.empty((0, region.space.dim)), np.empty((0, region.space.dim))
    if posterior.size:
        means, _ = posterior.on_observed()
        seen = posterior.observed[best_of(means, np.arange(len(means)), OBSERVED)]
        near = cloud_around(seen)
        seen, near = (region.nearest(part) for part in (seen, near))
    count = MOST - len(seen) - len(near)
    points = posterior.candidates if region.whole and region.space.size is None else region.sample(rng, count)
    if len(points) > count:
        points = points[rng.choice(len(points), count, replace=False)]
    points = np.unique(np.concatenate((points, seen, near)), axis=0)
    if region.whole:
        return points
    inside = points[region.contains(points)]
    return inside if len(inside) else region.witnessed()  # at an edge, where a second look is not the first
