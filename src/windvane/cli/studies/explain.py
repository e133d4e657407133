"""`windvane study explain`."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_verb, opened, say


def register(verbs: Any) -> None:
    """Add the verb."""
    add_verb(verbs, "explain", run, "why the last reset happened, and what is believed now")


def run(given: argparse.Namespace) -> None:
    """In words, or all figures as JSON."""
    with opened(given) as study:
        found = study.explain()
    if given.json:
        say(found.as_dict())
    else:
        print("\n".join(map(words.line, str(found).splitlines())))
