"""Webhooks and their deliveries: written with the reset that causes them, sent later."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row, delete, insert, select, update

from windvane.checks import integer
from windvane.errors import InvalidArgument, UnknownName
from windvane.storage import journal
from windvane.storage.link import Link
from windvane.storage.records import Record
from windvane.storage.schema import deliveries, events, studies, webhooks

LEASE = 60.0  # seconds that a delivery belongs to who took it


@dataclass(frozen=True)
class Webhook:
    """Who is to be called on a reset of a study, or of any study (`study` is None)."""

    id: int
    url: str
    study: str | None
    secret: str
    created: float


@dataclass(frozen=True)
class Delivery:
    """One call that is to be made, or was."""

    id: int
    webhook_id: int
    url: str
    secret: str
    study: str
    record: Record
    status: str
    attempts: int
    not_before: float
    error: str


class Webhooks:
    """The webhooks in a database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(self, url: str, study: str | None = None, secret: str | None = None) -> Webhook:
        """Call `url` on resets of `study`, or of every study; the secret signs the calls."""
        if (
            not isinstance(url, str)
            or urlsplit(url).scheme not in ("http", "https")
            or not urlsplit(url).hostname
        ):
            raise InvalidArgument(f"url={url!r}: must be an http:// or https:// address")
        if secret is not None and (not isinstance(secret, str) or len(secret) < 16):
            raise InvalidArgument("secret: must have at least 16 characters; leave it out to have one made")
        secret, created = secret or secrets.token_urlsafe(32), time.time()
        with self._link.writing() as connection:
            study_id = None if study is None else journal.find(connection, study).id
            row = {"study_id": study_id, "url": url, "secret": secret, "created": created}
            made = connection.execute(insert(webhooks).values(**row).returning(webhooks.c.id))
            return Webhook(int(made.scalar_one()), url, study, secret, created)

    def list(self) -> list[Webhook]:
        """All webhooks, oldest first."""
        rows = select(webhooks, studies.c.name).outerjoin(studies, studies.c.id == webhooks.c.study_id)
        with self._link.reading() as connection:
            found = connection.execute(rows.order_by(webhooks.c.id))
            return [Webhook(row.id, row.url, row.name, row.secret, row.created) for row in found]

    def remove(self, id: int) -> None:
        """Call no more; what is still to be delivered is dropped."""
        number = integer("id", id)
        with self._link.writing() as connection:
            connection.execute(delete(deliveries).where(deliveries.c.webhook_id == number))
            if connection.execute(delete(webhooks).where(webhooks.c.id == number)).rowcount == 0:
                raise UnknownName(f"webhook {id}: there is none of that number; list them first")


class Deliveries:
    """What webhooks have to deliver: at least once each."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def due(self, now: float, limit: int = 10, *, lease: float = LEASE) -> list[Delivery]:
        """Take deliveries that are due: nobody else is given them before the lease ends."""
        wanted = (
            select(deliveries.c.id)
            .where(deliveries.c.status == "due", deliveries.c.not_before <= now)
            .order_by(deliveries.c.not_before, deliveries.c.id)
            .limit(limit)
        )
        with self._link.reading() as connection:
            if connection.execute(wanted.limit(1)).first() is None:
                return []
        with self._link.writing() as connection:
            taken = connection.execute(wanted.with_for_update(skip_locked=True)).scalars().all()
            if not taken:
                return []
            mine = deliveries.c.id.in_(taken)
            later = {"not_before": now + lease, "attempts": deliveries.c.attempts + 1}
            connection.execute(update(deliveries).where(mine).values(**later))
            return [_delivery(row) for row in connection.execute(_joined().where(mine))]

    def done(self, id: int) -> None:
        """It arrived."""
        self._set(id, status="sent", error="")

    def retry(self, id: int, when: float, error: str) -> None:
        """It did not arrive; try again at `when`."""
        self._set(id, not_before=when, error=error)

    def give_up(self, id: int, error: str) -> None:
        """It did not arrive, and will not be tried again."""
        self._set(id, status="given-up", error=error)

    def recent(self, limit: int = 100) -> list[Delivery]:
        """The newest deliveries, newest first."""
        with self._link.reading() as connection:
            rows = connection.execute(_joined().order_by(deliveries.c.id.desc()).limit(limit))
            return [_delivery(row) for row in rows]

    def _set(self, id: int, **values: Any) -> None:
        with self._link.writing() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id == id).values(**values))


def _joined() -> Any:
    mine = (deliveries.c.id, deliveries.c.webhook_id, deliveries.c.status, deliveries.c.attempts)
    more = (deliveries.c.not_before, deliveries.c.error, webhooks.c.url, webhooks.c.secret)
    columns = [column.label(f"delivery_{column.name}") for column in (*mine, *more)]
    return (
        select(*columns, studies.c.name.label("delivery_study"), events)
        .join(webhooks, webhooks.c.id == deliveries.c.webhook_id)
        .join(studies, studies.c.id == deliveries.c.study_id)
        .join(events, (events.c.study_id == deliveries.c.study_id) & (events.c.seq == deliveries.c.seq))
    )


def _delivery(row: Row[Any]) -> Delivery:
    columns = row._mapping
    own = {name: columns[f"delivery_{name}"] for name in Delivery.__dataclass_fields__ if name != "record"}
    return Delivery(record=Record.of(columns), **own)
