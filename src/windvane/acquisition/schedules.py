"""How much to explore: the multiplier of sigma in mu + multiplier * sigma, step by step.

The paper writes mu + sqrt(beta_t) sigma; a schedule returns sqrt(beta_t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from windvane.acquisition.base import Moment
from windvane.checks import integer, probability, real
from windvane.codec import component
from windvane.errors import InvalidType
from windvane.theory.schedules import igp_multiplier, log_beta, theorem1_beta


class Schedule(Protocol):
    """The multiplier of sigma at a moment."""

    def multiplier(self, moment: Moment) -> float:
        """sqrt(beta_t)."""
        ...


@component
@dataclass(frozen=True)
class LogBeta:
    """beta_t = c1 ln(c2 t), clipped at 0 (Section 6.2); t counts all steps, or those since the reset.

    >>> moment = Moment(step=100, elapsed=4, dim=2, information_gain=lambda: 0.0)
    >>> round(LogBeta().multiplier(moment) ** 2, 4)
    2.3966
    >>> round(LogBeta(since_reset=True).multiplier(moment) ** 2, 4)
    1.109
    """

    c1: float = 0.4
    c2: float = 4.0
    since_reset: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "c1", real("beta(c1)", self.c1, above=0.0))
        object.__setattr__(self, "c2", real("beta(c2)", self.c2, above=0.0))

    def multiplier(self, moment: Moment) -> float:
        """sqrt(max(c1 ln(c2 t), 0))."""
        step = moment.elapsed if self.since_reset else moment.step
        return math.sqrt(log_beta(step, self.c1, self.c2))


@component
@dataclass(frozen=True)
class Theorem1Beta:
    """beta_t of Theorem 1, for a kernel whose samples satisfy Assumption 3 with a1 and b1 on [0, r]^d."""

    delta: float = 0.1
    a1: float = 1.0
    b1: float = 1.0
    r: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", probability("beta(delta)", self.delta))
        for name in ("a1", "b1", "r"):
            object.__setattr__(self, name, real(f"beta({name})", getattr(self, name), above=0.0))

    def multiplier(self, moment: Moment) -> float:
        """sqrt(beta_t)."""
        beta = theorem1_beta(moment.step, self.delta, moment.dim, a1=self.a1, b1=self.b1, r=self.r)
        return math.sqrt(max(beta, 0.0))


@component
@dataclass(frozen=True)
class IGPBeta:
    """IGP-UCB: B + R sqrt(2 (gamma + 1 + ln(1/delta))), with gamma the information gain of the data in use.

    The theory's gamma is the largest gain any points could have had; the gain of the points chosen
    is never above it, is known exactly, and makes the schedule less cautious.
    """

    bound: float = 1.0
    noise_scale: float = 0.1
    delta: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", real("beta(bound)", self.bound, at_least=0.0))
        object.__setattr__(self, "noise_scale", real("beta(noise_scale)", self.noise_scale, at_least=0.0))
        object.__setattr__(self, "delta", probability("beta(delta)", self.delta))

    def multiplier(self, moment: Moment) -> float:
        """B + R sqrt(2 (gamma + 1 + ln(1/delta)))."""
        return igp_multiplier(max(moment.information_gain(), 0.0), self.bound, self.noise_scale, self.delta)


@component
@dataclass(frozen=True)
class ConstantBeta:
    """The same beta at every step."""

    beta: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", real("beta(beta)", self.beta, at_least=0.0))

    def multiplier(self, moment: Moment) -> float:
        """sqrt(beta)."""
        del moment
        return math.sqrt(self.beta)


@component
@dataclass(frozen=True)
class StagedBeta:
    """One schedule in the first `steps` steps since the reset, another one from then on.

    >>> start, later = (Moment(200, elapsed, 1, lambda: 0.0) for elapsed in (100, 101))
    >>> schedule = StagedBeta(ConstantBeta(1.0), ConstantBeta(4.0), steps=100)
    >>> schedule.multiplier(start), schedule.multiplier(later)
    (1.0, 2.0)
    """

    early: Schedule
    late: Schedule
    steps: int

    def __post_init__(self) -> None:
        for name in ("early", "late"):
            schedule = getattr(self, name)
            if isinstance(schedule, type) or not hasattr(schedule, "multiplier"):
                raise InvalidType(f"beta({name})={schedule!r}: must be a schedule such as wv.LogBeta()")
        object.__setattr__(self, "steps", integer("beta(steps)", self.steps, at_least=0))

    def multiplier(self, moment: Moment) -> float:
        """That of the schedule whose time it is."""
        schedule = self.early if moment.elapsed <= self.steps else self.late
        return schedule.multiplier(moment)
