"""Which columns of a log are what, and how its numbers are written."""

from __future__ import annotations

import argparse
from typing import Any


def add_columns(verb: argparse.ArgumentParser) -> None:
    """--y, --time and --decimal-comma."""
    verb.add_argument("--y", metavar="COLUMN", help="the column of the value; default: y, or value")
    verb.add_argument(
        "--time", metavar="COLUMN", help="the column of the time; default: time, if there is one"
    )
    verb.add_argument(
        "--decimal-comma", action="store_true", help="0,5 is a half; without it, that is refused"
    )


def columns_from(given: argparse.Namespace) -> dict[str, Any]:
    """The same as arguments of `read_log` and `Study.import_log`."""
    return {"y": given.y, "time": given.time, "decimal_comma": given.decimal_comma}
