"""`windvane doctor`: a database looked at from end to end."""

from __future__ import annotations

import argparse

from windvane.cli.place import EXTRA, add_database, database
from windvane.cli.studies.common import answer, progress
from windvane.cli.verbs import VerbParser
from windvane.extras import require

DESCRIPTION = """\
Looks at a database from end to end: the file and its pages, the schema, every definition, every record of
every journal, the counters and checkpoints against them, trials that have expired, webhooks that are stuck.
It says what it found and what to do, and changes nothing. Others may use the database meanwhile; what they
write in between may then be reported as a counter that is off: look again."""

EPILOG = """\
exit codes: 0 if nothing is broken (warnings and notes may be printed), 1 if something is, or if the database
cannot be opened at all."""
MARKS = {"note": "  ", "warning": "! ", "error": "X "}


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    add_database(verb)
    verb.add_argument(
        "--deep",
        action="store_true",
        help="also compare each checkpoint with what the journal makes of the one before; takes long",
    )
    verb.add_argument("--json", action="store_true", help="for programs: JSON on standard output")
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Print each finding; 1 if one of them is an error."""
    doctor = require("windvane.study.doctor", EXTRA)
    seen = 0
    with database(given) as found, progress("studies") as on_progress:

        def on_study(_name: str) -> None:
            nonlocal seen
            seen += 1
            on_progress(seen, None)

        findings = list(doctor.examine(found, deep=given.deep, on_study=on_study))
    broken = sum(each.level == "error" for each in findings)
    plain = {"sound": not broken, "findings": [each.as_dict() for each in findings]}
    said = f"{broken} things are broken" if broken > 1 else "one thing is broken" if broken else "all is well"
    answer(given, plain, *(f"{MARKS[each.level]}{each}" for each in findings), said)
    return int(broken > 0)
