"""Wrappers: a task made harder, or slower, or noisier; they nest in any order.

    from windvane.tasks.wrappers import jump, noise, outliers, rate, shift

    task = outliers(shift(wv.task("within-model"), by=0.3, at=200), share=0.05, size=3.0)

(`wv.tasks` is the function that lists the names of tasks, so the wrappers are imported by name.)

A wrapper is a task. At step t it stands for one task at one time, its `source`: whatever it does not
change itself, the objective, the optimum, the noise and the disturbance, is what the source says. It
hands on `space`, `kernel` and `noise_variance` as they are known before anything changes, so these are
what an algorithm may be told.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer, real
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import Kernel
from windvane.late import special
from windvane.spaces.base import Domain
from windvane.tasks.base import Constrained, Contextual, Disturbed, Noisy, Optimum, Task, index_of
from windvane.tasks.rolling import Roll, roll

LONGEST = 10**9  # steps of a task whose time hardly moves


class Wrapper(ABC):
    """What all wrappers share: everything is passed on unless it is changed."""

    def __init__(self, task: Task) -> None:
        self.task = _task("task", task)

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the task within, and what was done to it."""

    @property
    def space(self) -> Domain:
        """The space of the task within."""
        return self.task.space

    @property
    def kernel(self) -> Kernel | None:
        """The covariance of the task within: what is known before anything changes."""
        return self.task.kernel

    @property
    def noise_variance(self) -> float:
        """The noise variance of the task within."""
        return self.task.noise_variance

    @property
    def horizon(self) -> int:
        """The horizon of the task within."""
        return self.task.horizon

    def source(self, t: int) -> tuple[Task, int]:
        """The task that stands behind step t, and the time there."""
        return self.task, index_of(t, self.horizon) + 1

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        task, time = self.source(t)
        return task.value(x, time)

    def optimum(self, t: int) -> Optimum:
        """max f_t."""
        task, time = self.source(t)
        return task.optimum(time)

    def context(self, t: int) -> dict[str, Any]:
        """What is observed at step t, of a task whose space has contexts."""
        task, time = self.source(t)
        return task.context(time) if isinstance(task, Contextual) else {}

    @property
    def constraints(self) -> dict[str, Constraint]:
        """The limits of the task within; none if it has none."""
        return self.task.constraints if isinstance(self.task, Constrained) else {}

    @property
    def outcome_noise(self) -> dict[str, float]:
        """The noise variances of what is limited in the task within."""
        return self.task.outcome_noise if isinstance(self.task, Constrained) else {}

    @property
    def start(self) -> list[Any]:
        """The settings that are safe at step 1 of the task within."""
        return self.task.start if isinstance(self.task, Constrained) else []

    def outcomes(self, x: Any, t: int) -> dict[str, float]:
        """What is limited, at x and step t."""
        task, time = self.source(t)
        return task.outcomes(x, time) if isinstance(task, Constrained) else {}

    def noise_from(self, normal: float, t: int) -> float:
        """The noise of the source."""
        task, time = self.source(t)
        if isinstance(task, Noisy):
            return task.noise_from(normal, time)
        return math.sqrt(task.noise_variance) * normal

    def disturbance(self, t: int) -> float:
        """The disturbance of the source; none if it knows none."""
        task, time = self.source(t)
        return task.disturbance(time) if isinstance(task, Disturbed) else 0.0

    def __repr__(self) -> str:
        return f"<{self.name}: {self.horizon} steps on {self.space}>"


@final
class Shift(Wrapper):
    """From a step on, the objective is moved; made by `shift`."""

    def __init__(self, task: Task, by: Any, at: int) -> None:
        super().__init__(task)
        self.at = integer("at", at, at_least=1, at_most=self.horizon)
        self._roll: Roll = roll(self.space, by)
        if isinstance(self.task, Shift) and self.task.at == self.at:
            # Two moves at one step are one, without the seams of the first: there and back is where we were.
            self._roll, self.task = self._roll + self.task._roll, self.task.task

    @property
    def name(self) -> str:
        return f"{self.task.name}, shifted at {self.at}"

    def value(self, x: Any, t: int) -> float:
        task, time = self.source(t)
        return task.value(self._back(x, t), time)

    def outcomes(self, x: Any, t: int) -> dict[str, float]:
        return super().outcomes(self._back(x, t), t) if self.constraints else {}

    @property
    def start(self) -> list[Any]:
        """Moved as well, if everything is from the first step on."""
        return [self._roll.forth(place) for place in super().start] if self.at == 1 else super().start

    def _back(self, x: Any, t: int) -> Any:
        """The place in the task within."""
        task, time = self.source(t)
        if time < self.at:
            return x
        place, on_seam = self._roll.back(x)
        if on_seam:
            place, _ = self._roll.back(x, near=getattr(task.optimum(time), "x", None))
        return place

    def optimum(self, t: int) -> Optimum:
        best = super().optimum(t)
        place = getattr(best, "x", None)
        if t < self.at or place is None:
            return best
        return Optimum(float(best), self._roll.forth(place))


