"""`windvane study`: studies in a database, for scripts, cron and people."""

from __future__ import annotations

import argparse
from typing import Any

from windvane.cli.studies import (
    amending,
    ask,
    best,
    change_space,
    create,
    delete,
    events,
    explain,
    export,
    fail,
    importing,
    listing,
    predict,
    rebuild,
    reset,
    show,
    tell,
)
from windvane.cli.studies.common import Words

VERBS = (
    create,
    listing,
    show,
    ask,
    tell,
    fail,
    reset,
    amending,
    change_space,
    best,
    events,
    explain,
    predict,
    export,
    importing,
    rebuild,
    delete,
)

DESCRIPTION = """\
A study is an optimiser that lives in a database: what was told is on disk when the command returns, and the
next command, in whichever process, goes on from there. Needs windvane[studies]."""

EPILOG = """\
a loop in a shell:
  windvane study create press --box 0,1 0,1
  while read -r trial x1 x2 < <(windvane study ask press --format values); do
    windvane study tell press "$trial" "$(measure "$x1" "$x2")"
  done

exit codes:
  0    done
  1    the database, a file or the operating system
  2    a mistake in what was asked
  3    no such study or trial
  4    conflict: the study exists already, the trial was told before, nothing was told yet
  130  interrupted
  141  whoever read the output went away

The database is --db, else $WINDVANE_DB, else windvane.db in this folder. Results go to standard output and
messages to standard error, so that output can be piped. Guide: docs/how-to/studies.md."""


def register(verbs: Any) -> None:
    """Add the verb and its own verbs to the command line."""
    top = verbs.add_parser(
        "study",
        help="create, ask, tell and look at studies in a database",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    own = top.add_subparsers(dest="action", metavar="VERB", required=True, parser_class=Words)
    for verb in VERBS:
        verb.register(own)
