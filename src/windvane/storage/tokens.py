"""Tokens of the service: a random secret that is shown once; only its digest is kept.

A digest without salt or stretching is enough: the secret has 256 random bits, and nobody guesses those.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, insert, select

from windvane.checks import integer, one_of
from windvane.errors import InvalidArgument, UnknownName
from windvane.storage.link import Link
from windvane.storage.schema import tokens

SCOPES = ("read", "write")
PREFIX = "wv_"


@dataclass(frozen=True)
class Token:
    """What is known of a token."""

    id: int
    label: str
    scopes: tuple[str, ...]
    created: float


def digest(secret: str) -> str:
    """SHA-256 of a token, in hexadecimal."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _read(row: Row[Any]) -> Token:
    return Token(row.id, row.label, tuple(row.scopes.split()), row.created)


class Tokens:
    """The tokens in a database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(self, label: str, scopes: Iterable[str] = SCOPES) -> str:
        """A new token. This is the only time that its secret is seen."""
        if not isinstance(label, str) or not label.strip() or len(label) > 100 or not label.isprintable():
            raise InvalidArgument(f"label={label!r}: must be 1 to 100 printable characters")
        wanted = sorted({one_of("scope", scope, SCOPES) for scope in scopes})
        if not wanted:
            raise InvalidArgument(f"scopes: at least one of {', '.join(SCOPES)} is needed")
        secret = PREFIX + secrets.token_urlsafe(32)
        row = {"label": label, "digest": digest(secret), "scopes": " ".join(wanted), "created": time.time()}
        with self._link.writing() as connection:
            connection.execute(insert(tokens).values(**row))
        return secret

    def check(self, secret: str) -> Token | None:
        """The token with this secret, or None. What is compared is a digest, so time tells nothing."""
        with self._link.reading() as connection:
            row = connection.execute(select(tokens).where(tokens.c.digest == digest(secret))).first()
        return None if row is None else _read(row)

    def list(self) -> list[Token]:
        """All tokens, oldest first."""
        with self._link.reading() as connection:
            return [_read(row) for row in connection.execute(select(tokens).order_by(tokens.c.id))]

    def revoke(self, id: int) -> None:
        """Make a token worthless."""
        with self._link.writing() as connection:
            gone = connection.execute(delete(tokens).where(tokens.c.id == integer("id", id)))
            if gone.rowcount == 0:
                raise UnknownName(f"token {id}: there is none of that number; list them first")
