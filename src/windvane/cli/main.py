"""`windvane VERB`: parse the arguments, call the verb, turn errors into messages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import version

from windvane.cli import (
    bench,
    bound,
    calibrate,
    demo,
    listing,
    replay,
    reproduce,
    serve,
    study,
    token,
    triggers,
    webhook,
)
from windvane.errors import Conflict, CorruptState, UnknownName, WindvaneError

VERBS = (listing, demo, bench, reproduce, bound, triggers, calibrate, replay, study, serve, token, webhook)


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


def exit_code(error: WindvaneError, given: argparse.Namespace) -> int:
    """2 for a mistake in what was asked; `windvane study` tells more apart, as its help says."""
    if given.verb != "study":
        return 2
    if isinstance(error, Conflict):
        return 4
    if isinstance(error, UnknownName):
        return 2 if given.action == "create" else 3  # there it is an algorithm that is unknown
    return 1 if isinstance(error, OSError | CorruptState) else 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; 0 on success, else as `exit_code` says, 130 when interrupted, 141 when nobody reads on."""
    given = parser().parse_args(arguments)
    try:
        given.run(given)
        sys.stdout.flush()  # what cannot be written shows here, not while Python ends
    except WindvaneError as error:
        notes = "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))
        print(f"windvane: {error}{notes}", file=sys.stderr)
        return exit_code(error, given)
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # or Python would try to flush once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"windvane: {error.strerror or error}{where}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("windvane: interrupted", file=sys.stderr)
        return 130
    return 0
