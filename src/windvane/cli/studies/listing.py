"""`windvane study list`."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from typing import Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_verb, database, say
from windvane.cli.tables import lines
from windvane.extras import require

HEADINGS = ("name", "algorithm", "goal", "tells", "in use", "resets", "out", "failed", "last")
GAP = 2  # blanks between columns
NUMBERS = ("tells", "in use", "resets", "out", "failed")
DISPENSABLE = ("goal", "failed", "algorithm", "out", "in use", "last")  # in this order, on a narrow terminal
DESCRIPTION = """\
All studies of a database: how many values each was told, how many of them are in use, resets, trials that are
out, failed evaluations, and when something last happened."""


def register(verbs: Any) -> None:
    """Add the verb."""
    add_verb(verbs, "list", run, "all studies at a glance", study=False, description=DESCRIPTION)


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
            words.ago(s.last_at),
        )
        for s in studies
    ]
    if rows and sys.stdout.isatty() and find_spec("rich") is not None:
        _show(rows)
    else:
        print(lines(HEADINGS, rows, f"no studies in {given.db} yet"))


def _show(rows: list[tuple[str, ...]]) -> None:
    console, text = require("rich.console", "demo").Console(), require("rich.text", "demo").Text
    table = require("rich.table", "demo").Table(box=None, padding=(0, GAP, 0, 0))
    shown = _fitting(rows, console.width)
    for heading in shown:
        side = "right" if heading in NUMBERS else "left"
        table.add_column(heading, justify=side, overflow="fold", no_wrap=heading != "name")
    for row in rows:
        cells = dict(zip(HEADINGS, row, strict=True))
        table.add_row(*(text(cells[heading]) for heading in shown))  # a name may look like markup
    console.print(table)
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
