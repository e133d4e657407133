"""`windvane reproduce`: the paper's tables and figures, from one command."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from pathlib import Path
from typing import Any

from windvane.checks import one_of
from windvane.cli import running
from windvane.cli.running import EXTRA
from windvane.errors import StorageFailure
from windvane.experiments.experiment import Experiment, Setting
from windvane.experiments.paper import EXPERIMENTS
from windvane.experiments.report import MARKS, counts, write_html, write_markdown
from windvane.experiments.reproduce import Summary, publish, summaries
from windvane.experiments.store import Store
from windvane.extras import require

COLOURS = {"holds": "green", "holds in part": "yellow", "does not hold": "red", "not tested": "dim"}


def register(verbs: Any) -> None:
    """Add the verb to the command line."""
    names = "\n".join(f"  {e.name:<16} {e.source}: {e.title}" for e in EXPERIMENTS.values())
    verb = verbs.add_parser(
        "reproduce",
        help="the paper's tables and figures",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Runs the paper's experiments and writes, for each, its records (Parquet), table,\n"
        "figure and a verdict on every claim, and one report.html with everything.\n\n"
        "Interrupt it whenever you like: finished runs are kept in OUT/runs.sqlite, and the same\n"
        "command continues where it stopped.",
        epilog=f"experiments:\n{names}\n\nexamples:\n"
        "  windvane reproduce table1\n"
        "  windvane reproduce all --quick --data folder/with/the/data\n"
        "  windvane reproduce table1 table4 --runs 200 --dask tcp://scheduler:8786",
    )
    verb.add_argument("names", nargs="+", metavar="NAME", help="experiments, or `all`")
    verb.add_argument("--runs", type=int, help="runs a cell (default: as many as the paper)")
    running.add_arguments(verb, out="out/reproduce")
    verb.add_argument("--synthetic", action="store_true", help="documented stand-ins where data are missing")
    verb.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report as Markdown")
    verb.set_defaults(run=run)


def chosen(names: list[str]) -> list[Experiment]:
    """The experiments named, in the order of the paper."""
    wanted = {one_of("NAME", name, (*EXPERIMENTS, "all")) for name in names}
    return [e for e in EXPERIMENTS.values() if "all" in wanted or e.name in wanted]


def run(given: argparse.Namespace) -> None:
    """Run, publish, report."""
    experiments = chosen(given.names)
    first = running.first_seed(given)
    data = running.data_folder(given)
    setting = Setting(given.quick, data, given.synthetic)
    workers = running.workers_for(given)
    console = running.console_for(given)
    running.writable(given.out)
    skipped = []
    with Store(given.out / "runs.sqlite") as store:
        for experiment in experiments:
            runs = given.runs or (experiment.quick if given.quick else experiment.runs)
            seeds = range(first, first + runs)
            if experiment.data and data is None and not given.synthetic:
                if len(experiments) == 1:
                    experiment.cells(setting)  # says what is missing
                skipped.append(experiment.name)
                continue
            began = time.monotonic()
            trials = experiment.trials(setting, seeds)
            results = running.watched(console, experiment.name, trials, store, workers)
            command = _command(given, experiment)
            summary = publish(experiment, setting, seeds, results, given.out, command)
            _say(console, summary, given.out, time.monotonic() - began)
    found = summaries(given.out, list(EXPERIMENTS))
    if found:
        _page(write_html, given.out / "report.html", given.out, found)
        console.print(f"\nReport: [bold]{given.out / 'report.html'}[/bold] ({counts(found)})", soft_wrap=True)
        if given.markdown is not None:
            _page(write_markdown, given.markdown, given.out, found)
            console.print(f"Markdown: [bold]{given.markdown}[/bold]", soft_wrap=True)
    if skipped:
        console.print(
            f"Skipped for want of data: {', '.join(skipped)}; "
            "give --data FOLDER, or --synthetic for stand-ins",
            soft_wrap=True,
        )


def _say(console: Any, summary: Summary, out: Path, seconds: float) -> None:
    """The table, if the screen is wide enough for it, and the verdicts."""
    console.print(f"[bold]{summary.source}: {summary.title}[/bold] ({seconds:.0f} s)", highlight=False)
    plain = [[cell.replace("**", "") for cell in row] for row in (summary.table.header, *summary.table.rows)]
    if sum(max(map(len, column)) + 3 for column in zip(*plain, strict=True)) < console.width:
        table = require("rich.table", EXTRA).Table()
        for number, name in enumerate(plain[0]):
            table.add_column(name, justify="right" if number else "left")
        for row in plain[1:]:
            table.add_row(*row)
        console.print(table, highlight=False)
    padding = require("rich.padding", EXTRA).Padding
    for claim in summary.claims:
        mark, colour = MARKS[claim.verdict], COLOURS[claim.verdict]
        console.print(f"[{colour}]{mark} {claim.verdict}[/]  {claim.text}", highlight=False)
        console.print(padding(f"[dim]{claim.evidence}[/dim]", (0, 0, 0, 4)), highlight=False)
    files = "table.md, figure.png, figure.pdf, records.parquet"
    console.print(f"{out / summary.name}{os.sep}: {files}\n", soft_wrap=True)


def _command(given: argparse.Namespace, experiment: Experiment) -> str:
    """The command that gives this again, without what does not matter for the result."""
    parts = ["windvane", "reproduce", experiment.name]
    if given.runs is not None:
        parts += ["--runs", str(given.runs)]
    if given.quick:
        parts.append("--quick")
    if given.seed:
        parts += ["--seed", str(given.seed)]
    if experiment.data:
        parts += ["--data", "FOLDER"] if given.data else ["--synthetic"]
    return shlex.join(parts)


def _page(write: Any, path: Path, out: Path, found: list[Summary]) -> None:
    try:
        write(path, out, found)
    except OSError as error:
        raise StorageFailure(f"{path}: {error.strerror or error}; choose another place") from error
