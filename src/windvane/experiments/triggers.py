"""Triggers side by side: false alarms while nothing changes, delays after a jump and under slow drift.

What is counted is counted by the runs of `windvane.calibrate`. Objectives are those of Section 6.2.1: drawn
from the model's own prior in the unit square, lengthscale 0.2, noise variance 0.02.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.algorithms import make
from windvane.calibration.jobs import Found, all_runs
from windvane.calibration.runs import CalibrationPlan, first_resets, one_run
from windvane.checks import Array
from windvane.data import Prediction
from windvane.experiments.executors import Workers
from windvane.kernels import RBF
from windvane.spaces import Box
from windvane.theory.proportion import wilson
from windvane.triggers import EDetector, ExactBound, Likelihood, PosteriorBound, Trigger

Steps = npt.NDArray[np.int64]

SPACE, KERNEL, NOISE_VARIANCE = Box([(0.0, 1.0)] * 2), RBF(0.2), 0.02
DELTAS = (0.05, 0.1, 0.2)
RUN_LENGTH = 1000.0
SIZES = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
RATES = (0.003, 0.005, 0.01, 0.02, 0.03)
STATIC_STEPS, QUIET_STEPS, JUMP_STEPS, DRIFT_STEPS = 60, 50, 50, 200
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


def simulated(
    triggers: Mapping[str, Trigger], steps: int, seed: int, *, quiet: int = 0, rate: float = 0.0
) -> CalibrationPlan:
    """Runs of ET-GP-UCB with each trigger. After `quiet` steps, if any, the objective jumps by each size.

    A jump of size s makes sqrt(1 - s^2) f + s g of the objective f, with g a fresh draw: a single step of the
    Markov chain of Assumption 2 with eps = s^2. At s = 1 nothing is left of f.
    """
    told: Any = {"kernel": KERNEL, "noise_variance": NOISE_VARIANCE, "seed": 0}
    made = [make("et-gp-ucb", SPACE, trigger=trigger, **told) for trigger in triggers.values()]
    return CalibrationPlan(
        space=SPACE,
        goal="maximize",
        contestants=tuple(optimizer.composition for optimizer in made),
        kernel=KERNEL,
        noise_variance=NOISE_VARIANCE,
        steps=steps,
        jump_at=quiet + 1,
        jumps=tuple(size**2 for size in SIZES) if quiet else (),
        seed=seed,
        rate=rate,
    )


def first_alarms(plan: CalibrationPlan, run: int) -> list[int]:
    """The step of each trigger's first alarm in a run without jumps."""
    return [step or NEVER for step in first_resets(plan, run)]


def alarms_at_jumps(plan: CalibrationPlan, run: int) -> list[list[int]]:
    """For each size, the step of each trigger's first alarm: after the jump, unless there was one before."""
    alarms, delays = one_run(plan, run)
    before = [next((step for step in steps if step < plan.jump_at), NEVER) for steps in alarms]
    return [
        [
            early or (NEVER if delay is None else plan.jump_at - 1 + delay)
            for early, delay in zip(before, after, strict=True)
        ]
        for after in zip(*delays, strict=True)
    ]


def run_length(first: int, run: int) -> int:
    """Steps until a false alarm of the trigger with a run length, on residuals that are as they should be."""
    (trigger,), model = PATIENT.values(), Prediction(0.0, 0.0, 1.0)
    rng, memory, elapsed = np.random.default_rng((first + run, 4)), trigger.start(), 0
    while True:
        for e in rng.standard_normal(256).tolist():
            elapsed += 1
            verdict, memory = trigger.test(memory, model, e, elapsed)
            if verdict.fired:
                return elapsed


@dataclass(frozen=True)
class TriggerStudyPlan:
    """How many runs: while nothing changes, of each change, and until a false alarm."""

    static: int = 2000
    moving: int = 200
    lengths: int = 400

    @property
    def runs(self) -> int:
        """All of them; one with jumps is a run with each of them."""
        return self.static + self.moving * (1 + len(RATES)) + self.lengths


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


def conduct(plan: TriggerStudyPlan, seed: int, workers: Workers, on_run: Callable[[], None]) -> TriggerStudy:
    """Run everything; the seed alone decides what comes out."""

    def found(work: Callable[[int], Found], runs: int, executor: Executor) -> Steps:
        done = all_runs(work, runs, executor, lambda number, _total: on_run() if number else None)
        return np.array(done, dtype=np.int64)

    quiet = simulated(WATCHING_STATIC, STATIC_STEPS, seed)
    jumping = simulated(WATCHING_CHANGE, QUIET_STEPS + JUMP_STEPS, seed, quiet=QUIET_STEPS)
    with workers.start() as executor:
        static = found(partial(first_alarms, quiet), plan.static, executor)
        jumps = found(partial(alarms_at_jumps, jumping), plan.moving, executor)
        drifts = {}
        for rate in RATES:
            drifting = simulated(WATCHING_CHANGE, DRIFT_STEPS, seed, rate=rate)
            drifts[rate] = found(partial(first_alarms, drifting), plan.moving, executor)
        lengths = found(partial(run_length, seed), plan.lengths, executor)
    return TriggerStudy(static, {size: jumps[:, n] for n, size in enumerate(SIZES)}, drifts, lengths)
