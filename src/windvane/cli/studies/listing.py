"""`windvane study list`."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec

from windvane.cli import terminal
from windvane.cli.place import database
from windvane.cli.studies import words
from windvane.cli.studies.common import say, set_up
from windvane.cli.tables import draw, lines
from windvane.cli.verbs import VerbParser

HEADINGS = ("name", "algorithm", "goal", "tells", "in use", "resets", "out", "failed", "last")
GAP = 2  # blanks between columns
NUMBERS = ("tells", "in use", "resets", "out", "failed")
DISPENSABLE = ("goal", "failed", "algorithm", "out", "in use", "last")  # in this order, on a narrow terminal
DESCRIPTION = """\
All studies of a database: how many values each was told, how many of them are in use, resets, trials that are
out, failed evaluations, and when something last happened."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, study=False, description=DESCRIPTION)


def run(given: argparse.Namespace) -> None:
    """A table."""
    with database(given) as found:
        studies = found.studies()
    if given.json:
        say({"studies": [study.as_dict() for study in studies]})
        return
    rows = [
        (
            s.name,
            s.algorithm,
            s.goal,
            *map(str, (s.tells, s.size, s.resets, s.pending, s.failed)),
            "damaged" if s.damaged else words.ago(s.last_at),
        )
        for s in studies
    ]
    if rows and sys.stdout.isatty() and find_spec("rich") is not None:
        _show(rows)
    else:
        print(lines(HEADINGS, rows, f"no studies in {given.db} yet"))


def _show(rows: list[tuple[str, ...]]) -> None:
    console = terminal.console()
    shown = _fitting(rows, console.width)
    places = [HEADINGS.index(heading) for heading in shown]
    draw(
        console,
        shown,
        [[row[place] for place in places] for row in rows],
        words=[n for n, heading in enumerate(shown) if heading not in NUMBERS],
        unbroken=[n for n, heading in enumerate(shown) if heading != "name"],
        frame=False,
    )
    if len(shown) < len(HEADINGS):
        left_out = ", ".join(heading for heading in HEADINGS if heading not in shown)
        console.print(f"not shown, for want of room: {left_out}", style="dim", highlight=False)


def _fitting(rows: list[tuple[str, ...]], width: int) -> list[str]:
    """The columns that a terminal has room for; a name is folded rather than left out."""
    widths = {
        heading: max(len(heading), *(len(row[place]) for row in rows)) + GAP
        for place, heading in enumerate(HEADINGS)
    }
    widths["name"] = min(widths["name"], 22)
    shown = list(HEADINGS)
    for heading in DISPENSABLE:
        if sum(widths[each] for each in shown) > width:
            shown.remove(heading)
    return shown
