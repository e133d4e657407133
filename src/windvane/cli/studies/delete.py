"""`windvane study delete`."""

from __future__ import annotations

import argparse
import sys

from windvane.cli.place import database
from windvane.cli.studies.common import answer, set_up
from windvane.cli.verbs import VerbParser
from windvane.errors import InvalidArgument


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run)
    verb.add_argument("--yes", action="store_true", help="do not ask; needed where there is no terminal")


def run(given: argparse.Namespace) -> None:
    """Ask, then delete."""
    with database(given) as found:
        summary = found.find(given.name)
        if not given.yes:
            _confirm(f"Delete study {summary.name!r} with {summary.tells} tells from {given.db}?")
        found.delete(given.name)
    answer(given, {"deleted": given.name}, f"study {given.name!r} deleted")


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise InvalidArgument("delete: there is no terminal to ask at; say --yes. Nothing was deleted")
    print(f"{question} There is no way back. [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InvalidArgument("delete: not confirmed; nothing was deleted")
