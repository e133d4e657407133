"""The link to a database: SQLite in a file (WAL, every commit on disk), or PostgreSQL by URL.

Threads may share one. `reading` and `writing` are short transactions; on SQLite a writer takes the lock
at the start, so that it never fails half-way because another one was faster.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, select, text
from sqlalchemy.exc import OperationalError

from windvane.errors import StorageFailure
from windvane.extras import require
from windvane.storage.failures import reported
from windvane.storage.fresh import make_file
from windvane.storage.migrations import VERSION, migrate
from windvane.storage.places import identity, place, refuse_newer, shown
from windvane.storage.places import inspect as header_version
from windvane.storage.schema import version

WAIT = 30.0  # seconds for a lock
MIGRATION_LOCK = 0x57564E45  # of PostgreSQL's advisory locks
CONNECTIONS = 10
LOG = "windvane_log"  # what a connection to SQLite writes to


class Link:
    """Transactions on a database whose schema is up to date. `create=True` makes one where there is none."""

    def __init__(self, url: Any, *, create: bool = False) -> None:
        self._place = place(url)
        self.kind = self._place.get_backend_name()
        self._turn = threading.Lock()
        self._inside = threading.local()  # the connection of a batch, in the thread that carries it out
        self._file: tuple[int, int] | None = None
        self.url = shown(self._place)
        self.where = str(self._place.database) if self.kind == "sqlite" else self.url
        if self.kind == "sqlite":
            self._path = path = Path(str(self._place.database)).absolute()
            if header_version(path) is None:
                if not create:
                    raise StorageFailure(f"{path}: there is no such database; create a study there first")
                make_file(path.resolve())
        else:
            require("psycopg", "postgres")
        with reported(self.where):
            self._engine = _engine(self._place, self.kind)
            try:
                self._prepare(create)
            except BaseException:
                self._engine.dispose()
                raise
        if self.kind == "sqlite":
            self._file = identity(path)

    def close(self) -> None:
        """Give the connections back. What was written is on disk already."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that only reads: on SQLite each statement by itself, the journal does not change."""
        inside = self._batch
        if inside is not None:
            yield inside
            return
        with reported(self.where), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: all of it is on disk when the block ends, or none of it."""
        inside = self._batch
        if inside is not None:
            yield inside
            return
        with reported(self.where), self._engine.connect() as connection, self.writes(connection):
            yield connection

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Make one transaction of all that this thread reads and writes inside: on disk at the end, or none.

        Only for short steps on SQLite: nobody else writes meanwhile, and an error in the database undoes all.
        """
        with self.writing() as connection:
            self._inside.connection = connection
            try:
                yield
            finally:
                self._inside.connection = None

    @property
    def _batch(self) -> Connection | None:
        connection: Connection | None = getattr(self._inside, "connection", None)
        if connection is not None and not connection.connection.in_transaction:
            # a full disk has SQLite undo all by itself, and what is written now would stand alone
            raise StorageFailure(f"{self.where}: what was to be written together was undone")
        return connection

    @contextmanager
    def writes(self, connection: Connection) -> Iterator[None]:
        """The same on a connection that has only read so far."""
        if connection is self._batch:
            yield
            return
        with self._alone(), reported(self.where):
            connection.rollback()
            connection.execution_options(windvane_writes=True)
            with connection.begin():
                yield
                self._refuse_ghost(connection)
            self._refuse_ghost(connection, "it is not certain that this step was")  # it may happen in between

    def _refuse_ghost(self, connection: Connection, outcome: str = "nothing of this step was") -> None:
        """An error if the file or its log was removed or replaced: SQLite would write to what has no name.

        The log goes if this process has lost its locks on the file, as it does by opening and closing it
        without SQLite, to copy it say, and another process then believes to be alone.
        """
        if self._file is None:
            return
        log, known = connection.info[LOG]
        gone = identity(self._path) != self._file
        if not gone and identity(log) == known:
            return
        if not gone:
            connection.invalidate()
            self._engine.dispose()  # the next step opens the log that has the name now
        what = "file" if gone else "log of the file"
        raise StorageFailure(
            f"{self.where}: the {what} was removed or replaced while it was open; {outcome} kept. "
            f"{'Put it back or open it again' if gone else 'Try again'}"
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """On SQLite, the only writer of this process: SQLite itself has threads sleep up to 100 ms."""
        if self.kind != "sqlite":
            yield
            return
        if not self._turn.acquire(timeout=WAIT):
            raise StorageFailure(f"{self.where}: another thread holds the database for too long. Try again")
        try:
            yield
        finally:
            self._turn.release()

    def _prepare(self, create: bool) -> None:
        """See that the tables are there and of this version; older ones are brought up to date."""
        with self._engine.connect() as connection:
            present = _version(connection)
        refuse_newer(self.where, present)
        if present == VERSION:
            return
        if present == 0 and not create:
            raise StorageFailure(f"{self.where}: no Windvane database yet; create a study there first")
        with self.writing() as connection:
            if self.kind == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            present = _version(connection)  # somebody else may have been faster
            refuse_newer(self.where, present)
            if present < VERSION:
                migrate(connection, present)


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(version.name):
        return 0
    return int(connection.execute(select(version.c.version)).scalar_one())


def _engine(place: Any, kind: str) -> Engine:
    if kind == "postgresql":
        engine = create_engine(
            place,
            pool_size=CONNECTIONS,
            max_overflow=CONNECTIONS,
            pool_pre_ping=True,
            pool_timeout=WAIT,
            isolation_level="READ COMMITTED",  # whatever the server's default: see journal.lock
        )
        event.listen(engine, "connect", _durable)
        return engine
    engine = create_engine(
        place,
        pool_size=CONNECTIONS,
        max_overflow=CONNECTIONS,
        pool_timeout=WAIT,
        pool_reset_on_return=None,  # every transaction is a block that ended
        connect_args={"timeout": WAIT},
    )
    event.listen(engine, "connect", _pragmas)
    event.listen(engine, "begin", _begin)
    return engine


def _durable(connection: Any, _record: Any) -> None:
    """PostgreSQL: a commit that returned survives a crash, also where the server is set up to be hasty."""
    name = "synchronous_commit"
    connection.execute(f"SELECT set_config('{name}', 'on', false) WHERE current_setting('{name}') = 'off'")
    connection.commit()


def _pragmas(connection: Any, record: Any) -> None:
    """SQLite: readers beside a writer, and a commit that returned survives a power cut."""
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # opens the log
    file = cursor.execute("PRAGMA database_list").fetchone()[2]
    record.info[LOG] = (log := Path(f"{file}-wal"), identity(log))
    cursor.close()


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("windvane_writes", False):
        return
    try:
        connection.connection.cursor().execute("BEGIN IMMEDIATE")  # on every step, so without further ado
    except sqlite3.Error as error:
        raise OperationalError("BEGIN IMMEDIATE", None, error) from error
