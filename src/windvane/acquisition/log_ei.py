"""The logarithm of expected improvement, computed where the improvement itself would be zero.

With the incumbent f* and z = (mean - f*) / std, EI = std h(z), h(z) = phi(z) + z Phi(z) (Jones et al. 1998),
and ln EI = ln std + ln h(z) (Ament et al. 2023). With the Mills ratio R(t) = Phi(-t) / phi(t) and
A(t) = 1 - t R(t), h(-t) = phi(t) A(t); for large t both are asymptotic series in 1 / t^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.acquisition.base import Moment, PosteriorView, Proposal
from windvane.acquisition.maximise import maximise
from windvane.acquisition.utility import Partials
from windvane.checks import Array
from windvane.codec import component
from windvane.late import special
from windvane.spaces.region import Region

HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)
ROOT_HALF_PI = math.sqrt(math.pi / 2.0)
LEFT = -1.0  # below this z the Mills ratio is used
FAR = -40.0  # below this z its series, whose first term left out is then 1e-14 of the first
# R(t) = (1 - q + 3 q^2 - ...) / t and A(t) = q (1 - 3 q + 15 q^2 - ...), with q = 1 / t^2
MILLS = (1.0, -1.0, 3.0, -15.0, 105.0, -945.0, 10395.0)
SHARE = (1.0, -3.0, 15.0, -105.0, 945.0, -10395.0, 135135.0)
# (A - R^2) / q^2: what is left of the two
BEND = (-1.0, 8.0, -69.0, 696.0, -8127.0)
UNIT = 10.0  # differences in ln EI: a climb ends when it promises less than 1e-4, a hundredth of a per cent


@component
@dataclass(frozen=True)
class LogEI:
    """x_t = argmax ln E[max(f(x) - f*, 0)], f* the highest posterior mean at the points in use.

    The highest mean, not the highest value: values have noise in them, and what was high may have moved.
    """

    def propose(
        self,
        posterior: PosteriorView,
        region: Region,
        moment: Moment,
        generator: Callable[[], np.random.Generator],
    ) -> Proposal:
        """The maximiser of the logarithm of expected improvement."""
        del moment
        return maximise(posterior, region, LogImprovement(incumbent(posterior, region)), generator)


def incumbent(posterior: PosteriorView, region: Region) -> float:
    """The highest posterior mean at the points in use, each moved into the region first."""
    if not posterior.size:
        return 0.0
    points = posterior.observed if region.whole else region.nearest(posterior.observed)
    return float(posterior.mean(points).max())


@dataclass(frozen=True)
class LogImprovement:
    """ln E[max(f - f*, 0)] for f ~ N(mean, std^2).

    >>> utility = LogImprovement(1.0)
    >>> bool(np.isclose(utility.value(1.0, 1.0), math.log(1.0 / math.sqrt(2.0 * math.pi))))
    True
    >>> float(utility.value(-99.0, 1.0)).__round__(3)  # EI itself is 1e-2176
    -5010.13
    """

    incumbent: float

    @property
    def linear(self) -> bool:
        """It is not."""
        return False

    def value(self, mean: Any, std: Any) -> Any:
        """ln std + ln h(z)."""
        return np.log(std) + log_h((mean - self.incumbent) / std)

    def partials(self, mean: Any, std: Any) -> Partials:
        """With L = ln h: u_m = L' / s, u_s = phi / (h s), and their derivatives."""
        z = np.asarray((mean - self.incumbent) / std, dtype=float)
        value, first, second, density = log_h_derivatives(z)
        square = std * std
        cross = first + z * second
        parts = (np.log(std) + value, first / std, density / std)
        seconds = (second / square, -cross / square, (z * cross - density) / square)
        if z.ndim:
            return Partials(*parts, seconds)
        u, u_m, u_s, u_mm, u_ms, u_ss = map(float, (*parts, *seconds))
        return Partials(u, u_m, u_s, (u_mm, u_ms, u_ss))

    def scale(self, values: Array) -> float:
        """The same everywhere: a difference of logarithms is a ratio."""
        del values
        return UNIT


def log_h(z: Any) -> Array:
    """ln(phi(z) + z Phi(z)) for any z.

    >>> [f"{value:.6g}" for value in log_h(np.array([0.0, -1e3, -1e10]))]
    ['-0.918939', '-500015', '-5e+19']
    """
    return log_h_derivatives(np.asarray(z, dtype=float))[0]


def log_h_derivatives(z: Array) -> tuple[Array, Array, Array, Array]:
    """ln h, its first and second derivatives Phi/h and phi/h - (Phi/h)^2, and phi/h."""
    middle = np.maximum(z, LEFT)
    density = np.exp(-0.5 * middle * middle - HALF_LOG_2PI)
    below = special.ndtr(middle)
    h = density + middle * below
    value, first, share = np.log(h), below / h, density / h
    second = share - first * first
    if (z >= LEFT).all():
        return value, first, second, share
    t = np.maximum(-z, -LEFT)
    q = 1.0 / (t * t)
    far = z < FAR
    near = np.minimum(t, -FAR)
    mills = ROOT_HALF_PI * special.erfcx(near / math.sqrt(2.0))
    A = 1.0 - near * mills
    series = _polynomial(SHARE, q)
    mills, A = np.where(far, _polynomial(MILLS, q) / t, mills), np.where(far, q * series, A)
    bend = np.where(far, _polynomial(BEND, q) / (series * series), (A - mills * mills) / (A * A))
    left = z < LEFT
    return (
        np.where(left, np.log(A) - 0.5 * t * t - HALF_LOG_2PI, value),
        np.where(left, mills / A, first),
        np.where(left, bend, second),
        np.where(left, 1.0 / A, share),
    )


def _polynomial(coefficients: tuple[float, ...], q: Array) -> Array:
    """c_0 + c_1 q + c_2 q^2 + ..., by Horner's rule; q is at most 1 / t^2 where the result is used."""
    q = np.minimum(q, 1.0 / FAR**2)
    result = np.zeros_like(q)
    for c in reversed(coefficients):
        result = result * q + c
    return result
