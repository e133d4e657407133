"""Two settings whose best place follows a load that is measured, and drifts slowly besides."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.errors import InvalidType
from windvane.spaces import Context, Real, Space
from windvane.tasks.base import Optimum, index_of

WIDTH = 0.2  # of the bell around the best setting
REACH = 0.3  # from the middle: how far the load takes the best setting
DRIFT = 0.1  # and how far the drift takes it besides
LOST = 0.5  # of the height: what the highest load costs
MEMORY = 0.9  # of the load from step to step
SPREAD = 25.0  # of the load, in per cent


class FollowingLoad:
    """f_t(s, load) = (1 - load / 200) exp(-|s - m_t(load)|^2 / (2 w^2)) with w = 0.2, s in the unit square.

    m_t(load) runs along a curve through the square as the load goes from 0 to 100 %, and the curve as a whole
    moves slowly, along half a circle in all. The load is a mean-reverting walk, with a correlation of 0.9
    from step to step. The optimum is for the load of the step. With `hidden`, the load is there, but not
    measured: the space has the settings only.

    >>> task = FollowingLoad(horizon=50, seed=1)
    >>> task.space.contexts, list(task.context(1))
    (('load',), ['load'])
    >>> best = task.optimum(1)
    >>> task.value(best.x, 1) == best, best.x["load"] == task.context(1)["load"]
    (True, True)
    """

    name = "following-load"
    kernel = None

    def __init__(
        self, *, horizon: int = 300, seed: int = 0, noise_variance: float = 0.001, hidden: bool = False
    ) -> None:
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, at_least=0.0)
        if not isinstance(hidden, bool):
            raise InvalidType(f"hidden={hidden!r}: must be True or False")
        self.hidden = hidden
        load = {} if hidden else {"load": Context(0, 100, unit="%")}
        self.space = Space(valve=Real(0, 1), speed=Real(0, 1), **load)

    @cached_property
    def _loads(self) -> Array:
        """T values in per cent."""
        normal = np.random.default_rng((self.seed, 1)).standard_normal(self.horizon)
        away = SPREAD * normal
        for t in range(1, self.horizon):
            away[t] = MEMORY * away[t - 1] + math.sqrt(1.0 - MEMORY**2) * away[t]
        return np.asarray(np.clip(50.0 + away, 0.0, 100.0))

    @cached_property
    def _phase(self) -> float:
        return float(np.random.default_rng((self.seed, 2)).uniform(0.0, 2.0 * math.pi))

    def context(self, t: int) -> dict[str, float]:
        """What is measured at step t; nothing if it is hidden."""
        return {} if self.hidden else {"load": self._load(t)}

    def _load(self, t: int) -> float:
        return float(self._loads[index_of(t, self.horizon)])

    def _best_setting(self, load: float, t: int) -> tuple[float, float]:
        """m_t(load)."""
        share = load / 100.0
        turned = self._phase + math.pi * (t - 1) / self.horizon
        return (
            0.5 + REACH * (2.0 * share - 1.0) + DRIFT * math.cos(turned),
            0.5 + REACH * math.cos(math.pi * share) ** 3 * math.cos(self._phase) + DRIFT * math.sin(turned),
        )

    def value(self, x: Any, t: int) -> float:
        """f_t at a point, under the load that is in it."""
        self.space.encode(x)
        load = self._load(t) if self.hidden else float(x["load"])
        valve, speed = self._best_setting(load, t)
        squared = (float(x["valve"]) - valve) ** 2 + (float(x["speed"]) - speed) ** 2
        return (1.0 - LOST * load / 100.0) * math.exp(-squared / (2.0 * WIDTH**2))

    def optimum(self, t: int) -> Optimum:
        """The highest value under the load of step t."""
        valve, speed = self._best_setting(self._load(t), t)
        best = {"valve": valve, "speed": speed, **self.context(t)}
        return Optimum(self.value(best, t), best)
