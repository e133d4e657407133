"""The upper confidence bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from windvane.acquisition.base import Moment, PosteriorView, Proposal
from windvane.acquisition.maximise import maximise
from windvane.acquisition.schedules import LogBeta, Schedule
from windvane.acquisition.utility import UpperBound
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.spaces.region import Region


@component
@dataclass(frozen=True)
class UCB:
    """x_t = argmax mu(x) + sqrt(beta_t) sigma(x) (Alg. 1, line 5)."""

    schedule: Schedule = field(default_factory=LogBeta)

    def __post_init__(self) -> None:
        if isinstance(self.schedule, type) or not hasattr(self.schedule, "multiplier"):
            raise InvalidType(f"schedule={self.schedule!r}: must be a schedule such as wv.LogBeta()")

    def propose(
        self,
        posterior: PosteriorView,
        region: Region,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Proposal:
        """The maximiser of the bound."""
        return maximise(posterior, region, UpperBound(self.schedule.multiplier(moment)), generator)
