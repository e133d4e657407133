"""`windvane replay`: what algorithms would have predicted of a log of measurements."""

from __future__ import annotations

import argparse
from pathlib import Path

from windvane.checks import integer
from windvane.cli import terminal
from windvane.cli.columns import add_columns, columns_from
from windvane.cli.reports import add_outputs, console_for, hand_out
from windvane.cli.running import EXTRA, progress
from windvane.cli.spaces import add_space_arguments, space_from
from windvane.cli.verbs import VerbParser
from windvane.replay import read_log, replay
from windvane.spelling import spelt_constraints

DESCRIPTION = """\
Past measurements are told, in order, to each algorithm, as if it had been there: what would it have
predicted before each one, when would it have reset and why, and how far can its predictions be trusted? The
measurements were chosen by somebody else, so nothing is said about what an algorithm would have measured
instead: there is no regret in a log."""

EPILOG = """\
examples:
  windvane replay log.csv                                          auto alone, the space guessed from the log
  windvane replay log.csv --algorithm auto --algorithm et-gp-ucb --box 0,1 0,1
  windvane replay log.csv --algorithm tv-gp-ucb:rate=0.03 --algorithm tv-gp-ucb:rate=0.1
  windvane replay log.csv --box 0,1 0,1 --constraint "heat<=90 °C"  how far is a limit to be believed?
  windvane replay log.jsonl --param gain=real:0.1:10:log --algorithm et-gp-ucb:trigger=e-detector --out found

A CSV file has a header: x1, x2, ... or the names of parameters (arm for arms), y (or value), and time if
there are times, as numbers or as 2026-01-31T12:00:00. A JSON line is {"x": [0.1, 0.2], "y": 1.5, "time": 7}.
Parquet has the columns of CSV. What a study exported is read as well. With --out FOLDER: replay.txt,
replay.json, events.csv (one line per algorithm and measurement), figure.png and figure.pdf. How to read them:
docs/how-to/replay.md."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    shown = "default: %(default)s"
    verb.add_argument("log", type=Path, metavar="LOG", help=".csv, .tsv, .jsonl, .ndjson or .parquet")
    verb.add_argument(
        "--algorithm",
        action="append",
        metavar="NAME",
        help="NAME or NAME:option=value,option=value, may be repeated; default: auto",
    )
    verb.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="LIMIT",
        help='"heat<=90 °C" or "purity>=0.8", of a column heat or outcome.heat; may be repeated',
    )
    verb.add_argument("--goal", default="maximize", help=f"maximize or minimize; {shown}")
    verb.add_argument("--format", metavar="KIND", help="csv, jsonl or parquet; default: by the file's name")
    add_columns(verb)
    verb.add_argument("--sort", action="store_true", help="put the measurements in the order of time")
    verb.add_argument(
        "--ignore-times", action="store_true", help="one step per measurement, whatever the times"
    )
    verb.add_argument("--skip-missing", action="store_true", help="leave out what has no y, or NaN")
    verb.add_argument(
        "--metadata", action="append", default=[], metavar="COLUMN", help="no parameter; kept in events.csv"
    )
    verb.add_argument(
        "--warmup", type=int, metavar="N", help="first measurements not scored; default: 10, or a quarter"
    )
    verb.add_argument("--seed", type=int, default=0, help=shown)
    add_outputs(verb)
    add_space_arguments(verb)
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Read, replay, write, show."""
    console = console_for(given)
    space = space_from(given)
    integer("--seed", given.seed, at_least=0)
    constraints = spelt_constraints(given.constraint, "--constraint")
    aside = terminal.console(extra=EXTRA, stderr=True)
    with aside.status(f"reading {given.log}") as status:  # seen on a terminal only, and gone afterwards
        log = read_log(
            given.log,
            space,
            format=given.format,
            metadata=given.metadata,
            outcomes=tuple(constraints),
            sort=given.sort,
            skip_missing=given.skip_missing,
            **columns_from(given),
            on_progress=lambda count: status.update(f"reading {given.log}: {count:,} measurements"),
        )
    if given.ignore_times:
        log = log.without_times()
    with progress("measurements", given.out) as on_progress:
        found = replay(
            log,
            given.algorithm or ["auto"],
            space,
            goal=given.goal,
            seed=given.seed,
            warmup=given.warmup,
            constraints=constraints or None,
            on_progress=on_progress,
        )
    hand_out(found, given, console, name="replay", records="events")
