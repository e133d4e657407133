"""A conveyor oven that must not overheat what it cures, in a hall that warms and cools through the day."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer, real
from windvane.constraints import AtMost, Constraint
from windvane.errors import InvalidType
from windvane.spaces import Context, Real, Space
from windvane.tasks.base import Optimum, index_of
from windvane.tasks.changes import walk

POWER, SPEED = (5.0, 60.0), (0.5, 4.0)  # kW, m/min
HOTTEST = 90.0  # °C
HALL = 24.0  # °C, around which the hall's temperature varies
DAY = 96  # steps: a quarter of an hour each
WEATHER = 4.0  # °C: how far the weather takes the hall's temperature, up or down, beside the hours of the day
HEATING, STANDING = 4.8, 0.4  # °C m/min per kW, and the m/min that losses through the walls count for
CURING, STEEPNESS = 87.0, 7.0  # °C: a minute there cures to 63 %; the rise that makes it e times as fast
LENGTH = 3.0  # m of the oven
WORTH = 3  # the power of the cured share that is paid for: what is half cured is worth an eighth
PRICE, ENERGY = 2.0, 0.3  # €/m of what is fully cured, €/kWh
COOL = {"power": 15.0, "speed": 2.0}  # 30 °C above the hall
ROUNDS, SIDE = 14, 13  # of the search for the optimum: SIDE x SIDE points each, a third as wide as before
INSIDE = 1e-9  # °C that the optimum keeps from the limit, because of rounding


@final
class Oven:
    """Power and belt speed of an oven: €/h are to be earned, and the product must stay below 90 °C.

    The product leaves at T = A_t + 4.8 P / (v + 0.4) °C, where P is the power in kW, v the speed in m/min
    and A_t the temperature of the hall. It is in the oven for 3 m / v, and cured to a share of q = 1 -
    exp(-(3 / v) exp((T - 87) / 7)). The value is what is earned with it less the energy, 120 v q^3 - 0.3 P
    in €/h: what is half cured is worth an eighth.

    The hall is at 24 °C in the mean, warmer and colder by `swing` in the course of the day of `period`
    steps, beginning at a random hour, and by up to 4 °C with the weather. Hot and fast is best, so the best
    setting is at the limit, and overheats as soon as the hall is warmer. `start` is one cool setting, far
    below the limit at all hours. With `measured` the hall's temperature is a context of the space, `hall`;
    else nobody measures it.

    `noise_variance` is that of the value in (€/h)^2; the temperature is measured to within 0.5 °C.

    >>> task = Oven(seed=1)
    >>> task.constraints
    {'heat': AtMost(limit=90.0, unit='°C', kernel=None, noise_variance=None, mean=None)}
    >>> best = task.optimum(141)  # when the hall is cold
    >>> {name: round(value, 1) for name, value in best.x.items()}
    {'power': 40.9, 'speed': 2.3}
    >>> [round(task.outcomes(best.x, t)["heat"], 1) for t in (141, 141 + 48)]  # and half a day later
    [90.0, 102.6]
    """

    name = "oven"
    kernel = None
    constraints: dict[str, Constraint]

    def __init__(
        self,
        *,
        swing: float = 6.0,
        period: int = DAY,
        horizon: int = 200,
        seed: int = 0,
        noise_variance: float = 4.0,
        measured: bool = False,
    ) -> None:
        self.swing = real("swing", swing, at_least=0.0, at_most=15.0)
        self.period = integer("period", period, at_least=2)
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, at_least=0.0)
        if not isinstance(measured, bool):
            raise InvalidType(f"measured={measured!r}: must be True or False")
        self.measured = measured
        hall = {"hall": Context(0.0, 50.0, unit="°C")} if measured else {}
        self.space = Space(power=Real(*POWER, unit="kW"), speed=Real(*SPEED, unit="m/min"), **hall)
        self.constraints = {"heat": AtMost(HOTTEST, unit="°C")}
        self.outcome_noise = {"heat": 0.25}

    @property
    def start(self) -> list[dict[str, float]]:
        """One cool setting."""
        return [dict(COOL)]

    @cached_property
    def _halls(self) -> Array:
        """A_t, T values in °C."""
        rng = np.random.default_rng((self.seed, 1))
        hour = rng.uniform(0.0, 2.0 * math.pi)
        weather = walk(rng, self.horizon, np.array([-WEATHER]), np.array([WEATHER]))[:, 0]
        day = self.swing * np.sin(hour + 2.0 * math.pi * np.arange(self.horizon) / self.period)
        return np.asarray(HALL + day + weather)

    def context(self, t: int) -> dict[str, float]:
        """The temperature of the hall at step t, if it is measured."""
        return {"hall": self._hall(t)} if self.measured else {}

    def _hall(self, t: int) -> float:
        return float(self._halls[index_of(t, self.horizon)])

    def _point(self, x: Any, t: int) -> tuple[float, float, float]:
        """Power, speed and the hall's temperature."""
        self.space.encode(x)  # for its checks
        hall = self._hall(t)
        return float(x["power"]), float(x["speed"]), float(x["hall"]) if self.measured else hall

    def value(self, x: Any, t: int) -> float:
        """What is earned, in €/h."""
        return float(_earned(*self._point(x, t)))

    def outcomes(self, x: Any, t: int) -> dict[str, float]:
        """The temperature of the product, in °C."""
        return {"heat": float(_heat(*self._point(x, t)))}

    @cached_property
    def _best(self) -> tuple[Array, Array]:
        """The best power and speed of every step, all searched for at once.

        At every speed the power goes from the lowest to the highest that is allowed, so a point is a speed
        and a share of that range: in these coordinates the limit is an edge of the square. There is one
        hill.
        """
        hall = self._halls[:, None, None]
        axis = np.linspace(-1.0, 1.0, SIDE)
        centre, half = np.full((2, self.horizon), 0.5), 0.5
        every = np.arange(self.horizon)
        for _ in range(ROUNDS):
            a = np.clip(centre[0][:, None, None] + half * axis[:, None], 0.0, 1.0)
            b = np.clip(centre[1][:, None, None] + half * axis, 0.0, 1.0)
            power, speed = _unfolded(a, b, hall)
            allowed = _heat(power, speed, hall) <= HOTTEST
            found = np.where(allowed, _earned(power, speed, hall), -np.inf).reshape(self.horizon, -1)
            row, column = np.divmod(found.argmax(axis=1), SIDE)
            centre = np.stack([a[every, row, 0], b[every, 0, column]])
            half /= 3.0
        power, speed = _unfolded(centre[0], centre[1], self._halls)
        return power, speed

    def optimum(self, t: int) -> Optimum:
        """The most that can be earned within the limit at step t."""
        index = index_of(t, self.horizon)
        power, speed = (float(best[index]) for best in self._best)
        x = {"power": power, "speed": speed, **self.context(t)}
        return Optimum(self.value(x, t), x)


def _heat(power: Any, speed: Any, hall: Any) -> Any:
    return hall + HEATING * power / (speed + STANDING)


def _earned(power: Any, speed: Any, hall: Any) -> Any:
    rate = np.exp((_heat(power, speed, hall) - CURING) / STEEPNESS)
    share = -np.expm1(-rate * LENGTH / speed)
    return 60.0 * PRICE * speed * share**WORTH - ENERGY * power


def _unfolded(a: Array, b: Array, hall: Array) -> tuple[Array, Array]:
    """Power and speed from coordinates in the unit square: a is a share of the allowed power."""
    low, high = POWER
    speed = SPEED[0] + (SPEED[1] - SPEED[0]) * b
    most = np.minimum((HOTTEST - INSIDE - hall) * (speed + STANDING) / HEATING, high)
    return low + a * (most - low), np.broadcast_to(speed, np.broadcast_shapes(a.shape, speed.shape))
