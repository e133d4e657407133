"""`windvane study fail`."""

from __future__ import annotations

import argparse

from windvane.cli.studies import words
from windvane.cli.studies.common import add_writing, from_json, opened, say, set_up
from windvane.cli.verbs import VerbParser

DESCRIPTION = (
    "The evaluation of a trial came to nothing. It is recorded with its reason; the model is told no number."
)


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)
    verb.add_argument("trial", metavar="TRIAL", type=int, help="its number")
    verb.add_argument("reason", metavar="REASON", nargs="?", default="", help="in words")
    add_writing(verb)


def run(given: argparse.Namespace) -> None:
    """Record it."""
    metadata = from_json("--metadata", given.metadata)
    with opened(given) as study:
        record = study.fail(given.trial, given.reason, metadata=metadata, key=given.key)
    if given.json:
        say(record.as_dict())
    else:
        why = f": {words.line(record.reason)}" if record.reason else ""
        print(f"trial {record.trial}: recorded as failed{why}")
