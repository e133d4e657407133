"""Worlds that come back: regimes between which a system switches, and workloads that scale all values."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.tasks.affine import units
from windvane.tasks.changes import random_steps, stretches
from windvane.tasks.observed import Observed
from windvane.tasks.within_model import GridTask, within_model

REGIME_UNITS = (40.0, -250.0)  # scale and offset
WORKLOAD_UNITS = (20.0, -6.0)  # the unit, and the level in such units
FACTORS = (1.5, 2.5)  # by which all becomes slower or faster
SHIFT = 1.2  # one standard deviation of what is added, in the same units


class Regimes(GridTask):
    """A few samples of GP(0, k) in the unit square; at random steps the world switches from one to another.

    `order` has the number of the regime of each stretch, and `steps` the first step of each but the first. It
    begins with 0, 1, 0, so that at least one returns, and goes on at random. With `change` a share of each
    visit is its own: f = sqrt(1 - change) f_k + sqrt(change) g, where g is new.

    `rate` is eps averaged over the steps: the best constant guess, for algorithms that must be told one.

    >>> task = Regimes(seed=1)
    >>> task.order, len(task.steps), task.optimum(1) == task.optimum(task.steps[1])
    ((0, 1, 0, 2, 0, 1), 5, True)
    """

    name = "regimes"

    def __init__(
        self, *, regimes: int = 3, count: int = 5, change: float = 0.0, horizon: int = 300, **options: Any
    ) -> None:
        length = integer("horizon", horizon, at_least=1)
        number = integer("count", count, at_least=0, at_most=length - 1)
        self.regimes = integer("regimes", regimes, at_least=2, at_most=100)
        self.change = real("change", change, at_least=0.0, at_most=1.0)
        super().__init__(rate=number / length, horizon=length, **options)
        rng = np.random.default_rng((self.seed, 5))
        self.steps = random_steps(rng, length, number)
        order = [0, 1, 0]
        while len(order) <= len(self.steps):
            other = int(rng.integers(self.regimes - 1))
            order.append(other + (other >= order[-1]))
        self.order = tuple(order[: len(self.steps) + 1])

    def _rates(self) -> Array:
        return np.full(self.horizon, self.rate)

    @cached_property
    def _weights(self) -> Array:
        """Z_t for t = 1 .. T, T x r x r."""
        r = self._basis.shape[1]
        rng = np.random.default_rng((self.seed, 1))
        known = rng.standard_normal((self.regimes, r, r))[list(self.order)]
        fresh = rng.standard_normal(known.shape)
        visits = np.sqrt(1.0 - self.change) * known + np.sqrt(self.change) * fresh
        return np.asarray(visits[stretches(self.horizon, self.steps)])


def regimes(**options: Any) -> Observed:
    """`Regimes` in units of 40 around -250.

    >>> task = regimes(seed=1)
    >>> task.kernel, len(task.steps), -300 < task.optimum(1) < 0
    (None, 5, True)
    """
    inner = Regimes(**options)
    return Observed(inner.name, units(inner, *REGIME_UNITS), inner.rate, steps=inner.steps)


def workload(*, count: int = 3, horizon: int = 200, seed: int = 0, **options: Any) -> Observed:
    """A within-model objective that stands still, but at random steps everything is slower, or faster.

    Values are times, negative since larger is better: f_t = 20 s_t (g - 6) + o_t. At each of the `count`
    steps s_t is multiplied or divided by 1.5 to 2.5, so that it stays within 0.4 and 2.5, and o_t is drawn
    anew, with a standard deviation of 24. The best point stays where it is. The noise grows with s_t.

    >>> task = workload(seed=1)
    >>> places = [task.optimum(t).x.round(2).tolist() for t in (1, *task.steps)]
    >>> len(task.steps), places.count(places[0]), [round(task.optimum(t)) for t in (1, *task.steps)]
    (3, 4, [-97, -241, -180, -65])
    """
    inner = within_model(rate=0.0, horizon=horizon, seed=seed, **options)
    rng = np.random.default_rng((inner.seed, 5))
    steps = random_steps(rng, inner.horizon, integer("count", count, at_least=0))
    factor, shift = [1.0], [0.0]
    for _ in steps:
        by = rng.uniform(*FACTORS)
        slower = rng.random() < 0.5 if factor[-1] == 1.0 else factor[-1] < 1.0
        factor.append(factor[-1] * by if slower else factor[-1] / by)
        shift.append(SHIFT * rng.standard_normal())
    part = stretches(inner.horizon, steps)
    unit, level = WORKLOAD_UNITS
    scale = unit * np.array(factor)[part]
    task = units(inner, scale, level * scale + unit * np.array(shift)[part])
    return Observed("workload", task, 0.0, steps=steps)
