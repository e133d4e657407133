"""Which database a verb is about."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from typing import Any

from windvane.extras import require

DATABASE = "windvane.db"
EXTRA = "studies"
Run = Callable[[argparse.Namespace], None]


def add_database(verb: argparse.ArgumentParser) -> None:
    """--db, with its default."""
    default = os.environ.get("WINDVANE_DB", DATABASE)
    verb.add_argument(
        "--db",
        default=default,
        metavar="URL",
        help="file or postgresql:// URL; default: $WINDVANE_DB or windvane.db",
    )


def add_actions(verb: argparse.ArgumentParser, actions: Mapping[argparse.ArgumentParser, Run]) -> None:
    """What every action on a database has, and what carries it out; without one, the help is shown."""
    verb.set_defaults(run=lambda _given: verb.print_help())
    for action, carry_out in actions.items():
        add_database(action)
        action.add_argument("--json", action="store_true", help="for scripts")
        action.set_defaults(run=carry_out)


def database(given: argparse.Namespace, *, create: bool = False) -> Any:
    """The database, which must be there unless it may be made."""
    return require("windvane.storage", EXTRA).Database(given.db, create=create)
