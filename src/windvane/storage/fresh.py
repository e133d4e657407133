"""A new SQLite file: made complete under another name, then given its own, so that nobody sees half of one.

In WAL mode the header of the file itself lags behind until a checkpoint. Made in place, a file whose maker
was killed would say that it is nobody's, while everything acknowledged lies in the log beside it.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import NullPool, create_engine, event
from sqlalchemy.engine import URL

from windvane.errors import StorageFailure
from windvane.storage.failures import reported
from windvane.storage.migrations import migrate


def make_file(path: Path) -> None:
    """An empty database of this version at `path`; one that somebody else made meanwhile stays.

    It is readable by its owner only: it will hold the secrets of webhooks.
    """
    draft = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with reported(str(path)):
            _fill(draft)
        os.link(draft, path)  # unlike a rename it never replaces
    except FileExistsError:
        return
    except StorageFailure:
        raise
    except OSError as error:
        raise StorageFailure(f"{path}: cannot be made: {error.strerror or error}") from error
    finally:
        for rest in (draft, Path(f"{draft}-journal"), Path(f"{draft}-wal"), Path(f"{draft}-shm")):
            with suppress(OSError):  # of a read-only file system: there is nothing
                rest.unlink(missing_ok=True)


def _fill(draft: Path) -> None:
    """The tables, with an ordinary journal; only then WAL, so that the file is complete by itself."""
    engine = create_engine(URL.create("sqlite+pysqlite", database=str(draft)), poolclass=NullPool)
    event.listen(engine, "connect", _by_hand)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    with engine.begin() as connection:
        migrate(connection, 0)
    raw = engine.raw_connection()
    try:
        raw.cursor().execute("PRAGMA journal_mode = WAL")
    finally:
        raw.close()


def _by_hand(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say
    connection.execute("PRAGMA synchronous = FULL")
