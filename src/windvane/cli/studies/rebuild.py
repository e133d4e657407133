"""`windvane study rebuild`."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies.common import add_verb, opened, progress, say

DESCRIPTION = """\
A study's state is a checkpoint and the journal after it. Where the checkpoint cannot be read, because it is
damaged or was written by a version of Windvane with another format, this tells the whole journal again and
keeps the outcome. Nothing that was told is lost. Nobody else should write to the study meanwhile."""


def register(verbs: Any) -> None:
    """Add the verb."""
    add_verb(verbs, "rebuild", run, "make a checkpoint anew from the journal", description=DESCRIPTION)


def run(given: argparse.Namespace) -> None:
    """Tell it all again, with a bar on a terminal."""
    with opened(given) as study, progress("records") as on_progress:
        count = study.rebuild(on_progress=on_progress)
    if given.json:
        say({"records": count})
    else:
        print(f"study {given.name!r}: made anew from {count} records")
