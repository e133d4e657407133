"""A study: an optimiser whose every step is in a database before anybody hears of it."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

import numpy as np
from sqlalchemy import Connection

from windvane import notebook
from windvane.checks import Array, Time, instant, integer, one_of, real
from windvane.constraints import Constraint
from windvane.data import Best, Event
from windvane.errors import CorruptState, InvalidType, UnknownName
from windvane.optimizer import MOST_AT_ONCE, Optimizer
from windvane.protocol.checks import (
    LAST,
    duration,
    key_text,
    metadata_of,
    reason_text,
    study_name,
    trial_number,
)
from windvane.protocol.corrections import Correction
from windvane.protocol.measured import Measured
from windvane.protocol.records import Trial
from windvane.spaces.base import Domain
from windvane.storage import AMENDING, KINDS, Database, Record, Summary, journal
from windvane.storage.records import as_written
from windvane.study import export, importing, logs
from windvane.study.amending import OnProgress, amend, change_space, target_of
from windvane.study.amendments import as_they_count, resets_now
from windvane.study.definition import define, remake, same
from windvane.study.explain import RECENT, Explanation, explain
from windvane.study.live import Live, UnwrittenStep
from windvane.study.session import Session, reused

DAY = 86_400.0
LATEST = 1e100  # of |time|: squares of differences must not overflow
UNSET: Any = object()
Clock = Callable[[], float]


class Study:
    """Ask, tell, and lose nothing: made by `Study.create`, found again by `Study.open`.

    >>> import tempfile
    >>> import windvane as wv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Study.create(f"{folder}/studies.db", "line-3", wv.Box([(0, 1)]), seed=0) as study:
    ...         trial = study.ask()
    ...         event = study.tell(trial, 0.7)
    ...     with Study.open(f"{folder}/studies.db", "line-3") as study:
    ...         study.summary().tells, event.reset
    (1, False)
    """

    def __init__(
        self, database: Database, summary: Summary, *, clock: Clock = clocks.time, own: bool = False
    ) -> None:
        if not isinstance(summary, Summary):
            raise InvalidType("Study(...): use Study.create(url, name, space), or Study.open(url, name)")
        self.database = database
        self.name = summary.name
        self.definition = summary.definition
        self.id = summary.id
        self._link = database.link
        self._clock = clock
        self._own = own
        self._session = Session(database.link, summary, clock)

    # -- coming and going ----------------------------------------------------------------------------

    @staticmethod
    def create(
        url: str | Path | Database,
        name: str,
        space: Domain,
        algorithm: str = "auto",
        *,
        goal: str = "maximize",
        seed: int | None = None,
        expires_after: float | None = DAY,
        metadata: Mapping[str, Any] | None = None,
        exist_ok: bool = False,
        clock: Clock = clocks.time,
        **options: Any,
    ) -> Study:
        """A new study in a database, which is made if there is none. Options are those of `windvane.make`.

        A trial that is not answered within `expires_after` seconds (a day; None: never) is not waited for.
        With `exist_ok`, a study of that name that was created with the same arguments is opened instead.
        """
        study_name(name)
        definition, optimizer = define(space, algorithm, goal, seed, expires_after, metadata, options)
        database, own = (url, False) if isinstance(url, Database) else (Database(url, create=True), True)
        state, at = Live(optimizer).state(), clock()

        def make(connection: Connection) -> Summary:
            if exist_ok and journal.exists(connection, name):
                found = journal.find(connection, name)
                same(definition, found.definition, seeded=seed is not None)
                return found
            journal.create(connection, name, definition, state, at)
            return journal.find(connection, name)

        try:
            try:
                summary = database.link.write(make, lambda now: journal.made(now, name, definition, at))
            except journal.NameTaken:
                if not exist_ok:
                    raise
                # another process made it in this very moment: it is there now
                summary = database.link.write(make)
        except BaseException:
            if own:
                database.close()
            raise
        return Study(database, summary, clock=clock, own=own)

    @staticmethod
    def open(url: str | Path | Database, name: str, *, clock: Clock = clocks.time) -> Study:
        """A study that exists."""
        database, own = (url, False) if isinstance(url, Database) else (Database(url), True)
        try:
            return Study(database, database.find(study_name(name)), clock=clock, own=own)
        except BaseException:
            if own:
                database.close()
            raise

    def close(self) -> None:
        """Let go of the database, if the study opened it. Nothing is lost by not closing."""
        if self._own:
            self.database.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<study {self.name!r} in {self.database.url}>"

    def _repr_html_(self) -> str:
        """For notebooks: what is in the database now."""
        return notebook.summary(self.summary(), str(self.database.url))

    # -- writing -------------------------------------------------------------------------------------

    @overload
    def ask(
        self,
        time: Time = None,
        *,
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: None = None,
        expires_after: float | None = UNSET,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Trial: ...

    @overload
    def ask(
        self,
        time: Time = None,
        *,
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: int,
        expires_after: float | None = UNSET,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> list[Trial]: ...

    def ask(
        self,
        time: Time = None,
        *,
        context: Mapping[str, Any] | None = None,
        available: Any = None,
        count: int | None = None,
        expires_after: float | None = UNSET,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Trial | list[Trial]:
        """A point to evaluate. Every call begins a new trial, also while others are out.

        `context` says what is observed now, if the space has contexts; the trial's point has them in it.
        `available` are the only points that may be asked for this time, of a finite space. With `count` it
        is a list of so many trials, each with a point chosen beside the others. The same `key`
        again gives the same trial, so that a request that was cut can be repeated.
        """
        given = self.definition["expires_after"] if expires_after is UNSET else expires_after
        patience, notes, key = duration("expires_after", given), metadata_of(metadata), key_text(key)
        stamp = _time(time)
        if count is not None:
            count = integer("count", count, at_least=1, at_most=MOST_AT_ONCE)

        repeated = False

        def work(step: UnwrittenStep, connection: Connection) -> list[Record]:
            nonlocal repeated
            before = self._session.before(connection, key, "asked")
            repeated = before is not None
            if before is not None:
                return self._asked_together(connection, before, count)
            step.expire()
            expires = None if patience is None else step.now + patience
            asked: dict[str, Any] = {"time": stamp, "expires": expires, "metadata": notes}
            first = {**asked, "key": key, "event": None if count is None else {"count": count}}
            found: list[Record] = []
            for _ in range(count or 1):
                number, x = step.live.trials + 1, step.live.ask(stamp, context, available)
                found.append(step.write("asked", trial=number, x=x, **(asked if found else first)))
            return found

        trials = [Trial.of(record) for record in self._session.write(work)]
        if repeated:  # much may have come of them since
            trials = [self.trial(trial.number) for trial in trials]
        return trials[0] if count is None else trials

    def _asked_together(self, connection: Connection, first: Record, count: int | None) -> list[Record]:
        """The records of trials that began together, of which the first has the key."""
        if (first.event or {}).get("count") != count:
            raise reused(first)
        return journal.read(connection, self.id, after=first.seq - 1, up_to=first.seq - 1 + (count or 1))

    def tell(
        self,
        trial: Trial | int,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Event:
        """The value observed in a trial, in any order, late ones too. When this returns it is on disk.

        `time` is the caller's own timestamp. One before that of the last observation is recorded as it is;
        the model, whose time does not go back, takes the last one (`event.time`). `noise_variance`, or its
        root `std`, is that of the noise in this value, if it is known. `y` may be a list of repeats.
        Values of constraints are told by name, as in `tell(trial, y, heat=84.2)`, or in a dict, `outcomes`;
        what was not measured is left out.
        """
        more: Any = {"noise_variance": noise_variance, "std": std, "outcomes": outcomes, **named}
        more |= {"metadata": metadata, "key": key}
        return _event(self.submit_tell(trial, y, time, **more))

    def add(
        self,
        x: Any,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Event:
        """A value that nobody asked for, observed at any point of the space."""
        more: Any = {"noise_variance": noise_variance, "std": std, "outcomes": outcomes, **named}
        more |= {"metadata": metadata, "key": key}
        return _event(self.submit_add(x, y, time, **more))

    def submit_tell(
        self,
        trial: Trial | int,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Record:
        """As `tell`, but returns the record in the journal."""
        number, notes, key = trial_number(trial), metadata_of(metadata), key_text(key)
        measured, stamp = Measured.of(y, noise_variance, std, outcomes, named), _time(time)

        def work(step: UnwrittenStep, connection: Connection) -> Record:
            before = self._session.before(connection, key, "told", trial=number, told=measured.told)
            if before is not None:
                return before
            x = self._session.waiting(step.live, connection, number).x
            return step.tell(x, measured, stamp, trial=number, metadata=notes, key=key)

        return self._session.write(work)

    def submit_add(
        self,
        x: Any,
        y: float | Sequence[float],
        time: Time = None,
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **named: float | None,
    ) -> Record:
        """As `add`, but returns the record in the journal."""
        notes, key = metadata_of(metadata), key_text(key)
        measured, stamp = Measured.of(y, noise_variance, std, outcomes, named), _time(time)

        def work(step: UnwrittenStep, connection: Connection) -> Record:
            before = self._session.before(connection, key, "told", trial=None, told=measured.told)
            if before is None:
                return step.tell(x, measured, stamp, metadata=notes, key=key)
            encode = step.live.optimizer.space.encode
            if not np.array_equal(encode(x), encode(before.x)):
                raise reused(before)
            return before

        return self._session.write(work)

    def fail(
        self,
        trial: Trial | int,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Record:
        """The evaluation came to nothing: recorded with its reason, and kept away from (`Optimizer.fail`)."""
        number, why, notes, key = (
            trial_number(trial),
            reason_text(reason),
            metadata_of(metadata),
            key_text(key),
        )

        def work(step: UnwrittenStep, connection: Connection) -> Record:
            before = self._session.before(connection, key, "failed", trial=number)
            if before is not None:
                return before
            x = self._session.waiting(step.live, connection, number).x
            step.expire(but=number)
            return step.write("failed", trial=number, x=x, reason=why, metadata=notes, key=key)

        return self._session.write(work)

    # -- a hand on the wheel -------------------------------------------------------------------------

    def reset(
        self, reason: str = "", *, metadata: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Event:
        """Something is known to have changed: what was told before is of the past, see `Optimizer.reset`."""
        return _event(self.submit_reset(reason, metadata=metadata, key=key))

    def submit_reset(
        self, reason: str = "", *, metadata: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Record:
        """As `reset`, but returns the record in the journal."""
        why, notes, key = reason_text(reason), metadata_of(metadata), key_text(key)

        def work(step: UnwrittenStep, connection: Connection) -> Record:
            before = self._session.before(connection, key, "reset")
            if before is None:
                return step.reset(why, metadata=notes, key=key)
            if why and before.reason != why:
                raise reused(before)
            return before

        return self._session.write(work)

    def retract(
        self,
        trial: Trial | Record | int,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        on_progress: OnProgress = lambda _done, _total: None,
    ) -> Record:
        """Take back the value of a trial, or of a record if nobody had asked for it: it was wrong.

        The journal keeps it, and says that it does not count. The optimiser is then as if it had never been
        told: the tells since the last checkpoint before it are followed again, which takes as long as they
        took.
        """
        target = target_of(trial)
        return amend(
            self._session,
            target,
            None,
            reason_text(reason),
            metadata_of(metadata),
            key_text(key),
            on_progress,
        )

    def correct(
        self,
        trial: Trial | Record | int,
        y: float | Sequence[float] | None = None,
        reason: str = "",
        *,
        noise_variance: float | None = None,
        std: float | None = None,
        outcomes: Mapping[str, float | None] | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        on_progress: OnProgress = lambda _done, _total: None,
        **named: float | None,
    ) -> Record:
        """Another value for a trial, or for a record: the optimiser is then as if it had been told that one.

        As `retract` otherwise. What was told of the noise and of constraints stays unless it is told anew,
        as in `correct(trial, heat=84.2)`; a constraint that is None was not measured after all. What was
        taken back cannot be corrected.
        """
        target, value = target_of(trial), Correction.of(y, noise_variance, std, outcomes, named)
        return amend(
            self._session,
            target,
            value,
            reason_text(reason),
            metadata_of(metadata),
            key_text(key),
            on_progress,
        )

    def change_space(
        self,
        space: Domain,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        on_progress: OnProgress = lambda _done, _total: None,
    ) -> Record:
        """Go on in another space of the same parameters: other bounds, an option more or less.

        The optimiser is then as if it had been told, in this space, all that was measured inside it; the
        record's `event["left_out"]` says how many values lie outside. Should the space become larger again,
        they come back. Trials that are out and lie outside expire. The whole journal is followed again.
        """
        record, self.definition = change_space(
            self._session, space, reason_text(reason), metadata_of(metadata), key_text(key), on_progress
        )
        return record

    def delete(self) -> None:
        """Delete the study and everything about it. There is no way back."""
        self.summary()  # or another one of this name would go
        self.database.delete(self.name)

    def add_many(self, rows: Sequence[tuple[Any, ...]]) -> int:
        """Observations (x, y, time, metadata) that nobody asked for, all or none; returns how many.

        With a fifth entry, that is the noise variance of y, and a sixth is a dict of constraints.
        """
        checked = [_row(*row) for row in rows]

        def work(step: UnwrittenStep, _connection: Connection) -> int:
            for x, measured, time, notes in checked:
                step.tell(x, measured, time, metadata=notes)
            return len(checked)

        return self._session.write(work) if checked else 0

    def import_log(
        self,
        path: str | Path,
        *,
        sort: bool = False,
        again: bool = False,
        y: str | None = None,
        time: str | None = None,
        decimal_comma: bool = False,
        on_checked: Callable[[int], None] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Tell everything in a log (CSV, JSON lines or Parquet); returns how many observations were told.

        The whole log is read and checked first. Its times must not go back, unless it is to be sorted. An
        import that was interrupted goes on where it stopped. A log that was imported before, or that begins
        before the last observation, is refused unless it is to be told `again`. `y` and `time` name columns
        that are called otherwise; with `decimal_comma` 0,5 is a number.
        """
        how = {"y": y, "time": time, "decimal_comma": decimal_comma}
        log = logs.LogFile(self, path, sort=sort, on_checked=on_checked, **how)
        return importing.tell_all(self._session, self._link, log, again=again, on_progress=on_progress)

    def rebuild(self, *, on_progress: Callable[[int, int], None] = lambda _done, _total: None) -> int:
        """Forget the checkpoint and make it anew from the journal; returns the number of records.

        For a checkpoint that is damaged, or that a version of Windvane with another format wrote. Nobody
        else should write to the study meanwhile.
        """
        self.definition = self.summary().definition
        return self._session.rebuild(Live(remake(self.definition)), on_progress)

    def forget(self) -> None:
        """Drop what is in memory; the next step begins with what is on disk."""
        self._session.forget()

    # -- reading -------------------------------------------------------------------------------------

    def snapshot(self) -> Live:
        """The study as of now, for the caller alone, to look at it more than once."""
        return self._session.snapshot()

    @property
    def optimizer(self) -> Optimizer:
        """The optimiser as of now, for the caller alone: what is told to it is known to nobody else."""
        return self.snapshot().optimizer

    @property
    def space(self) -> Domain:
        """Where points come from."""
        return self.optimizer.space

    @property
    def constraints(self) -> dict[str, Constraint]:
        """What must hold beside the objective, by name."""
        return self.optimizer.constraints

    def summary(self) -> Summary:
        """The study at a glance."""
        with self._link.reading() as connection:
            found = journal.find(connection, self.name)
        if found.id != self.id:  # another one has the name now
            raise UnknownName(f"study {self.name!r}: it was deleted")
        if found.pending == 0:
            return found
        try:  # the database learns of trials whose time is up with the next step
            return replace(found, pending=len(self.pending()))
        except CorruptState:
            return found

    def pending(self) -> list[Trial]:
        """The trials that are out, oldest first; without those whose time is up."""
        live = self.snapshot()
        late = {trial.number for trial in live.expired(self._clock())}
        return [trial for trial in live.pending.values() if trial.number not in late]

    def trial(self, number: int) -> Trial:
        """A trial, and what has become of it."""
        wanted = trial_number(number)
        with self._link.reading() as connection:
            records = journal.of_trial(connection, self.id, wanted)
        if not records:
            raise UnknownName(f"trial={number}: study {self.name!r} has none of that number")
        trial, last = Trial.of(records[0]), records[-1].kind
        if last != "asked":
            return replace(trial, status="told" if last == "corrected" else last)  # type: ignore[arg-type]
        late = trial.expires_at is not None and trial.expires_at <= self._clock()
        return replace(trial, status="expired") if late else trial

    def recorded(self, key: str | None) -> Record | None:
        """What was written under an idempotency key."""
        wanted = key_text(key)
        if wanted is None:
            return None
        with self._link.reading() as connection:
            return journal.by_key(connection, self.id, wanted)

    def events(
        self,
        after: int = 0,
        limit: int | None = None,
        *,
        kinds: Iterable[str] | None = None,
        resets: bool = False,
        violations: bool = False,
        newest: bool = False,
    ) -> list[Record]:
        """The journal in order, after a certain record; with `newest`, the last `limit` records.

        With `resets` or `violations` only those at which there was one.
        """
        integer("after", after, at_least=0, at_most=LAST)
        if limit is not None:
            integer("limit", limit, at_least=1, at_most=LAST)
        wanted = None if kinds is None else [one_of("kinds", kind, KINDS) for kind in kinds]
        with self._link.reading() as connection:
            found = journal.read(
                connection,
                self.id,
                after=after,
                limit=limit,
                kinds=wanted,
                resets=resets,
                violations=violations,
                newest=newest,
            )
            if not found:
                journal.head(connection, self.id)  # deleted?
            return found

    def best(self, time: Time = None, *, context: Mapping[str, Any] | None = None) -> Best:
        """The point believed best now, under this context, with mean and standard deviation."""
        live = self.snapshot()
        return live.optimizer.best(live.not_before(_time(time)), context=context)

    def predict(self, points: Any, time: Time = None, *, of: str | None = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the objective, or `of` a constraint, at points."""
        live = self.snapshot()
        return live.optimizer.predict(points, live.not_before(_time(time)), of=of)

    def feasibility(self, points: Any, time: Time = None) -> dict[str, Array]:
        """How probably each constraint holds at points, by its name."""
        live = self.snapshot()
        return live.optimizer.feasibility(points, live.not_before(_time(time)))

    def explain(self) -> Explanation:
        """In words and figures: the last reset and why, what is believed best now, and how sure that is."""
        amending = self.events(kinds=AMENDING)
        # whether a reset counts still is said by the amendments: then all of them are looked at
        resets = self.events(resets=True, newest=True, limit=None if amending else 1)
        recent = self.events(kinds=["told"], newest=True, limit=RECENT)
        with self._link.reading() as connection:
            beyond = journal.read(connection, self.id, violations=True)
            renewed = journal.read(connection, self.id, outcome_resets=True)
        optimizer = self.optimizer
        if amending:
            resets = resets_now(resets, amending)
            recent = as_they_count(recent, amending, optimizer.space)
        return explain(resets, recent, optimizer, self.summary(), amending, beyond, renewed)

    def export(self, path: str | Path, format: str | None = None) -> int:
        """Write the journal as "csv", "jsonl" or "parquet" (from the file's ending if left out)."""
        return export.export(self, path, format)


def studies(url: str | Path | Database) -> list[Summary]:
    """The studies in a database, each at a glance, by name."""
    if isinstance(url, Database):
        return url.studies()
    with Database(url) as database:
        return database.studies()


def _row(
    x: Any, y: Any, time: Any, metadata: Any, noise_variance: Any = None, outcomes: Any = None
) -> tuple[Any, Measured, float | None, dict[str, Any]]:
    """An observation that nobody asked for, checked."""
    measured = Measured.of(y, noise_variance, None, outcomes, {})
    return x, measured, _time(time), metadata_of(metadata)


def _time(time: Any) -> float | None:
    """A time as it was given; beyond these bounds the difference of two has no number."""
    return (
        None if time is None else real("time", instant("time", time), at_least=-LATEST, at_most=LATEST) + 0.0
    )


def _event(record: Record) -> Event:
    """The event of a tell, as the optimiser gave it."""
    with as_written(record):
        return record.as_event()
