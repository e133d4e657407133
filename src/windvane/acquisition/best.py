"""The point believed best: what to use, as opposed to what to try next."""

from __future__ import annotations

import math

import numpy as np

from windvane.acquisition.base import PosteriorView
from windvane.acquisition.maximise import Generator, maximise
from windvane.acquisition.starts import best_of
from windvane.acquisition.utility import UpperBound
from windvane.checks import Array
from windvane.spaces.region import Region

RAISED = 0.1  # standard deviations above the prior mean from which the data count as speaking for a point
KNOWN = 0.9  # the share of the prior variance that they explain where they count as telling in any case
RIVALS = 8  # measured points named beside the best


def believed_best(posterior: PosteriorView, region: Region, generator: Generator) -> Array:
    """The maximiser of the posterior mean, or a measured point where the posterior cannot tell.

    Where all values are below the prior mean, the posterior mean is highest far away from them, with
    nothing but the prior behind it: that is no reason to go there. The mean is never below that of a
    measured point of the region; where there are contexts, of a measured setting under those of now. Below
    the best, the next best measured points: k x d.
    """
    found = maximise(posterior, region, UpperBound(0.0), generator).point
    measured = posterior.observed
    if region.held:  # settings that were measured, under the context of now
        measured = region.nearest(measured)
    if not region.whole:
        measured = measured[region.contains(measured)]
    if not len(measured):
        return found[None]
    means = posterior.mean(measured)
    rivals = measured[best_of(means, np.arange(len(means)), RIVALS)]
    mean, variance = posterior.at(np.stack((found, rivals[0])))
    if mean[0] > mean[1] and _told(posterior, found, float(mean[0]), float(variance[0])):
        return np.concatenate((found[None], rivals))
    return rivals


def _told(posterior: PosteriorView, point: Array, mean: float, variance: float) -> bool:
    """Whether the data speak for a point: they raise its mean above the prior's, which is 0, or know it."""
    if mean > RAISED * math.sqrt(variance):
        return True
    several = bool((posterior.observed != posterior.observed[0]).any())
    return several and variance <= (1.0 - KNOWN) * float(posterior.prior(point[None])[0])
