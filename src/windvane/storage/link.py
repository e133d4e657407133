"""The link to a database: SQLite in a file (WAL, every commit on disk), or PostgreSQL by URL.

Threads may share one. `reading` and `writing` are short transactions; on SQLite a writer takes the lock
at the start, so that it never fails half-way because another one was faster. A write has three outcomes:
written (it returns), not written (`StorageFailure`) and, if the database went away while it was told to
commit, unknown. Then it is asked (`commit`); only if it does not answer there is an `UncertainWrite`.

What is held while a step is made (the turn of its study, a connection, this process's right to write) is held
by `with` and `try` inside of plain functions, which an interrupt cannot slip through; a context manager made
from a generator would keep it until somebody lets go of the traceback.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakSet

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from windvane.errors import StorageFailure, UncertainWrite, WindvaneError
from windvane.extras import require
from windvane.storage import turns
from windvane.storage.failures import reported
from windvane.storage.fresh import make_file
from windvane.storage.migrations import VERSION, migrate
from windvane.storage.places import (
    address_to_read,
    identity,
    place,
    refuse_newer,
    refuse_second_name,
    shown,
    writable,
)
from windvane.storage.places import inspect as header_version
from windvane.storage.prepared import Prepared
from windvane.storage.schema import version

WAIT = 30.0  # seconds for a lock
MIGRATION_LOCK = 0x57564E45  # of PostgreSQL's advisory locks
LOCK_NOT_AVAILABLE = "55P03"
QUEUE = Prepared(
    text(
        f"SELECT set_config('lock_timeout', '{turns.PATIENCE * 1000:.0f}ms', true), "
        f"pg_advisory_xact_lock({turns.KEYS}), "
        f"set_config('lock_timeout', '{WAIT * 1000:.0f}ms', true)"
    )
)
SETTINGS = (  # of a session on PostgreSQL: what, to what, where it is
    ("synchronous_commit", "on", "= 'off'"),
    ("lock_timeout", f"{WAIT:.0f}s", "= '0'"),
    ("statement_timeout", "300s", "= '0'"),
    ("idle_in_transaction_session_timeout", "600s", "IS NOT NULL"),  # steps are computed in turn inside one
)
REACH = {"connect_timeout": 15, "keepalives_idle": 30, "tcp_user_timeout": 60_000}  # libpq's: s, s, ms
CONNECTIONS = 10
HELPERS = "windvane_helpers"  # the log and its index that a connection to SQLite uses
Result = TypeVar("Result")
Proof = Callable[[Connection], bool]


class Link:
    """Transactions on a database whose schema is up to date. `create=True` makes one where there is none."""

    def __init__(self, url: Any, *, create: bool = False) -> None:
        self._place = place(url)
        self.kind = self._place.get_backend_name()
        # on SQLite, the only writer of this process: SQLite itself has threads sleep up to 100 ms
        self._alone = threading.RLock() if self.kind == "sqlite" else nullcontext()
        self._file: tuple[int, int] | None = None
        self._read_only = False
        self.url = shown(self._place)
        self.where = str(self._place.database) if self.kind == "sqlite" else self.url
        if self.kind == "sqlite":
            self._path = path = Path(str(self._place.database)).absolute()
            if header_version(path) is None:
                if not create:
                    raise StorageFailure(f"{path}: there is no such database; create a study there first")
                make_file(path.resolve())
            refuse_second_name(path)
            self._read_only = not writable(path.resolve())
        else:
            require("psycopg", "postgres")
        with reported(self.where):
            self._engine = _reader(path) if self._read_only else _engine(self._place, self.kind)
            self._single = self._engine
            if self.kind == "postgresql":  # the same connections
                self._single = self._engine.execution_options(isolation_level="AUTOCOMMIT")
            try:
                self._prepare(create)
            except BaseException:
                self._engine.dispose()
                raise
        if self.kind == "sqlite" and not self._read_only:
            self._file = identity(path)
        _links.add(self)

    def forked(self) -> None:
        """In a new process: what was connected belongs to the old one, and its threads are not here."""
        self._abandoned = self._engine.pool  # closing it would end the other's connections
        self._engine.dispose(close=False)
        if self.kind == "sqlite":
            self._alone = threading.RLock()

    def close(self) -> None:
        """Give the connections back. What was written is on disk already."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that only reads, each statement by itself: the journal does not change.

        On PostgreSQL a transaction would be two more ways to the server and back, and its end, a rollback,
        would have the driver forget the statements that are prepared.
        """
        with reported(self.where), self._single.connect() as connection:
            yield _answering(connection)

    @contextmanager
    def as_of_now(self) -> Iterator[Connection]:
        """A connection that only reads, and sees all of the database as of its first statement."""
        with reported(self.where), self._engine.connect() as connection:
            _answering(connection)
            if self.kind == "sqlite":
                connection.execute(text("BEGIN"))  # ends when the connection is given back
            else:
                connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes: all of it is on disk when the block ends, or none of it."""
        with (
            reported(self.where),
            self._engine.connect() as connection,
            self._alone,
            self.writes(_answering(connection)),
        ):
            yield connection

    def write(self, act: Callable[[Connection], Result], wrote: Proof | None = None) -> Result:
        """The same for a function of the connection; see `commit`."""
        with reported(self.where), self._engine.connect() as connection:
            return self.commit(_answering(connection), lambda: act(connection), wrote)

    def in_turn(self, study: int, act: Callable[[Connection], Result], *, wait: bool = True) -> Result:
        """Make a step of a study with a connection that only reads until `commit`, when it is our turn.

        The database is not locked meanwhile. Without `wait` it is done right away.
        """
        if wait and self.kind == "sqlite" and not self._read_only:
            return turns.in_turn(self._path.resolve(), study, lambda: self._with_connection(act))
        return self._with_connection(act, study if wait and self.kind != "sqlite" else None)

    def out_of_turn(self, act: Callable[[Connection], Result]) -> Result:
        """Make a step of a study without waiting and without asking for anything before it is written.

        So it may be of no use, or meet a connection that the server has closed: then nothing is written.
        """
        with reported(self.where), self._engine.connect() as connection:
            return act(connection)

    def _with_connection(self, act: Callable[[Connection], Result], study: int | None = None) -> Result:
        with reported(self.where), self._engine.connect() as connection:
            if study is None:
                _answering(connection)
            else:
                _queue(connection, study)
            return act(connection)

    def commit(self, connection: Connection, act: Callable[[], Result], wrote: Proof | None = None) -> Result:
        """Write with a connection that has only read so far: all of it is on disk then, or none of it.

        If the database went away while it was told to commit, `wrote` says by what is in it whether it did.
        """
        try:
            with self._alone, self.writes(connection):
                result = act()
        except UncertainWrite as error:
            connection.invalidate()  # whatever it holds still
            self._settle(wrote, error)
        return result

    def _settle(self, wrote: Proof | None, unknown: UncertainWrite) -> None:
        """An error unless what was to be written is there: it is not, or that cannot be found out."""
        if wrote is None:
            raise unknown
        try:
            with self.reading() as connection:
                found = wrote(connection)
        except WindvaneError:
            raise unknown from unknown.__cause__
        if not found:
            raise unknown.__cause__ or unknown

    @contextmanager
    def writes(self, connection: Connection) -> Iterator[None]:
        """A transaction on a connection that has only read so far, for who is `_alone`."""
        if self._read_only:
            raise StorageFailure(
                f"{self.where}: cannot be written to; nothing was changed. Check the permissions of the file "
                "and its folder, and whether the file system is read-only"
            )
        told = False
        try:
            with reported(self.where):
                if self.kind == "sqlite":
                    connection.rollback()
                    connection.execution_options(windvane_writes=True)
                # on PostgreSQL the turn is part of the transaction
                with connection.get_transaction() or connection.begin():
                    yield
                    self._refuse_ghost(connection)
                    told = True
                self._refuse_ghost(connection)  # it may happen in between
        except StorageFailure as error:
            if not told:
                raise
            raise UncertainWrite(
                f"{self.where}: it is not certain that this step was kept. Look into the journal before it "
                f"is repeated, or repeat it under its key ({error})"
            ) from error

    def _refuse_ghost(self, connection: Connection) -> None:
        """An error if the file or its log was removed or replaced: SQLite would write to what has no name.

        The log goes if this process has lost its locks on the file, as it does by opening and closing it
        without SQLite, to copy it say, and another process then believes to be alone.
        """
        if self._file is None:
            return
        gone = identity(self._path) != self._file
        if not gone and all(identity(path) == known for path, known in connection.info[HELPERS]):
            return
        if not gone:
            connection.invalidate()
            self._engine.dispose()  # the next step opens the log that has the name now
        what = "file" if gone else "log of the file"
        raise StorageFailure(
            f"{self.where}: the {what} was removed or replaced while it was open; nothing of this step was "
            f"kept. {'Put it back or open it again' if gone else 'Try again'}"
        )

    def _prepare(self, create: bool) -> None:
        """See that the tables are there and of this version; older ones are brought up to date."""
        with self._engine.connect() as connection:
            present = _version(connection)
        refuse_newer(self.where, present)
        if present == VERSION:
            return
        if self._read_only and present > 0:
            raise StorageFailure(
                f"{self.where}: written by an older Windvane, and it cannot be brought up to date, since it "
                "cannot be written to. Copy it to where it can"
            )
        if present == 0 and not create:
            raise StorageFailure(f"{self.where}: no Windvane database yet; create a study there first")
        with self.writing() as connection:
            if self.kind == "postgresql":
                connection.execute(text("SET LOCAL statement_timeout = 0"))  # there may be much to migrate
                connection.execute(text("SET LOCAL lock_timeout = 0"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
            present = _version(connection)  # somebody else may have been faster
            refuse_newer(self.where, present)
            if present < VERSION:
                migrate(connection, present)


_links: WeakSet[Link] = WeakSet()


def _forked() -> None:
    for link in list(_links):
        link.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _version(connection: Connection) -> int:
    if not inspect(connection).has_table(version.name):
        return 0
    return int(connection.execute(select(version.c.version)).scalar_one())


def _queue(connection: Connection, study: int) -> None:
    """Wait for our turn with a study on PostgreSQL: first come, first served, until the transaction ends.

    This is the first that the server is told. If it has closed the connection since it was used last, it is
    told by another one: to ask before whether it answers takes as long.
    """
    renewed = False
    while True:
        transaction = connection.begin()
        try:
            QUEUE.run(connection, {"study": study})
            return
        except DBAPIError as error:
            transaction.rollback()
            if getattr(error.orig, "sqlstate", None) == LOCK_NOT_AVAILABLE:
                return  # nobody in the queue moves: without it, then
            if renewed or not connection.invalidated:
                raise
            renewed = True
            connection.engine.dispose()  # the others that were kept are as old


def _answering(connection: Connection) -> Connection:
    """The same, connected anew if the server has closed it since it was used last."""
    if connection.dialect.name == "postgresql":
        driver: Any = connection.dialect.dbapi
        raw: Any = connection.connection.dbapi_connection
        try:
            connection.dialect.do_ping(raw)
        except driver.Error as error:
            connection.invalidate(error)
            connection.engine.dispose()
    return connection


def _engine(place: Any, kind: str) -> Engine:
    pool: Any = {"pool_size": CONNECTIONS, "max_overflow": CONNECTIONS, "pool_timeout": WAIT}
    if kind == "postgresql":
        engine = create_engine(
            place,
            **pool,
            pool_use_lifo=True,  # a server's process has at hand what it did last
            isolation_level="READ COMMITTED",  # whatever the server's default: see journal.lock
            connect_args={name: value for name, value in REACH.items() if name not in place.query},
        )
        event.listen(engine, "connect", _settings)
        return engine
    engine = create_engine(
        place,
        **pool,
        pool_reset_on_return=None,  # see _reset
        connect_args={"timeout": WAIT},
    )
    event.listen(engine, "connect", _pragmas)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "reset", _reset)
    return engine


def _reader(path: Path) -> Engine:
    """For a file that cannot be written to: opened anew each time, since a log may come and go."""
    engine = create_engine(
        "sqlite+pysqlite://",
        creator=lambda: sqlite3.connect(
            address_to_read(path), uri=True, timeout=WAIT, check_same_thread=False
        ),
        poolclass=NullPool,
    )
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    return engine


def _settings(connection: Any, _record: Any) -> None:
    """PostgreSQL: a commit that returned survives a crash, and nothing is waited for for ever.

    Also where the server is set up to be hasty, or patient; most limits of its own that are shorter stay.
    """
    for name, value, unless in SETTINGS:
        changed = f"SELECT set_config('{name}', '{value}', false) WHERE current_setting('{name}') {unless}"
        connection.execute(changed)
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
    helpers = [Path(f"{file}{suffix}") for suffix in ("-wal", "-shm")]
    record.info[HELPERS] = [(path, identity(path)) for path in helpers]
    cursor.close()


def _reset(connection: Any, _record: Any, _state: Any) -> None:
    """A transaction is a block that ended; but a failed commit, or an interrupt, may leave it open."""
    if connection.in_transaction:
        connection.rollback()


def _begin(connection: Connection) -> None:
    if not connection.get_execution_options().get("windvane_writes", False):
        return
    try:
        connection.connection.cursor().execute("BEGIN IMMEDIATE")  # on every step, so without further ado
    except sqlite3.Error as error:
        raise OperationalError("BEGIN IMMEDIATE", None, error) from error
