"""A task: an objective that changes over time and knows its own optimum."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from windvane.checks import integer
from windvane.constraints import Constraint
from windvane.kernels import Kernel
from windvane.spaces.base import Domain


class Optimum(float):
    """The best value at a time; `.x` is a point that attains it.

    >>> best = Optimum(1.5, x=3)
    >>> best - 1.0, best.x
    (0.5, 3)
    """

    x: Any

    def __new__(cls, value: float, x: Any) -> Optimum:
        self = super().__new__(cls, value)
        self.x = x
        return self

    def __getnewargs__(self) -> tuple[float, Any]:  # type: ignore[override]
        return float(self), self.x


def index_of(t: int, horizon: int) -> int:
    """The row of step t in an array of T rows; steps count from 1.

    >>> index_of(1, 400), index_of(400, 400)
    (0, 399)
    >>> index_of(401, 400)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: t=401: must be an integer at least 1 and at most 400
    """
    return integer("t", t, at_least=1, at_most=horizon) - 1


@runtime_checkable
class Task(Protocol):
    """What `simulate` needs. Times are the steps 1 .. horizon; values are to be maximised."""

    @property
    def name(self) -> str:
        """The name `task` knows it by."""
        ...

    @property
    def space(self) -> Domain:
        """Where the objective lives."""
        ...

    @property
    def kernel(self) -> Kernel | None:
        """The covariance it was drawn from, if it is known."""
        ...

    @property
    def noise_variance(self) -> float:
        """The variance of the noise that `simulate` adds."""
        ...

    @property
    def horizon(self) -> int:
        """T."""
        ...

    def value(self, x: Any, t: int) -> float:
        """f_t(x), without noise."""
        ...

    def optimum(self, t: int) -> Optimum:
        """max f_t."""
        ...


@runtime_checkable
class Contextual(Protocol):
    """A task whose space has contexts; `optimum(t)` is for those of step t."""

    def context(self, t: int) -> dict[str, Any]:
        """What is observed at step t, before a point is asked for."""
        ...


@runtime_checkable
class Disturbed(Protocol):
    """A task whose observations are off by more than Gaussian noise, such as outliers."""

    def disturbance(self, t: int) -> float:
        """What is added to the observation at step t; not part of the objective, so not of the regret."""
        ...


@runtime_checkable
class Noisy(Protocol):
    """A task with noise of its own making, such as noise with heavy tails."""

    def noise_from(self, normal: float, t: int) -> float:
        """The noise at step t, from a standard normal draw; `simulate` hands in the draw."""
        ...


@runtime_checkable
class Constrained(Protocol):
    """A task with limits on quantities beside the objective; `optimum(t)` is within them."""

    @property
    def constraints(self) -> dict[str, Constraint]:
        """The limits, by the name of what they limit; empty if there are none."""
        ...

    @property
    def outcome_noise(self) -> dict[str, float]:
        """The variances of the noise that `simulate` adds to the outcomes, by name."""
        ...

    @property
    def start(self) -> list[Any]:
        """Settings that are safely within all limits at step 1; without contexts."""
        ...

    def outcomes(self, x: Any, t: int) -> dict[str, float]:
        """What is limited, by name, at x and step t, without noise."""
        ...
