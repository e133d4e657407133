"""`windvane study predict`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_time, add_verb, from_json, opened, say
from windvane.cli.tables import lines
from windvane.errors import InvalidArgument
from windvane.spelling import plain

EPILOG = """\
examples:
  windvane study predict press '[0.5, 1]' '[0.6, 1]'
  windvane study predict filter '{"gain": 1.3, "taps": 4}'
  windvane study predict press - < points.jsonl             a point a line"""


def register(verbs: Any) -> None:
    """Add the verb."""
    verb = add_verb(
        verbs, "predict", run, "mean and standard deviation of the objective at points", epilog=EPILOG
    )
    verb.add_argument("points", metavar="POINT", nargs="+", help="JSON; - reads them from standard input")
    add_time(verb, "as of this time; default: one step after the last")


def run(given: argparse.Namespace) -> None:
    """A line a point."""
    points = [point for text in given.points for point in _points(text)]
    if not points:
        raise InvalidArgument("POINT: there is none on standard input")
    with opened(given) as study:
        mean, std = study.predict(points, given.time)
        space = study.space
    if given.json:
        say({"mean": mean.tolist(), "std": std.tolist()})
        return
    rows = [
        (
            words.point(x, space) if isinstance(x, int) else words.point(plain(x)),
            words.number(m),
            words.number(s),
        )
        for x, m, s in zip(points, mean, std, strict=True)
    ]
    print(lines(("point", "mean", "std"), rows, ""))


def _points(text: str) -> list[Any]:
    if text != "-":
        return [from_json("POINT", text)]
    found = enumerate(sys.stdin, start=1)
    return [
        from_json(f"standard input, line {number}:", line.strip()) for number, line in found if line.strip()
    ]
