"""One simulated run: the same luck for every contestant, while nothing changes and after each jump.

As long as its trigger is quiet an algorithm is the one that never resets, whatever the trigger. So one
silent run serves all contestants: each watches it through its own trigger, and gets an optimiser of its
own, told the same history, at the first alarm. A run that jumps is a copy, made at the jump, of the run
that does not, and ends with the first reset.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from windvane.calibration.functions import Objective
from windvane.composition import Composition
from windvane.data import Event, Prediction
from windvane.kernels import Kernel
from windvane.optimizer import Optimizer
from windvane.spaces.base import Domain
from windvane.threads import one_thread
from windvane.triggers import Memory, Never, ResetWindow


@dataclass(frozen=True)
class CalibrationPlan:
    """What is simulated: the contestants differ in their trigger only."""

    space: Domain
    goal: str
    contestants: tuple[Composition, ...]
    kernel: Kernel  # the functions are drawn from it, whatever the contestants were told
    noise_variance: float  # likewise
    steps: int
    jump_at: int
    jumps: tuple[float, ...]
    seed: int
    rate: float = 0.0  # of drift, all the time


class RunOutcome(NamedTuple):
    """What came out of a run: by contestant, and by jump for the delays."""

    alarms: tuple[tuple[int, ...], ...]  # the steps of the false alarms while nothing changes
    delays: tuple[tuple[int | None, ...], ...]  # observations until the reset, None if there was none


class Luck:
    """The chance in a run: a function of seed, run and step alone, so that contestants share it."""

    def __init__(self, plan: CalibrationPlan, run: int) -> None:
        optimizer, rest = np.random.SeedSequence((plan.seed, run)).spawn(2)
        self.seed = int(optimizer.generate_state(1, np.uint64)[0])
        self.draws: list[list[float]] = np.random.default_rng(rest).standard_normal((plan.steps, 3)).tolist()


class Path:
    """An optimiser at work on an objective."""

    def __init__(self, plan: CalibrationPlan, luck: Luck, composition: Composition) -> None:
        self._plan, self._luck = plan, luck
        self.optimizer = Optimizer(plan.space, composition, goal=plan.goal, seed=luck.seed)
        self.objective = Objective(plan.kernel, plan.rate)
        self.events: list[Event] = []

    def step(self) -> Event:
        """Ask, measure, tell."""
        x = self.optimizer.ask()
        old, new, noise = self._luck.draws[len(self.events)]
        value = self.objective.value(self._plan.space.encode(x), (old, new))
        scaling = self.optimizer.composition.model.scaling
        value += math.sqrt(self._plan.noise_variance) * noise
        sign = 1.0 if self._plan.goal == "maximize" else -1.0
        event = self.optimizer.tell(x, sign * (scaling.offset + scaling.scale * value))
        self.events.append(event)
        return event

    def jumped(self, share: float) -> Path:
        """A copy whose objective jumps now."""
        other = copy.copy(self)
        other.optimizer, other.objective = copy.deepcopy((self.optimizer, self.objective))
        other.events = list(self.events)
        other.objective.jump(share)
        return other

    def retold(self, composition: Composition) -> Path:
        """A copy in which another optimiser was told the same history."""
        other = Path(self._plan, self._luck, composition)
        other.objective = copy.deepcopy(self.objective)
        other.events = [other.optimizer.tell(event.x, event.y) for event in self.events]
        return other


class Watch:
    """A contestant whose trigger has been quiet so far, looking on at the silent run."""

    def __init__(self, composition: Composition, goal: str) -> None:
        self.composition = composition
        self._sign = 1.0 if goal == "maximize" else -1.0
        self._memory: Memory = composition.trigger.start()

    def quiet(self, event: Event) -> bool:
        """Whether this observation is nothing to the contestant; if not, its own optimiser will judge."""
        trigger = self.composition.trigger
        prediction = Prediction(self._sign * event.mean, event.std, event.noise_variance)
        verdict, memory = trigger.test(self._memory, prediction, self._sign * event.y, event.elapsed)
        self._memory = memory if event.monitored else trigger.start()
        alarm = event.monitored and (verdict.fired or verdict.suspect)
        return not alarm and self.composition.window.decide(False, event.elapsed) == "no"


class Crowd:
    """All contestants in one world, by number."""

    def __init__(self, plan: CalibrationPlan, luck: Luck) -> None:
        common = _silenced(plan.contestants[0])
        self._silent = Path(plan, luck, common)
        self._watching: dict[int, Watch] = {}
        self._alone: dict[int, Path] = {}
        for number, one in enumerate(plan.contestants):
            if _silenced(one) == common:
                self._watching[number] = Watch(one, plan.goal)
            else:  # a trigger may decide about other parts too, such as when to learn
                self._alone[number] = Path(plan, luck, one)

    def __len__(self) -> int:
        return len(self._watching) + len(self._alone)

    def step(self) -> dict[int, Event]:
        """What happens to each contestant."""
        events = {number: path.step() for number, path in self._alone.items()}
        if self._watching:
            shared = self._silent.step()
            for number, watch in list(self._watching.items()):
                events[number] = shared
                if not watch.quiet(shared):
                    del self._watching[number]
                    self._alone[number] = self._silent.retold(watch.composition)
                    events[number] = self._alone[number].events[-1]
        return events

    def leave(self, number: int) -> None:
        """This contestant has seen enough."""
        self._watching.pop(number, None)
        self._alone.pop(number, None)

    def jumped(self, share: float) -> Crowd:
        """A copy of everything in which the objective jumps now."""
        other = copy.copy(self)
        other._watching = {number: copy.copy(watch) for number, watch in self._watching.items()}
        other._alone = {number: path.jumped(share) for number, path in self._alone.items()}
        if self._watching:
            other._silent = self._silent.jumped(share)
        return other


def one_run(plan: CalibrationPlan, run: int) -> RunOutcome:
    """The run with this number; a pure function of its arguments, on one BLAS thread."""
    alarms: list[list[int]] = [[] for _ in plan.contestants]
    delays: list[list[int | None]] = [[] for _ in plan.contestants]
    with one_thread.hold():
        crowd = Crowd(plan, Luck(plan, run))
        for step in range(1, plan.steps + 1):
            if step == plan.jump_at:
                for share in plan.jumps:
                    found = _delays(crowd.jumped(share), plan.steps - step + 1)
                    for number, row in enumerate(delays):
                        row.append(found.get(number))
            for number, event in crowd.step().items():
                if _alarmed(event):
                    alarms[number].append(step)
    return RunOutcome(tuple(map(tuple, alarms)), tuple(map(tuple, delays)))


def first_resets(plan: CalibrationPlan, run: int) -> tuple[int | None, ...]:
    """The step of each contestant's first reset, if there is one; the jumps of the plan do not happen."""
    with one_thread.hold():
        found = _delays(Crowd(plan, Luck(plan, run)), plan.steps)
    return tuple(found.get(number) for number in range(len(plan.contestants)))


def _delays(crowd: Crowd, rest: int) -> dict[int, int]:
    """For each contestant that resets, the observations up to its first reset, of whatever cause."""
    found: dict[int, int] = {}
    for observation in range(1, rest + 1):
        for number, event in crowd.step().items():
            if event.reset:
                found[number] = observation
                crowd.leave(number)
        if not crowd:
            break
    return found


def _silenced(composition: Composition) -> Composition:
    """The same algorithm without resets."""
    return replace(composition, trigger=Never(), window=ResetWindow())


def _alarmed(event: Event) -> bool:
    """Whether the trigger made the reset; a forced one is the clock's, and no alarm."""
    return event.reset and event.monitored and event.statistic > event.threshold
