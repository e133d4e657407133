"""Statements that every step needs, put together once for each kind of database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, CursorResult, Executable
from sqlalchemy.sql import ClauseElement


class Prepared:
    """A statement that goes to the driver as text.

    To look it up in SQLAlchemy's cache and convert its values takes longer than to run it. So values must be
    those that drivers take, text and numbers, and results come as drivers give them: no booleans from SQLite.
    """

    def __init__(self, statement: ClauseElement) -> None:
        assert isinstance(statement, Executable)
        self._statement = statement
        self._texts: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, values: Mapping[str, Any]) -> CursorResult[Any]:
        """Run it once."""
        text, order = self._text(connection)
        return connection.exec_driver_sql(text, _row(values, order))

    def run_many(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run it for each of several rows."""
        text, order = self._text(connection)
        connection.exec_driver_sql(text, [_row(values, order) for values in rows])

    def _text(self, connection: Connection) -> tuple[str, tuple[str, ...] | None]:
        """The statement for this kind of database, and the order of its values where they have no names."""
        kind = connection.dialect.name
        if kind not in self._texts:
            compiled: Any = self._statement.compile(dialect=connection.dialect)
            order = tuple(compiled.positiontup) if compiled.positional else None
            self._texts[kind] = str(compiled), order
        return self._texts[kind]


def _row(values: Mapping[str, Any], order: tuple[str, ...] | None) -> Any:
    return dict(values) if order is None else tuple([values[name] for name in order])
