"""Events in a database: SQLite in a file, or PostgreSQL."""

from windvane.storage.database import Database
from windvane.storage.records import AMENDING, KINDS, Record, Summary
from windvane.storage.tokens import SCOPES, Token
from windvane.storage.webhooks import Delivery, Webhook

__all__ = ["AMENDING", "KINDS", "SCOPES", "Database", "Delivery", "Record", "Summary", "Token", "Webhook"]
