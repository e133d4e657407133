"""`windvane study rebuild`."""

from __future__ import annotations

import argparse

from windvane.cli.studies.common import answer, opened, progress, set_up
from windvane.cli.verbs import VerbParser
from windvane.digits import counted

DESCRIPTION = """\
A study's state is a checkpoint and the journal after it. Where the checkpoint cannot be read, because it is
damaged or was written by a version of Windvane with another format, this tells the whole journal again and
keeps the outcome. Nothing that was told is lost. Nobody else should write to the study meanwhile."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)


def run(given: argparse.Namespace) -> None:
    """Tell it all again, with a bar on a terminal."""
    with opened(given) as study, progress("records") as on_progress:
        count = study.rebuild(on_progress=on_progress)
    answer(given, {"records": count}, f"study {given.name!r}: made anew from {counted(count, 'record')}")
