"""Steps of a study, one record or a few each: a trial begins, is answered or comes to nothing, a reset."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection

from windvane.checks import integer
from windvane.errors import InvalidArgument
from windvane.optimizer import MOST_AT_ONCE
from windvane.protocol import Record, Trial
from windvane.protocol.checks import inside
from windvane.protocol.requests import AskRequest, FailRequest, ResetRequest, TellRequest
from windvane.storage import journal
from windvane.study.live import UnwrittenStep
from windvane.study.session import Session, reused


def ask(session: Session, request: AskRequest, patience: float | None) -> tuple[list[Trial], bool]:
    """The trials, each expiring after so many seconds; and whether they are new."""
    count, key = request.count, request.key
    if count is not None:
        integer("count", count, at_least=1, at_most=MOST_AT_ONCE)

    def work(step: UnwrittenStep, connection: Connection) -> list[Record]:
        before = session.before(step, connection, "asked")
        if before is not None:
            return _asked_together(session, connection, before, count)
        step.expire()
        expires = None if patience is None else step.now + patience
        asked = {"time": request.time, "expires": expires, "metadata": request.metadata}
        first = {**asked, "key": key, "event": None if count is None else {"count": count}}
        found: list[Record] = []
        for _ in range(count or 1):
            number = step.live.trials + 1
            x = step.live.ask(request.time, request.context, request.available)
            found.append(step.write("asked", trial=number, x=x, **(asked if found else first)))
        return found

    records, new = session.write(work, key=key, short=True)
    return [Trial.of(record) for record in records], new


def _asked_together(
    session: Session, connection: Connection, first: Record, count: int | None
) -> list[Record]:
    """The records of trials that began together, of which the first has the key."""
    if (first.event or {}).get("count") != count:
        raise reused(first)
    return journal.read(connection, session.id, after=first.seq - 1, up_to=first.seq - 1 + (count or 1))


def write(session: Session, request: TellRequest | FailRequest | ResetRequest) -> tuple[Record, bool]:
    """Carry out a request; the record, which under a key that was used before is that of then, or new."""

    def work(step: UnwrittenStep, connection: Connection) -> Record:
        if isinstance(request, TellRequest):
            return _tell(session, step, connection, request)
        if isinstance(request, FailRequest):
            return _fail(session, step, connection, request)
        return _reset(session, step, connection, request)

    return session.write(work, key=request.key, short=True)


def _tell(session: Session, step: UnwrittenStep, connection: Connection, request: TellRequest) -> Record:
    trial, measured, key = request.trial, request.measured, request.key
    before = session.before(step, connection, "told", trial=trial, told=measured.told)
    if before is None:
        x = request.x if trial is None else session.waiting(step.live, connection, trial).x
        if trial is not None and not inside(step.live.optimizer.space, x):
            raise _left_out(session, connection, trial)
        return step.tell(x, measured, request.time, trial=trial, metadata=request.metadata, key=key)
    encode = step.live.optimizer.space.encode
    if trial is None and not np.array_equal(encode(request.x), encode(before.x)):
        raise reused(before)
    return before


def _left_out(session: Session, connection: Connection, trial: int) -> InvalidArgument:
    """The error about a value that comes too late: its point is no longer in the space."""
    changed = journal.read(connection, session.id, kinds=["redefined"], newest=True, limit=1)
    when = f", which was changed in record {changed[0].seq}" if changed else ""
    return InvalidArgument(
        f"trial={trial}: its point lies outside the space as it is now{when}, so its value cannot be used; "
        "nothing was recorded"
    )


def _fail(session: Session, step: UnwrittenStep, connection: Connection, request: FailRequest) -> Record:
    before = session.before(step, connection, "failed", trial=request.trial)
    if before is not None:
        return before
    x = session.waiting(step.live, connection, request.trial).x
    step.expire(but=request.trial)
    notes, key = request.metadata, request.key
    return step.write("failed", trial=request.trial, x=x, reason=request.reason, metadata=notes, key=key)


def _reset(session: Session, step: UnwrittenStep, connection: Connection, request: ResetRequest) -> Record:
    before = session.before(step, connection, "reset")
    if before is None:
        return step.reset(request.reason, metadata=request.metadata, key=request.key)
    if request.reason and before.reason != request.reason:
        raise reused(before)
    return before
