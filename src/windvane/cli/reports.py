"""What verbs do with a report: show it, write it to a folder, or print it as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from windvane.calibration import Calibration, SafetyCalibration
from windvane.cli import terminal
from windvane.cli.running import EXTRA
from windvane.cli.tables import draw
from windvane.extras import require
from windvane.files import write_csv, write_text
from windvane.plots.report import Report
from windvane.plots.style import save
from windvane.replay import Replay

WIDE = 110  # columns; on a narrower terminal what is in brackets goes below its figure


def add_outputs(verb: argparse.ArgumentParser, what: str = "tables and a figure") -> None:
    """--out and --json."""
    verb.add_argument("--out", type=Path, metavar="FOLDER", help=f"also write {what} there")
    verb.add_argument("--json", action="store_true", help="everything as JSON on standard output")


def console_for(given: argparse.Namespace) -> Any:
    """Where to talk: standard error if standard output is for JSON. Missing extras are reported now."""
    if given.out is not None:
        require("matplotlib", EXTRA)
    return terminal.console(extra=EXTRA, stderr=given.json)


def hand_out(
    report: Calibration | SafetyCalibration | Replay,
    given: argparse.Namespace,
    console: Any,
    *,
    name: str,
    records: str,
    unbroken: Collection[int] = (),
) -> None:
    """Write it if a folder was given, then print it; the files are called by `name`, and `records`."""
    if given.out is not None:
        write_text(given.out / f"{name}.txt", f"{report}\n")
        write_csv(given.out / f"{records}.csv", _by_name(report.records()))
        write_text(given.out / f"{name}.json", json.dumps(report.as_dict(), indent=1, allow_nan=False) + "\n")
        save(report.plot(), given.out)
    if given.json:
        print(json.dumps(report.as_dict(), indent=1, allow_nan=False))
    else:
        _show(report, console, unbroken)
    if given.out is not None:
        files = f"{name}.txt, {name}.json, {records}.csv, figure.png, figure.pdf"
        console.print(f"{given.out}: {files}", highlight=False, soft_wrap=True)


def _by_name(records: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
    """The names of the columns, then the rows; a record may have its values in another order, or fewer.

    >>> _by_name([{"x.a": 1, "x.b": 2}, {"x.b": 20, "x.a": 10}, {"x.a": 100}])
    [['x.a', 'x.b'], [1, 2], [10, 20], [100, None]]
    """
    names = list(dict.fromkeys(name for each in records for name in each))
    return [names, *([each.get(name) for name in names] for each in records)]


def _show(report: Report, console: Any, unbroken: Collection[int]) -> None:
    text = require("rich.text", EXTRA).Text
    console.print(text(report.title, style="italic"), soft_wrap=True)
    for warning in report.warnings:
        console.print(text(warning, style="bold yellow"))
    for headings, rows in report.tables:
        shown = [[cell if console.width >= WIDE else _folded(cell) for cell in row] for row in rows]
        draw(console, ["\n".join(lines) for lines in headings], shown, unbroken=unbroken)
    for line in (line for group in report.findings for line in group):
        console.print(text(line), soft_wrap=True)
    for note in report.notes:
        console.print(note, style="dim", highlight=False)


def _folded(cell: str) -> str:
    """An interval, an error or the arguments of a trigger below what they belong to."""
    for mark, below in ((" (", "\n("), ("), ", ")\n"), ("(delta", "\n(delta"), (" ± ", "\n± ")):
        cell = cell.replace(mark, below)
    return cell
