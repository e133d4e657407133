"""Where a database is: a file's path, or a URL. What is in the file is looked at before anything opens it."""

from __future__ import annotations

import glob
import os
import re
import sqlite3
import stat
import time
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
MOMENT = 1.0  # seconds in which a file that is being made may have two names
DRAFT = re.compile("[0-9a-f]{16}")
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
    return written


def _header(path: Path, size: int) -> tuple[int, int]:
    """The application's number and the version, as SQLite reads them."""
    foreign = StorageFailure(f"{path}: not an SQLite database; left untouched. Give another file")
    if size < SHORTEST:
        raise foreign
    logged = path.with_name(f"{path.name}-wal").exists()  # what is missing may be there
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


def writable(path: Path) -> bool:
    """Whether SQLite can write to a file: to the helper files beside it too."""
    helpers = [path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm")]
    beside = os.access(path.parent, os.W_OK) or all(os.access(helper, os.W_OK) for helper in helpers)
    return os.access(path, os.W_OK) and beside


def address_to_read(path: Path) -> str:
    """For SQLite, of a file that cannot be written to.

    Its log, if there is one, is read with it. Where there is none SQLite would want to make one, unless it is
    told that nothing changes.
    """
    logged = path.with_name(f"{path.name}-wal").exists()
    return f"{path.resolve().as_uri()}?mode=ro{'' if logged else '&immutable=1'}"


def refuse_second_name(path: Path) -> None:
    """An error if a file has another path: each has a log of its own, and what one is told the other loses.

    While a new file is made it has two names for a moment (`windvane.storage.fresh`).
    """
    real, deadline = path.resolve(), time.monotonic() + MOMENT
    while (found := real.stat()).st_nlink > 1:
        for draft in real.parent.glob(f".{glob.escape(real.name)}.*"):
            if DRAFT.fullmatch(draft.name.rpartition(".")[2]) and identity(draft) == identity(real):
                draft.unlink(missing_ok=True)  # of a maker who has no use for it any more, or was killed
        if time.monotonic() > deadline:
            raise StorageFailure(
                f"{path}: the file has {found.st_nlink} names (hard links). Each has its own log, so what "
                "is told by one would be lost by the other; left untouched. Delete the other, or make a copy"
            )
        time.sleep(0.01)
    if _mounted(real):
        raise StorageFailure(
            f"{path}: this file is mounted by itself (as by docker -v FILE:FILE). Its log, which lies beside "
            "it, would not be the one that others use; left untouched. Mount the folder instead"
        )


def _mounted(path: Path) -> bool:
    """Whether a file is a mount point."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:  # not Linux
        return os.path.ismount(path)
    points = (
        re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), line.split(b" ")[4]) for line in lines
    )
    return os.fsencode(path) in points


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
