"""Triggers side by side: false alarms while nothing changes, delays after a jump and under slow drift.

Until its first reset ET-GP-UCB is GP-UCB, whatever its trigger. So one run that is never reset shows
when each trigger, at each promise, would have fired first. Objectives are those of Section 6.2.1: drawn
from the model's own prior in the unit square, lengthscale 0.2, noise variance 0.02.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.algorithms import make
from windvane.checks import Array
from windvane.data import Prediction
from windvane.experiments.executors import Workers
from windvane.tasks.within_model import GridTask
from windvane.theory.proportion import wilson
from windvane.threads import one_thread
from windvane.triggers import EDetector, ExactBound, Likelihood, PosteriorBound, Trigger

Steps = npt.NDArray[np.int64]

DELTAS = (0.05, 0.1, 0.2)
RUN_LENGTH = 1000.0
SIZES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
RATES = (0.003, 0.005, 0.01, 0.02, 0.03)
STATIC_STEPS, QUIET_STEPS, JUMP_STEPS, DRIFT_STEPS = 60, 50, 50, 200
BATCH = 20  # runs handed to a worker at a time
CONFIDENCE = 0.99  # of the Monte Carlo intervals
NEVER = 0  # in place of the step of an alarm

WITH_DELTA: dict[str, Callable[[float], Trigger]] = {
    "PosteriorBound": PosteriorBound,
    "Likelihood": Likelihood,
    "ExactBound": ExactBound,
    "EDetector": EDetector,
}
BY_RUN_LENGTH = f"EDetector(run_length={RUN_LENGTH:g})"


def label(name: str, delta: float) -> str:
    """As it would be typed.

    >>> label("ExactBound", 0.1)
    'ExactBound(0.1)'
    """
    return f"{name}({delta:g})"


PATIENT: dict[str, Trigger] = {BY_RUN_LENGTH: EDetector(run_length=RUN_LENGTH)}
WATCHING_STATIC: dict[str, Trigger] = {
    label(name, delta): build(delta) for name, build in WITH_DELTA.items() for delta in DELTAS
} | PATIENT
WATCHING_CHANGE: dict[str, Trigger] = {
    label(name, 0.1): build(0.1) for name, build in WITH_DELTA.items()
} | PATIENT


@dataclass(frozen=True)
class Scene:
    """Nothing happens for `quiet` steps; then a jump, if any, and drift at `rate` for `watched` steps.

    A jump of size s makes sqrt(1 - s^2) f + s g of the objective f, with g a fresh draw: a single step of the
    Markov chain of Assumption 2 with eps = s^2. At s = 1 nothing is left of f.
    """

    watched: int
    quiet: int = 0
    jump: float = 0.0
    rate: float = 0.0

    @property
    def steps(self) -> int:
        """All of them."""
        return self.quiet + self.watched


class Staged(GridTask):
    """The objective of a scene."""

    name = "staged"

    def __init__(self, scene: Scene, seed: int) -> None:
        super().__init__(rate=scene.rate, horizon=scene.steps, seed=seed)
        self.scene = scene

    def _rates(self) -> Array:
        after = np.arange(1, self.horizon + 1) - self.scene.quiet
        return np.where(after < 1, 0.0, np.where(after == 1, self.scene.jump**2, self.scene.rate))


def optimizer_seed(seed: int) -> int:
    """Another than the objective's: an optimiser of the same seed draws its first query from the same bits.

    Then the queries would know of the objective, and the residuals be no longer standard normal.
    """
    return seed + 10**9


def first_alarms(scene: Scene, triggers: Sequence[Trigger], seed: int) -> list[int]:
    """The step of each trigger's first alarm in a run of GP-UCB, which ends when all have fired."""
    task = Staged(scene, seed)
    optimizer = make(
        "gp-ucb",
        task.space,
        kernel=task.kernel,
        noise_variance=task.noise_variance,
        seed=optimizer_seed(seed),
    )
    noise = np.random.default_rng((seed, 2)).standard_normal(scene.steps) * math.sqrt(task.noise_variance)
    memories = [trigger.start() for trigger in triggers]
    found = [NEVER] * len(triggers)
    for t in range(1, scene.steps + 1):
        x = optimizer.ask()
        event = optimizer.tell(x, task.value(x, t) + float(noise[t - 1]))
        prediction = Prediction(event.mean, event.std, event.noise_variance)
        for number, trigger in enumerate(triggers):
            if found[number] == NEVER:
                verdict, memories[number] = trigger.test(memories[number], prediction, event.y, t)
                found[number] = t if verdict.fired else NEVER
        if NEVER not in found:
            break
    return found


def watch(scene: Scene, triggers: Sequence[Trigger], seeds: range) -> Steps:
    """First alarms, runs x triggers."""
    with one_thread.hold():
        return np.array([first_alarms(scene, triggers, seed) for seed in seeds], dtype=np.int64)


