"""One simulated run under constraints that are drawn, drift, and jump.

A quantity g is a sample of GP(m, k) whose clock tau runs: k((x, t), (x', t')) = k(x, x') exp(-|tau - tau'|).
A step of the Markov chain at rate eps moves it by -ln(1 - eps) / 2, a jump of size s by -ln(1 - s) / 2, so
that the law is exact wherever and in whatever order it is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from windvane.calibration.functions import Drifting, Sample, moved
from windvane.checks import Array
from windvane.composition import Composition
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument
from windvane.kernels import Kernel
from windvane.optimizer import Optimizer
from windvane.spaces.base import Domain
from windvane.threads import one_thread

TRIES = 10_000  # draws of a constraint at the starts, until they keep the margin


@dataclass(frozen=True)
class Quantity:
    """What is drawn: its kernel, its mean, and the variance of the noise in what is told of it."""

    kernel: Kernel
    mean: float
    noise_variance: float


@dataclass(frozen=True)
class SafetyPlan:
    """What is simulated: the contestants differ in the probability that they are to keep."""

    space: Domain
    goal: str
    contestants: tuple[Composition, ...]
    objective: Quantity
    constraints: tuple[tuple[str, Constraint, Quantity], ...]
    start: tuple[tuple[float, ...], ...]  # encoded
    margin: float  # that each constraint keeps at the starts at step 1, in its standard deviations
    rate: float
    jumps: tuple[float, ...]  # a world each; 0 is one without
    jump_at: int
    steps: int
    seed: int


class SafetyRun(NamedTuple):
    """What came out of a run, by contestant and jump: the steps that violate, and the mean objective."""

    violations: tuple[tuple[tuple[int, ...], ...], ...]
    gains: tuple[tuple[float, ...], ...]


def clock(rate: float, jump: float, jump_at: int, step: int) -> float:
    """What the clock says at a step, from 1.

    >>> clock(0.0, 0.0, 5, 9), round(math.exp(-clock(0.0, 0.75, 5, 5)), 9), clock(0.0, 0.75, 5, 4)
    (0.0, 0.5, 0.0)
    """
    return (step - 1) * moved(rate) + (moved(jump) if step >= jump_at else 0.0)


class SafetyLuck:
    """The chance in a run: a function of seed, run and step alone, so that contestants share it."""

    def __init__(self, plan: SafetyPlan, run: int) -> None:
        optimizer, steps, starts = np.random.SeedSequence((plan.seed, run)).spawn(3)
        self.seed = int(optimizer.generate_state(1, np.uint64)[0])
        count = 2 * (1 + len(plan.constraints))
        draws = np.random.default_rng(steps).standard_normal((plan.steps, count))
        self.draws: list[list[float]] = draws.tolist()
        rng = np.random.default_rng(starts)
        self.starts = [_kept(plan, quantity, limit, rng) for _, limit, quantity in plan.constraints]


def _kept(plan: SafetyPlan, of: Quantity, limit: Constraint, rng: np.random.Generator) -> Array:
    """Draws of a constraint at the starts under which these keep the margin: by rejection, so exact."""
    points = np.array([[*x, 0.0] for x in plan.start])
    for _ in range(TRIES):
        draws = rng.standard_normal(len(points))
        sample = Sample(Drifting(of.kernel))
        values = [of.mean + sample.value(x, z) for x, z in zip(points, draws.tolist(), strict=True)]
        spread = np.sqrt(of.kernel.diagonal(points[:, :-1]))
        if all(limit.margin(g) >= plan.margin * s for g, s in zip(values, spread, strict=True)):
            return draws
    raise InvalidArgument(
        f"start, margin: in {TRIES} draws, the constraint {limit} was never kept at all starts by "
        f"{plan.margin:g} standard deviations; give a looser limit, fewer starts or a smaller margin"
    )


class World:
    """The objective and the constraints of one run, looked at step by step."""

    def __init__(self, plan: SafetyPlan, luck: SafetyLuck, jump: float) -> None:
        self._plan, self._luck, self._jump = plan, luck, jump
        self._objective = Sample(Drifting(plan.objective.kernel))
        self._limited = [Sample(Drifting(of.kernel)) for _, _, of in plan.constraints]
        for sample, draws in zip(self._limited, luck.starts, strict=True):
            for x, z in zip(plan.start, draws.tolist(), strict=True):
                sample.value(np.array([*x, 0.0]), z)

    def at(self, x: Array, step: int) -> tuple[float, dict[str, float]]:
        """The objective and the constraints at an encoded point, without noise."""
        plan, draws = self._plan, self._luck.draws[step - 1]
        place = np.append(x, clock(plan.rate, self._jump, plan.jump_at, step))
        value = plan.objective.mean + self._objective.value(place, draws[0])
        found = {}
        for number, (name, _, of) in enumerate(plan.constraints):
            found[name] = of.mean + self._limited[number].value(place, draws[2 * number + 2])
        return value, found

    def noises(self, step: int) -> tuple[float, dict[str, float]]:
        """The noise in what is told at a step."""
        plan, draws = self._plan, self._luck.draws[step - 1]
        found = {
            name: math.sqrt(of.noise_variance) * draws[2 * number + 3]
            for number, (name, _, of) in enumerate(plan.constraints)
        }
        return math.sqrt(plan.objective.noise_variance) * draws[1], found


def safety_run(plan: SafetyPlan, run: int) -> SafetyRun:
    """The run with this number; a pure function of its arguments, on one BLAS thread."""
    luck = SafetyLuck(plan, run)
    with one_thread.hold():
        found = [[_one(plan, luck, one, jump) for jump in plan.jumps] for one in plan.contestants]
    return SafetyRun(
        tuple(tuple(broken for broken, _ in each) for each in found),
        tuple(tuple(gain for _, gain in each) for each in found),
    )


def _one(
    plan: SafetyPlan, luck: SafetyLuck, composition: Composition, jump: float
) -> tuple[tuple[int, ...], float]:
    """The steps at which what was asked for violates, and the mean of the objective there."""
    optimizer = Optimizer(plan.space, composition, goal=plan.goal, seed=luck.seed)
    world, scaling = World(plan, luck, jump), composition.model.scaling
    sign = 1.0 if plan.goal == "maximize" else -1.0
    broken, total = [], 0.0
    for step in range(1, plan.steps + 1):
        x = optimizer.ask()
        value, outcomes = world.at(plan.space.encode(x), step)
        total += value
        if any(not limit.met(outcomes[name]) for name, limit, _ in plan.constraints):
            broken.append(step)
        noise, noises = world.noises(step)
        told = {name: outcomes[name] + noises[name] for name in outcomes}
        optimizer.tell(x, sign * (scaling.offset + scaling.scale * (value + noise)), **told)
    return tuple(broken), total / plan.steps
