"""`windvane study events`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from windvane.checks import integer
from windvane.cli.studies import words
from windvane.cli.studies.common import opened, say, set_up
from windvane.cli.verbs import VerbParser
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument
from windvane.moments import time_text
from windvane.protocol.checks import space_of
from windvane.spaces import Domain

PAGE = 1000
KINDS = ("asked", "told", "failed", "expired", "reset", "retracted", "corrected", "redefined")
DESCRIPTION = (
    "The journal of a study, oldest first, one record per line; with --json each line is a JSON object."
)


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, description=DESCRIPTION)
    verb.add_argument("--after", type=int, default=0, metavar="SEQ", help="only records after this one")
    verb.add_argument("--limit", type=int, metavar="N", help="at most this many")
    verb.add_argument("--last", type=int, metavar="N", help="only the newest N")
    verb.add_argument("--kind", action="append", choices=KINDS, help="only these; may be given again")
    verb.add_argument("--resets", action="store_true", help="only resets")
    verb.add_argument("--violations", action="store_true", help="only values beyond a limit")


def run(given: argparse.Namespace) -> None:
    """Print page by page, so that a long journal begins at once."""
    if given.last is not None and (given.limit is not None or given.after):
        raise InvalidArgument("--last with --limit or --after: give one of the two")
    for name in ("limit", "last"):
        if getattr(given, name) is not None:
            integer(f"--{name}", getattr(given, name), at_least=1)
    integer("--after", given.after, at_least=0)
    with opened(given) as study:
        space, constraints = space_of(study.definition), study.summary().constraints
        for record in _found(study, given):
            if given.json:
                say(record.as_dict())
            else:
                print(_line(record, space, constraints))


def _found(study: Any, given: argparse.Namespace) -> Iterator[Any]:
    wanted = {"kinds": given.kind, "resets": given.resets, "violations": given.violations}
    if given.last is not None:
        yield from study.events(limit=given.last, newest=True, **wanted)
        return
    after, left = given.after, given.limit
    while left is None or left > 0:
        page = study.events(after, PAGE if left is None else min(PAGE, left), **wanted)
        yield from page
        if not page:
            return
        after, left = page[-1].seq, None if left is None else left - len(page)


def _line(record: Any, space: Domain, constraints: Mapping[str, Constraint]) -> str:
    trial = "" if record.trial is None else f"trial {record.trial}"
    begin = f"{record.seq:>6}  {words.utc(record.at)}  {record.kind:<9}  {trial:<9}"
    line = begin if record.x is None else f"{begin}  {words.point(record.x, space)}"
    if record.kind == "redefined":
        line += f"  {record.event['left_out']} outside left out"
    if record.y is not None:
        told = f"{words.noise(record.event)}{words.outcomes(record, constraints)}"
        line += f"  y={words.number(record.y)}{told}"
    if record.step is not None and record.clock not in (None, record.step):
        line += f"  at {time_text(record.clock)}"
    if record.reason:
        line += f"  {'RESET: ' if record.reset else ''}{words.line(record.reason)}"
    return line
