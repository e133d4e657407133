"""From one version of the schema to the next, each step in the transaction that records it.

A step is a function of a connection, and works on SQLite and on PostgreSQL. Steps are never edited once
released: what they create is spelled out here or taken from tables that have not changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import Column, Connection, Table, delete, insert, inspect, text
from sqlalchemy.schema import CreateColumn

from windvane.storage.schema import checkpoints, deliveries, events, studies, tokens, version, webhooks

Step = Callable[[Connection], None]


def _journal(connection: Connection) -> None:
    """Version 1: studies, their journals and checkpoints."""
    for table in (version, studies, events, checkpoints):
        table.create(connection)


def _access(connection: Connection) -> None:
    """Version 2: tokens for the service, webhooks and what they have to deliver."""
    for table in (tokens, webhooks, deliveries):
        table.create(connection)


def _amendments(connection: Connection) -> None:
    """Version 3: records that amend others. Their kinds have longer names; SQLite does not count letters.

    The version is what matters there: a Windvane that does not know these records must not follow them.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("ALTER TABLE windvane_events ALTER COLUMN kind TYPE VARCHAR(16)"))


def _constraints(connection: Connection) -> None:
    """Version 4: what was told of constraints, and webhooks that are called on violations as well.

    Webhooks that were there before are called on resets, as before.
    """
    for table, names in (
        (studies, ("violations", "last_violation", "last_retreat")),
        (events, ("violated", "outcome_resets")),
        (webhooks, ("kinds",)),
        (deliveries, ("kind",)),
    ):
        for name in names:
            _add_column(connection, table, table.c[name])
    for index in events.indexes:
        index.create(connection, checkfirst=True)


def _add_column(connection: Connection, table: Table, column: Column[Any]) -> None:
    """A column that tables of an earlier version lack; those that this one creates have it."""
    if column.name not in {each["name"] for each in inspect(connection).get_columns(table.name)}:
        spelt = CreateColumn(column).compile(dialect=connection.dialect)
        connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {spelt}"))


STEPS: tuple[Step, ...] = (_journal, _access, _amendments, _constraints)
VERSION = len(STEPS)
APPLICATION_ID = 0x57564E45  # "WVNE", in the header of an SQLite file


def migrate(connection: Connection, present: int, target: int = VERSION) -> None:
    """Carry out the steps after version `present`, and record the version."""
    for step in STEPS[present:target]:
        step(connection)
    connection.execute(delete(version))
    connection.execute(insert(version).values(version=target))
    if connection.dialect.name == "sqlite":
        connection.execute(text(f"PRAGMA application_id = {APPLICATION_ID}"))
        connection.execute(text(f"PRAGMA user_version = {target}"))
