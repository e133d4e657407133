"""A database that is open: its studies, and what the service keeps beside them."""

from __future__ import annotations

from typing import Any

from windvane.protocol.records import Summary
from windvane.storage import journal
from windvane.storage.link import Link
from windvane.storage.tokens import Tokens
from windvane.storage.webhooks import Deliveries, Webhooks


class Database:
    """Many studies in one place; threads may share it.

    `url` is a file's path, sqlite:///PATH or postgresql://USER@HOST/NAME. `create=True` makes a database
    where there is none; an older one is brought up to date, a newer or damaged one is refused.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Database(f"{folder}/studies.db", create=True) as database:
    ...         database.studies()
    []
    """

    def __init__(self, url: Any, *, create: bool = False) -> None:
        self.link = Link(url, create=create)
        self.tokens = Tokens(self.link)
        self.webhooks = Webhooks(self.link)
        self.deliveries = Deliveries(self.link)

    def __repr__(self) -> str:
        return f"Database({self.url!r})"

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self.link.url

    @property
    def kind(self) -> str:
        """ "sqlite" or "postgresql"."""
        return self.link.kind

    def studies(self, after: str = "", limit: int | None = None) -> list[Summary]:
        """All studies, by name; or a page of them, the first `limit` after a name."""
        with self.link.reading() as connection:
            return journal.summaries(connection, after, limit)

    def count(self) -> int:
        """How many studies there are."""
        with self.link.reading() as connection:
            return journal.count(connection)

    def find(self, name: str) -> Summary:
        """A study by name."""
        with self.link.reading() as connection:
            return journal.find(connection, name)

    def delete(self, name: str) -> None:
        """Delete a study and everything about it. There is no way back."""
        with self.link.writing() as connection:
            journal.remove(connection, name)

    def close(self) -> None:
        """Give the connections back. What was written is on disk already."""
        self.link.close()
