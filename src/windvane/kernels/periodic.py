"""A covariance of times that comes back: days, weeks, shifts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels.state_space import StateSpace
from windvane.kernels.temporal import Temporal

WEIGHTS = (0.4, 0.4, 0.2)  # a mean that stays, a day and its half: docs/decisions/0028


@component
@dataclass(frozen=True)
class TimePeriodic(Temporal):
    """w_0 + sum_h w_h cos(2 pi h |t - t'| / period): the same again after every period.

    `weights` are w_0, w_1, ...: the shares of the variance that stay, that go around once per period, twice,
    and so on; they sum to 1. For seasons that are not all alike, multiply by a slow `Markov`.

    >>> day = TimePeriodic(24.0)
    >>> day.cross(np.array([0.0, 12.0, 18.0]), 24.0).round(3)
    array([1. , 0.2, 0.2])
    """

    period: float
    weights: tuple[float, ...] = WEIGHTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "period", real("TimePeriodic(period)", self.period, above=0.0))
        given: Any = self.weights
        if not isinstance(given, tuple | list):
            raise InvalidType(f"TimePeriodic(weights)={given!r}: must be a list of numbers")
        weights = tuple(real("TimePeriodic(weights)", weight, at_least=0.0) for weight in given)
        if len(weights) < 2 or abs(sum(weights) - 1.0) > 1e-9:
            raise InvalidArgument(
                f"TimePeriodic(weights)={given!r}: must be two or more, for the part that stays and for each "
                "harmonic, that sum to 1"
            )
        object.__setattr__(self, "weights", weights)

    def matrix(self, s: Array, t: Array) -> Array:
        """w_0 + sum_h w_h cos(h a), a = 2 pi (s_i - t_j) / period."""
        # cos(a - b) is the real part of e^ia e^-ib: n exponentials instead of n^2 cosines
        turn = 2.0 * math.pi / self.period
        if not math.isfinite(turn * max(1.0, *map(_largest, (s, t)))):  # more turns than there are numbers
            turn, s, t = 2.0 * math.pi, *(np.fmod(times, self.period) / self.period for times in (s, t))
        one, two = np.exp(1j * turn * s), np.exp(-1j * turn * t)
        result = np.full((len(s), len(t)), self.weights[0])
        for h, weight in enumerate(self.weights[1:], start=1):
            if weight:
                result += weight * np.outer(one**h, two**h).real
        return result

    def variance(self, t: float) -> float:
        """The sum of the weights."""
        del t
        return sum(self.weights)

    def state_space(self) -> StateSpace:
        """A number that stays, and for each harmonic the hand of a clock."""
        spread: list[float] = []
        loading: list[float] = []
        hands: list[tuple[int, int]] = []  # the first row of each, and how often it goes around
        for h, weight in enumerate(self.weights):
            if weight:
                if h:
                    hands.append((len(spread), h))
                spread += [weight, weight] if h else [weight]
                loading += [1.0, 0.0] if h else [1.0]
        size = len(spread)

        def transition(dt: float) -> Array:
            A, periods = np.eye(size), dt / self.period
            if math.isinf(periods):
                periods = math.fmod(dt, self.period) / self.period
            for first, h in hands:
                angle = 2.0 * math.pi * h * math.fmod(periods, 1.0)
                A[first, first] = A[first + 1, first + 1] = math.cos(angle)
                A[first, first + 1] = math.sin(angle)
                A[first + 1, first] = -A[first, first + 1]
            return A

        return StateSpace(transition, np.diag(spread), np.array(loading))

    @property
    def theta(self) -> Array:
        """ln(period)."""
        return np.log([self.period])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """`period`."""
        return ("period",)

    def with_theta(self, theta: Array) -> TimePeriodic:
        """Another period."""
        return TimePeriodic(float(np.exp(theta[0])), self.weights)

    def theta_gradient(self, t: Array) -> Array:
        """d k / d ln(period) = sum_h w_h h a sin(h a)."""
        angle = 2.0 * math.pi * (t[:, None] - t[None, :]) / self.period
        return np.asarray(sum(w * h * angle * np.sin(h * angle) for h, w in enumerate(self.weights)))[None]


def _largest(times: Array) -> float:
    return float(np.abs(times).max(initial=0.0))
