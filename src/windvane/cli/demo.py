"""`windvane demo`: `auto`, told nothing, beside its rivals on three worlds, with a picture at the end."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from windvane.checks import integer, real
from windvane.cli import terminal
from windvane.cli.tables import draw
from windvane.cli.verbs import VerbParser
from windvane.experiments import demo, demo_figure


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.description = (
        "Runs auto, told nothing, beside a static optimiser and three algorithms that are told more, on a "
        "world that stands still, one that drifts and one that jumps. Shows their regret, every reset of "
        "auto in one run with its reason, and a picture. Needs windvane[demo]."
    )
    verb.add_argument("--seeds", type=int, default=8, help="runs of each algorithm on each world (default 8)")
    verb.add_argument("--steps", type=int, default=200, help="steps of each run (default 200)")
    verb.add_argument(
        "--rate", type=float, default=0.03, help="how fast the drifting world changes, eps (default 0.03)"
    )
    verb.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at work (default: one per core)"
    )
    verb.add_argument("--out", type=Path, default=Path("windvane-demo"), help="folder for the picture")
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Run, show, draw."""
    console = terminal.console()
    plan = demo.DemoPlan(
        seeds=integer("--seeds", given.seeds, at_least=1),
        steps=integer("--steps", given.steps, at_least=2),
        rate=real("--rate", given.rate, at_least=0.0, at_most=1.0),
    )
    given.out.mkdir(parents=True, exist_ok=True)
    console.print(
        f"Random objectives on the unit square, {plan.seeds} of each kind, {plan.steps} steps each: one kind "
        f"stands still, one drifts (eps = {plan.rate:g} per step), one stands still and jumps twice."
    )
    runs: demo.Runs = {(world, name): [] for world in demo.WORLDS for name in demo.RIVALS}
    with terminal.bars() as bars:
        total = plan.seeds * len(demo.WORLDS)
        lines = {
            name: bars.add_task(rival.label, total=total, note="") for name, rival in demo.RIVALS.items()
        }
        for finished in demo.execute(plan, jobs=integer("--jobs", given.jobs, at_least=1)):
            runs[finished.world, finished.name].append(finished)
            bars.update(lines[finished.name], advance=1)
    _table(console, runs)
    _verdict(console, runs)
    _resets(console, demo.first(runs["jumps", "auto"]))
    picture = demo_figure.picture(plan, runs, given.out / "demo.png")
    console.print(f"\nPicture: [bold]{picture}[/bold]", soft_wrap=True)
    console.print("A study to watch in the browser: windvane serve --demo (in a clone: make serve)")


def _table(console: Any, runs: demo.Runs) -> None:
    rows = []
    for name, rival in demo.RIVALS.items():
        found = [demo.quartiles(runs[world, name]) for world in demo.WORLDS]
        cells = [f"{median:.2f}\n{low:.2f}–{high:.2f}" for low, median, high in found]
        rows.append((rival.label, rival.told_what, *cells, f"{demo.milliseconds(runs, name):.1f}"))
    hero = list(demo.RIVALS).index("auto")
    console.print()
    draw(
        console,
        ("algorithm", "is told", "still", "drifts", "jumps", "ms"),
        rows,
        title="Regret per step, R_T / T: median and quartiles; lower is better",
        words=(0, 1),
        unbroken=range(6),
        bold=lambda row, _column: row == hero,
    )
    console.print(
        "Regret: what is lost against the best setting of the moment. static: what you have today, an "
        "optimiser for problems that stand still. It is the engine of auto, told as little, with the one "
        "hypothesis that nothing changes. The rate that TV-GP-UCB is told is the true one; of jumps, the "
        "average. ms: per step, ask and tell together, by the clock, with other runs on the other cores.",
        highlight=False,
    )


def _verdict(console: Any, runs: demo.Runs) -> None:
    """Who was ahead of auto on which world; nobody is left out."""
    console.print()
    for world, does in demo.WORLDS.items():
        better = [
            f"{rival.label} (told {rival.told_what})"
            for rival in map(demo.RIVALS.__getitem__, demo.ahead(runs, world))
        ]
        console.print(
            f"Where the world {does}, {_listed(better) or 'nobody'} "
            f"{'were' if len(better) > 1 else 'was'} ahead of auto.",
            highlight=False,
        )


def _listed(names: list[str]) -> str:
    """
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _resets(console: Any, shown: demo.DemoRun) -> None:
    changes = " and ".join(map(str, shown.changes)) or "no step"
    console.print(f"\nResets of auto in run {shown.seed} of the world that jumps (at {changes}), and why:")
    if not shown.resets:
        console.print("  none: no sudden change was believed in")
    for event in shown.resets:
        console.print(
            f"  t = {event.step:>3}  {event.reason}; kept {event.kept}", soft_wrap=True, highlight=False
        )
