"""A hand on the wheel: a value is taken back or corrected, the space changes. Each is a record of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from windvane.checks import check_text
from windvane.codec import encode
from windvane.errors import Conflict, InvalidType, UnknownName
from windvane.protocol.checks import inside, space_of
from windvane.protocol.corrections import outcomes_now
from windvane.protocol.records import Kind
from windvane.protocol.requests import AmendRequest, RedefineRequest
from windvane.protocol.study import OnProgress
from windvane.spaces.base import Domain
from windvane.storage import AMENDING, Record, journal
from windvane.study.amendments import SecondReading, check_change, check_starts, right_values, told_of
from windvane.study.definition import remake
from windvane.study.live import Live, UnwrittenStep
from windvane.study.numbering import packed
from windvane.study.session import Session, reused

OUTSIDE = "outside the space as it is now"


def no_progress(_done: int, _total: int) -> None:
    """For those who do not want to hear of it."""


def amend(session: Session, request: AmendRequest, on_progress: OnProgress) -> tuple[Record, bool]:
    """Correct the value of a trial or a record, or take it back if there is none; whether that is new."""
    correction, key, reason = request.correction, request.key, request.reason
    kind: Kind = "retracted" if correction is None else "corrected"
    begun: SecondReading | None = None

    def work(step: UnwrittenStep, connection: Connection) -> Record:
        nonlocal begun
        before = session.before(step, connection, kind, reason=reason)
        told = _told(session, connection, request)
        if before is not None:
            same = (before.event or {})["record"] == told.seq
            if not same or not (correction is None or correction.led_to(told_of(before))):
                raise reused(before)
            return before
        right = right_values(connection, session.id)
        if told.seq in right and right[told.seq] is None:
            raise Conflict(
                f"{request.what}={request.number}: its value was taken back already; nothing was changed"
            )
        was = right.get(told.seq) or told_of(told)
        constraints = step.live.optimizer.constraints
        now = None if correction is None else correction.applied(was, constraints)
        right[told.seq] = now
        if begun is None or begun.right != right or _amended_since(session, connection, begun):
            base = Live.restore(*journal.checkpoint(connection, session.id, before=told.seq))
            begun = SecondReading(base, right, base.head)
        begun.go_on(connection, session.id, step.before, on_progress)
        step.expire()
        result = now or was
        return step.amend(
            kind,
            told.seq,
            begun.live.optimizer,
            begun.states,
            trial=told.trial,
            x=told.x,
            y=result.reading.y,
            reason=reason,
            metadata=request.metadata,
            key=key,
            event={
                "record": told.seq,
                "was": was.reading.y,
                "values": list(result.reading.values),
                "told_variance": result.reading.variance,
                "outcomes": outcomes_now(was, now, constraints),
                **begun.account(),
            },
        )

    return session.write(work, key=key, long=True)


def change_space(
    session: Session, request: RedefineRequest, on_progress: OnProgress
) -> tuple[tuple[Record, Mapping[str, Any]], bool]:
    """Go on in another space, with what was measured in it.

    The record, and the definition as it is now; whether they are new.
    """
    space, key, reason = request.space, request.key, request.reason
    if not isinstance(space, Domain):
        raise InvalidType(f"space={space!r}: must be a space such as wv.Box([(0, 1)])")
    check_text("space", encode(space))
    begun: SecondReading | None = None

    def work(step: UnwrittenStep, connection: Connection) -> tuple[Record, Mapping[str, Any]]:
        nonlocal begun
        definition = journal.find(connection, session.name).definition
        before = session.before(step, connection, "redefined", reason=reason)
        if before is not None:
            if (before.event or {})["space"] != encode(space):
                raise reused(before)
            return before, definition
        check_change(space_of(definition), space)
        changed = {**definition, "space": encode(space)}
        check_starts(definition, space)
        fresh = Live(remake(changed))
        start = fresh.state()
        right = right_values(connection, session.id)
        if begun is None or begun.right != right or _amended_since(session, connection, begun):
            begun = SecondReading(fresh, right, 0)
        begun.go_on(connection, session.id, step.before, on_progress)
        step.expire()
        for trial in [*step.live.pending.values()]:
            if not inside(space, trial.x):
                step.write("expired", trial=trial.number, x=trial.x, reason=OUTSIDE)
        out = begun.outside
        left = {"left_out": len(out), "outside": packed(out)}
        event = {"space": encode(space), "was": definition["space"], **left}
        step.redefined = changed, start
        record = step.amend(
            "redefined",
            1,
            begun.live.optimizer,
            begun.states,
            reason=reason,
            metadata=request.metadata,
            key=key,
            event={**event, **begun.account()},
        )
        return record, changed

    return session.write(work, key=key, long=True)


def _told(session: Session, connection: Connection, request: AmendRequest) -> Record:
    """The record of the value that is meant."""
    number = request.number
    if request.what == "record":
        found = journal.read(connection, session.id, after=number - 1, up_to=number)
        if not found:
            raise UnknownName(f"record={number}: study {session.name!r} has none of that number")
        if found[0].kind != "told":
            raise Conflict(
                f"record={number}: is of kind {found[0].kind!r}; only a value that was told can be changed"
            )
        return found[0]
    records = journal.of_trial(connection, session.id, number)
    if not records:
        raise UnknownName(f"trial={number}: study {session.name!r} has none of that number")
    told = [record for record in records if record.kind == "told"]
    if not told:
        state = {
            "asked": "has not been told yet",
            "failed": "was recorded as failed",
            "expired": "has expired",
        }
        last = state.get(records[-1].kind, "has no value")
        raise Conflict(f"trial={number}: {last}, so there is no value to change; nothing was changed")
    return told[-1]


def _amended_since(session: Session, connection: Connection, begun: SecondReading) -> bool:
    """Whether somebody else has amended the journal meanwhile: then it must be read from the beginning."""
    return bool(journal.read(connection, session.id, after=begun.live.head, kinds=AMENDING, limit=1))
