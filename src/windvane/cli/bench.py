"""`windvane bench`: algorithms x tasks -> a leaderboard of normalised dynamic regret."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from windvane.checks import real
from windvane.cli import running, suite
from windvane.cli.running import EXTRA
from windvane.cli.tables import draw
from windvane.cli.verbs import VerbParser
from windvane.entries import Entry
from windvane.experiments import contest, leaderboard
from windvane.experiments.contest import Arena
from windvane.experiments.experiment import trials_of
from windvane.experiments.leaderboard import Leaderboard, LeaderboardLine
from windvane.experiments.records import write_records
from windvane.experiments.reproduce import gather
from windvane.experiments.store import Store
from windvane.extras import require

RUNS, QUICK = 20, 3
CELL = 12  # characters of a task's column in the terminal

DESCRIPTION = """\
Runs every algorithm on every task and ranks them by dynamic regret: how far, at each step, the value of
the query is below the best value there is at that moment.

Tasks have different units, so regret is divided by that of random search on the same task and seeds. A
score of 0 is the optimum at every step, 1 is no better than random.

Finished runs are kept in OUT/runs.sqlite: interrupt it whenever you like, and the same command continues
where it stopped. More runs, algorithms or tasks later only add what is missing. All defaults together take
about half an hour of one core, --quick a few minutes."""

EPILOG = """\
names and options:
  NAME or NAME:option=value,option=value, separated by spaces. `windvane list --options` shows all of them.
  --tasks within-model:rate=0.05,dim=4 ackley-shift
  --algorithms et-gp-ucb:delta=0.05 tv-gp-ucb:rate=0.2

your own algorithm:
  Write MODULE:FUNCTION. The function is called with the space, and with those of kernel, noise_variance,
  horizon, rate and seed that its signature names (kernel and noise_variance are None where they are to be
  learned). It returns any object with ask() -> x and tell(x, y); larger y are better. On tasks with
  constraints, such as guarded, oven and drive, it may name constraints and start as well; if its object has
  constraints, outcomes are told by name, as in tell(x, y, heat=84.2).

    # mine.py
    import numpy as np
    class Greedy:
        def __init__(self, space, seed):
            self.space, self.rng, self.best = space, np.random.default_rng(seed), None
        def ask(self):
            if self.best is None or self.rng.random() < 0.2:
                return self.space.decode(self.space.sample(self.rng, 1)[0])
            return self.best[1]
        def tell(self, x, y):
            self.best = max(self.best or (y, x), (y, x), key=lambda pair: pair[0])

    windvane bench --algorithms mine:Greedy et-gp-ucb random --tasks deng-abrupt --runs 5

your own data:
  A file with one row per moment and one column per arm (.csv, .tsv, also .gz; .npy). The first N rows are the
  past that gives the kernel, the rest is the objective.

    windvane bench --table prices.csv --train-rows 200

the leaderboard of adaptivity:
  --suite standard has worlds and algorithms of its own, and two tables. In the first nobody is told
  anything but the space; in the second rivals are told kernel, noise and rate. It ranks by the worst ratio
  to the best, by the median of the runs, by their mean and by their ninth decile, and counts false resets.
  --suite told-nothing and --suite told are the tables one by one. A rival that is far behind the best one
  after ten runs is not run further on that world. 40 runs take hours all the same.

  With --tasks only the worlds of these names (or patterns) are run, with --algorithms yours face them. All
  runs of an --out are kept together: run it in pieces, and in the end as a whole, which then only reads.

    windvane bench --suite standard --quick
    windvane bench --suite told-nothing --tasks static "half jumps" "drift*" --algorithms auto gp-ucb
    windvane bench --suite standard --data FOLDER --markdown docs/adaptivity.md

examples:
  windvane bench --quick
  windvane bench --algorithms et-gp-ucb tv-gp-ucb --tasks within-model:rate=0.03 --runs 50
  windvane bench --tasks temperature stocks --data folder/with/the/data
  windvane bench --algorithms sw-gp-ucb br-gp-ucb w-gp-ucb et-gp-ucb --tasks deng-abrupt deng-slow
  windvane bench --quick --json > board.json

files in OUT: leaderboard.md, leaderboard.csv, figure.png, figure.pdf, records.parquet (one row per run); of a
suite leaderboard.md and, for each of its tables, told-nothing.csv, .png, .pdf, .parquet and told.csv, ..."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    verb.add_argument(
        "--algorithms", nargs="+", metavar="NAME", help=f"default: {', '.join(contest.DEFAULT_ALGORITHMS)}"
    )
    verb.add_argument(
        "--tasks",
        nargs="+",
        metavar="NAME",
        help=f"default: {', '.join(contest.DEFAULT_TASKS)}; "
        f"and, with --data, {', '.join(contest.FROM_FILES)}. With --suite: names of its worlds, or patterns",
    )
    suite.add_arguments(verb)
    verb.add_argument(
        "--table",
        type=Path,
        metavar="FILE",
        help="a task from your own table; alone, or beside those of --tasks",
    )
    verb.add_argument("--train-rows", type=int, metavar="N", help="rows of --table that are known beforehand")
    verb.add_argument(
        "--rate",
        type=float,
        default=contest.RATE,
        help="rate of change told to algorithms that need one, on tasks without a rate of their own "
        "(default: %(default)s, as in the paper); NAME:rate=... sets it for one algorithm everywhere",
    )
    verb.add_argument(
        "--runs",
        type=int,
        help=f"of each algorithm on each task (default: {RUNS}, of a suite {suite.RUNS}, quick: {QUICK})",
    )
    running.add_arguments(verb, out="out/bench")
    running.add_data(verb)
    verb.add_argument("--json", action="store_true", help="the leaderboard as JSON on standard output")
    verb.set_defaults(run=run, seed=None)


