"""`windvane study export`."""

from __future__ import annotations

import argparse
import sys

from windvane.cli.place import EXTRA
from windvane.cli.studies.common import answer, opened, set_up
from windvane.cli.verbs import VerbParser
from windvane.digits import counted
from windvane.errors import InvalidArgument
from windvane.extras import require

FORMATS = ("csv", "jsonl", "parquet")
EPILOG = """\
examples:
  windvane study export press press.csv
  windvane study export press - --format jsonl | gzip > press.jsonl.gz

The file appears whole or not at all. Data stay as they are: text that a spreadsheet would take for a formula
is written as it is. `windvane study import` and `windvane replay` read all three formats."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run, epilog=EPILOG)
    verb.add_argument("path", metavar="FILE", help="ends in .csv, .jsonl or .parquet; - is standard output")
    verb.add_argument("--format", choices=FORMATS, help="default: as the file ends; csv on standard output")


def run(given: argparse.Namespace) -> None:
    """Write the file, or standard output."""
    if given.path == "-":
        _stream(given)
        return
    with opened(given) as study:
        count = study.export(given.path, given.format)
    answer(given, {"path": given.path, "records": count}, f"{given.path}: {counted(count, 'record')}")


def _stream(given: argparse.Namespace) -> None:
    if given.format == "parquet":
        raise InvalidArgument("--format parquet: needs a file; standard output takes csv and jsonl")
    if given.json:
        raise InvalidArgument("--json with -: standard output is for the journal; --format jsonl is JSON")
    with opened(given) as study:
        for piece, _ in require("windvane.study.export", EXTRA).text(study, given.format or "csv"):
            sys.stdout.buffer.write(piece.encode())  # UTF-8 wherever it goes, as in a file
