"""A copy of a database that is in use, as of one moment."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from windvane.errors import Conflict, InvalidArgument, StorageFailure
from windvane.files import whole
from windvane.storage.database import Database


def backup(database: Database, path: str | os.PathLike[str], *, replace: bool = False) -> int:
    """Copy an SQLite database to a file, checked, its owner's alone; returns its size in bytes.

    Others may read and write meanwhile: the copy is what was on disk when it began, whole or not at all. A
    file that is there is kept unless it is to be replaced.
    """
    target = Path(path).expanduser()
    if database.kind != "sqlite":
        raise InvalidArgument(
            f"{database.url}: PostgreSQL has a tool of its own that copies a database in use: "
            "pg_dump --format=custom --file=FILE URL; pg_restore brings it back"
        )
    if target.is_dir():
        raise InvalidArgument(f"{target}: is a folder; must be a file")
    if target.exists() and not replace:
        raise Conflict(f"{target}: is there already; give another name, or --replace (replace=True)")
    source = Path(database.link.where)
    if target.exists() and target.samefile(source):
        raise InvalidArgument(f"{target}: is the database itself")
    try:
        with whole(target, private=True) as draft:
            _copy(database, draft)
            with draft.open("rb+") as file:
                os.fsync(file.fileno())
            return draft.stat().st_size
    except sqlite3.Error as error:
        raise StorageFailure(f"{target}: the copy failed ({error}); there is none") from error
    except OSError as error:
        raise StorageFailure(f"{target}: {error.strerror or error}; choose another place") from error


def _copy(database: Database, draft: Path) -> None:
    """In one step, which SQLite makes of one snapshot, and without a log beside it."""
    with database.link.reading() as connection, closing(sqlite3.connect(draft)) as copy:
        source = connection.connection.driver_connection
        assert isinstance(source, sqlite3.Connection)
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # all of it is in the one file
        said = copy.execute("PRAGMA integrity_check").fetchone()[0]
        if said != "ok":
            raise StorageFailure(f"{database.link.where}: damaged, and so would the copy be: {said}")
