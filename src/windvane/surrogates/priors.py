"""Prior densities of positive hyperparameters, and the bounds they live in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from windvane.checks import real
from windvane.codec import component


class Prior(Protocol):
    """The log density of a positive number and its derivative."""

    def log_density(self, value: float) -> tuple[float, float]:
        """ln p(value) and d ln p / d value."""
        ...


@component
@dataclass(frozen=True)
class Gamma:
    """The Gamma density with `shape` a and `rate` b: p(v) = b^a v^(a-1) e^(-b v) / Gamma(a).

    >>> value, slope = Gamma(15, 10 / 3).log_density(4.2)  # the mode is (a - 1) / b = 4.2
    >>> round(value, 3), abs(slope) < 1e-12
    (-1.04, True)
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", real("Gamma(shape)", self.shape, above=0.0))
        object.__setattr__(self, "rate", real("Gamma(rate)", self.rate, above=0.0))

    def log_density(self, value: float) -> tuple[float, float]:
        """ln p and its slope."""
        a, b = self.shape, self.rate
        density = a * math.log(b) - math.lgamma(a) + (a - 1.0) * math.log(value) - b * value
        return density, (a - 1.0) / value - b


@component
@dataclass(frozen=True)
class LogNormal:
    """ln v is normal with mean ln(`median`) and standard deviation `sigma`.

    >>> round(LogNormal(1.0, 0.5).log_density(1.0)[0], 4)
    -0.2258
    """

    median: float
    sigma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "median", real("LogNormal(median)", self.median, above=0.0))
        object.__setattr__(self, "sigma", real("LogNormal(sigma)", self.sigma, above=0.0))

    def log_density(self, value: float) -> tuple[float, float]:
        """ln p and its slope."""
        u = (math.log(value) - math.log(self.median)) / self.sigma
        density = -0.5 * u * u - math.log(value * self.sigma * math.sqrt(2.0 * math.pi))
        return density, -(u / self.sigma + 1.0) / value
