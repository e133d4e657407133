"""`windvane study explain`."""

from __future__ import annotations

import argparse

from windvane.cli import terminal
from windvane.cli.studies import words
from windvane.cli.studies.common import answer, opened, set_up
from windvane.cli.verbs import VerbParser


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run)


def run(given: argparse.Namespace) -> None:
    """In words, or all figures as JSON."""
    with opened(given) as study:
        found = study.explain()
    said = terminal.paragraphs([words.line(line) for line in str(found).splitlines()])
    answer(given, found.as_dict(), said)
