"""`windvane study reset`."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_verb, add_writing, from_json, opened, say

DESCRIPTION = """\
You know that the system has changed: a new pump, another batch, a repair. What was told before is of the
past, and no observation stays in use. It is recorded with its reason, and webhooks are called as for every
reset."""


def register(verbs: Any) -> None:
    """Add the verb."""
    verb = add_verb(verbs, "reset", run, "say that the system has changed", description=DESCRIPTION)
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
