"""The records of a study, wherever it is: an entry of its journal, a trial, and the study at a glance.

`as_dict` is how a service, an export and the shell write each of them as JSON, and the client reads that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from windvane import notebook
from windvane.codec import decode
from windvane.constraints import Constraint, restated
from windvane.data import Event
from windvane.errors import CorruptState
from windvane.moments import utc
from windvane.notebook import card, shown
from windvane.reading import told_as

Kind = Literal["asked", "told", "failed", "expired", "reset", "retracted", "corrected", "redefined"]
KINDS: tuple[Kind, ...] = get_args(Kind)
AMENDING: tuple[Kind, ...] = (  # say that earlier records count otherwise
    "retracted",
    "corrected",
    "redefined",
)
Status = Literal["pending", "told", "failed", "expired", "retracted"]


def altered(seq: Any, error: Exception) -> CorruptState:
    """The error about a record that cannot be what was written."""
    said = (
        f"{type(error).__name__}: {error}" if isinstance(error, AssertionError | LookupError) else str(error)
    )
    return CorruptState(f"record {seq}: altered ({said}). Restore the database from a backup")


@contextmanager
def as_written(record: Record) -> Iterator[None]:
    """What goes wrong inside is because the record is not what was written: nobody else is to blame."""
    try:
        yield
    except CorruptState:
        raise
    except (AssertionError, AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise altered(record.seq, error) from error


def counted(step: int, time: float, seq: int) -> bool:
    """Whether the time of an observation, of which none was told, is a number of steps.

    The model counts from the last observation that there was, so that its time is the step, or later by as
    many as were taken back since: no later than the number of the record.
    """
    return step <= time <= max(step, seq) and time == int(time)


@dataclass(frozen=True)
class Record:
    """One entry of a study's journal.

    `at` is when it was recorded, in seconds since 1970. `trial` is None for an evaluation that nobody asked
    for. `time` is the caller's own timestamp as given. `event` is what `Event.as_dict` gave for a tell; its
    "time" is the one the model used. `reason` explains a reset or an outlier, or says why a trial failed. Of
    a record that amends others, `event` says which, and what has come of it. `violated` are the constraints
    whose value was beyond its limit, and `outcome_resets` those whose own model was reset, at a tell.
    """

    seq: int
    kind: Kind
    at: float
    trial: int | None = None
    x: Any = None
    y: float | None = None
    time: float | None = None
    expires: float | None = None
    step: int | None = None
    reset: bool = False
    reason: str = ""
    event: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    violated: tuple[str, ...] = ()
    outcome_resets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "violated", tuple(self.violated))
        object.__setattr__(self, "outcome_resets", tuple(self.outcome_resets))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = {name: getattr(self, name) for name in FIELDS}
        return found | {"violated": list(self.violated), "outcome_resets": list(self.outcome_resets)}

    def as_event(self) -> Event:
        """The event of a tell or a reset, as the optimiser gave it."""
        with as_written(self):
            assert self.event is not None, "there is no event"
            return Event.from_dict({**self.event, "x": self.x, "y": self.y})

    @property
    def clock(self) -> float | None:
        """The caller's time at this record; None if nobody told one."""
        time: float | None = (self.event or {}).get("time")
        if self.time is not None or time is None or self.step is None:
            return time
        return None if counted(self.step, time, self.seq) else time

    @property
    def told(self) -> dict[str, Any]:
        """What the optimiser was told at a tell, beside point and time; records of old have a value only."""
        event = self.event or {}
        return told_as(self.y, event.get("values") or (), event.get("told_variance")) | self.outcomes

    @property
    def outcomes(self) -> dict[str, float]:
        """What was told of the constraints."""
        told: Mapping[str, Any] = (self.event or {}).get("outcomes") or {}
        return {name: outcome["value"] for name, outcome in told.items() if outcome["value"] is not None}


FIELDS = tuple(each.name for each in dataclasses.fields(Record))


@dataclass(frozen=True)
class Trial:
    """Evaluate `x`, then tell the value under this `number`.

    Times are seconds since 1970. After `expires_at` nobody waits for the answer any longer; if it comes
    all the same, it is welcome.
    """

    number: int
    x: Any
    asked_at: float
    expires_at: float | None = None
    status: Status = "pending"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = {"x": shown(self.x), "status": self.status, "asked": utc(self.asked_at)}
        if self.expires_at is not None:
            rows["expires"] = utc(self.expires_at)
        rows |= {str(name): str(value) for name, value in self.metadata.items()}
        return card(f"trial {self.number}", rows)

    @staticmethod
    def of(asked: Record) -> Trial:
        """The trial that a record of kind "asked" began."""
        assert asked.trial is not None
        return Trial(asked.trial, asked.x, asked.at, asked.expires, metadata=asked.metadata)


@dataclass(frozen=True)
class Summary:
    """A study at a glance. `head` numbers its last record; `size` is the number of observations in use.

    In a list of studies `pending` is as of the last record of each: it counts trials whose time is up since.

    `violations` counts the tells at which a constraint was beyond its limit; `last_violation` is the step of
    the last one, and `last_retreat` that of the last observation after which nothing was believed safe.
    `damaged` says why the study cannot be opened, if it cannot: then its definition is empty. `id` is the
    database's own number, which is not for others: 0 if the study is one of a service.
    """

    name: str
    algorithm: str
    goal: Literal["maximize", "minimize"]
    created: float
    definition: Mapping[str, Any]
    head: int
    trials: int
    pending: int
    tells: int
    resets: int
    failed: int
    size: int
    last_at: float | None = None
    last_reset: int | None = None
    violations: int = 0
    last_violation: int | None = None
    last_retreat: int | None = None
    damaged: str | None = None
    id: int = 0

    @property
    def constraints(self) -> dict[str, Constraint]:
        """What must hold beside the objective, by name."""
        options = self.definition.get("options", {})
        found: dict[str, Constraint] = decode(options["constraints"]) if "constraints" in options else {}
        return found

    @property
    def safe(self) -> float | None:
        """The probability with which each of them must hold where a point is asked for, if it must."""
        found: float | None = self.definition.get("options", {}).get("safe")
        return found

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the database's own number is left out."""
        fields = dataclasses.fields(self)
        found = {each.name: getattr(self, each.name) for each in fields if each.name != "id"}
        written = self.definition.get("options", {}).get("constraints", {"dict": {}})["dict"]
        spelt = {name: restated(constraint) for name, constraint in written.items()}
        return {**found, "constraints": spelt, "safe": self.safe}

    def _repr_html_(self) -> str:
        """For notebooks."""
        return notebook.summary(self)
