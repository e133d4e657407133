"""`windvane study import`."""

from __future__ import annotations

import argparse

from windvane.cli import terminal
from windvane.cli.columns import add_columns, columns_from
from windvane.cli.studies.common import answer, opened, progress, set_up
from windvane.cli.verbs import VerbParser
from windvane.digits import counted

DESCRIPTION = """\
Tells a study all measurements of a log: CSV, JSON lines or Parquet, by hand or by `windvane study export`.
The whole log is read and checked first; a mistake is named with its line, and nothing is told then.

Interrupt it whenever you like: the same command goes on where it stopped. A log that was imported before, or
that begins before the last observation of the study, is refused unless you say --again."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)
    verb.add_argument("log", metavar="LOG", help="ends in .csv, .jsonl or .parquet")
    verb.add_argument("--sort", action="store_true", help="in the order of time; else times must not go back")
    verb.add_argument(
        "--again", action="store_true", help="also if it was told before, or if time would run backwards"
    )
    add_columns(verb)
    verb.add_argument("--skip-missing", action="store_true", help="leave out what has no y, or NaN")


def run(given: argparse.Namespace) -> None:
    """Tell it all, with a bar on a terminal."""
    seen: list[int] = []
    kept = "what was told so far is kept; the same command goes on from there"
    with opened(given) as study, progress("observations") as on_progress, terminal.resumable(kept):

        def watched(done: int, total: int) -> None:
            seen.append(done)
            on_progress(done, total)

        count = study.import_log(
            given.log,
            sort=given.sort,
            again=given.again,
            skip_missing=given.skip_missing,
            on_checked=lambda checked: on_progress(checked, None),
            on_progress=watched,
            **columns_from(given),
        )
    before = f"; {seen[0]} were told before it was interrupted" if seen[0] else ""
    said = f"{given.log}: {counted(count, 'observation')} told{before}"
    answer(given, {"observations": count, "before": seen[0]}, said)
