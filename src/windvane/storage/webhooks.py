"""Webhooks and their deliveries: written with the reset or the violation that causes them, sent later."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Row, case, delete, func, insert, select, update

from windvane.checks import integer, one_of
from windvane.errors import CorruptState, InvalidArgument, InvalidType, UnknownName
from windvane.protocol.records import Record
from windvane.storage import journal
from windvane.storage.link import Link
from windvane.storage.records import record_of
from windvane.storage.schema import deliveries, events, studies, webhooks

NEWS = ("reset", "violation")  # what a webhook may be called on; neither is part of the other's name
LONGEST_ADDRESS = 2000  # characters
LEASE = 60.0  # seconds that a delivery belongs to who took it


@dataclass(frozen=True)
class Webhook:
    """Who is to be called when something happens to a study, or to any study (`study` is None).

    `on` says what: a "reset", or a "violation", a constraint beyond its limit.
    """

    id: int
    url: str
    study: str | None
    secret: str
    created: float
    on: tuple[str, ...] = NEWS


@dataclass(frozen=True)
class Delivery:
    """One call that is to be made, or was; `kind` says why: "reset" or "violation".

    If the record that it is about cannot be read, `record` is None and `damaged` says why.
    """

    id: int
    webhook_id: int
    url: str
    secret: str
    study: str
    seq: int
    record: Record | None
    status: str
    attempts: int
    not_before: float
    error: str
    kind: str = "reset"
    damaged: str = ""


@dataclass(frozen=True)
class Backlog:
    """What waits for one webhook: how much in all, how much of it is due, and since when the oldest waits."""

    webhook_id: int
    waiting: int
    due: int
    since: float | None


class Webhooks:
    """The webhooks in a database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(
        self,
        url: str,
        study: str | None = None,
        secret: str | None = None,
        *,
        on: Iterable[str] = NEWS,
    ) -> Webhook:
        """Call `url` on resets and violations of `study`, or of every study; the secret signs the calls."""
        if isinstance(on, str):
            raise InvalidType(f"on={on!r}: must be a list of {', '.join(NEWS)}")
        asked = {one_of("on", kind, NEWS) for kind in on}
        if not asked:
            raise InvalidArgument(f"on: at least one of {', '.join(NEWS)} is needed")
        kinds = tuple(kind for kind in NEWS if kind in asked)
        _check_address(url)
        if secret is not None and (not isinstance(secret, str) or len(secret) < 16):
            raise InvalidArgument("secret: must have at least 16 characters; leave it out to have one made")
        secret, created = secret or secrets.token_urlsafe(32), time.time()
        with self._link.writing() as connection:
            study_id = None if study is None else journal.find(connection, study).id
            row = {"study_id": study_id, "url": url, "secret": secret, "created": created}
            row["kinds"] = " ".join(kinds)
            made = connection.execute(insert(webhooks).values(**row).returning(webhooks.c.id))
            return Webhook(int(made.scalar_one()), url, study, secret, created, kinds)

    def list(self) -> list[Webhook]:
        """All webhooks, oldest first."""
        rows = select(webhooks, studies.c.name).outerjoin(studies, studies.c.id == webhooks.c.study_id)
        with self._link.reading() as connection:
            found = connection.execute(rows.order_by(webhooks.c.id))
            return [
                Webhook(row.id, row.url, row.name, row.secret, row.created, tuple(row.kinds.split()))
                for row in found
            ]

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

    def due(
        self, now: float, limit: int = 10, *, webhook: int | None = None, lease: float = LEASE
    ) -> list[Delivery]:
        """Take deliveries that are due, of one webhook or of all: they are the caller's for the lease."""
        wanted = select(deliveries.c.id).where(deliveries.c.status == "due", deliveries.c.not_before <= now)
        if webhook is not None:
            wanted = wanted.where(deliveries.c.webhook_id == webhook)
        wanted = wanted.order_by(deliveries.c.not_before, deliveries.c.id).limit(limit)
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

    def backlog(self, now: float) -> list[Backlog]:
        """What waits, webhook by webhook; what somebody is sending right now waits still."""
        due = func.sum(case((deliveries.c.not_before <= now, 1), else_=0))
        rows = (
            select(deliveries.c.webhook_id, func.count(), due, func.min(events.c.at))
            .outerjoin(
                events, (events.c.study_id == deliveries.c.study_id) & (events.c.seq == deliveries.c.seq)
            )
            .where(deliveries.c.status == "due")
            .group_by(deliveries.c.webhook_id)
            .order_by(deliveries.c.webhook_id)
        )
        with self._link.reading() as connection:
            return [Backlog(row[0], int(row[1]), int(row[2]), row[3]) for row in connection.execute(rows)]

    def drop_oldest(self, webhook: int, keep: int, error: str) -> int:
        """Give up what waits for a webhook but the newest `keep`; returns how many that were."""
        waiting = (deliveries.c.webhook_id == webhook) & (deliveries.c.status == "due")
        newest = select(deliveries.c.id).where(waiting).order_by(deliveries.c.id.desc()).limit(keep)
        with self._link.writing() as connection:
            kept = connection.execute(newest).scalars().all()
            gone = update(deliveries).where(waiting, deliveries.c.id.not_in(kept))
            return connection.execute(gone.values(status="given-up", error=error)).rowcount

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


def _check_address(url: Any) -> None:
    """An error unless this is something that can be called."""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0  # or it raises
    except (ValueError, TypeError, AttributeError):
        sound = False
    if not sound or not isinstance(url, str) or not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidArgument(f"url={url!r}: must be an http:// or https:// address, of ASCII characters")
    if len(url) > LONGEST_ADDRESS:
        raise InvalidArgument(f"url: {len(url)} characters; must be at most {LONGEST_ADDRESS}")


def _joined() -> Any:
    mine = (deliveries.c.id, deliveries.c.webhook_id, deliveries.c.status, deliveries.c.attempts)
    more = (deliveries.c.not_before, deliveries.c.error, deliveries.c.kind, webhooks.c.url, webhooks.c.secret)
    columns = [column.label(f"delivery_{column.name}") for column in (*mine, *more, deliveries.c.seq)]
    return (
        select(*columns, studies.c.name.label("delivery_study"), events)
        .join(webhooks, webhooks.c.id == deliveries.c.webhook_id)
        .join(studies, studies.c.id == deliveries.c.study_id)
        .outerjoin(events, (events.c.study_id == deliveries.c.study_id) & (events.c.seq == deliveries.c.seq))
    )


def _delivery(row: Row[Any]) -> Delivery:
    columns = row._mapping
    own = {name: columns[f"delivery_{name}"] for name in OWN}
    if columns["seq"] is None:
        damaged = f"record {own['seq']}: missing. Restore it from a backup"
        return Delivery(record=None, damaged=damaged, **own)
    try:
        return Delivery(record=record_of(columns), **own)
    except CorruptState as error:
        return Delivery(record=None, damaged=str(error), **own)


OWN = [name for name in Delivery.__dataclass_fields__ if name not in ("record", "damaged")]
