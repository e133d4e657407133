"""The picture of the demonstration: one panel for each world, with the resets of `auto` below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from windvane.experiments.demo import RIVALS, WORLDS, DemoPlan, DemoRun, Runs
from windvane.files import whole
from windvane.plots.panels import change_lines, spread
from windvane.plots.style import BLACK, GREY, PURPLE, Look, legend, look, says, sheet, text

STATIC = Look(PURPLE, (0, (5, 1.5)), 1.8)
BANDS = ("auto", "static")  # whose quartiles are drawn: five bands on top of each other show nothing


def picture(plan: DemoPlan, runs: Runs, path: Path) -> Path:
    """Regret over time on each world, and when `auto` reset its data, one line per run."""
    figure, axes = sheet(2, len(WORLDS), (11, 5.8), height_ratios=(4, 1), sharex=True, sharey="row")
    for column, (world, does) in enumerate(WORLDS.items()):
        above, below = axes[:, column]
        rate = f" (eps = {plan.rate:g} per step)" if world == "drift" else ""
        says(above, f"The world {does}{rate}")
        _regret(above, plan, runs, world)
        _resets(below, sorted(runs[world, "auto"], key=lambda run: run.seed))
        changes = runs[world, "auto"][0].changes
        if changes:
            change_lines((above, below), changes, "the world jumps")
    axes[0, 0].set_ylabel("regret per step, $R_t / t$ (lower is better)", fontsize=text(9))
    axes[1, 0].set_ylabel("run", fontsize=text(9))
    axes[0, 0].set_xlim(0, plan.steps + 1)
    axes[0, 0].set_ylim(0.0, _ceiling(plan, runs))
    legend(figure, axes[0, len(WORLDS) - 1], columns=3)
    with whole(path) as draft:
        figure.savefig(draft, dpi=150, metadata={"Software": None})
    return path


def _regret(panel: Any, plan: DemoPlan, runs: Runs, world: str) -> None:
    steps = np.arange(1, plan.steps + 1)
    for place, (name, rival) in enumerate(RIVALS.items()):
        shown = STATIC if name == "static" else look(name)
        curves = [np.cumsum(run.regret) / steps for run in runs[world, name]]
        label = f"{rival.label}, told {rival.told_what}"
        if name in BANDS:
            spread(panel, label, curves, shown)
        else:
            panel.plot(steps, np.median(curves, axis=0), label=label, **shown.line)
        panel.lines[-1].set_zorder(3.0 - 0.1 * place)  # auto on top
    panel.grid(alpha=0.25)


def _resets(panel: Any, mine: list[DemoRun]) -> None:
    for row, run in enumerate(mine):
        panel.axhline(row, color=GREY, lw=0.4, alpha=0.5, zorder=0)
        at = [event.step for event in run.resets]
        panel.plot(at, [row] * len(at), "|", color=BLACK, ms=7, mew=2.0)
    count = sum(len(run.resets) for run in mine)
    says(panel, f"Resets of auto: {count or 'none'} in {len(mine)} {'run' if len(mine) == 1 else 'runs'}")
    panel.set_ylim(len(mine) - 0.3, -0.7)
    panel.set_yticks([])
    panel.set_xlabel("step $t$", fontsize=text(9))


def _ceiling(plan: DemoPlan, runs: Runs) -> float:
    """Above all medians after the first steps, in which everybody is lost."""
    steps, settled = np.arange(1, plan.steps + 1), min(15, plan.steps // 2)
    medians = [np.median([np.cumsum(run.regret) / steps for run in found], axis=0) for found in runs.values()]
    return 1.15 * float(max(curve[settled:].max() for curve in medians)) or 1.0
