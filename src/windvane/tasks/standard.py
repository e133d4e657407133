"""Standard benchmarks whose optimum moves halfway (Appendix A.4): Ackley and Hartmann, to be maximised.

The paper shifts the optimum after T/2 steps: "we perturb the input of the objective function by a
constant factor". A factor would leave Ackley's optimum, the origin, where it is, so the constant is
read as added: f_t(x) = f(x) up to T/2 and f(x - s) after. Its size s is not in the text. Ours, a third of
the range for Ackley and a fifth for Hartmann, keeps the optimum inside the box with a margin and costs
whoever stays at the old place: Ackley falls there from 0 to -12.6, Hartmann from 3.32 to 0.60.

Neither the noise nor the box of Ackley is stated either. The noise here has one per cent of the standard
deviation of the function over its box. The box is [-5, 10]^d, as in the work from which the paper takes
its lengthscale bounds (TuRBO, Eriksson et al. 2019): unlike [-32.768, 32.768]^d it does not have the
optimum at its centre, where many methods look first. With s = 5 the centre is as far from the optimum
before the shift as after it.

Functions: Ackley (1987), "A Connectionist Machine for Genetic Hillclimbing", a = 20, b = 0.2, c = 2 pi;
Dixon and Szego (1978), "The global optimization problem: an introduction", for Hartmann's with d = 6.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any, final

import numpy as np

from windvane.checks import Array, array, integer, real
from windvane.errors import InvalidArgument
from windvane.spaces import Box
from windvane.tasks.base import Optimum, index_of


class _Halfway(ABC):
    """A function whose largest value anywhere is at `peak`; moved by `shift` at the steps t > T/2.

    A function that is largest at its peak among all points of R^d, as both below are, keeps its maximum
    over the box for as long as the moved peak is in the box. Any other shift is refused.
    """

    name: str
    kernel = None  # the lengthscales are for the algorithm to learn

    def __init__(
        self, box: Box, peak: Array, shift: Any, horizon: int, seed: int, noise_variance: float
    ) -> None:
        self.space = box
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self._peak = peak
        self.shift = _inside(box, peak, shift)

    @staticmethod
    @abstractmethod
    def function(z: Array) -> float:
        """The function before the shift; any point of R^d will do."""

    def _offset(self, t: int) -> Array:
        """What has been subtracted from the input at step t."""
        index_of(t, self.horizon)
        return self.shift if 2 * t > self.horizon else np.zeros_like(self.shift)

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        self.space.encode(x)  # refuses what is not a point of the box
        return self.function(np.asarray(x, dtype=np.float64) - self._offset(t))

    def optimum(self, t: int) -> Optimum:
        """The value at the peak, wherever that is at step t."""
        return Optimum(self.function(self._peak), self._peak + self._offset(t))


@final
class AckleyShift(_Halfway):
    """Ackley's function on [-5, 10]^d, moved by `shift` after half of the steps; at most 0.

    `shift` is a number, added to every coordinate of the optimum's place, or one number per coordinate.
    `seed` is kept for the record: nothing is drawn here, `simulate` draws the noise.

    >>> task = AckleyShift()
    >>> task.horizon, float(task.optimum(30)), task.optimum(30).x, task.optimum(31).x
    (60, 0.0, array([0., 0.]), array([5., 5.]))
    >>> round(task.value([0.0, 0.0], 31), 2)
    -12.64
    """

    name = "ackley-shift"

    def __init__(
        self,
        *,
        dim: int = 2,
        horizon: int = 60,
        seed: int = 0,
        noise_variance: float = 1.25e-3,
        shift: float | Sequence[float] | Array = 5.0,
    ) -> None:
        d = integer("dim", dim, at_least=1)
        super().__init__(Box([(-5.0, 10.0)] * d), np.zeros(d), shift, horizon, seed, noise_variance)

    @staticmethod
    def function(z: Array) -> float:
        """20 exp(-0.2 |z| / sqrt(d)) + exp(mean of cos(2 pi z)) - 20 - e.

        Written as two terms that are never above 0, and exactly 0 at the origin only.
        """
        hill = 20.0 * math.expm1(-0.2 * math.sqrt(float(np.mean(z * z))))
        ripples = math.e * math.expm1(-2.0 * float(np.mean(np.sin(np.pi * z) ** 2)))
        return hill + ripples + 0.0  # 0 rather than -0


# Hartmann's function is a sum of four bells, alpha_i exp(-sum_j A_ij (z_j - P_ij)^2).
ALPHA = np.array([1.0, 1.2, 3.0, 3.2])
A = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
P = 1e-4 * np.array(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)


@final
class HartmannShift(_Halfway):
    """Hartmann's function in the unit cube of 6 dimensions, moved by `shift` after half of the steps.

    Its largest value, 3.32237, is the largest on all of R^6: a coordinate below (above) that of all
    four centres P_i can be raised (lowered) to the nearest of them, and every bell grows. So the
    maximum over the cube stays the same for as long as its place is moved to a point of the cube.

    `shift` is a number, added to every coordinate of the optimum's place, or one number a coordinate.
    `seed` is kept for the record: nothing is drawn here, `simulate` draws the noise.

    >>> task = HartmannShift()
    >>> task.horizon, round(task.optimum(1), 5), task.optimum(1).x.round(3)
    (200, 3.32237, array([0.202, 0.15 , 0.477, 0.275, 0.312, 0.657]))
    >>> task.optimum(101).x.round(3)
    array([0.402, 0.35 , 0.677, 0.475, 0.512, 0.857])
    """

    name = "hartmann-shift"

    def __init__(
        self,
        *,
        horizon: int = 200,
        seed: int = 0,
        noise_variance: float = 1.5e-5,
        shift: float | Sequence[float] | Array = 0.2,
    ) -> None:
        super().__init__(Box([(0.0, 1.0)] * 6), hartmann_peak(), shift, horizon, seed, noise_variance)

    @staticmethod
    def function(z: Array) -> float:
        """The sum of the four bells."""
        return float(ALPHA @ np.exp(-np.sum(A * (z - P) ** 2, axis=1)))


@cache
def hartmann_peak() -> Array:
    """Where Hartmann's function is largest, to rounding; read-only.

    The gradient is zero where z_j is the mean of the P_ij with weights alpha_i A_ij exp(...). Taking
    that mean again and again climbs, as an EM algorithm does; the best of the four ends is the peak.
    """
    ends = [climb(centre, A, P) for centre in P]
    peak = max(ends, key=HartmannShift.function)
    peak.setflags(write=False)
    return peak


def climb(z: Array, rates: Array, centres: Array) -> Array:
    """The end of the climb from z among four bells, with A and P of either of Hartmann's functions."""
    for _ in range(1000):
        weights = (ALPHA * np.exp(-np.sum(rates * (z - centres) ** 2, axis=1)))[:, None] * rates
        previous, z = z, np.sum(weights * centres, axis=0) / np.sum(weights, axis=0)
        if np.abs(z - previous).max() < 1e-15:
            break
    return z


def _inside(box: Box, peak: Array, shift: Any) -> Array:
    """The shift as one number a coordinate; it must not push the optimum out of the box."""
    d = box.dim
    each = isinstance(shift, list | tuple) or (isinstance(shift, np.ndarray) and shift.ndim > 0)
    by = array("shift", shift, (d,)) if each else np.full(d, real("shift", shift))
    lower, upper = np.array(box.bounds).T
    moved = peak + by
    if not ((moved >= lower) & (moved <= upper)).all():
        least, most = (lower - peak).max(), (upper - peak).min()
        raise InvalidArgument(
            f"shift={shift!r}: moves the optimum out of the box; "
            f"a number from {least:.4g} to {most:.4g} keeps all of its coordinates inside"
        )
    by.setflags(write=False)
    return by
