"""`windvane bench --suite standard`: the leaderboard of adaptivity."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from windvane.cli import running
from windvane.cli.running import EXTRA
from windvane.cli.tables import draw
from windvane.digits import counted
from windvane.errors import InvalidArgument
from windvane.experiments import adaptivity, adaptivity_page, contest, evidence, race, suite
from windvane.experiments.executors import Workers
from windvane.experiments.experiment import trials_of
from windvane.experiments.outcome import TableOutcome, about, outcome, subjects
from windvane.experiments.records import write_records
from windvane.experiments.reproduce import gather
from windvane.experiments.statistic import MEDIAN
from windvane.experiments.store import Store
from windvane.experiments.suite import Field
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import RunSpec
from windvane.extras import require

RUNS = suite.RUNS
LONG = 24  # characters of a name, beyond which its options go to the next line
SWEEP = 3600.0  # seconds: all worlds come by, so that slow and quick ones are averaged


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """--suite and --markdown."""
    verb.add_argument(
        "--suite",
        choices=tuple(suite.SUITES),
        help="the leaderboard of adaptivity: worlds and algorithms of its own, ranked by the worst ratio; "
        f"its first seed is {suite.FIRST_SEED}",
    )
    verb.add_argument(
        "--evidence",
        type=Path,
        metavar="FILE",
        help="with --suite: finished runs in a small file (.jsonl.gz) that goes from machine to machine; "
        "those of an earlier version count where a run that is made anew is the same to the last bit",
    )
    verb.add_argument(
        "--markdown", type=Path, metavar="FILE", help="with --suite: the page for the documentation"
    )


def default_seed(given: argparse.Namespace) -> int:
    """Those of the suite are not those that were used to design what it ranks."""
    return suite.FIRST_SEED if given.suite else 0


def check(given: argparse.Namespace) -> None:
    """What goes with a suite and what does not; and the first seed, which depends on it."""
    if given.seed is None:
        given.seed = default_seed(given)
    if given.suite is None:
        for option in ("markdown", "evidence"):
            if getattr(given, option) is not None:
                raise InvalidArgument(f"--{option}: belongs to --suite standard, which is not given")
        return
    for option in ("table", "train_rows"):
        if getattr(given, option) is not None:
            raise InvalidArgument(
                f"--{option.replace('_', '-')}: a suite has its own tasks; leave it out, or leave out --suite"
            )
    if given.markdown is not None and given.markdown.is_dir():
        raise InvalidArgument(f"--markdown {given.markdown}: is a folder; must be a file to write")


def run(given: argparse.Namespace, seeds: range, rate: float, command: str) -> None:
    """Check, say what it will take, run, rank, write, show."""
    fields = suite.fields(
        given.suite,
        seed=given.seed,
        data=running.data_folder(given),
        algorithms=given.algorithms,
        tasks=given.tasks,
    )
    ranked = {field.table.name: field.cells(rate) for field in fields}
    yardsticks = {field.table.name: field.yardstick(rate) for field in fields}
    every = {name: list(dict.fromkeys((*ranked[name], *yardsticks[name]))) for name in ranked}
    for field in fields:
        contest.rehearse(every[field.table.name], field.arenas, seeds[0])
    workers = running.workers_for(given)
    console = running.console_for(given)
    running.writable(given.out)
    finishers = {field.table.name: {contest.YARDSTICK, *subjects(field)} for field in fields}
    most = len(trials_of([cell for some in every.values() for cell in some], seeds))

    def say(kept: int) -> None:
        console.print(plan(fields, seeds, most, kept), highlight=False, markup=False)

    with (
        Store(given.out / "runs.sqlite") as store,
        running.kept_traceback(given.out),
        _evidence(given, store, console, workers) as take_up,
    ):
        take_up(trials_of([cell for some in every.values() for cell in some], seeds))
        first = [cell for name in every for cell in race.lap(every[name], finishers[name])]
        trials = trials_of(first, seeds)
        results = running.watched(given.suite, trials, store, workers, period=SWEEP, on_kept=say)
        for name, cells in ranked.items():
            lap = gather(race.lap(cells, ()), seeds, results)
            ranked[name] = race.rest(cells, lap, finishers[name])
            every[name] = list(dict.fromkeys((*ranked[name], *yardsticks[name])))
        trials = trials_of([cell for some in every.values() for cell in some], seeds)
        if len(trials) > len(results):
            results = running.watched("second lap", trials, store, workers, period=SWEEP)
    found = []
    for field in fields:
        name = field.table.name
        write_records(given.out / f"{name}.parquet", name, every[name], seeds, results)
        random = gather(yardsticks[name], seeds, results)
        units = {arena.label: random[contest.YARDSTICK, arena.label] for arena in field.arenas}
        found.append(outcome(field, gather(ranked[name], seeds, results), units, seeds, rate))
    adaptivity_page.write(found, given.out, given.markdown, command)
    if given.json:
        print(json.dumps(adaptivity_page.as_json(found, command), indent=1, ensure_ascii=False))
    else:
        _show(console, found, given)


@contextmanager
def _evidence(
    given: argparse.Namespace, store: Store, console: Any, workers: Workers
) -> Iterator[Callable[[Sequence[RunSpec]], None]]:
    """Take up the runs of the file that count; at the end, also of an interruption, write all there are."""
    if given.evidence is None:
        yield lambda _: None
        return
    kept, every = evidence.read(given.evidence), dict[RunSpec, None]()

    def take_up(trials: Sequence[RunSpec]) -> None:
        every.update(dict.fromkeys(trials))
        found = evidence.adopt(
            trials, kept, store, lambda some: running.watched("checking", some, store, workers)
        )
        if kept:
            what = f"{given.evidence.name}: {counted(found.runs, 'run')} of it taken up"
            running.said_of(console, what, found)

    try:
        yield take_up
    finally:
        evidence.write(given.evidence, evidence.gathered(kept, store.find(every)))


def plan(fields: Sequence[Field], seeds: range, runs: int, kept: int) -> str:
    """What it will take.

    Worlds and algorithms that both tables have in common are run once.
    """
    tables = "; ".join(
        f"{field.table.name}: {counted(len(field.entries), 'algorithm')} on "
        f"{counted(len(field.arenas), 'world')}"
        for field in fields
    )
    done = f", {kept} of them done before: {runs - kept} to go" if kept else ""
    fewer = f", fewer where a rival is out of the race after {race.FIRST}" if len(seeds) > race.FIRST else ""
    return f"{tables}; {counted(len(seeds), 'seed')}. {counted(runs, 'run')}{done}{fewer}."


def _show(console: Any, found: Sequence[TableOutcome], given: argparse.Namespace) -> None:
    text = require("rich.text", EXTRA).Text
    for one in found:
        _print(console, adaptivity_page.HEADINGS[one.tells], adaptivity.standings(one.board), one)
        _print(console, "By mean and ninth decile", _narrow(adaptivity.tails(one.boards)), one)
        for subject, by in one.duels.items():
            console.print(text(adaptivity.verdict(subject, by).replace("`", "")), highlight=False)
            for duel in adaptivity.losses(by[MEDIAN.name]):
                sure = "not within 10 %" if duel.finding == "no" else "above 10 %, undecided"
                said = f"  {sure}: {duel.task}, {duel.spoken}, {duel.rival}"
                console.print(text(said), highlight=False)
    left_out = dict.fromkeys(f"Left out: {why}" for one in found for why in one.field.left_out)
    for note in (*about(found[0]), *left_out):
        console.print(text(note), highlight=False)
    files = ", ".join(["leaderboard.md", *(f"{one.name}.csv, .png, .pdf, .parquet" for one in found)])
    console.print(text(f"{given.out}{os.sep}: {files}"), soft_wrap=True)
    if given.markdown is not None:
        console.print(text(str(given.markdown)), soft_wrap=True)


def _narrow(table: TextTable) -> TextTable:
    """Without the columns of words, but for the first: for terminals."""
    kept = [place for place, heading in enumerate(table.header) if heading != "where"]
    return TextTable(
        [table.header[place] for place in kept], [[row[place] for place in kept] for row in table.rows]
    )


def _print(console: Any, title: str, shown: TextTable, found: TableOutcome) -> None:
    words = [n for n, heading in enumerate(shown.header) if heading in ("algorithm", "where")]
    draw(
        console,
        [heading.replace(": ", ":\n").replace(" ", "\n", 1) for heading in shown.header],
        [[row[0] if len(row[0]) <= LONG else row[0].replace(":", ":\n", 1), *row[1:]] for row in shown.rows],
        title=title,
        words=words,
        unbroken=[n for n in range(len(shown.header)) if n not in words],
        bold=lambda row, _column: shown.rows[row][0] in found.duels,
    )
