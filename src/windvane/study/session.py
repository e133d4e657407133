"""Who may write next: the steps of a study follow one another, whoever makes them.

A step is computed without holding the database, then written on the condition that the journal has not
grown meanwhile. If it has, another process was faster: the step is computed again, this time with the
study locked. While others keep writing, steps are made with the study locked from the start, because what was
computed in vain costs more than waiting: memory must then be restored from the checkpoint. So no measurement
is lost or told twice, and studies do not wait for each other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection

from windvane.errors import Conflict, InvalidArgument, InvalidType, UnknownName
from windvane.storage import AMENDING, Record, Summary, journal
from windvane.storage.link import Link
from windvane.study.amendments import Right, follow, right_values
from windvane.study.live import Live, UnwrittenStep
from windvane.study.trial import Trial

HARMLESS = (InvalidArgument, InvalidType, Conflict, UnknownName)  # raised before anything was changed
BATCH = 1000  # records read at once
Result = TypeVar("Result")


class Session:
    """One study as this process knows it. Threads take turns."""

    def __init__(self, link: Link, summary: Summary, clock: Callable[[], float]) -> None:
        self._link = link
        self._name = summary.name
        self._id = summary.id
        self._clock = clock
        self._lock = threading.RLock()
        self._live: Live | None = None
        self._rivals = False  # others have written since the last look

    @property
    def id(self) -> int:
        """The database's number of the study."""
        return self._id

    @property
    def name(self) -> str:
        """Of the study."""
        return self._name

    @contextmanager
    def live(self) -> Iterator[Live]:
        """The study as of now, while nobody else in this process uses it."""
        with self._lock:
            with self._link.reading() as connection:
                live = self._catch_up(connection)
            yield live

    def write(self, work: Callable[[UnwrittenStep, Connection], Result], *, long: bool = False) -> Result:
        """Carry out a step and write its records; on any failure neither memory nor disk has changed.

        A `long` one is begun without a lock in any case: if others write meanwhile, it goes on from there.
        """
        with self._lock:
            try:
                return self._attempt(work, locked=self._rivals and not long)
            except journal.Stale:
                self._rivals = True
                return self._attempt(work, locked=True)

    def _attempt(self, work: Callable[[UnwrittenStep, Connection], Result], locked: bool) -> Result:
        step: UnwrittenStep | None = None
        try:
            with self._link.writing() if locked else self._link.reading() as connection:
                if locked:
                    journal.lock(connection, self._id)
                step = UnwrittenStep(self._catch_up(connection), self._clock())
                result = work(step, connection)
                if locked:
                    step.commit(connection, self._id)
                elif step.records:
                    with self._link.writes(connection):
                        step.commit(connection, self._id)
        except BaseException as error:
            if step is None or step.records or not isinstance(error, HARMLESS):
                self._live = None  # memory may be ahead of the disk; the journal knows
            raise
        return result

    def _catch_up(self, connection: Connection) -> Live:
        """What the journal amounts to: memory, else the last checkpoint, and the records after it."""
        head = journal.head(connection, self._id)
        live, self._live = self._live, None  # until all is well
        if live is None:
            live = Live.restore(*journal.checkpoint(connection, self._id))
        else:
            self._rivals = live.head < head
        if live.head < head:
            records = journal.read(connection, self._id, after=live.head, up_to=head)
            if any(record.kind in AMENDING for record in records):  # somebody else's: their state is on disk
                live = Live.restore(*journal.checkpoint(connection, self._id))
                records = [record for record in records if record.seq > live.head]
            for record in records:
                live.apply(record)
            live.arrived(head)
        self._live = live
        return live

    @property
    def quick(self) -> bool:
        """Whether the next step will be short: all is in memory, it is not much, and nothing is learned."""
        live = self._live
        return live is not None and live.quick

    def forget(self) -> None:
        """Read the study anew before the next step: what is in memory may not be on disk."""
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
        return head

    def before(self, connection: Connection, key: str | None, kind: str, **same: Any) -> Record | None:
        """What was written under this key before, if it was the same request."""
        record = None if key is None else journal.by_key(connection, self._id, key)
        if record is None:
            return None
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
