"""`windvane webhook`: whom the service calls when a study resets."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Any

from windvane.cli.serve import add_database
from windvane.cli.tables import lines, moment
from windvane.extras import require

EXTRA = "studies"


def register(verbs: Any) -> None:
    """Add the verb to the command line."""
    verb = verbs.add_parser(
        "webhook",
        help="call an address when a study resets: add, list, remove",
        description=(
            "`windvane serve` calls these addresses on every reset, signed, and again if it fails. They are "
            "managed here and not over HTTP: who runs the server decides whom it calls."
        ),
    )
    actions = verb.add_subparsers(dest="action", metavar="ACTION", required=True)
    new = actions.add_parser("add", help="add an address and print the secret that signs the calls")
    new.add_argument("url", help="http:// or https:// address")
    new.add_argument("--study", metavar="NAME", help="only resets of this study; default: of every study")
    every = actions.add_parser("list", help="all webhooks and their last deliveries, without their secrets")
    gone = actions.add_parser("remove", help="call an address no more")
    gone.add_argument("id", type=int, help="its number in the list")
    for action, carry_out in ((new, _add), (every, _list), (gone, _remove)):
        add_database(action)
        action.add_argument("--json", action="store_true", help="for scripts")
        action.set_defaults(run=carry_out)


def _database(given: argparse.Namespace, create: bool = False) -> Any:
    return require("windvane.storage", EXTRA).Database(given.db, create=create)


def _add(given: argparse.Namespace) -> None:
    with _database(given, create=given.study is None) as database:
        made = database.webhooks.add(given.url, given.study, None)
    if given.json:
        print(json.dumps(asdict(made)))
    else:
        print(f"webhook {made.id} for {made.study or 'every study'}; the secret that signs its calls:")
        print(made.secret)


def _list(given: argparse.Namespace) -> None:
    with _database(given) as database:
        hooks, sent = database.webhooks.list(), database.deliveries.recent(100)
    if given.json:
        shown = [
            {
                "id": h.id,
                "url": h.url,
                "study": h.study,
                "created": h.created,
                "deliveries": _recent(h.id, sent),
            }
            for h in hooks
        ]
        print(json.dumps(shown))
        return
    rows = [(str(h.id), h.study or "(every)", moment(h.created), _last(h.id, sent), h.url) for h in hooks]
    print(lines(("id", "study", "made", "last delivery", "url"), rows, "no webhooks"))


def _recent(hook: int, sent: list[Any]) -> list[dict[str, Any]]:
    names = ("id", "study", "status", "attempts", "error")
    return [{name: getattr(each, name) for name in names} for each in sent if each.webhook_id == hook]


def _last(hook: int, sent: list[Any]) -> str:
    newest = next((each for each in sent if each.webhook_id == hook), None)
    return "-" if newest is None else f"{newest.status} ({newest.attempts})"


def _remove(given: argparse.Namespace) -> None:
    with _database(given) as database:
        database.webhooks.remove(given.id)
    if given.json:
        print(json.dumps({"removed": given.id}))
