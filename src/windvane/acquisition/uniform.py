"""Uniform sampling: what every other acquisition has to beat."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windvane.acquisition.base import Moment, PosteriorView, Proposal
from windvane.codec import component
from windvane.spaces.region import Region


@component
@dataclass(frozen=True)
class Uniform:
    """A random point, whatever the model says."""

    def propose(
        self,
        posterior: PosteriorView,
        region: Region,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Proposal:
        """A sample of the region."""
        del posterior, moment
        return Proposal(region.sample(generator(), 1)[0], math.nan)
