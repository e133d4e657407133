"""`windvane study import`."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies.common import add_verb, opened, progress, say

DESCRIPTION = """\
Tells a study all measurements of a log: CSV, JSON lines or Parquet, by hand or by `windvane study export`.
The whole log is read and checked first; a mistake is named with its line, and nothing is told then."""


def register(verbs: Any) -> None:
    """Add the verb."""
    verb = add_verb(verbs, "import", run, "tell a study everything in a log", description=DESCRIPTION)
    verb.add_argument("log", metavar="LOG", help="ends in .csv, .jsonl or .parquet")
    verb.add_argument("--sort", action="store_true", help="in the order of time; else times must not go back")


def run(given: argparse.Namespace) -> None:
    """Tell it all, with a bar on a terminal."""
    with opened(given) as study, progress("observations") as on_progress:
        count = study.import_log(given.log, sort=given.sort, on_progress=on_progress)
    if given.json:
        say({"observations": count})
    else:
        print(f"{given.log}: {count} observations told")
