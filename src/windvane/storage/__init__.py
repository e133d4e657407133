"""Events in a database: SQLite in a file, or PostgreSQL."""

from windvane.protocol.records import AMENDING, KINDS, Record, Summary
from windvane.storage.database import Database
from windvane.storage.tokens import SCOPES, Token
from windvane.storage.webhooks import Backlog, Delivery, Webhook

__all__ = [
    "AMENDING",
    "KINDS",
    "SCOPES",
    "Backlog",
    "Database",
    "Delivery",
    "Record",
    "Summary",
    "Token",
    "Webhook",
]
