"""Within-model objectives under limits: what is limited is a sample as well, and drifts or is replaced."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer, real
from windvane.constraints import AtLeast, AtMost, Constraint
from windvane.tasks.base import Optimum, index_of
from windvane.tasks.bilinear import highest
from windvane.tasks.changes import random_steps
from windvane.tasks.within_model import GRID, GridTask, WithinModel

ALLOWED = 0.5  # of the square at the first step
LEAST = 0.05  # of the square at every step
MARGIN = 0.5  # that the start keeps from the limit; a sample has a standard deviation of 1
STREAMS = 7  # of random numbers: those of the limited samples begin here


@final
class _Replaced(GridTask):
    """A sample that is replaced at some steps and stands still in between."""

    name = "replaced"

    def __init__(self, steps: tuple[int, ...], **options: Any) -> None:
        super().__init__(rate=len(steps) / options["horizon"], **options)
        self.steps = steps

    def _rates(self) -> Array:
        rates = np.zeros(self.horizon)
        rates[np.array(self.steps, dtype=np.intp) - 1] = 1.0
        return rates


class GuardedTask(ABC):
    """An objective and what is limited, each a sample on the same grid; a subclass says how they move.

    The first is limited from above by L, the second, if there is one, from below by -L.
    """

    kernel: Any

    def __init__(self, objective: GridTask, limited: tuple[GridTask, ...]) -> None:
        self._objective, self._limited = objective, limited
        self.horizon, self.seed, self.rate = objective.horizon, objective.seed, objective.rate
        self.space, self.kernel, self.noise_variance = (
            objective.space,
            objective.kernel,
            objective.noise_variance,
        )
        self._optima: dict[int, Optimum] = {}

    @abstractmethod
    def _start_excess(self) -> Array:
        """How high what is limited is, at worst, while the start must be safe, side x side."""

    def _excess(self, t: int) -> Array:
        """The highest of what is limited, with the sign by which it is limited from above, side x side."""
        return np.asarray(
            np.max([sign * g.field(t) for sign, g in zip((1.0, -1.0), self._limited, strict=False)], axis=0)
        )

    @cached_property
    def limit(self) -> float:
        """L: the lowest that keeps the promises of the class."""
        least = max(float(np.quantile(self._excess(t), LEAST)) for t in self._distinct())
        allowed = float(np.quantile(self._excess(1), ALLOWED))
        return max(allowed, least, float(self._start_excess().min()) + MARGIN)

    def _distinct(self) -> list[int]:
        """The steps at which what is limited is not as it was before."""
        moved = np.any([g._rates() > 0.0 for g in self._limited], axis=0)
        return [1, *(t for t in range(2, self.horizon + 1) if moved[t - 1])]

    @cached_property
    def constraints(self) -> dict[str, Constraint]:
        """Limits by name; g2 exists if there are two."""
        return dict(
            list({"g1": AtMost(self.limit), "g2": AtLeast(-self.limit)}.items())[: len(self._limited)]
        )

    @property
    def outcome_noise(self) -> dict[str, float]:
        """As strong as that of the objective."""
        return dict.fromkeys(self.constraints, self.noise_variance)

    @cached_property
    def start(self) -> list[Array]:
        """One setting, drawn among those that keep a margin of 0.5 standard deviations."""
        excess = self._start_excess()
        safe = np.argwhere(
            excess <= max(self.limit - MARGIN, float(excess.min()))
        )  # one at least, if rounded
        row, column = safe[np.random.default_rng((self.seed, STREAMS)).integers(len(safe))].tolist()
        axis = self._objective._axis
        place = np.array([axis[row], axis[column]])
        place.setflags(write=False)
        return [place]

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        return self._objective.value(x, t)

    def outcomes(self, x: Any, t: int) -> dict[str, float]:
        """g_t(x) of each constraint."""
        return {name: g.value(x, t) for name, g in zip(self.constraints, self._limited, strict=True)}

    def optimum(self, t: int) -> Optimum:
        """The largest value within the limits: exact, less what keeping 1e-10 from the limits costs."""
        index = index_of(t, self.horizon)
        if index not in self._optima:
            limits = zip(self.constraints.values(), self._limited, strict=True)
            margins = [limit.sign * (g.field(t) - limit.limit) for limit, g in limits]
            _, *place = highest(self._objective.field(t), margins)
            x = np.array(place)
            x.setflags(write=False)
            self._optima[index] = Optimum(self.value(x, t), x)
        return self._optima[index]


@final
class GuardedDrift(GuardedTask):
    """A drifting objective on the unit square, and one or two drifting quantities that are limited.

    All are independent samples of the Markov chain of Assumption 2 with the same SE kernel, of mean 0 and
    variance 1; `rate` is the drift of the objective, `constraint_rate` of what is limited, and 0 is no
    drift. With `count` = 1 the constraint is g1 <= L; with 2 there is g2 >= -L besides. L depends on the
    seed: it is the lowest for which half of the square is allowed at step 1, a twentieth at every step, and
    at step 1 some place keeps a margin of 0.5. So there is always something that is allowed.

    `start` is one setting with that margin at step 1; later it may be beyond the limit.

    >>> task = GuardedDrift(horizon=30, seed=1, count=2)
    >>> list(task.constraints), [str(limit)[:2] for limit in task.constraints.values()]
    (['g1', 'g2'], ['<=', '>='])
    >>> best = task.optimum(30)
    >>> all(task.constraints[name].met(value) for name, value in task.outcomes(best.x, 30).items())
    True
    """

    name = "guarded"

    def __init__(
        self,
        *,
        count: int = 1,
        rate: float = 0.003,
        constraint_rate: float = 0.003,
        horizon: int = 200,
        seed: int = 0,
        lengthscale: float = 0.25,
        noise_variance: float = 0.01,
        grid: int = GRID,
    ) -> None:
        number = integer("count", count, at_least=1, at_most=2)
        self.constraint_rate = real("constraint_rate", constraint_rate, at_least=0.0, at_most=1.0)
        options = _shared(horizon, lengthscale, noise_variance, grid)
        objective = WithinModel(rate=rate, seed=seed, **options)
        limited = (
            WithinModel(rate=self.constraint_rate, seed=_derived(objective.seed, i), **options)
            for i in range(number)
        )
        super().__init__(objective, tuple(limited))

    def _start_excess(self) -> Array:
        return self._excess(1)


@final
class GuardedJumps(GuardedTask):
    """An objective on the unit square that stands still; what is limited is replaced at random steps.

    Both are samples as in `GuardedDrift`; g1 <= L. At `count` random steps, which `steps` has, g1 is replaced
    by an independent sample: what was allowed before says nothing about what is allowed now, except for
    `start`, which keeps a margin of 0.5 at every step. L is the lowest for which that is possible, half of
    the square is allowed at step 1, and a twentieth at every step. The more jumps, the more of the square
    this allows.

    `rate`, the drift of the objective, is 0.

    >>> task = GuardedJumps(horizon=100, seed=1)
    >>> len(task.steps), task.optimum(1) == task.optimum(task.steps[0] - 1)
    (2, True)
    >>> max(task.outcomes(task.start[0], t)["g1"] for t in range(1, 101)) <= task.limit - 0.5 + 1e-12
    True
    """

    name = "guarded-jumps"

    def __init__(
        self,
        *,
        count: int = 2,
        horizon: int = 200,
        seed: int = 0,
        lengthscale: float = 0.25,
        noise_variance: float = 0.01,
        grid: int = GRID,
    ) -> None:
        options = _shared(horizon, lengthscale, noise_variance, grid)
        objective = WithinModel(rate=0.0, seed=seed, **options)
        number = integer("count", count, at_least=0, at_most=objective.horizon - 1)
        self.steps = random_steps(
            np.random.default_rng((objective.seed, STREAMS + 1)), objective.horizon, number
        )
        super().__init__(objective, (_Replaced(self.steps, seed=_derived(objective.seed, 0), **options),))

    def _start_excess(self) -> Array:
        return np.asarray(np.max([self._excess(t) for t in self._distinct()], axis=0))


def _shared(horizon: int, lengthscale: float, noise_variance: float, grid: int) -> dict[str, Any]:
    """What the objective and what is limited have in common."""
    return {"horizon": horizon, "lengthscale": lengthscale, "noise_variance": noise_variance, "grid": grid}


def _derived(seed: int, number: int) -> int:
    """The seed of a limited sample: not one that the objective of another small seed has."""
    return int(np.random.SeedSequence((seed, STREAMS, number + 1)).generate_state(1, np.uint64)[0])
