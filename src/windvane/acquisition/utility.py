"""A utility: what a belief N(mean, std^2) about f(x) is worth, as a smooth function u(mean, std).

The maximiser climbs u(mean(x), std(x)) and knows nothing else about it. With v = std^2 the chain rule is

    du = u_m dm + u_s ds,   ds = dv / 2s,
    Hess u = u_m Hess m + u_s Hess s + u_mm dm dm' + u_ms (dm ds' + ds dm') + u_ss ds ds',
    Hess s = Hess v / 2s - dv dv' / 4s^3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from windvane.acquisition.base import Derivatives, PointDerivatives
from windvane.checks import Array

SMALLEST_VARIANCE = 1e-18

Vector = list[float]
Matrix = list[list[float]]


class Partials(NamedTuple):
    """u, its first derivatives u_m and u_s, and its second ones (u_mm, u_ms, u_ss), None if all are 0.

    Each is a number, or an array like the means that it was asked for.
    """

    value: Any
    mean: Any
    std: Any
    second: tuple[Any, Any, Any] | None = None


class Utility(Protocol):
    """u(mean, std), increasing in the mean. Means and stds are arrays, or plain numbers."""

    @property
    def linear(self) -> bool:
        """Whether u is a linear function: then it varies no faster than the posterior does."""
        ...

    def value(self, mean: Any, std: Any) -> Any:
        """u."""
        ...

    def partials(self, mean: Any, std: Any) -> Partials:
        """u with its first and second derivatives."""
        ...

    def scale(self, values: Array) -> float:
        """The size of differences that matter, given u on many points: tolerances are parts of it."""
        ...


@dataclass(frozen=True)
class UpperBound:
    """mean + multiplier std: linear, so that nothing but the slopes is needed.

    >>> UpperBound(2.0).partials(1.0, 0.5)
    Partials(value=2.0, mean=1.0, std=2.0, second=None)
    """

    multiplier: float = 0.0

    @property
    def linear(self) -> bool:
        """It is."""
        return True

    def value(self, mean: Any, std: Any) -> Any:
        """mean + c std."""
        return mean + self.multiplier * std

    def partials(self, mean: Any, std: Any) -> Partials:
        """Slopes 1 and c."""
        return Partials(mean + self.multiplier * std, 1.0, self.multiplier)

    def scale(self, values: Array) -> float:
        """The largest bound in size."""
        return max(abs(float(values.max())), abs(float(values.min())), 1e-12)


def utility_at(utility: Utility, surface: Derivatives) -> tuple[Partials, Array]:
    """u and its partial derivatives at the surface's points, and std there."""
    std = np.sqrt(np.maximum(surface.variance, SMALLEST_VARIANCE))
    return utility.partials(surface.mean, std), std


def gradient_and_hessian(surface: Derivatives, partials: Partials, std: Array) -> tuple[Array, Array]:
    """Those of u in x at m points: m x d and m x d x d."""
    dm, dv = surface.mean_gradient, surface.variance_gradient
    c = partials.std / (2.0 * std)
    slope = partials.mean if isinstance(partials.mean, float) else partials.mean[:, None]
    gradient = slope * dm + c[:, None] * dv
    twist = -c / (2.0 * std * std)  # of dv dv'
    hessian = surface.bend(partials.mean, c) + (twist[:, None] * dv)[:, :, None] * dv[:, None, :]
    if partials.second is None:
        return gradient, hessian
    ds = dv / (2.0 * std)[:, None]
    mm, ms, ss = (np.broadcast_to(part, std.shape)[:, None] for part in partials.second)
    hessian += (mm * dm + ms * ds)[:, :, None] * dm[:, None, :]
    hessian += (ms * dm + ss * ds)[:, :, None] * ds[:, None, :]
    return gradient, hessian


def derivatives_at(utility: Utility, local: PointDerivatives) -> tuple[float, Vector, Matrix]:
    """u with gradient and Hessian in x at one point.

    v = prior - G_00, dv = -2 G_0, Hess v = -2 (G_ab + k_ab w), so ds = -G_0 / s.
    """
    means, G = local.means, local.gram
    d = len(G) - 1
    variance = max(local.prior - G[0][0], SMALLEST_VARIANCE)
    std = math.sqrt(variance)
    partials = utility.partials(means[0], std)
    a, c = partials.mean, partials.std / std
    twist = c / variance
    slope = weights = G[0]  # k' K~^-1 of the gradient's rows, and after them of the Hessian's
    mm = ms = ss = 0.0
    if partials.second is not None:  # in terms of G_0 = -s ds
        mm, ms, ss = partials.second[0], -partials.second[1] / std, partials.second[2] / variance
    gradient = [a * means[i] - c * slope[i] for i in range(1, d + 1)]
    hessian = [[0.0] * d for _ in range(d)]
    row = d
    for i in range(1, d + 1):
        along = mm * means[i] + ms * slope[i]
        across = ms * means[i] + (ss - twist) * slope[i]
        for j in range(i, d + 1):
            row += 1
            hessian[i - 1][j - 1] = hessian[j - 1][i - 1] = (
                a * means[row] - c * (weights[row] + G[i][j]) + along * means[j] + across * slope[j]
            )
    return partials.value, gradient, hessian
