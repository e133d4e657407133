"""Which database a verb is about."""

from __future__ import annotations

import argparse
import os

DATABASE = "windvane.db"


def add_database(verb: argparse.ArgumentParser) -> None:
    """--db, with its default."""
    default = os.environ.get("WINDVANE_DB", DATABASE)
    verb.add_argument(
        "--db",
        default=default,
        metavar="URL",
        help="file or postgresql:// URL; default: $WINDVANE_DB or windvane.db",
    )
