"""Who may write next: the steps of a study follow one another, whoever makes them.

A step is computed on a copy of what is in memory, without holding the database, and written on the condition
that the journal has not grown meanwhile. If it has, another process was faster: what it wrote is followed,
and the step computed again. That this is rare is what turns are for (`windvane.storage.turns`): whoever makes
a step of a study waits for those who came before. Memory moves on once a step is on disk, so whatever happens
on the way there, it is as it was. So no measurement is lost or told twice, and studies do not wait for each
other.

On PostgreSQL each question is a way to the server and back. Where nobody else has written to a study for some
steps, the next one asks nothing before it is written: on what is in memory, out of turn, and on the condition
that the journal has not grown and nobody has or awaits a turn. Else, and whatever else is wrong with it, it
counts for nothing and is made in turn.

Whoever only looks is given a snapshot: the study as of its last record on disk, whatever is being computed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from windvane.errors import Conflict, StorageFailure, UncertainWrite, UnknownName, WindvaneError
from windvane.protocol.records import Trial, as_written
from windvane.storage import AMENDING, Record, Summary, journal
from windvane.storage.link import Link
from windvane.study.amendments import Right, follow, right_values
from windvane.study.live import Live, UnwrittenStep

QUIET = 4  # steps in turn in which nobody else has written, before one is made out of turn
ATTEMPTS = 50  # at a step that others are faster with, each time
BATCH = 1000  # records read at once
Result = TypeVar("Result")


class Session:
    """One study as this process knows it. Threads take turns at writing."""

    def __init__(self, link: Link, summary: Summary, clock: Callable[[], float]) -> None:
        self._link = link
        self._name = summary.name
        self._id = summary.id
        self._clock = clock
        self._lock = threading.RLock()
        self._live: Live | None = None
        self._quiet = 0  # steps in a row in which nobody else had written
        self._looking = threading.Lock()  # of those who look and have to read the journal first

    @property
    def id(self) -> int:
        """The database's number of the study."""
        return self._id

    @property
    def name(self) -> str:
        """Of the study."""
        return self._name

    def snapshot(self) -> Live:
        """The study as of now, for the caller alone. It waits for no step, and no step for it."""
        with self._link.reading() as connection:
            head = journal.head(connection, self._id)
            live = self._live
            if live is None or live.head < head:  # this process opened it just now, or others wrote
                with self._looking:
                    live = self._followed(connection, self._live, head)
                    if self._live is None or self._live.head < live.head:
                        self._live = live
        found = live.copy()
        found.optimizer = live.optimizer.copy()  # which another thread may use
        return found

    def write(
        self,
        work: Callable[[UnwrittenStep, Connection], Result],
        *,
        key: str | None = None,
        long: bool = False,
        short: bool = False,
    ) -> tuple[Result, bool]:
        """Carry out a step and write its records; on any failure neither memory nor disk has changed.

        The answer has beside it whether anything was written: not if it had been before, under the same
        `key`; the step knows which record that was, see `before`. A `long` one is begun out of turn: if
        others write meanwhile, it goes on from there. A `short` one may be made twice: it is tried out of
        turn first, where that is likely to do.
        """

        def carried_out(
            connection: Connection, live: Live, keyed: int | None, *, in_turn: bool
        ) -> tuple[Result, bool]:
            step = UnwrittenStep(live.copy(), self._clock(), keyed, in_turn=in_turn)
            result = work(step, connection)
            if step.records:
                self._link.commit(
                    connection,
                    lambda: step.commit(connection, self._id),
                    lambda now: journal.holds(now, self._id, step.records),
                )
                self._live = step.live
            return result, bool(step.records)

        def attempt(connection: Connection) -> tuple[Result, bool]:
            head, keyed = journal.head_and_keyed(connection, self._id, key)
            alone = self._live is not None and self._live.head >= head
            self._quiet = self._quiet + 1 if alone else 0
            self._live = self._followed(connection, self._live, head)
            return carried_out(connection, self._live, keyed, in_turn=True)

        with self._lock:
            known = self._live
            if short and known is not None and self._quiet >= QUIET and self._link.kind == "postgresql":
                try:
                    return self._link.out_of_turn(
                        lambda connection: carried_out(connection, known, None, in_turn=False)
                    )
                except UncertainWrite:
                    raise
                except journal.Stale:
                    self._quiet = 0
                except WindvaneError:
                    pass  # the key may be known, the trial told by somebody else: who looks will find out
            for number in range(ATTEMPTS):
                try:
                    return self._link.in_turn(self._id, attempt, wait=number > 0 or not long)
                except journal.Stale:  # the other is done: next time we are first
                    continue
        raise StorageFailure(
            f"study {self._name!r}: others write to it all the time, and were faster {ATTEMPTS} times; "
            "nothing of this step was kept. Try again"
        )

    def _followed(self, connection: Connection, start: Live | None, head: int) -> Live:
        """A study in memory that has followed the journal as far as `head`, which may be `start` itself.

        A checkpoint that others wrote since `head` was read takes it further than that.
        """
        if start is not None and start.head >= head:
            return start
        live = Live.restore(*journal.checkpoint(connection, self._id)) if start is None else start.copy()
        if live.head < head:
            records = journal.read(connection, self._id, after=live.head, up_to=head)
            if any(record.kind in AMENDING for record in records):  # somebody else's: their state is on disk
                live = Live.restore(*journal.checkpoint(connection, self._id))
                records = [record for record in records if record.seq > live.head]
            for record in records:
                with as_written(record):
                    live.apply(record)
            live.arrived(max(head, live.head))
        return live

    def forget(self) -> None:
        """Read the study anew before the next step, from its checkpoint."""
        with self._lock:
            self._live = None

    def rebuild(self, fresh: Live, on_progress: Callable[[int, int], None]) -> int:
        """Follow the whole journal from the beginning, and make the outcome the checkpoint."""
        states = {0: fresh.state()}
        right: Right = {}
        with self._lock:
            self._live = None
            with self._link.reading() as connection:
                head = journal.head(connection, self._id)
                right = right_values(connection, self._id)
            while fresh.head < head:
                with self._link.reading() as connection:
                    records = journal.read(connection, self._id, after=fresh.head, up_to=head, limit=BATCH)
                for record in records:
                    follow(fresh, record, right)
                fresh.arrived(head if len(records) < BATCH else fresh.head)
                on_progress(fresh.head, head)
            states[head] = fresh.state()
            with self._link.writing() as connection:
                journal.lock(connection, self._id)
                journal.keep(connection, self._id, states)
            self._live = None  # somebody may have looked meanwhile
        return head

    def before(self, step: UnwrittenStep, connection: Connection, kind: str, **same: Any) -> Record | None:
        """What was written under the key of a step before, if it was the same request."""
        if step.keyed is None:
            return None
        record = journal.one(connection, self._id, step.keyed)
        if record.kind != kind or any(getattr(record, name) != value for name, value in same.items()):
            raise reused(record)
        return record

    def waiting(self, live: Live, connection: Connection, number: int) -> Trial:
        """A trial that may still be answered."""
        if number in live.pending:
            return live.pending[number]
        records = journal.of_trial(connection, self._id, number)
        if not records:
            known = f"its trials are 1 to {live.trials}" if live.trials else "nothing has been asked yet"
            raise UnknownName(f"trial={number}: study {self._name!r} has none of that number; {known}")
        last = records[-1]
        if last.kind in ("told", "corrected"):
            told = f"told already, y = {last.y!r} (record {last.seq})"
            raise Conflict(f"trial={number}: {told}; nothing was changed")
        if last.kind == "retracted":
            raise Conflict(
                f"trial={number}: its value was taken back (record {last.seq}); nothing was changed. "
                "A later measurement can be added without a trial"
            )
        if last.kind == "failed":
            raise Conflict(
                f"trial={number}: recorded as failed already (record {last.seq}); nothing was changed. "
                "A later measurement can be added without a trial"
            )
        return Trial.of(records[0])


def reused(record: Record) -> Conflict:
    """The error about a key that stands for another request already."""
    return Conflict(f"key={record.key!r}: used before for something else (record {record.seq})")
