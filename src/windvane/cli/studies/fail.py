"""`windvane study fail`."""

from __future__ import annotations

import argparse

from windvane.cli.studies import words
from windvane.cli.studies.common import add_writing, answer, kept_beside, opened, set_up
from windvane.cli.verbs import VerbParser

DESCRIPTION = (
    "Says that a trial gave no value. The failure is recorded with its reason; the model is told no number."
)


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)
    verb.add_argument("trial", metavar="TRIAL", type=int, help="its number")
    verb.add_argument("reason", metavar="REASON", nargs="?", default="", help="in words")
    add_writing(verb)


def run(given: argparse.Namespace) -> None:
    """Record it."""
    more = kept_beside(given)
    with opened(given) as study:
        record = study.fail(given.trial, given.reason, **more)
    why = f": {words.line(record.reason)}" if record.reason else ""
    answer(given, record.as_dict(), f"trial {record.trial}: recorded as failed{why}")
