"""A study: an optimiser whose every step is in a database before anybody hears of it."""

from __future__ import annotations

import time as clocks
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from windvane import notebook
from windvane.checks import Array, Time
from windvane.constraints import Constraint
from windvane.data import Best
from windvane.errors import CorruptState, InvalidType, UnknownName
from windvane.optimizer import Optimizer
from windvane.protocol import AMENDING, Record, StudyProtocol, Summary, Trial
from windvane.protocol.checks import duration, metadata_of, study_name, trial_number
from windvane.protocol.measured import Measured, check_of
from windvane.protocol.requests import (
    DAY,
    UNSET,
    AmendRequest,
    AskRequest,
    EventsQuery,
    RedefineRequest,
    WriteRequest,
    time_of,
)
from windvane.protocol.study import OnProgress
from windvane.spaces.base import Domain
from windvane.storage import Database, journal
from windvane.study import export, importing, logs, writing
from windvane.study.amending import amend, change_space, no_progress
from windvane.study.amendments import as_they_count, resets_now
from windvane.study.definition import define, remake, same
from windvane.study.explain import RECENT, Explanation, explain
from windvane.study.live import Live, UnwrittenStep
from windvane.study.session import Session

Clock = Callable[[], float]


class Study(StudyProtocol):
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

    def begin(self, request: AskRequest) -> list[Trial]:
        given = self.definition["expires_after"] if request.expires_after is UNSET else request.expires_after
        trials, new = writing.ask(self._session, request, duration("expires_after", given))
        # of those that were asked for before, much may have come since
        return trials if new else [self.trial(trial.number) for trial in trials]

    def submit(self, request: WriteRequest, on_progress: OnProgress | None = None) -> Record:
        return self.carry_out(request, on_progress or no_progress)[0]

    def carry_out(self, request: WriteRequest, on_progress: OnProgress = no_progress) -> tuple[Record, bool]:
        """The same, and whether the record is new: a request that is repeated under its key has the first."""
        if isinstance(request, AmendRequest):
            return amend(self._session, request, on_progress)
        if isinstance(request, RedefineRequest):
            (record, self.definition), new = change_space(self._session, request, on_progress)
            return record, new
        return writing.write(self._session, request)

    def delete(self) -> None:
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

        return self._session.write(work)[0] if checked else 0

    def import_log(
        self,
        path: str | Path,
        *,
        sort: bool = False,
        again: bool = False,
        y: str | None = None,
        time: str | None = None,
        decimal_comma: bool = False,
        skip_missing: bool = False,
        on_checked: Callable[[int], None] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Tell everything in a log (CSV, JSON lines or Parquet); returns how many observations were told.

        The whole log is read and checked first. Its times must not go back, unless it is to be sorted. An
        import that was interrupted goes on where it stopped. A log that was imported before, or that begins
        before the last observation, is refused unless it is to be told `again`. `y` and `time` name columns
        that are called otherwise; with `decimal_comma` 0,5 is a number. What has no value is an error, or
        left out with `skip_missing`.
        """
        how = {"y": y, "time": time, "decimal_comma": decimal_comma, "skip_missing": skip_missing}
        log = logs.LogFile(self, path, sort=sort, on_checked=on_checked, **how)
        return importing.tell_all(self._session, self._link, log, again=again, on_progress=on_progress)

    def rebuild(self, *, on_progress: OnProgress = no_progress) -> int:
        """Forget the checkpoint and make it anew from the journal; returns the number of records.

        For a checkpoint that is damaged, or that a version of Windvane with another format wrote. The
        algorithm is what its name means in this version, for the whole record. Nobody else should write to
        the study meanwhile.
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
        return self.optimizer.space

    @property
    def constraints(self) -> dict[str, Constraint]:
        return self.optimizer.constraints

    def summary(self) -> Summary:
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

    def look_up(self, query: EventsQuery) -> list[Record]:
        with self._link.reading() as connection:
            found = journal.read(connection, self.id, **query._asdict())
            if not found:
                journal.head(connection, self.id)  # deleted?
            return found

    def best(self, time: Time = None, *, context: Mapping[str, Any] | None = None) -> Best:
        live = self.snapshot()
        return live.optimizer.best(live.not_before(time_of(time)), context=context)

    def predict(self, points: Any, time: Time = None, *, of: str | None = None) -> tuple[Array, Array]:
        live = self.snapshot()
        check_of(of, live.optimizer.constraints)
        return live.optimizer.predict(points, live.not_before(time_of(time)), of=of)

    def feasibility(self, points: Any, time: Time = None) -> dict[str, Array]:
        live = self.snapshot()
        return live.optimizer.feasibility(points, live.not_before(time_of(time)))

    def explain(self) -> Explanation:
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
    return x, measured, time_of(time), metadata_of(metadata)
