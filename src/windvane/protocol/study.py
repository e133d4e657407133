"""What everything that speaks like a study has: one set of methods, in a database or over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, overload

from windvane.checks import Array, Time
from windvane.constraints import Constraint
from windvane.data import Best, Event
from windvane.protocol.checks import trial_number
from windvane.protocol.corrections import Correction
from windvane.protocol.records import Record, Summary, Trial
from windvane.protocol.requests import (
    UNSET,
    AmendRequest,
    AskRequest,
    EventsQuery,
    FailRequest,
    RedefineRequest,
    ResetRequest,
    TellRequest,
    WriteRequest,
    target_of,
)
from windvane.spaces.base import Domain

OnProgress: TypeAlias = Callable[[int, int], None]


class ExplanationProtocol(Protocol):
    """Why the last reset happened, and what is believed now: in words, and in figures."""

    @property
    def text(self) -> str:
        """All of it in a few sentences."""
        ...

    def as_dict(self) -> Mapping[str, Any]:
        """Plain JSON."""
        ...


class StudyProtocol(Protocol):
    """A study that is asked and told. `windvane.testing.StudySuite` tests whether something is one.

    A class that inherits from it says how trials begin (`begin`), how everything else is written (`submit`)
    and how it is read, the journal by `look_up`; the other methods turn their arguments into the requests for
    these three.
    """

    name: str

    def begin(self, request: AskRequest) -> list[Trial]:
        """The trials that were asked for."""
        ...

    def submit(self, request: WriteRequest, on_progress: OnProgress | None = None) -> Record:
        """Carry out a request; the record of it is on disk when this returns."""
        ...

    def look_up(self, query: EventsQuery) -> list[Record]:
        """The records that are asked for, in order."""
        ...

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

        It expires when the study says, or `expires_after` so many seconds; None: never.
        `context` says what is observed now, if the space has contexts; the trial's point has them in it.
        `available` are the only points that may be asked for this time, of a finite space. With `count` it
        is a list of so many trials, each with a point chosen beside the others. The same `key`
        again gives the same trial, so that a request that was cut can be repeated.
        """
        found = self.begin(AskRequest.of(time, context, available, count, expires_after, metadata, key))
        return found[0] if count is None else found

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
        return self.submit_tell(trial, y, time, **more, metadata=metadata, key=key).as_event()

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
        return self.submit_add(x, y, time, **more, metadata=metadata, key=key).as_event()

    def submit_tell(
        self, trial: Trial | int, y: float | Sequence[float], time: Time = None, **told: Any
    ) -> Record:
        """As `tell`, but returns the record in the journal."""
        return self.submit(TellRequest.of(trial_number(trial), None, y, time, **told))

    def submit_add(self, x: Any, y: float | Sequence[float], time: Time = None, **told: Any) -> Record:
        """As `add`, but returns the record in the journal."""
        return self.submit(TellRequest.of(None, x, y, time, **told))

    def fail(
        self,
        trial: Trial | int,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Record:
        """The evaluation came to nothing: recorded with its reason, and kept away from (`Optimizer.fail`)."""
        return self.submit(FailRequest.of(trial, reason, metadata, key))

    # -- a hand on the wheel -------------------------------------------------------------------------

    def reset(
        self, reason: str = "", *, metadata: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Event:
        """Something is known to have changed: what was told before is of the past, see `Optimizer.reset`."""
        return self.submit_reset(reason, metadata=metadata, key=key).as_event()

    def submit_reset(
        self, reason: str = "", *, metadata: Mapping[str, Any] | None = None, key: str | None = None
    ) -> Record:
        """As `reset`, but returns the record in the journal."""
        return self.submit(ResetRequest.of(reason, metadata, key))

    def retract(
        self,
        trial: Trial | Record | int,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Record:
        """Take back the value of a trial, or of a record if nobody had asked for it: it was wrong.

        The journal keeps it, and says that it does not count. The optimiser is then as if it had never been
        told: the tells since the last checkpoint before it are followed again, which takes as long as they
        took. `on_progress(done, total)` hears of that in a database; a service does not say how far it is,
        and wants a `timeout` of the client that allows for it.
        """
        return self.submit(AmendRequest.of(*target_of(trial), None, reason, metadata, key), on_progress)

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
        on_progress: OnProgress | None = None,
        **named: float | None,
    ) -> Record:
        """Another value for a trial, or for a record: the optimiser is then as if it had been told that one.

        As `retract` otherwise. What was told of the noise and of constraints stays unless it is told anew,
        as in `correct(trial, heat=84.2)`; a constraint that is None was not measured after all. What was
        taken back cannot be corrected.
        """
        right = Correction.of(y, noise_variance, std, outcomes, named)
        return self.submit(AmendRequest.of(*target_of(trial), right, reason, metadata, key), on_progress)

    def change_space(
        self,
        space: Domain,
        reason: str = "",
        *,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        on_progress: OnProgress | None = None,
    ) -> Record:
        """Go on in another space of the same parameters: other bounds, or other options of a choice.

        The optimiser is then as if it had been told, in this space, all that was measured inside it; the
        record's `event["left_out"]` says how many values lie outside. Should the space become larger again,
        they come back. Trials that are out and lie outside expire. The whole journal is followed again.
        """
        return self.submit(RedefineRequest.of(space, reason, metadata, key), on_progress)

    def delete(self) -> None:
        """Delete the study and everything about it. There is no way back."""
        ...

    # -- reading -------------------------------------------------------------------------------------

    @property
    def space(self) -> Domain:
        """Where points come from."""
        ...

    @property
    def constraints(self) -> dict[str, Constraint]:
        """What must hold beside the objective, by name."""
        ...

    def summary(self) -> Summary:
        """The study at a glance."""
        ...

    def pending(self) -> list[Trial]:
        """The trials that are out, oldest first; without those whose time is up."""
        ...

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
        return self.look_up(EventsQuery.of(after, limit, kinds, resets, violations, newest))

    def best(self, time: Time = None, *, context: Mapping[str, Any] | None = None) -> Best:
        """The point believed best now, or at a later time, under this context, with mean and deviation."""
        ...

    def predict(self, points: Any, time: Time = None, *, of: str | None = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the objective, or `of` a constraint, at points."""
        ...

    def feasibility(self, points: Any, time: Time = None) -> dict[str, Array]:
        """How probably each constraint holds at points, by its name."""
        ...

    def explain(self) -> ExplanationProtocol:
        """In words and figures: the last reset and why, what is believed best now, and how sure that is."""
        ...

    def export(self, path: str | Path, format: str | None = None) -> int | None:
        """Write the journal as "csv", "jsonl" or "parquet" (from the file's ending if left out).

        The file is there whole or not at all. Returns the number of records, if the study is in a database.
        """
        ...