def shift(task: Task, by: float | Sequence[float] | Array | Mapping[str, float], at: int) -> Shift:
    """From step `at` on the objective is moved by `by`, and what leaves on one side returns on the other.

    So the optimum keeps its value and changes its place. `by` counts in fractions of a range: one
    number for all coordinates of a box, or one number each. `Arms` are rolled by an integer. For a
    `Space` give a dict of the parameters that move: a fraction of the range (of the logarithms, on a
    log scale) for a `Real`, a number of levels for an `Integer` or a `Choice`.

    Both ends of a range come to lie in one place, the seam. There the end nearer to the optimum counts,
    so that the maximum is attained even if it was on the boundary.

    >>> import windvane as wv
    >>> task = shift(wv.task("ackley-shift", shift=0.0), by=0.5, at=11)
    >>> task.name, task.optimum(10).x, task.optimum(11).x
    ('ackley-shift, shifted at 11', array([0., 0.]), array([7.5, 7.5]))
    """
    return Shift(task, by, at)


@final
class Jump(Wrapper):
    """From a step on, another task; made by `jump`."""

    def __init__(self, task: Task, other: Task, at: int) -> None:
        super().__init__(task)
        self.other = _task("other", other)
        if self.other.space != self.space:
            raise InvalidArgument(f"other: lives in {self.other.space}, the task lives in {self.space}")
        theirs = self.other.constraints if isinstance(self.other, Constrained) else {}
        if theirs != self.constraints:
            raise InvalidArgument(
                f"other: has the limits {_limits(theirs)}, the task has {_limits(self.constraints)}; "
                "they must be the same"
            )
        self.at = integer("at", at, at_least=1, at_most=self.horizon)

    @property
    def name(self) -> str:
        return f"{self.task.name}, then {self.other.name} at {self.at}"

    @property
    def horizon(self) -> int:
        """As long as both last."""
        return min(self.task.horizon, self.other.horizon)

    def source(self, t: int) -> tuple[Task, int]:
        task, time = super().source(t)
        return (task if time < self.at else self.other), time


def jump(task: Task, other: Task, at: int) -> Jump:
    """From step `at` on it is the other task, at the same step; noise and disturbance included.

    Both must live in the same space, and the shorter horizon counts. Kernel and noise variance, which an
    algorithm may be told, stay those of the first.

    >>> import windvane as wv
    >>> first, second = (wv.task("within-model", horizon=20, seed=seed) for seed in (0, 1))
    >>> task = jump(first, second, at=11)
    >>> task.optimum(10) == first.optimum(10), task.optimum(11) == second.optimum(11)
    (True, True)
    """
    return Jump(task, other, at)


@final
class NoisyTask(Wrapper):
    """Another noise; made by `noise`."""

    def __init__(self, task: Task, variance: float, degrees: float | None = None) -> None:
        super().__init__(task)
        self.variance = real("variance", variance, above=0.0)
        self.degrees = None if degrees is None else real("degrees", degrees, above=2.0)

    @property
    def name(self) -> str:
        kind = "noise" if self.degrees is None else f"Student-t({self.degrees:g}) noise"
        return f"{self.task.name}, {kind} {self.variance:g}"

    @property
    def noise_variance(self) -> float:
        """The new one."""
        return self.variance

    def noise_from(self, normal: float, t: int) -> float:
        self.source(t)  # refuses what is not a step
        if self.degrees is None:
            return math.sqrt(self.variance) * normal
        # The quantile of the same probability, in the lower half, where a probability near 0 is exact.
        quantile = -float(special.stdtrit(self.degrees, special.ndtr(-abs(normal))))
        scale = math.sqrt(self.variance * (self.degrees - 2.0) / self.degrees)
        return math.copysign(scale * quantile, normal)


