"""`windvane demo`: ET-GP-UCB beside its rivals on a drifting objective, with a picture at the end."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from windvane.checks import integer, real
from windvane.experiments import demo
from windvane.extras import require


def register(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "demo",
        help="ET-GP-UCB against GP-UCB, R-GP-UCB and TV-GP-UCB, with a picture",
        description=(
            "Runs four algorithms on several samples of a drifting objective and shows their dynamic "
            "regret, every reset of ET-GP-UCB with its reason, and a picture. Needs windvane[demo]."
        ),
    )
    verb.add_argument("--seeds", type=int, default=10, help="runs of each algorithm (default 10)")
    verb.add_argument(
        "--steps", type=int, default=400, help="steps of each run (default 400, as in the paper)"
    )
    verb.add_argument(
        "--rate", type=float, default=0.03, help="the objective's rate of change eps (default 0.03)"
    )
    verb.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at work (default: one a core)"
    )
    verb.add_argument("--out", type=Path, default=Path("windvane-demo"), help="folder for the picture")
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Run, show, draw."""
    console = require("rich.console", "demo").Console()
    progress = require("rich.progress", "demo")
    plan = demo.DemoPlan(
        seeds=integer("--seeds", given.seeds, at_least=1),
        steps=integer("--steps", given.steps, at_least=2),
        rate=real("--rate", given.rate, at_least=0.0, at_most=1.0),
    )
    given.out.mkdir(parents=True, exist_ok=True)
    columns = (
        progress.TextColumn("{task.description:<12}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[note]}"),
    )
    console.print(
        f"A random objective on the unit square that drifts at eps = {plan.rate:g} a step; "
        f"{plan.seeds} samples, {plan.steps} steps each."
    )
    with progress.Progress(*columns, console=console) as bars:
        lines = {name: bars.add_task(label, total=plan.seeds, note="") for name, label in demo.RIVALS.items()}
        runs: dict[str, list[demo.DemoRun]] = {name: [] for name in demo.RIVALS}
        for finished in demo.execute(plan, jobs=integer("--jobs", given.jobs, at_least=1)):
            runs[finished.name].append(finished)
            note = f"R_T/T {demo.median(runs[finished.name]):.3f}"
            bars.update(lines[finished.name], advance=1, note=note)
    _table(console, runs)
    _resets(console, runs["et-gp-ucb"])
    picture = demo.picture(plan, runs, given.out / "demo.png")
    console.print(f"\nPicture: [bold]{picture}[/bold]", soft_wrap=True)


def _table(console: Any, runs: dict[str, list[demo.DemoRun]]) -> None:
    table = require("rich.table", "demo").Table(
        title="Dynamic regret per step, R_T / T (lower is better)", title_justify="left"
    )
    table.add_column("algorithm")
    for heading in ("median", "quartiles", "resets", "ms a step", "told eps?"):
        table.add_column(heading, justify="right")
    for name, label in demo.RIVALS.items():
        row = demo.summary(runs[name])
        table.add_row(
            label,
            f"{row.median:.3f}",
            f"{row.low:.3f}–{row.high:.3f}",
            f"{row.resets:.1f}",
            f"{row.milliseconds:.2f}",
            "yes" if name in demo.TOLD_THE_RATE else "no",
            style="bold" if name == "et-gp-ucb" else None,
        )
    console.print()
    console.print(table)


def _resets(console: Any, runs: list[demo.DemoRun]) -> None:
    first = min(runs, key=lambda run: run.seed)
    resets = [event for event in first.events if event.reset]
    console.print(f"\nResets of ET-GP-UCB in run {first.seed}, and why:")
    if not resets:
        console.print("  none: no observation contradicted the model")
    for event in resets:
        console.print(
            f"  t = {event.step:>3}  {event.reason}; kept {event.kept}", soft_wrap=True, highlight=False
        )
