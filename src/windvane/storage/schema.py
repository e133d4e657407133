"""The tables. One database holds many studies; nothing is overwritten but counters and checkpoints.

`events` is the journal: what happened to a study, numbered from 1 without gaps. `studies.head` is the
number of the last entry, and every writer states which head it builds on, so two never write the same number.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

tables = MetaData()


def _study(**more: Any) -> Column[int]:
    return Column("study_id", ForeignKey("windvane_studies.id", ondelete="CASCADE"), **more)


version = Table("windvane_schema", tables, Column("version", Integer, nullable=False))

studies = Table(
    "windvane_studies",
    tables,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("algorithm", String(100), nullable=False),
    Column("goal", String(8), nullable=False),
    Column("created", Double, nullable=False),
    Column("definition", Text, nullable=False),
    Column("head", Integer, nullable=False),
    Column("trials", Integer, nullable=False),  # the number of the last trial
    Column("pending", Integer, nullable=False),
    Column("tells", Integer, nullable=False),
    Column("resets", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("size", Integer, nullable=False),  # observations in use
    Column("last_at", Double),
    Column("last_reset", Integer),  # its step
    Column("violations", Integer, nullable=False, server_default="0"),  # tells beyond a limit
    Column("last_violation", Integer),  # its step
    Column("last_retreat", Integer),  # its step
    sqlite_autoincrement=True,  # the number of a deleted study is not given away again
)

events = Table(
    "windvane_events",
    tables,
    _study(primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("at", Double, nullable=False),
    Column("trial", Integer),
    Column("x", Text),
    Column("y", Double),
    Column("time", Double),
    Column("expires", Double),
    Column("step", Integer),
    Column("reset", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("event", Text),
    Column("metadata", Text, nullable=False),
    Column("key", String(200)),
    Column("violated", Text),  # the constraints beyond their limits, a list in JSON; none: no list
    Column("outcome_resets", Text),  # the same of those whose own model was reset
    sqlite_with_rowid=False,  # the table is its own index: a page less to write for every record
)


def _index(name: str, column: Column[Any], where: Any, **more: Any) -> None:
    """An index of the records for which something holds."""
    own = f"windvane_events_{name}"
    Index(own, events.c.study_id, column, sqlite_where=where, postgresql_where=where, **more)


_index("key", events.c.key, events.c.key.is_not(None), unique=True)
Index("windvane_events_trial", events.c.study_id, events.c.trial)
_index("resets", events.c.seq, events.c.reset)
_index("violated", events.c.seq, events.c.violated.is_not(None))
_index("outcome_resets", events.c.seq, events.c.outcome_resets.is_not(None))

checkpoints = Table(
    "windvane_checkpoints",
    tables,
    _study(primary_key=True, autoincrement=False),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("state", Text, nullable=False),
)

tokens = Table(
    "windvane_tokens",
    tables,
    Column("id", Integer, primary_key=True),
    Column("label", String(100), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),  # SHA-256; the token itself is nowhere
    Column("scopes", String(40), nullable=False),
    Column("created", Double, nullable=False),
    sqlite_autoincrement=True,
)

webhooks = Table(
    "windvane_webhooks",
    tables,
    Column("id", Integer, primary_key=True),
    _study(),  # none: every study
    Column("url", Text, nullable=False),
    Column("secret", Text, nullable=False),
    Column("created", Double, nullable=False),
    Column("kinds", String(40), nullable=False, server_default="reset"),  # what it is called on
    sqlite_autoincrement=True,
)

deliveries = Table(
    "windvane_deliveries",
    tables,
    Column("id", Integer, primary_key=True),
    Column("webhook_id", ForeignKey("windvane_webhooks.id", ondelete="CASCADE"), nullable=False),
    _study(nullable=False),
    Column("seq", Integer, nullable=False),
    Column("status", String(8), nullable=False),  # due, sent, given-up
    Column("attempts", Integer, nullable=False),
    Column("not_before", Double, nullable=False),
    Column("error", Text, nullable=False),
    Column("kind", String(16), nullable=False, server_default="reset"),  # why it is made
    sqlite_autoincrement=True,
)
Index("windvane_deliveries_due", deliveries.c.status, deliveries.c.not_before)