def noise(task: Task, variance: float, degrees: float | None = None) -> NoisyTask:
    """Noise of another variance; with `degrees` (above 2) Student's t of that variance: heavy tails.

    It takes the place of the noise of the task within, and leaves its disturbances. Student noise is
    made from the normal draws of `simulate`, each replaced by the quantile of equal probability: it is
    exactly Student's, `noise_variance` is its true variance, and a seed gives the same luck to all.

    >>> import windvane as wv
    >>> task = noise(wv.task("within-model"), variance=0.1, degrees=3)
    >>> task.noise_variance, [round(task.noise_from(draw, 1), 2) for draw in (0.0, 1.0, 2.0, 4.0)]
    (0.1, [0.0, 0.22, 0.6, 5.95])
    """
    return NoisyTask(task, variance, degrees)


@final
class Outliers(Wrapper):
    """Now and then an observation is far off; made by `outliers`."""

    def __init__(self, task: Task, share: float, size: float, seed: int = 0) -> None:
        super().__init__(task)
        self.share = real("share", share, at_least=0.0, at_most=1.0)
        self.size = real("size", size, at_least=0.0)
        self.seed = integer("seed", seed, at_least=0)

    @property
    def name(self) -> str:
        return f"{self.task.name}, {100.0 * self.share:g}% outliers"

    def disturbance(self, t: int) -> float:
        inner = super().disturbance(t)
        hit, sign, magnitude = np.random.default_rng((self.seed, 3, t)).random(3).tolist()
        if hit >= self.share:
            return inner
        return inner + math.copysign(self.size * (0.5 + magnitude), sign - 0.5)


def outliers(task: Task, share: float, size: float, seed: int = 0) -> Outliers:
    """With probability `share` the observation of a step is off by `size`, up or down.

    More exactly, by `size` times a number drawn uniformly from 0.5 to 1.5. The objective is as before,
    and so is the regret. Outliers of outliers add up: give each a seed of its own.

    >>> import windvane as wv
    >>> task = outliers(wv.task("within-model", horizon=100), share=0.05, size=3.0, seed=1)
    >>> [t for t in range(1, 101) if task.disturbance(t)]
    [28, 31, 39, 43, 59, 61, 91, 95]
    """
    return Outliers(task, share, size, seed)


@final
class Rate(Wrapper):
    """From a step on, time runs faster or slower; made by `rate`."""

    def __init__(self, task: Task, speed: float, at: int = 1) -> None:
        super().__init__(task)
        self.speed = real("speed", speed, at_least=0.0)
        self.at = integer("at", at, at_least=1, at_most=self.task.horizon)
        self._horizon = self._last_step()

    @property
    def name(self) -> str:
        return f"{self.task.name}, {self.speed:g} times as fast from {self.at}"

    @property
    def horizon(self) -> int:
        """The last step whose inner time is within the inner horizon."""
        return self._horizon

    def source(self, t: int) -> tuple[Task, int]:
        task, time = super().source(t)
        return task, self._inner(time)

    def _inner(self, t: int) -> int:
        if t < self.at:
            return t
        gone = min(self.speed * (t - self.at), 1e18)
        return self.at + math.floor(
            gone + 1e-9
        )  # 0.29 * 100 is a little less than 29, and should count as 29

    def _last_step(self) -> int:
        end, most = self.task.horizon, self.at + LONGEST
        if self.speed == 0.0:
            return end
        if self._inner(most) <= end:
            return most
        low, high = self.at, most  # the inner time is within the horizon at `low`, and beyond it at `high`
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._inner(middle) <= end else (low, middle)
        return low


def rate(task: Task, speed: float, at: int = 1) -> Rate:
    """From step `at` on time runs `speed` times as fast: 0 stands still, 0.5 is half as fast, 2 twice.

    Step t >= at shows the task at its time at + floor(speed (t - at)). The horizon is the last step for
    which there is such a time, so it shrinks or grows; a task that stands still keeps its horizon.

    Disturbances follow the same time: while it stands still, one and the same outlier comes back at
    every step. Where this is not meant, wrap `outliers` around `rate` and not the other way round.

    >>> import windvane as wv
    >>> task = wv.task("within-model", horizon=100)
    >>> [rate(task, speed, at=51).horizon for speed in (0, 0.5, 1, 2)]
    [100, 150, 100, 75]
    """
    return Rate(task, speed, at)


def _limits(constraints: Mapping[str, Constraint]) -> str:
    return ", ".join(f"{name} {limit}" for name, limit in constraints.items()) or "none"


def _task(name: str, task: Any) -> Task:
    if isinstance(task, type) or not isinstance(task, Task):
        raise InvalidType(
            f"{name}={task!r}: must come from wv.task, or have value, optimum, space and horizon"
        )
    return task
