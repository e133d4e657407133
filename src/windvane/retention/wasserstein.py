"""The limit of W-DBO: forget what no longer matters to the future (Bardou et al. 2024)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from windvane import checks
from windvane.checks import Array
from windvane.codec import component
from windvane.data import Dataset
from windvane.errors import InvalidArgument
from windvane.kernels import (
    RBF,
    Empirical,
    Exchangeable,
    Independent,
    Kernel,
    Markov,
    Matern32,
    Matern52,
    Stationary,
    Temporal,
    TimeMatern32,
    TimeMatern52,
    TimeRBF,
    Trend,
)
from windvane.retention.base import Belief, Memory
from windvane.theory.relevance import Relevances, matern_future, matern_overlap, rbf_future, rbf_overlap

LARGEST = 690.0  # of ln(budget): far beyond anything that is ever removed
ORDERS: dict[type, float] = {Matern32: 1.5, Matern52: 2.5, TimeMatern32: 1.5, TimeMatern52: 2.5}


@component
@dataclass(frozen=True)
class Relevance:
    """Drops the least relevant observation again and again, as long as a budget pays for it.

    The budget starts at 1 and grows by 1 + `alpha` in every lengthscale of time. Removing an
    observation of relevance r takes 1 + r, by which the budget is divided. Nothing goes before
    observation number `first`, when the hyperparameters are still a guess; `least` observations, the
    newest among them, stay whatever happens.

    >>> from windvane.kernels import RBF
    >>> steps = np.arange(1, 41)
    >>> places = (steps % 4 / 4.0)[:, None]
    >>> data = Dataset(places, np.sin(0.1 * steps), steps.astype(float), steps)
    >>> model = Belief(RBF(0.2), TimeMatern32(5.0), noise_variance=0.1)
    >>> kept, (budget, _) = Relevance().apply(data, model, (1.0, 39.0))
    >>> kept.steps, round(budget, 3)  # it had grown to 1.046
    (array([33, 34, 35, 36, 37, 38, 39, 40]), 1.009)
    """

    alpha: float = 0.25
    first: int = 15
    least: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", checks.real("alpha", self.alpha, at_least=0.0))
        object.__setattr__(self, "first", checks.integer("first", self.first, at_least=1))
        object.__setattr__(self, "least", checks.integer("least", self.least, at_least=1))

    def start(self) -> Memory:
        """No budget yet; from the first removal on it is the budget and the time it was reckoned at."""
        return ()

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:
        """Let the budget grow to the present, and spend it."""
        if not len(data) or data.steps[-1] < self.first:
            return data, memory
        now = float(data.times[-1])
        budget, then = memory if memory else (1.0, now)
        growth = math.log1p(self.alpha) * (now - then) / _lengthscale(belief.temporal)
        budget = math.exp(min(math.log(budget) + growth, LARGEST))
        rows = np.arange(len(data))
        if len(data) > self.least:
            left = Relevances(
                belief.covariance(data), future_overlap(data, belief, now), belief.inward(data.y)
            )
            while len(rows) > self.least:
                price = 1.0 + left.values()[rows[:-1]]
                cheapest = int(price.argmin())
                if price[cheapest] >= budget:
                    break
                budget /= float(price[cheapest])
                left.drop(int(rows[cheapest]))
                rows = np.delete(rows, cheapest)
        return data if len(rows) == len(data) else data.take(rows), (budget, now)


def future_overlap(data: Dataset, belief: Belief, now: float) -> Array:
    """C: the integral of k(z, z_i) k(z, z_l) over all points z at `now` or later, up to a factor."""
    return _overlap(belief.kernel, data.X) * _future(belief.temporal, now - data.times)


def relevant(kernel: Kernel, temporal: Temporal) -> None:
    """Refuse kernels whose overlap has no closed form, or, standing still, no end."""
    if not isinstance(kernel, RBF | Matern32 | Matern52 | Empirical | Exchangeable | Independent):
        raise InvalidArgument(
            "kernel: relevance needs RBF, Matern32, Matern52, Empirical, Exchangeable or Independent in "
            f"space, not {type(kernel).__name__}"
        )
    forgets = isinstance(temporal, TimeRBF | TimeMatern32 | TimeMatern52) or (
        isinstance(temporal, Markov) and temporal.rate > 0.0
    )
    if not forgets:
        raise InvalidArgument(
            f"kernel: relevance needs Markov (rate above 0), TimeMatern32, TimeMatern52 or TimeRBF in time, "
            f"not {temporal}"
        )


def _overlap(kernel: Kernel, X: Array) -> Array:
    """The spatial factor of C."""
    if isinstance(kernel, Empirical):  # space is the arms: a sum
        known = kernel.covariance[:, X[:, 0].astype(np.intp)]
        return np.asarray(known.T @ known)
    if isinstance(kernel, Independent):
        return kernel.variance * kernel.matrix(X, X)
    if isinstance(kernel, Exchangeable):  # K^2, with K = v ((1 - r) I + r 1 1') of all arms
        v, r = kernel.variance, kernel.correlation
        between = v * v * r * (2.0 * (1.0 - r) + kernel.arms * r)
        return np.where(X[:, 0, None] == X[:, 0], (v * (1.0 - r)) ** 2, 0.0) + between
    assert isinstance(kernel, Stationary)
    scaled = X / np.asarray(kernel.lengthscale)
    q = np.square(scaled[:, None, :] - scaled[None, :, :]).sum(axis=2)
    return rbf_overlap(q) if isinstance(kernel, RBF) else matern_overlap(q, ORDERS[type(kernel)], X.shape[1])


def _future(temporal: Temporal, ages: Array) -> Array:
    """The temporal factor of C."""
    scale = _lengthscale(temporal)
    if isinstance(temporal, TimeRBF):
        return rbf_future(ages, scale)
    return matern_future(ages, ORDERS.get(type(temporal), 0.5), scale)


def _lengthscale(temporal: Temporal) -> float:
    """In steps; Markov's (1 - eps)^(dt/2) is exp(-dt / l), the Matern kernel with nu = 1/2."""
    if isinstance(temporal, Markov):
        return -2.0 / math.log1p(-min(temporal.rate, 1.0 - 1e-12))
    assert isinstance(temporal, Trend)
    return temporal.lengthscale
