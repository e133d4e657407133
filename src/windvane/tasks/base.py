"""A task: an objective that changes over time and knows its own optimum."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

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