def run(given: argparse.Namespace) -> None:
    """Check everything, run, rank, write, show."""
    suite.check(given)
    first = running.first_seed(given)
    rate = real("--rate", given.rate, at_least=0.0, at_most=1.0)
    seeds = range(
        first, first + (given.runs or (QUICK if given.quick else suite.RUNS if given.suite else RUNS))
    )
    _here_is_importable()
    command = _command(given)
    if given.suite:
        suite.run(given, seeds, rate, command)
        return
    entries, arenas, left_out = _field(given)
    ranked = contest.cells(entries, arenas, rate)
    yardstick = contest.cells([Entry(contest.YARDSTICK)], arenas, rate)
    cells = [*ranked, *(cell for cell in yardstick if cell not in ranked)]
    contest.rehearse(cells, arenas, first)
    workers = running.workers_for(given)
    console = running.console_for(given)
    running.writable(given.out)
    with Store(given.out / "runs.sqlite") as store, running.kept_traceback(given.out):
        results = running.watched("bench", trials_of(cells, seeds), store, workers)
    write_records(given.out / "records.parquet", "bench", cells, seeds, results)
    found, random = gather(ranked, seeds, results), gather(yardstick, seeds, results)
    unit = {arena.label: random[contest.YARDSTICK, arena.label] for arena in arenas}
    board = leaderboard.rank(found, unit)
    notes = contest.notes(entries, arenas, rate) + [f"Left out: {why}" for why in left_out]
    leaderboard.write(board, given.out, notes, command)
    if given.json:
        print(json.dumps(leaderboard.plain(board, notes, command), indent=1, ensure_ascii=False))
    else:
        _show(console, board, notes, given.out)


def _field(given: argparse.Namespace) -> tuple[list[Entry], list[Arena], list[str]]:
    """Algorithms, tasks, and what was left out."""
    arenas, left_out = contest.arenas(
        given.tasks,
        seed=given.seed,
        data=running.data_folder(given),
        table=given.table,
        train_rows=given.train_rows,
    )
    return contest.contestants(given.algorithms), arenas, left_out


def _here_is_importable() -> None:
    """MODULE:FUNCTION is looked for in the present folder too, as `python -m` does; workers inherit it."""
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())


def _show(console: Any, board: Leaderboard, notes: list[str], out: Path) -> None:
    text = require("rich.text", EXTRA).Text
    shown = leaderboard.overall(board)
    draw(
        console,
        [heading.replace(" ", "\n", 1) for heading in shown.header],
        shown.rows,
        title="Leaderboard",
        words=(0, 5),
        bold=lambda row, _column: shown.rows[row][1] == "1",
    )
    names = [standing.algorithm for standing in board.standings]
    fit = max(1, (console.width - max(map(len, names)) - 4) // (CELL + 3))
    for start in range(0, len(board.tasks), fit):
        tasks = board.tasks[start : start + fit]
        scores = [[board.line(name, task) for task in tasks] for name in names]
        best = {
            (row, column)
            for row, found in enumerate(scores)
            for column, line in enumerate(found, start=1)
            if line.ratio == 1.0
        }
        draw(
            console,
            ["algorithm", *map(_folded, tasks)],
            [[name, *map(_cell, found)] for name, found in zip(names, scores, strict=True)],
            title="" if start else "Scores; the best of a task is bold",
            bold=lambda *cell, best=best: cell in best,
            narrowest=CELL,
        )
    for note in (*leaderboard.about(board), *notes):
        console.print(text(note), highlight=False)
    files = "leaderboard.md, leaderboard.csv, figure.png, figure.pdf, records.parquet"
    console.print(text(f"{out}{os.sep}: {files}"), soft_wrap=True)


def _cell(line: LeaderboardLine) -> str:
    """The score, and below it how often a limit was broken, where there are limits."""
    return f"{line.score:.3f}" + (f"\n{leaderboard.beyond(line)}" if line.violations is not None else "")


def _folded(task: str) -> str:
    """A heading in lines of at most CELL characters, broken where the eye does not mind."""
    lines = [""]
    for word in re.findall(r"[^-:=,\s]*[-:=,\s]?", task):
        for part in (word[i : i + CELL] for i in range(0, len(word), CELL)):
            if len(lines[-1]) + len(part) > CELL or lines[-1].endswith((":", ",")):
                lines.append("")
            lines[-1] += part
    return "\n".join(lines)


def _command(given: argparse.Namespace) -> str:
    return running.command(
        "bench",
        suite=given.suite,
        algorithms=given.algorithms,
        tasks=given.tasks,
        table=given.table and given.table.name,
        train_rows=given.train_rows,
        rate=None if given.rate == contest.RATE else given.rate,
        runs=given.runs,
        quick=given.quick and given.runs is None,
        seed=None if given.seed == suite.default_seed(given) else given.seed,
        data=given.data and "FOLDER",
        markdown=given.markdown,
    )
