"""Where a database is: a file's path, or a URL. What is in the file is looked at before anything opens it."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from windvane.errors import InvalidArgument, InvalidType, StorageFailure
from windvane.storage.migrations import APPLICATION_ID, VERSION

KINDS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
NUMBERS = ("application_id", "user_version", "page_size", "page_count")
SHORTEST = 100  # bytes of a header
ALLOWED = "a file's path, sqlite:///PATH or postgresql://USER@HOST/NAME"


def place(url: Any) -> URL:
    """The URL of a database, from a path or a URL.

    >>> place("studies.db").database
    'studies.db'
    >>> place("postgresql://ada@localhost/plant").drivername
    'postgresql+psycopg'
    >>> place("mysql://localhost/plant")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: url='mysql://localhost/plant': must be a file's path, ...
    """
    if isinstance(url, os.PathLike):
        return _file(os.fspath(url))
    if not isinstance(url, str) or not url:
        raise InvalidType(f"url={url!r}: must be {ALLOWED}")
    if "://" not in url:
        return _file(url)
    try:
        found = make_url(url)
        driver = KINDS[found.drivername.split("+")[0]]
    except (ArgumentError, KeyError, ValueError):
        scheme, _, rest = url.partition("://")
        shown = f"{scheme}://{rest.rpartition('@')[2]}"  # a password must not reach a log
        raise InvalidArgument(f"url={shown!r}: must be {ALLOWED}") from None
    if driver != KINDS["sqlite"]:
        return found.set(drivername=driver)
    if found.query or found.host:
        raise InvalidArgument(f"url={url!r}: must be sqlite:///PATH, without options")
    return _file(found.database)


def _file(path: Any) -> URL:
    """An SQLite file. SQLite takes some names for a database in memory, which would lose everything."""
    if not isinstance(path, str) or path in ("", ".", ":memory:") or path.startswith("file:") or "\0" in path:
        raise InvalidArgument(f"url={path!r}: a study must survive, so it needs a file: sqlite:///PATH")
    return URL.create(KINDS["sqlite"], database=path)


def shown(url: URL) -> str:
    """A URL without its password, wherever in it that is."""
    query = {name: "***" if "password" in name.lower() else value for name, value in url.query.items()}
    return url.set(query=query).render_as_string(hide_password=True)


def inspect(path: Path) -> int | None:
    """The schema's version according to the header of an SQLite file, None if there is no file.

    Only read, so a file that is damaged, of another program or of a newer version stays as it is to the
    last byte. And only by SQLite, which is told that nothing changes: to open and close the file by hand
    would take away the locks of every connection that this process has to it, and another process would
    then clear away the log that they write to.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageFailure(f"{path}: cannot be read: {error.strerror or error}") from error
    if not stat.S_ISREG(found.st_mode):
        kind = "Is a directory" if stat.S_ISDIR(found.st_mode) else "not a file"
        raise StorageFailure(f"{path}: cannot be read: {kind}")
    if found.st_size == 0:
        raise StorageFailure(
            f"{path}: an empty file, not a database; left untouched. Delete it or give another"
        )
    if not os.access(path, os.R_OK):
        raise StorageFailure(f"{path}: cannot be read: permission denied")
    application, written = _header(path, found.st_size)
    if application != APPLICATION_ID:
        raise StorageFailure(f"{path}: an SQLite database, but not one of Windvane's; left untouched")
    refuse_newer(str(path), written)
    if not os.access(path, os.W_OK):  # SQLite would open it, and leave its helper files behind
        raise StorageFailure(
            f"{path}: cannot be written to. Check the permissions of the file and its folder"
        )
    return written


def _header(path: Path, size: int) -> tuple[int, int]:
    """The application's number and the version, as SQLite reads them."""
    foreign = StorageFailure(f"{path}: not an SQLite database; left untouched. Give another file")
    if size < SHORTEST:
        raise foreign
    logged = path.with_name(
        f"{path.name}-wal"
    ).exists()  # what is missing may be there: SQLite will take it up
    address = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            numbers = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in NUMBERS]
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the message may quote what was damaged
        if "not a database" in str(error):
            raise foreign from None
        if logged:
            return APPLICATION_ID, 0
        raise StorageFailure(f"{path}: damaged ({error}); left untouched. Restore it from a backup") from None
    application, written, page, pages = numbers
    if size < page * pages and not logged:
        raise StorageFailure(
            f"{path}: damaged: {size} bytes where its header promises {page * pages}; left untouched. "
            "Restore it from a backup"
        )
    return application, written


def identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of the same name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def refuse_newer(where: str, written: int) -> None:
    """An error if a database was written by a version of Windvane that knows more than this one."""
    if written > VERSION:
        raise StorageFailure(
            f"{where}: written by a newer Windvane (schema {written}, this one knows up to {VERSION}); "
            "left untouched. Upgrade Windvane to open it"
        )
