"""Statements that every step needs, put together once for each kind of database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql import ClauseElement


class Prepared:
    """A statement that goes straight to the driver, as text.

    To look it up in SQLAlchemy's cache, convert its values and wrap its result takes longer than to run it.
    So values must be those that drivers take, text and numbers, and what comes back is the driver's cursor.
    """

    def __init__(self, statement: ClauseElement) -> None:
        self._statement = statement
        self._texts: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Any:
        """Run it once; the cursor has what came of it."""
        text, order = self._text(connection)
        return _execute(connection, "execute", text, _row(values, order))

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> Any:
        """Run it for each of several rows; the cursor counts what all of them have changed."""
        text, order = self._text(connection)
        if len(rows) == 1:
            return _execute(connection, "execute", text, _row(rows[0], order))
        return _execute(connection, "executemany", text, [_row(values, order) for values in rows])

    def _text(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        """The statement for this kind of database, and the order of its values where they have no names."""
        kind = connection.dialect.name
        if kind not in self._texts:
            compiled: Any = self._statement.compile(dialect=connection.dialect)
            order = tuple(compiled.positiontup) if compiled.positional else None
            self._texts[kind] = str(compiled), order
        return self._texts[kind]


def _execute(connection: Connection, how: str, text: str, values: Any) -> Any:
    cursor = connection.connection.cursor()
    dbapi: Any = connection.dialect.dbapi
    try:
        getattr(cursor, how)(text, values)
    except dbapi.Error as error:
        if connection.dialect.is_disconnect(error, connection.connection, cursor):
            connection.invalidate(error)  # so that nobody is given it again
        raise DBAPIError(text, None, error) from error  # as SQLAlchemy itself would
    return cursor


def _row(values: Mapping[str, Any], order: tuple[str, ...] | None) -> Any:
    return dict(values) if order is None else tuple([values[name] for name in order])
