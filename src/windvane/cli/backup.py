"""`windvane backup`: a copy of a database that is in use."""

from __future__ import annotations

import argparse

from windvane.cli.place import EXTRA, add_database, database
from windvane.cli.studies.common import answer
from windvane.cli.verbs import VerbParser
from windvane.extras import require

DESCRIPTION = """\
Copies an SQLite database to a file while others read and write: the copy is as of one moment, checked, and
its owner's alone. Never copy the file of a database in use by other means: what is in its log would be
missing. For PostgreSQL use pg_dump, which does the same."""

EPILOG = """\
examples:
  windvane backup monday.db
  windvane backup --db /srv/plant.db /backup/plant-$(date +%F).db

to restore one: stop whoever uses the database, put its file and the files ending in -wal and -shm beside it
away, copy the backup to its place, and look at it with `windvane doctor`."""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    verb.add_argument("path", metavar="FILE", help="where the copy goes")
    add_database(verb)
    verb.add_argument("--replace", action="store_true", help="also if there is a file of that name")
    verb.add_argument("--json", action="store_true", help="for programs: JSON on standard output")
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Copy, check, say how large it is."""
    with database(given) as found:
        size = require("windvane.storage.backup", EXTRA).backup(found, given.path, replace=given.replace)
        count = found.count()
    said = f"{given.path}: {count} {'study' if count == 1 else 'studies'}, {size / 1e6:.1f} MB"
    answer(given, {"path": given.path, "bytes": size, "studies": count}, said)