def run_lengths(seeds: range) -> Steps:
    """Steps until a false alarm of the trigger with a run length, on residuals that are as they should be."""
    (trigger,), model = PATIENT.values(), Prediction(0.0, 0.0, 1.0)
    lengths = []
    for seed in seeds:
        rng, memory, elapsed, fired = np.random.default_rng((seed, 4)), trigger.start(), 0, False
        while not fired:
            for e in rng.standard_normal(256).tolist():
                elapsed += 1
                verdict, memory = trigger.test(memory, model, e, elapsed)
                if fired := verdict.fired:
                    break
        lengths.append([elapsed])
    return np.array(lengths, dtype=np.int64)


@dataclass(frozen=True)
class TriggerStudyPlan:
    """How many runs: while nothing changes, of each change, and until a false alarm."""

    static: int = 2000
    moving: int = 200
    lengths: int = 400

    def parts(self, first: int) -> Iterator[tuple[tuple[str, float], Callable[[range], Steps], range]]:
        """A name, what is to be done, and for which seeds."""
        quiet, change = tuple(WATCHING_STATIC.values()), tuple(WATCHING_CHANGE.values())
        yield ("static", 0.0), partial(watch, Scene(STATIC_STEPS), quiet), range(first, first + self.static)
        yield ("lengths", 0.0), run_lengths, range(first, first + self.lengths)
        seeds = range(first, first + self.moving)
        for size in SIZES:
            scene = Scene(JUMP_STEPS, quiet=QUIET_STEPS, jump=size)
            yield ("jump", size), partial(watch, scene, change), seeds
        for rate in RATES:
            yield ("drift", rate), partial(watch, Scene(DRIFT_STEPS, rate=rate), change), seeds

    @property
    def batches(self) -> int:
        """How many pieces of work it is cut into."""
        return sum(-(-len(seeds) // BATCH) for _, _, seeds in self.parts(0))


QUICK = TriggerStudyPlan(static=200, moving=20, lengths=40)


@dataclass(frozen=True, eq=False)
class TriggerStudy:
    """Steps of first alarms, NEVER for none: runs x triggers."""

    static: Steps
    jumps: Mapping[float, Steps]
    drifts: Mapping[float, Steps]
    lengths: Steps

    def false_alarms(self, watching: str) -> tuple[int, int]:
        """Static runs with an alarm, and all of them."""
        column = self.static[:, list(WATCHING_STATIC).index(watching)]
        return int((column != NEVER).sum()), len(column)

    def delays(self, size: float, watching: str) -> Array:
        """Steps until a jump was noticed, inf for never; runs with an alarm before it are left out."""
        column = self.jumps[size][:, list(WATCHING_CHANGE).index(watching)]
        return _waiting(column[(column == NEVER) | (column > QUIET_STEPS)], QUIET_STEPS)

    def times(self, rate: float, watching: str) -> Array:
        """Steps until drift was noticed, inf for never."""
        return _waiting(self.drifts[rate][:, list(WATCHING_CHANGE).index(watching)], 0)

    @property
    def plain(self) -> dict[str, Any]:
        """Everything, as JSON."""
        return {
            "triggers": {"static": list(WATCHING_STATIC), "change": list(WATCHING_CHANGE)},
            "first alarms": {
                "static": self.static.tolist(),
                "jump": {f"{size:g}": found.tolist() for size, found in self.jumps.items()},
                "drift": {f"{rate:g}": found.tolist() for rate, found in self.drifts.items()},
            },
            "run lengths": self.lengths.tolist(),
        }


def _waiting(alarms: Steps, before: int) -> Array:
    return np.where(alarms == NEVER, math.inf, alarms - before)


def median(steps: Array) -> float:
    """The lower one: between a step and never there is no middle.

    >>> median(np.array([3.0, np.inf, 5.0, np.inf]))
    5.0
    """
    return float(np.sort(steps)[(len(steps) - 1) // 2]) if len(steps) else math.inf


def noticed(steps: Array) -> float:
    """The share that is not never; nan of no runs.

    >>> noticed(np.array([3.0, np.inf])), noticed(np.array([]))
    (0.5, nan)
    """
    return float(np.isfinite(steps).mean()) if len(steps) else math.nan


def interval(count: int, runs: int) -> tuple[float, float]:
    """Wilson's interval for a share.

    >>> low, high = interval(200, 2000)
    >>> round(low, 3), round(high, 3)
    (0.084, 0.119)
    """
    return wilson(count, runs, CONFIDENCE)


def conduct(
    plan: TriggerStudyPlan, first: int, workers: Workers, on_batch: Callable[[], None]
) -> TriggerStudy:
    """Run everything; the seeds alone decide what comes out."""
    found: dict[tuple[str, float], dict[int, Steps]] = {}
    with workers.start() as executor:
        waiting: dict[Future[Steps], tuple[tuple[str, float], int]] = {}
        for name, work, seeds in plan.parts(first):
            for start in range(0, len(seeds), BATCH):
                waiting[executor.submit(work, seeds[start : start + BATCH])] = name, start
        for future in as_completed(waiting):
            name, start = waiting[future]
            found.setdefault(name, {})[start] = future.result()
            on_batch()
    whole = {
        name: np.concatenate([pieces[start] for start in sorted(pieces)]) for name, pieces in found.items()
    }
    return TriggerStudy(
        whole["static", 0.0],
        {size: whole["jump", size] for size in SIZES},
        {rate: whole["drift", rate] for rate in RATES},
        whole["lengths", 0.0][:, 0],
    )
