"""Theorem 1 and Corollary 1 with every constant computed, on the cube [0, 1]^d for kernels of unit variance.

The paper gives no values for Assumption 3 (a0, b0, a1, b1), without which its bound is not a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermeval

from windvane.checks import Array, integer, one_of, probability, real
from windvane.errors import InvalidArgument
from windvane.kernels import RBF, Matern52
from windvane.late import optimize, special
from windvane.spaces import Box
from windvane.theory import (
    RegretBound,
    RegretOrder,
    corollary1_order,
    gain_upper_bound,
    greedy_information_gain,
    pi_t,
    reset_window,
    sublinear_region,
    theorem1_bound,
)

KERNELS = ("rbf", "matern52")
POINTS = 512  # candidates among which the information gain is greedily maximised
MOST_STEPS = 2048  # of the greedy choice; from there on its last increment is an upper bound on every next
SPREAD = 2.0  # b0, and b1 times a lengthscale: any number above sqrt(2) has its a0 and a1
# Var(f') l^2, and Var(d_i d_j f) l^2 / Var(d_j f) for i = j and i != j, of a kernel with lengthscale l.
SMOOTHNESS = {"rbf": (1.0, 3.0, 1.0), "matern52": (5.0 / 3.0, 15.0, 5.0)}


@dataclass(frozen=True)
class Constants:
    """a0, b0 and a1, b1 of Assumption 3: P{sup |f| > L} <= a0 exp(-(L / b0)^2), and so for derivatives."""

    a0: float
    b0: float
    a1: float
    b1: float


def assumption3(kernel: str, lengthscale: float, dim: int) -> Constants:
    """Constants that hold for a kernel of unit variance on the unit cube.

    The expected Euler characteristic of {x: f(x) > L} (Adler and Taylor, 2007, Theorem 12.4.2) is the tail
    of a smooth field's maximum up to an error that is exponentially smaller than the tail itself:

        P{max f > L} ~ P{Z > L} + sum_j e_j (2 pi)^(-(j+1)/2) He_(j-1)(L) exp(-L^2 / 2)

    with e_j the elementary symmetric polynomials of the sides of the cube, each times the root of the
    second spectral moment in its direction. Twice that bounds both tails. With b = 2 the factor a is the
    smallest for which a exp(-(L / b)^2) is above it at every L (and above 1 where the tail is).

    >>> found = assumption3("rbf", 0.2, 2)
    >>> round(found.a0, 2), found.b0, round(found.a1, 2), found.b1
    (3.22, 2.0, 4.22, 10.0)
    """
    slope, along, across = SMOOTHNESS[kernel]
    a0 = _factor([math.sqrt(slope) / lengthscale] * dim)
    a1 = _factor([math.sqrt(along) / lengthscale, *[math.sqrt(across) / lengthscale] * (dim - 1)])
    return Constants(a0, SPREAD, a1, SPREAD * math.sqrt(slope) / lengthscale)


def _factor(sides: Sequence[float]) -> float:
    """a of a field of unit variance, from the sides of its domain in units of its own correlation length."""
    volumes = np.poly(-np.array(sides))[1:]  # e_1 .. e_d: the coefficients of (z + side) .. (z + side)
    levels = np.linspace(0.0, 12.0 + 2.0 * math.log1p(float(volumes.max())), 20_001)
    tail = 2.0 * special.ndtr(-levels)
    for j, volume in enumerate(volumes, start=1):
        density = hermeval(levels, [0.0] * (j - 1) + [1.0]) * np.exp(-0.5 * levels**2)
        tail += 2.0 * volume * (2.0 * math.pi) ** (-0.5 * (j + 1)) * density
    above_one = np.flatnonzero(tail >= 1.0)
    tail[: above_one[-1] + 1 if above_one.size else 0] = 1.0
    with np.errstate(over="ignore", invalid="ignore"):  # 0 times infinity, far beyond where the tail ends
        return float(np.nanmax(tail * np.exp((levels / SPREAD) ** 2)))


@dataclass(frozen=True)
class BoundProblem:
    """What Theorem 1 is asked about; `rates` are the bounds on eps that set the window."""

    rate: float
    rates: tuple[float, float]
    horizon: int
    kernel: str
    lengthscale: float
    dim: int
    noise_variance: float
    delta: float
    constants: Constants

    @classmethod
    def of(
        cls,
        *,
        rate: float = 0.03,
        rates: tuple[float, float] | None = None,
        horizon: int = 400,
        kernel: str = "rbf",
        lengthscale: float = 0.2,
        dim: int = 2,
        noise_variance: float = 0.02,
        delta: float = 0.1,
        a0: float | None = None,
        b0: float | None = None,
        a1: float | None = None,
        b1: float | None = None,
    ) -> BoundProblem:
        """Checked; constants that are not given are derived from the kernel, bounds from the rate itself."""
        rate = real("rate", rate, at_least=0.0, at_most=1.0)
        low, high = (rate, rate) if rates is None else rates
        low, high = (
            real("rates", low, at_least=0.0, at_most=1.0),
            real("rates", high, at_least=0.0, at_most=1.0),
        )
        if not low <= rate <= high:
            raise InvalidArgument(
                f"rates={low:g} {high:g}: must enclose the rate, lowest first; "
                f"rate={rate:g} is not between them"
            )
        if kernel == "matern32":
            raise InvalidArgument(
                "kernel='matern32': Theorem 1 and Corollary 1 need nu > 2, and Matern 3/2 has nu = 1.5; "
                "use matern52 or rbf"
            )
        kernel = one_of("kernel", kernel, KERNELS)
        lengthscale = real("lengthscale", lengthscale, at_least=1e-3, at_most=1e3)
        dim = integer("dim", dim, at_least=1, at_most=30)
        own = assumption3(kernel, lengthscale, dim)
        given = {"a0": a0, "b0": b0, "a1": a1, "b1": b1}
        least = {"a": {"at_least": 1.0}, "b": {"above": 0.0}}  # at L = 0 the probability is 1
        chosen = {
            name: getattr(own, name) if value is None else real(name, value, **least[name[0]])
            for name, value in given.items()
        }
        return cls(
            rate,
            (low, high),
            integer("horizon", horizon, at_least=1),
            kernel,
            lengthscale,
            dim,
            real("noise_variance", noise_variance, above=0.0),
            probability("delta", delta),
            Constants(**chosen),
        )

    @property
    def smoothness(self) -> dict[str, Any]:
        """nu and dim, as the functions of `theory` want them; none for the squared exponential."""
        return {} if self.kernel == "rbf" else {"nu": 2.5, "dim": self.dim}

    @property
    def lambdas(self) -> tuple[float, float] | None:
        """lambda_1 and lambda_2, eps_low / eps and eps_high / eps; None for a rate of 0."""
        return None if self.rate == 0.0 else (self.rates[0] / self.rate, self.rates[1] / self.rate)

    def window(self, rates: tuple[float, float] | None = None, horizon: int | None = None) -> tuple[int, int]:
        """[N_low, N_high] of Corollary 1."""
        steps = self.horizon if horizon is None else horizon
        low, high = reset_window(self.rates if rates is None else rates, steps, **self.smoothness)
        return low, steps if high is None else high

    def gain(self, count: int) -> float:
        """The greedy information gain of `count` observations among Sobol points of the cube."""
        steps = min(MOST_STEPS, 1 << max(6, (count - 1).bit_length()))  # a power of two, to be used again
        curve = _gains(self.kernel, self.lengthscale, self.dim, self.noise_variance, steps)
        if count <= len(curve):
            return float(curve[count - 1])
        return float(curve[-1] + (count - len(curve)) * (curve[-1] - curve[-2]))

    def bound(
        self, rate: float | None = None, rates: tuple[float, float] | None = None, horizon: int | None = None
    ) -> RegretBound:
        """Theorem 1, for this problem or with another rate or horizon."""
        steps = self.horizon if horizon is None else horizon
        return self.within(self.window(rates, steps), self.rate if rate is None else rate, steps)

    def within(self, window: tuple[int, int], rate: float, horizon: int) -> RegretBound:
        """Theorem 1 for a given window."""
        return theorem1_bound(
            horizon,
            rate,
            window,
            gain_upper_bound(self.gain(window[1])),
            self.noise_variance,
            self.delta,
            self.dim,
            **asdict(self.constants),
        )

    def trivial(self, horizon: int | None = None) -> float:
        """What no algorithm can exceed, with probability 1 - delta: 2 T sup |f| over all steps.

        Assumption 3 at delta / pi_t gives sup |f_t| <= b0 sqrt(ln(a0 pi_t / delta)) at every step, and a
        step costs at most the difference of two values.
        """
        steps = self.horizon if horizon is None else horizon
        logarithm = math.log(max(1.0, self.constants.a0 * pi_t(steps) / self.delta))
        return 2.0 * steps * self.constants.b0 * math.sqrt(logarithm)

    @property
    def order(self) -> RegretOrder | None:
        """Corollary 1's terms; None where it does not apply (see `no_order`)."""
        if self.no_order is not None or self.lambdas is None:
            return None
        return corollary1_order(self.rate, self.horizon, *self.lambdas, **self.smoothness)

    @property
    def no_order(self) -> str | None:
        """Why Corollary 1's orders do not apply, if they do not."""
        if self.rate == 0.0:
            return "the rate is 0: nothing changes, and Theorem 1's exploration term is all there is"
        if self.rates[0] == 0.0:
            return "the lower bound on the rate is 0, so N_high = T; Corollary 1 needs one above 0"
        if self.rates[1] >= 1.0:
            return "the upper bound on the rate is 1; Corollary 1 needs one below 1"
        return None

    @property
    def region(self) -> float | None:
        """The largest rate with sub-linear regret by Corollary 1, for the same lambdas."""
        if self.lambdas is None or self.lambdas[0] == 0.0:
            return None
        return sublinear_region(self.horizon, *self.lambdas, **self.smoothness)

    @cached_property
    def informative(self) -> float | None:
        """The largest rate at which Theorem 1 is below the trivial bound; None if it is not even at 0.

        The window moves with the rate, as the lambdas say.
        """
        low, high = self.lambdas or (1.0, 1.0)

        def excess(log_rate: float) -> float:
            rate = 10.0**log_rate
            rates = (low * rate, min(high * rate, 1.0))
            return math.log(self.bound(rate, rates).total / self.trivial())

        if excess(-60.0) > 0.0:
            return None
        end = -math.log10(high)
        return float(10.0 ** (end if excess(end) < 0.0 else optimize.brentq(excess, -60.0, end, xtol=1e-6)))


@lru_cache(maxsize=16)
def _gains(kernel: str, lengthscale: float, dim: int, noise_variance: float, steps: int) -> Array:
    points = Box([(0.0, 1.0)] * dim).candidates(POINTS)
    covariance = (RBF if kernel == "rbf" else Matern52)(lengthscale).matrix(points, points)
    return greedy_information_gain(covariance, noise_variance, steps).curve
