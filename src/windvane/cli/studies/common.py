"""What the verbs of `windvane study` share: how they are parsed, the study they are about, JSON."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from windvane.cli import terminal
from windvane.cli.place import EXTRA, add_database
from windvane.cli.verbs import VerbParser
from windvane.digits import counted
from windvane.entries import parsed
from windvane.errors import InvalidArgument
from windvane.extras import require
from windvane.spaces import Box, Domain, Space

MOMENT = "2026-03-01T12:00:00+01:00"


def set_up(
    verb: VerbParser,
    run: Callable[[argparse.Namespace], None],
    *,
    study: bool = True,
    description: str | None = None,
    epilog: str | None = None,
) -> None:
    """What the verbs have in common: a NAME, unless it is about no study in particular, --db and --json."""
    verb.described(description or verb.description or "", epilog)
    if study:
        verb.add_argument("name", metavar="NAME", help="of the study")
    add_database(verb)
    verb.add_argument("--json", action="store_true", help="for programs: JSON on standard output")
    verb.set_defaults(run=run)


def add_writing(verb: argparse.ArgumentParser) -> None:
    """--metadata and --key, of what is written to a journal."""
    verb.add_argument("--metadata", metavar="JSON", help="an object to keep beside the record")
    verb.add_argument("--key", metavar="K", help="the same key again changes nothing: a retry does no harm")


def kept_beside(given: argparse.Namespace) -> dict[str, Any]:
    """The same as arguments of a study's methods."""
    return {"metadata": from_json("--metadata", given.metadata), "key": given.key}


def add_noise(verb: argparse.ArgumentParser) -> None:
    """--std and --noise-variance, of a value."""
    noise = verb.add_mutually_exclusive_group()
    noise.add_argument(
        "--std", metavar="S", type=float, help="the standard deviation of the noise of a value"
    )
    noise.add_argument("--noise-variance", metavar="V", type=float, help="or its square")


def add_time(verb: argparse.ArgumentParser, help: str) -> None:
    """--time."""
    verb.add_argument("--time", type=_moment, metavar="T", help=f"{help}; or {MOMENT}")


def _moment(text: str) -> float | datetime:
    """A number, or a date and time."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither a number nor a date and time such as {MOMENT}"
        ) from None
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text!r} has no time zone, as {MOMENT} has, or ...T12:00:00Z")
    return moment


def add_context(verb: argparse.ArgumentParser) -> None:
    """--context, of what is observed."""
    verb.add_argument(
        "--context",
        action="append",
        metavar="NAME=VALUE",
        help="what is observed now, if the space has contexts; may be repeated",
    )


def context_from(given: argparse.Namespace, space: Domain) -> dict[str, Any] | None:
    """The contexts that were typed: numbers and truth values as JSON reads them, else text."""
    found: dict[str, Any] = {}
    for name, value in pairs("--context", given.context, "load=37").items():
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    for name in space.contexts if isinstance(space, Space) else ():
        if name not in found:
            raise InvalidArgument(
                f"--context {name}=VALUE: is missing; {name} is observed, so say what it is now"
            )
    return found or None


def pairs(option: str, texts: Iterable[str] | None, example: str) -> dict[str, str]:
    """What was typed as NAME=VALUE, perhaps several times, each name once."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name or not value:
            raise InvalidArgument(f"{option} {text}: must be NAME=VALUE, as in {option} {example}")
        if name in found:
            raise InvalidArgument(f"{option} {text}: {name} is given twice")
        found[name] = value
    return found


@contextmanager
def opened(given: argparse.Namespace) -> Iterator[Any]:
    """The study called NAME."""
    with require("windvane.study", EXTRA).Study.open(given.db, given.name) as study:
        yield study


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Called with (done, total): a bar on a terminal, on standard error, and nothing elsewhere."""
    if not sys.stderr.isatty() or find_spec("rich") is None:
        yield lambda _done, _total: None
        return
    console = terminal.console(stderr=True)
    with require("rich.progress", "demo").Progress(console=console, transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def say(value: Any) -> None:
    """JSON on a line of standard output; what is not finite, as a damaged row may have it, is null."""
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), allow_nan=False)
    print(text)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(given: argparse.Namespace, plain: Any, *lines: str) -> None:
    """JSON for a program that asked for it, else lines for people."""
    if given.json:
        say(plain)
        return
    for line in lines:
        print(line)


def from_json(where: str, text: str | None) -> Any:
    """A value that was typed or written as JSON; a key that comes twice is a mistake."""
    if text is None:
        return None
    try:
        return json.loads(text, object_pairs_hook=_once)
    except InvalidArgument as error:
        raise InvalidArgument(f"{where}: {error}") from None
    except (ValueError, RecursionError) as error:
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        raise InvalidArgument(f"{where} {shown}: is not JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgument(f"{twice!r} comes twice")
    return found


def check_point(where: str, point: Any, space: Domain) -> None:
    """A number on its own is no point of a box; the shell's word for it is in the error."""
    if isinstance(space, Box) and isinstance(point, int | float):
        example = json.dumps([point] + [0.5] * (space.dim - 1))
        raise InvalidArgument(
            f"{where} {point}: must be a list of {counted(space.dim, 'number')}, as in '{example}'"
        )


def whole(where: str, text: str) -> int:
    """A whole number that was typed."""
    return parsed(int, text, f"{where}={text}: must be a whole number")


def seconds(where: str, text: str) -> float | None:
    """A duration: a number of seconds, or "never" for none."""
    if text == "never":
        return None
    return parsed(float, text, f"{where} {text}: must be a number of seconds, or never")
