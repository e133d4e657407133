"""`windvane study`: studies in a database, for scripts, cron and people."""

from __future__ import annotations

from windvane.cli.verbs import Verb, VerbParser, Words, add_verbs

VERBS = (
    Verb("create", "create a study, and the database if there is none"),
    Verb("list", "all studies at a glance", "listing"),
    Verb("show", "a study: its space, its counts, outstanding trials, the last reset"),
    Verb("ask", "a point to evaluate, and the number of its trial"),
    Verb("tell", "the value observed in a trial, or at a point of your own"),
    Verb("fail", "say that a trial gave no value"),
    Verb("reset", "say that the system has changed"),
    Verb("retract", "take back a value that was wrong", "amending", "register_retract"),
    Verb("correct", "replace the value of a trial", "amending", "register_correct"),
    Verb("change-space", "change the bounds or the options of a choice", "change_space"),
    Verb("best", "the point believed best now, and what to expect there"),
    Verb("events", "the journal: what was asked, told, failed, expired"),
    Verb("explain", "why the last reset happened, and what is believed now"),
    Verb("predict", "mean and standard deviation of the objective at points"),
    Verb("export", "the journal as CSV, JSON lines or Parquet"),
    Verb("import", "tell a study all measurements in a log", "importing"),
    Verb("rebuild", "make a new checkpoint from the journal"),
    Verb("delete", "delete a study and its journal for good"),
)

DESCRIPTION = """\
A study is an optimiser that lives in a database: what was told is on disk when the command returns, and the
next command, in any process, continues from there. Needs windvane[studies]."""

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
  4    conflict: the study exists, the trial was told before, or nothing was told
  130  interrupted
  141  the reader of the output went away

The database is --db, else $WINDVANE_DB, else windvane.db in this folder. Results go to standard output and
messages to standard error, so that output can be piped. Guide: docs/how-to/studies.md."""


def register(verb: VerbParser) -> None:
    """The verbs of a study."""
    verb.described(DESCRIPTION, EPILOG)
    add_verbs(verb, VERBS, package="windvane.cli.studies", dest="action", parser_class=Words)
