"""`windvane VERB`: parse the arguments, call the verb, turn errors into messages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from windvane.cli import bench, bound, calibrate, demo, listing, reproduce, triggers
from windvane.errors import WindvaneError

VERBS = (listing, demo, bench, reproduce, bound, triggers, calibrate)


def parser() -> argparse.ArgumentParser:
    """The whole command line, for help and for tests."""
    top = argparse.ArgumentParser(
        prog="windvane",
        description="Bayesian optimisation for objectives that change over time.",
        epilog="Start with `windvane demo`. `windvane VERB --help` explains a verb.",
    )
    top.add_argument("--version", action="version", version=f"windvane {version('windvane')}")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.register(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; 0 on success, 2 for a mistake in what was asked, 130 when interrupted."""
    given = parser().parse_args(arguments)
    try:
        given.run(given)
    except WindvaneError as error:
        notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
        print(f"windvane: {error}{notes}", file=sys.stderr)
        return 2
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"windvane: {error.strerror or error}{where}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("windvane: interrupted", file=sys.stderr)
        return 130
    return 0
