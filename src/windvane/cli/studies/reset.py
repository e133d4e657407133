"""`windvane study reset`."""

from __future__ import annotations

import argparse

from windvane.cli.studies import words
from windvane.cli.studies.common import add_writing, answer, kept_beside, opened, set_up
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
    more = kept_beside(given)
    with opened(given) as study:
        record = study.submit_reset(given.reason, **more)
    said = f"RESET after step {record.step}: {words.line(record.reason)}; nothing told before is in use"
    answer(given, record.as_dict(), said)
