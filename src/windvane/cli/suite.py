"""`windvane bench --suite standard`: the leaderboard of adaptivity."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from windvane.cli import running
from windvane.cli.running import EXTRA
from windvane.entries import Entry
from windvane.errors import InvalidArgument
from windvane.experiments import adaptivity, adaptivity_page, suite
from windvane.experiments.adaptivity_page import Outcome
from windvane.experiments.contest import Arena
from windvane.extras import require

SUITES = ("standard",)
LONG = 24  # characters of a name, beyond which its options go to the next line


def add_arguments(verb: argparse.ArgumentParser) -> None:
    """--suite, --slow and --markdown."""
    verb.add_argument(
        "--suite",
        choices=SUITES,
        help="the leaderboard of adaptivity: tasks and algorithms of its own, ranked by the worst ratio; "
        f"its first seed is {suite.FIRST_SEED}",
    )
    verb.add_argument(
        "--slow", action="store_true", help=f"with --suite: also {', '.join(suite.SLOW)}, which takes hours"
    )
    verb.add_argument(
        "--markdown", type=Path, metavar="FILE", help="with --suite: the page for the documentation"
    )


def default_seed(given: argparse.Namespace) -> int:
    """Those of the suite are not those that were used to design what it ranks."""
    return suite.FIRST_SEED if given.suite else 0


def spoken_path(path: Path) -> str:
    """As typed, but without the folders of this machine."""
    return path.name if path.is_absolute() else path.as_posix()


def check(given: argparse.Namespace) -> None:
    """What goes with a suite and what does not; and the first seed, which depends on it."""
    if given.seed is None:
        given.seed = default_seed(given)
    if given.suite is None:
        for option in ("slow", "markdown"):
            if getattr(given, option):
                raise InvalidArgument(f"--{option}: belongs to --suite standard, which is not given")
        return
    for option in ("tasks", "table", "train_rows"):
        if getattr(given, option) is not None:
            raise InvalidArgument(
                f"--{option.replace('_', '-')}: a suite has its own tasks; leave it out, or leave out --suite"
            )
    if given.slow and given.algorithms is not None:
        raise InvalidArgument("--slow: adds to the suite's own algorithms; with --algorithms name them there")
    if given.markdown is not None and given.markdown.is_dir():
        raise InvalidArgument(f"--markdown {given.markdown}: is a folder; must be a file to write")


def field(given: argparse.Namespace) -> tuple[list[Entry], list[Arena], list[str]]:
    """Algorithms, tasks, and what was left out."""
    arenas, left_out = suite.arenas(seed=given.seed, data=running.data_folder(given))
    return suite.contestants(given.algorithms, slow=given.slow), arenas, left_out


def publish(given: argparse.Namespace, console: Any, found: Outcome) -> None:
    """Write the files, and say what is in them."""
    adaptivity_page.write(found, given.out, given.markdown)
    if given.json:
        print(json.dumps(adaptivity_page.plain(found), indent=1, ensure_ascii=False))
    else:
        _show(console, found, given)


def _show(console: Any, found: Outcome, given: argparse.Namespace) -> None:
    text = require("rich.text", EXTRA).Text
    table = require("rich.table", EXTRA).Table(title="Adaptivity", title_justify="left")
    shown = adaptivity.standings(found.board)
    for heading in shown.header:
        words = heading in ("algorithm", "where")
        table.add_column(
            heading.replace(" ", "\n", 1),
            justify="left" if words else "right",
            no_wrap=not words,
            overflow="fold",
        )
    for row in shown.rows:
        name = row[0] if len(row[0]) <= LONG else row[0].replace(":", ":\n", 1)
        table.add_row(
            text(name),
            *(text(cell) for cell in row[1:]),
            style="bold" if row[0] in found.duels else None,
        )
    console.print(table)
    for subject, duels in found.duels.items():
        console.print(text(adaptivity.verdict(subject, duels).replace("`", "")), highlight=False)
        for duel in adaptivity.losses(duels):
            console.print(
                text(f"  not within 10 %: {duel.task}, {duel.spoken}, {duel.rival}"), highlight=False
            )
    for note in (*adaptivity_page.about(found), *(f"Left out: {why}" for why in found.terms.left_out)):
        console.print(text(note), highlight=False)
    files = "leaderboard.md, leaderboard.csv, figure.png, figure.pdf, records.parquet"
    console.print(text(f"{given.out}{os.sep}: {files}"), soft_wrap=True)
    if given.markdown is not None:
        console.print(text(str(given.markdown)), soft_wrap=True)
