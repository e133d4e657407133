"""`windvane token`: who may use the service."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from windvane.cli import place
from windvane.cli.studies.common import answer
from windvane.cli.studies.words import utc
from windvane.cli.tables import lines
from windvane.cli.verbs import VerbParser


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.description = (
        "While a database has no tokens, `windvane serve` lets this machine in and nobody else. "
        "With tokens, every request needs one. Only a digest is kept: a token is shown once."
    )
    actions = verb.add_subparsers(dest="action", metavar="ACTION")
    new = actions.add_parser("add", help="make a token and print it, this once")
    new.add_argument("label", help="what it is for, to tell it from others")
    new.add_argument("--read-only", action="store_true", help="may look, but neither ask nor tell")
    every = actions.add_parser("list", help="all tokens, without their secrets")
    gone = actions.add_parser("revoke", help="make a token worthless, within a few seconds")
    gone.add_argument("id", type=int, help="its number in the list")
    place.add_actions(verb, {new: _add, every: _list, gone: _revoke})


def _add(given: argparse.Namespace) -> None:
    scopes = ("read",) if given.read_only else ("read", "write")
    with place.database(given, create=True) as database:
        secret = database.tokens.add(given.label, scopes)
    answer(given, {"token": secret, "scopes": scopes}, secret)


def _list(given: argparse.Namespace) -> None:
    with place.database(given) as database:
        found = database.tokens.list()
    rows = [(str(t.id), " ".join(t.scopes), utc(t.created), t.label) for t in found]
    table = lines(("id", "scopes", "made", "label"), rows, "no tokens: open to this machine only")
    answer(given, [asdict(token) for token in found], table)


def _revoke(given: argparse.Namespace) -> None:
    with place.database(given) as database:
        database.tokens.revoke(given.id)
        left = len(database.tokens.list())
    last = "That was the last token: from its next start, the service is open to this machine."
    answer(given, {"revoked": given.id, "left": left}, *([] if left else [last]))
