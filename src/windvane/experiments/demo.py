"""The demonstration: four algorithms on the same drifting objectives, and one picture."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from windvane.algorithms import make
from windvane.checks import Array
from windvane.data import Event
from windvane.experiments.executors import Processes
from windvane.files import whole
from windvane.plots.panels import spread
from windvane.plots.style import BLACK, GREY, colour, look, sheet
from windvane.simulate import simulate
from windvane.tasks import task

RIVALS = {
    "gp-ucb": "GP-UCB",
    "r-gp-ucb": "R-GP-UCB",
    "tv-gp-ucb": "TV-GP-UCB",
    "et-gp-ucb": "ET-GP-UCB",
}
TOLD_THE_RATE = ("r-gp-ucb", "tv-gp-ucb")


@dataclass(frozen=True)
class DemoPlan:
    """What is run."""

    seeds: int = 10
    steps: int = 400
    rate: float = 0.03


@dataclass(frozen=True, eq=False)
class DemoRun:
    """One algorithm on one objective."""

    name: str
    seed: int
    regret: Array
    events: tuple[Event, ...]
    seconds: float


@dataclass(frozen=True)
class DemoSummary:
    """A row of the table."""

    median: float
    low: float
    high: float
    resets: float
    milliseconds: float


def run_one(plan: DemoPlan, name: str, seed: int) -> DemoRun:
    """One run; the objective and the noise depend on the seed only, so rivals meet the same ones."""
    drifting = task("within-model", rate=plan.rate, horizon=plan.steps, seed=seed)
    options: dict[str, Any] = {"rate": plan.rate} if name in TOLD_THE_RATE else {}
    if name == "r-gp-ucb":
        options["horizon"] = plan.steps
    optimizer = make(
        name,
        drifting.space,
        kernel=drifting.kernel,
        noise_variance=drifting.noise_variance,
        seed=seed,
        **options,
    )
    start = time.perf_counter()
    trace = simulate(optimizer, drifting, seed=seed)
    return DemoRun(name, seed, trace.regret, trace.events, time.perf_counter() - start)


def execute(plan: DemoPlan, jobs: int) -> Iterator[DemoRun]:
    """Every run, as it finishes."""
    work = [(plan, name, seed) for seed in range(plan.seeds) for name in RIVALS]
    with Processes(jobs).start() as pool:
        for future in as_completed([pool.submit(run_one, *item) for item in work]):
            yield future.result()


def median(runs: list[DemoRun]) -> float:
    """The median of R_T / T."""
    return float(np.median([run.regret.mean() for run in runs]))


def summary(runs: list[DemoRun]) -> DemoSummary:
    """The table's row for one algorithm."""
    average = np.array([run.regret.mean() for run in runs])
    low, middle, high = np.percentile(average, (25, 50, 75))
    steps = sum(len(run.regret) for run in runs)
    return DemoSummary(
        float(middle),
        float(low),
        float(high),
        sum(event.reset for run in runs for event in run.events) / len(runs),
        1e3 * sum(run.seconds for run in runs) / steps,
    )


def picture(plan: DemoPlan, runs: dict[str, list[DemoRun]], path: Path) -> Path:
    """Regret over time above; below, ET-GP-UCB's test statistic under its threshold in one run."""
    figure, axes = sheet(2, 1, (9, 7), height_ratios=(3, 2), sharex=True)
    above, below = axes[:, 0]
    steps = np.arange(1, plan.steps + 1)
    for name, label in RIVALS.items():
        spread(above, label, [np.cumsum(run.regret) / steps for run in runs[name]], look(name))
    above.set_ylabel("regret per step, $R_t / t$")
    above.set_title(
        f"Dynamic regret, drifting objective (eps = {plan.rate:g}; median, quartiles of {plan.seeds} runs)",
        loc="left",
    )
    settled = np.concatenate(
        [(np.cumsum(run.regret) / steps)[min(10, plan.steps // 2) :] for one in runs.values() for run in one]
    )
    above.set_ylim(0.0, float(np.percentile(settled, 99.5)) * 1.05)
    above.legend(frameon=False, ncols=4, loc="upper right")
    _trigger_panel(below, min(runs["et-gp-ucb"], key=lambda run: run.seed))
    for panel in (above, below):
        panel.grid(alpha=0.25)
    below.set_xlabel("step t")
    below.set_xlim(0, plan.steps + 1)
    with whole(path) as draft:
        figure.savefig(draft, dpi=150)
    return path


def _trigger_panel(panel: Any, run: DemoRun) -> None:
    steps = [event.step for event in run.events]
    panel.plot(steps, [event.threshold for event in run.events], color=BLACK, lw=1.4, label="threshold")
    panel.plot(
        steps,
        [event.statistic for event in run.events],
        color=colour("et-gp-ucb"),
        lw=1.0,
        label="|y - mean|",
    )
    resets = [event for event in run.events if event.reset]
    for event in resets:
        panel.axvline(event.step, color=GREY, lw=0.8, ls=":", zorder=0)
    panel.plot(
        [event.step for event in resets],
        [event.statistic for event in resets],
        "x",
        color=BLACK,
        ms=7,
        mew=1.8,
        label="reset",
        ls="none",
    )
    panel.set_ylabel("test statistic")
    panel.set_title(f"ET-GP-UCB's trigger in run {run.seed}: a broken bound resets the data", loc="left")
    panel.set_ylim(0.0, 1.25 * max(event.threshold for event in run.events))
    panel.legend(frameon=False, ncols=3, loc="upper right")
