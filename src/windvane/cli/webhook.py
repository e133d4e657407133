"""`windvane webhook`: whom the service calls when a study resets, or a constraint is broken."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from windvane.cli import place
from windvane.cli.studies.common import answer
from windvane.cli.studies.words import utc
from windvane.cli.tables import lines
from windvane.cli.verbs import VerbParser

NEWS = ("reset", "violation")
SHOWN = ("id", "url", "study", "on", "created")  # of a webhook: its secret is shown once


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.description = (
        "`windvane serve` calls these addresses on every reset, and whenever a constraint is beyond its "
        "limit, signed, and again if it fails. They are managed here and not over HTTP: whoever runs the "
        "server decides whom it calls."
    )
    actions = verb.add_subparsers(dest="action", metavar="ACTION")
    new = actions.add_parser("add", help="add an address and print the secret that signs the calls")
    new.add_argument("url", help="http:// or https:// address")
    new.add_argument("--study", metavar="NAME", help="only what happens to this study; default: to any")
    new.add_argument(
        "--on", action="append", choices=NEWS, help="only this; may be given again; default: both"
    )
    every = actions.add_parser("list", help="all webhooks and their last deliveries, without their secrets")
    gone = actions.add_parser("remove", help="call an address no more")
    gone.add_argument("id", type=int, help="its number in the list")
    place.add_actions(verb, {new: _add, every: _list, gone: _remove})


def _add(given: argparse.Namespace) -> None:
    with place.database(given, create=given.study is None) as database:
        made = database.webhooks.add(given.url, given.study, None, on=given.on or NEWS)
    news, whose = " and ".join(f"{kind}s" for kind in made.on), made.study or "every study"
    said = f"webhook {made.id} for {news} of {whose}; the secret that signs its calls:"
    answer(given, asdict(made), said, made.secret)


def _list(given: argparse.Namespace) -> None:
    with place.database(given) as database:
        hooks, sent = database.webhooks.list(), database.deliveries.recent(100)
    shown = [{name: getattr(h, name) for name in SHOWN} | {"deliveries": _recent(h.id, sent)} for h in hooks]
    rows = [
        (str(h.id), h.study or "(every)", ", ".join(h.on), utc(h.created), _last(h.id, sent), h.url)
        for h in hooks
    ]
    table = lines(("id", "study", "on", "made", "last delivery", "url"), rows, "no webhooks")
    answer(given, shown, table)


def _recent(hook: int, sent: list[Any]) -> list[dict[str, Any]]:
    names = ("id", "study", "kind", "status", "attempts", "error")
    return [{name: getattr(each, name) for name in names} for each in sent if each.webhook_id == hook]


def _last(hook: int, sent: list[Any]) -> str:
    newest = next((each for each in sent if each.webhook_id == hook), None)
    return "-" if newest is None else f"{newest.status} ({newest.attempts})"


def _remove(given: argparse.Namespace) -> None:
    with place.database(given) as database:
        database.webhooks.remove(given.id)
    answer(given, {"removed": given.id})
