"""`windvane study reset`."""

from __future__ import annotations

import argparse

from windvane.cli.studies import words
from windvane.cli.studies.common import add_writing, from_json, opened, say, set_up
from windvane.cli.verbs import VerbParser

DESCRIPTION = """\
You know that the system has changed: a new pump, another batch, a repair. What was told before is of the
past, and no observation stays in use. It is recorded with its reason, and webhooks are called as for every
reset."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)
    verb.add_argument("reason", metavar="REASON", nargs="?", default="", help="in words")
    add_writing(verb)


def run(given: argparse.Namespace) -> None:
    """Record it."""
    metadata = from_json("--metadata", given.metadata)
    with opened(given) as study:
        record = study.submit_reset(given.reason, metadata=metadata, key=given.key)
    if given.json:
        say(record.as_dict())
    else:
        print(f"RESET after step {record.step}: {words.line(record.reason)}; nothing told before is in use")
