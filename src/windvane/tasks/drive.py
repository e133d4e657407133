"""The speed controller of a drive that must not overshoot, and whose load is exchanged.

The speed w of the drive, the torque m of its motor and the integral z of the controller follow

    J w' = m - b w,    tau m' = u - m,    z' = 1 - w,    u = kp (1 - w) + ki z

from a standstill; the speed that is wanted is 1. J is the inertia, which the load decides, b the friction
and tau the lag of the motor. (`examples/drive.py` moves a slide that wears, under a PID controller with dead
time.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, integer, real
from windvane.constraints import AtMost, Constraint
from windvane.spaces import Real, Space
from windvane.tasks.base import Optimum, index_of
from windvane.tasks.changes import random_steps, stretches

FRICTION, LAG = 0.2, 0.02  # N m s, s
LOADS = 8
INERTIAS: tuple[float, ...] = tuple(0.05 * 4.0 ** (load / (LOADS - 1)) for load in range(LOADS))  # kg m^2
SAMPLE, SAMPLES = 0.004, 256  # s, and how many of them are looked at: about one second
ORDER = 12  # of the series of the exponential: right to 2e-14 over all samples, at the largest gains
KP, KI = (0.5, 8.0), (0.5, 20.0)  # N m s, N m; every pair of them is stable under every load
START = {"kp": 1.0, "ki": 1.0}
HIGHEST = 5.0  # % of overshoot
COARSE, FINE, ROUNDS = 41, 9, 16  # of the search for the optimum; each round is a quarter as wide
INSIDE = 1e-9  # % that the optimum keeps from the limit, because of rounding


def responses(kp: Array, ki: Array, inertia: float) -> Array:
    """The speed at the samples 0 .. 255, m x 256, for m pairs of gains."""
    flow = np.zeros((len(kp), 4, 4))  # of (w, m, z, 1)
    flow[:, 0, 0], flow[:, 0, 1] = -FRICTION / inertia, 1.0 / inertia
    flow[:, 1, 0], flow[:, 1, 1], flow[:, 1, 2], flow[:, 1, 3] = -kp, -1.0, ki, kp
    flow[:, 1] /= LAG
    flow[:, 2, 0], flow[:, 2, 3] = -1.0, 1.0
    flow *= SAMPLE
    power = np.eye(4) + flow
    term = flow
    for k in range(2, ORDER + 1):
        term = term @ flow / k
        power = power + term
    states = np.zeros((len(kp), 4, 1))
    states[:, 3] = 1.0
    while states.shape[2] < SAMPLES:  # the next n states are those before, n samples later
        states = np.concatenate([states, power @ states], axis=2)
        power = power @ power
    return states[:, 0]


def measures(kp: Array, ki: Array, inertia: float) -> tuple[Array, Array]:
    """The integrated absolute error in ms, and the overshoot in %, for m pairs of gains.

    >>> error, overshoot = measures(np.array([1.0, 3.0]), np.array([1.0, 10.0]), 0.1)
    >>> error.round(1), overshoot.round(1)
    (array([155.4,  54. ]), array([-4.2, 11.4]))
    """
    speed = responses(kp, ki, inertia)
    return 1000.0 * SAMPLE * np.abs(1.0 - speed).sum(axis=1), 100.0 * (speed.max(axis=1) - 1.0)


@lru_cache(maxsize=LOADS)
def best_gains(inertia: float) -> tuple[float, float]:
    """The gains of least error within the limit; kept, because they do not depend on a seed.

    A search for kp, with a search for ki at each kp. On a line the best allowed point of a grid has the
    optimum between its neighbours, even where the limit cuts the line, so both are narrowed down around it.
    """
    low, high = np.log(KP[0]), np.log(KP[1])

    def along(log_kp: Array) -> tuple[Array, Array]:
        def error(log_ki: Array) -> Array:
            kp, ki = np.exp(np.broadcast_arrays(log_kp[:, None], log_ki))
            found, overshoot = measures(np.ravel(kp), np.ravel(ki), inertia)
            return np.where(overshoot <= HIGHEST - INSIDE, found, np.inf).reshape(kp.shape)

        bounds = np.tile(np.log(KI), (len(log_kp), 1))
        return _narrowed(error, bounds)

    places = _narrowed(lambda log_kp: along(log_kp[0])[1][None], np.array([[low, high]]))[0]
    ki = along(places)[0]
    return float(np.exp(places[0])), float(np.exp(ki[0]))


def _narrowed(cost: Callable[[Array], Array], bounds: Array) -> tuple[Array, Array]:
    """The place of least cost within each of m pairs of bounds, and the cost there.

    `cost` maps m x n places to as many costs, infinite where it is not allowed.
    """
    low, high = bounds.T
    rows = np.arange(len(low))
    count = COARSE
    for _ in range(ROUNDS):
        grid = np.linspace(low, high, count, axis=1)
        costs = cost(grid)
        least = costs.argmin(axis=1)
        low, high = grid[rows, np.maximum(least - 1, 0)], grid[rows, np.minimum(least + 1, count - 1)]
        place, value = grid[rows, least], costs[rows, least]
        count = FINE
    return place, value


@final
class Drive:
    """Proportional and integral gain of a speed controller: fast, with an overshoot of at most 5 %.

    The value is minus the integrated absolute error of a start from standstill, in ms (see `measures`). The
    overshoot is how far the highest speed is above the wanted one, in %; negative if that is not reached
    within a second. At `count` random steps, which `steps` has, the load is exchanged for another of eight
    loads, whose inertias go from 0.05 to 0.2 kg m^2. Well-tuned gains are at the limit, so that they
    overshoot under a lighter load and under a heavier one. `start` is one sluggish pair of gains, which no
    load makes overshoot.

    `noise_variance` is that of the value in ms^2; the overshoot is measured to within 0.3 %.

    >>> task = Drive(seed=1)
    >>> task.steps, str(task.constraints["overshoot"])
    ((59, 87, 128), '<= 5 %')
    >>> best = task.optimum(1)
    >>> round(best, 1), {name: round(gain, 1) for name, gain in best.x.items()}
    (-46.4, {'kp': 3.5, 'ki': 5.2})
    >>> [round(task.outcomes(best.x, t)["overshoot"], 1) for t in (1, *task.steps)]  # other loads
    [5.0, 15.0, 17.9, 7.0]
    """

    name = "drive"
    kernel = None
    constraints: dict[str, Constraint]

    def __init__(
        self, *, count: int = 3, horizon: int = 200, seed: int = 0, noise_variance: float = 1.0
    ) -> None:
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, at_least=0.0)
        number = integer("count", count, at_least=0, at_most=self.horizon - 1)
        self.space = Space(kp=Real(*KP, log=True, unit="N m s"), ki=Real(*KI, log=True, unit="N m"))
        self.constraints = {"overshoot": AtMost(HIGHEST, unit="%")}
        self.outcome_noise = {"overshoot": 0.09}
        self.steps = random_steps(np.random.default_rng((self.seed, 1)), self.horizon, number)

    @property
    def start(self) -> list[dict[str, float]]:
        """One pair of gains."""
        return [dict(START)]

    @cached_property
    def _levels(self) -> npt.NDArray[np.intp]:
        """The number of the load at each step; never the same before and after an exchange."""
        rng = np.random.default_rng((self.seed, 2))
        moves = rng.integers(1, LOADS, size=len(self.steps) + 1)
        levels = np.cumsum(moves) % LOADS
        return levels[stretches(self.horizon, self.steps)]

    def inertia(self, t: int) -> float:
        """J at step t, in kg m^2."""
        return INERTIAS[int(self._levels[index_of(t, self.horizon)])]

    def _measures(self, x: Any, t: int) -> tuple[float, float]:
        self.space.encode(x)  # for its checks
        error, overshoot = measures(np.array([float(x["kp"])]), np.array([float(x["ki"])]), self.inertia(t))
        return float(error[0]), float(overshoot[0])

    def value(self, x: Any, t: int) -> float:
        """Minus the integrated absolute error, in ms."""
        return -self._measures(x, t)[0]

    def outcomes(self, x: Any, t: int) -> dict[str, float]:
        """The overshoot, in %."""
        return {"overshoot": self._measures(x, t)[1]}

    def optimum(self, t: int) -> Optimum:
        """The least error within the limit."""
        kp, ki = best_gains(self.inertia(t))
        x = {"kp": kp, "ki": ki}
        return Optimum(self.value(x, t), x)
