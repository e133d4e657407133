"""`windvane study predict`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_time, answer, check_point, from_json, opened, set_up
from windvane.cli.studies.limits import check_known
from windvane.cli.tables import lines
from windvane.cli.verbs import VerbParser
from windvane.errors import InvalidArgument
from windvane.protocol.checks import space_of
from windvane.spelling import plain

EPILOG = """\
examples:
  windvane study predict press '[0.5, 1]' '[0.6, 1]'
  windvane study predict filter '{"gain": 1.3, "taps": 4}'
  windvane study predict oven '{"power": 3}' --of heat       a constraint
  windvane study predict press - < points.jsonl             one point per line"""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, epilog=EPILOG)
    verb.add_argument("points", metavar="POINT", nargs="+", help="JSON; - reads them from standard input")
    verb.add_argument("--of", metavar="NAME", help="a constraint; default: the objective")
    add_time(verb, "as of this time; default: one step after the last")


def run(given: argparse.Namespace) -> None:
    """One line per point."""
    points = [point for text in given.points for point in _points(text)]
    if not points:
        raise InvalidArgument("POINT: there is none on standard input")
    with opened(given) as study:
        check_known(study, given.of and [given.of], "--of")
        space = space_of(study.definition)
        for point in points:
            check_point("POINT", point, space)
        mean, std = study.predict(points, given.time, of=given.of)
        chances = study.feasibility(points, given.time)
    more = {"feasibility": plain(chances)} if chances else {}
    rows = [
        (
            words.point(x if isinstance(x, int) else plain(x), space),
            words.number(m),
            words.number(s),
            *(f"{chance[row]:.3g}" for chance in chances.values()),
        )
        for row, (x, m, s) in enumerate(zip(points, mean, std, strict=True))
    ]
    table = lines(("point", "mean", "std", *(f"{name} holds" for name in chances)), rows, "")
    answer(given, {"mean": mean.tolist(), "std": std.tolist(), **more}, table)


def _points(text: str) -> list[Any]:
    if text != "-":
        return [from_json("POINT", text)]
    found = enumerate(sys.stdin, start=1)
    return [
        from_json(f"standard input, line {number}:", line.strip()) for number, line in found if line.strip()
    ]
