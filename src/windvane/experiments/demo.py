"""The demonstration: `auto`, told nothing, beside rivals on three worlds: still, drifting, jumping."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import as_completed
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.algorithms import make
from windvane.checks import Array
from windvane.data import Event
from windvane.experiments.executors import Processes
from windvane.optimizer import Optimizer
from windvane.simulate import simulate
from windvane.surrogates.mixture import HYPOTHESES
from windvane.tasks import task


@dataclass(frozen=True)
class Rival:
    """An algorithm of the demonstration, and what it is told besides the space."""

    label: str
    algorithm: str
    told: tuple[str, ...] = ()

    @property
    def told_what(self) -> str:
        """For the table.

        >>> RIVALS["auto"].told_what, RIVALS["tv-gp-ucb"].told_what
        ('nothing', 'kernel, noise, rate')
        """
        return ", ".join(self.told) or "nothing"


# `static` is what a user has today, as good as we can make it: the engine of `auto`, told as little, but
# with the one hypothesis that nothing ever changes. So the difference between the two is what time is worth.
RIVALS = {
    "auto": Rival("auto", "auto"),
    "static": Rival("static", "auto"),
    "gp-ucb": Rival("GP-UCB", "gp-ucb", ("kernel", "noise")),
    "tv-gp-ucb": Rival("TV-GP-UCB", "tv-gp-ucb", ("kernel", "noise", "rate")),
    "et-gp-ucb": Rival("ET-GP-UCB", "et-gp-ucb", ("kernel", "noise")),
}
NEVER_CHANGES = {"hypotheses": HYPOTHESES[:1], "hazard": 0.0, "outliers": 0.0}
WORLDS = {"still": "stands still", "drift": "drifts", "jumps": "jumps"}  # each, and what it does


@dataclass(frozen=True)
class DemoPlan:
    """What is run."""

    seeds: int = 8
    steps: int = 200
    rate: float = 0.03


@dataclass(frozen=True, eq=False)
class DemoRun:
    """One algorithm on one objective."""

    world: str
    name: str
    seed: int
    regret: Array
    events: tuple[Event, ...]
    changes: tuple[int, ...]
    seconds: float

    @property
    def average(self) -> float:
        """R_T / T."""
        return float(self.regret.mean())

    @property
    def resets(self) -> list[Event]:
        """The events at which data were dropped."""
        return [event for event in self.events if event.reset]


Runs = dict[tuple[str, str], list[DemoRun]]
"""By world and rival."""


def objective(plan: DemoPlan, world: str, seed: int) -> Any:
    """A world of the plan; all are samples of one Gaussian process on the unit square."""
    if world == "jumps":
        return task("jumps", horizon=plan.steps, count=min(2, plan.steps - 1), seed=seed)
    return task("within-model", rate=plan.rate if world == "drift" else 0.0, horizon=plan.steps, seed=seed)


def optimiser(name: str, world: Any, seed: int) -> Optimizer:
    """A rival, told what it is told; the rate is the true one, of jumps the average."""
    rival = RIVALS[name]
    known = {
        "kernel": {"kernel": world.kernel},
        "noise": {"noise_variance": world.noise_variance},
        "rate": {"rate": world.rate},
    }
    options: dict[str, Any] = dict(NEVER_CHANGES) if name == "static" else {}
    for fact in rival.told:
        options |= known[fact]
    return make(rival.algorithm, world.space, seed=seed, **options)


def run_one(plan: DemoPlan, world: str, name: str, seed: int) -> DemoRun:
    """One run; the objective and the noise depend on world and seed only, so rivals meet the same ones."""
    changing = objective(plan, world, seed)
    start = time.perf_counter()
    trace = simulate(optimiser(name, changing, seed), changing, seed=seed)
    seconds = time.perf_counter() - start
    return DemoRun(world, name, seed, trace.regret, trace.events, getattr(changing, "steps", ()), seconds)


def execute(plan: DemoPlan, jobs: int) -> Iterator[DemoRun]:
    """Every run, as it finishes."""
    work = [(plan, world, name, seed) for seed in range(plan.seeds) for world in WORLDS for name in RIVALS]
    with Processes(jobs).start() as pool:
        for future in as_completed([pool.submit(run_one, *item) for item in work]):
            yield future.result()


def quartiles(runs: list[DemoRun]) -> tuple[float, float, float]:
    """The lower quartile, the median and the upper quartile of R_T / T."""
    low, middle, high = np.percentile([run.average for run in runs], (25, 50, 75))
    return float(low), float(middle), float(high)


def milliseconds(runs: Runs, name: str) -> float:
    """The time per step of a rival, ask and tell together, over all worlds."""
    mine = [run for (_, other), found in runs.items() if other == name for run in found]
    return 1e3 * sum(run.seconds for run in mine) / sum(len(run.regret) for run in mine)


def ahead(runs: Runs, world: str) -> list[str]:
    """The rivals whose median on a world is lower than that of `auto`, best first."""
    medians = {name: quartiles(runs[world, name])[1] for name in RIVALS}
    return sorted((name for name in RIVALS if medians[name] < medians["auto"]), key=medians.__getitem__)


def first(runs: list[DemoRun]) -> DemoRun:
    """The run that is shown in detail: the first, not the finest."""
    return min(runs, key=lambda run: run.seed)
