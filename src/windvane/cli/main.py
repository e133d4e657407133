"""`windvane VERB`: parse the arguments, call the verb, turn errors into messages."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from windvane import __version__
from windvane.cli.terminal import spell_out
from windvane.cli.verbs import Verb, VerbParser, add_verbs
from windvane.errors import Conflict, CorruptState, InvalidArgument, UnknownName, WindvaneError

VERBS = (
    Verb("list", "algorithms, triggers, tasks and experiments, one line each", "listing"),
    Verb("demo", "auto, told nothing, beside its rivals on three worlds, with a picture"),
    Verb("bench", "a leaderboard of algorithms, including your own, on tasks that change"),
    Verb("reproduce", "the paper's tables and figures"),
    Verb("bound", "Theorem 1's regret bound, term by term, and Corollary 1's windows"),
    Verb("triggers", "false alarms and delays of all triggers, side by side"),
    Verb("calibrate", "false alarms and delays of a delta or a trigger in your setting, by simulation"),
    Verb("replay", "what algorithms would have predicted of a log of measurements"),
    Verb("study", "studies in a database: create them, ask, tell, and inspect them"),
    Verb("doctor", "check a database from end to end"),
    Verb("backup", "copy a database while it is in use"),
    Verb("serve", "studies over HTTP, with a live page"),
    Verb("token", "add, list and revoke the tokens of the service"),
    Verb("webhook", "call an address when a study resets or breaks a constraint: add, list, remove"),
)

COLLECT_EVERY = 20_000  # objects, where Python says 700: what is imported is no garbage to look for


def parser() -> argparse.ArgumentParser:
    """The whole command line; the arguments of a verb are added when it is parsed."""
    top = argparse.ArgumentParser(
        prog="windvane",
        description="Bayesian optimisation for objectives that change over time.",
        epilog="Start with `windvane demo`. `windvane VERB --help` explains a verb.",
    )
    top.add_argument("--version", action="version", version=f"windvane {__version__}")
    add_verbs(top, VERBS, package="windvane.cli", dest="verb", parser_class=VerbParser)
    return top


def exit_code(error: WindvaneError, given: argparse.Namespace) -> int:
    """2 for a mistake in what was asked; `windvane study` tells more apart, as its help says."""
    if given.verb in ("doctor", "backup"):
        return 2 if isinstance(error, InvalidArgument | Conflict) else 1
    if given.verb != "study":
        return 2
    if isinstance(error, Conflict):
        return 4
    if isinstance(error, UnknownName):
        return 2 if given.action == "create" else 3  # there it is an algorithm that is unknown
    return 1 if isinstance(error, OSError | CorruptState) else 2


def _for_this_process_only() -> None:
    """Look for garbage less often, and not at all when the process ends and gives everything back at once.

    Eighty thousand objects come with the modules of a verb. To go through them again and again, and to take
    them apart in the end, took a quarter of `windvane study ask`.
    """
    gc.set_threshold(COLLECT_EVERY, *gc.get_threshold()[1:])
    atexit.register(gc.freeze)


def _notes(error: BaseException) -> str:
    return "".join(f"\n  {note}" for note in getattr(error, "__notes__", ()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb; 0 on success, else as `exit_code` says, 130 when interrupted, 141 when nobody reads on.

    Without arguments it is the program itself, with those of this process.
    """
    if arguments is None:
        _for_this_process_only()
    spell_out()
    given = parser().parse_args(arguments)
    try:
        code = given.run(given)
        sys.stdout.flush()  # what cannot be written shows here, not while Python ends
    except WindvaneError as error:
        print(f"windvane: {error}{_notes(error)}", file=sys.stderr)
        return exit_code(error, given)
    except BrokenPipeError:
        with suppress(OSError, ValueError):  # or Python would try to flush once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        print(f"windvane: {error.strerror or error}{where}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as error:
        print(f"windvane: interrupted{_notes(error)}", file=sys.stderr)
        return 130
    return int(code or 0)
