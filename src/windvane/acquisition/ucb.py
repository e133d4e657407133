"""The upper confidence bound, and uniform sampling as its null hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from windvane.acquisition.base import Choice, Moment, Posterior
from windvane.acquisition.maximise import maximise
from windvane.acquisition.schedules import LogBeta, Schedule
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.spaces.base import Domain


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
        posterior: Posterior,
        domain: Domain,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Choice:
        """The maximiser of the bound."""
        return maximise(posterior, domain, self.schedule.multiplier(moment), generator)


@component
@dataclass(frozen=True)
class Uniform:
    """A random point, whatever the model says."""

    def propose(
        self,
        posterior: Posterior,
        domain: Domain,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Choice:
        """A sample of the domain."""
        del posterior, moment
        return Choice(domain.sample(generator(), 1)[0], float("nan"))
