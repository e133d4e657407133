"""What a database holds, as frozen values: an entry of a journal, and a study at a glance."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sqlalchemy import Row

from windvane import notebook
from windvane.codec import decode
from windvane.constraints import Constraint, restated
from windvane.errors import CorruptState
from windvane.reading import told_as

Kind = Literal["asked", "told", "failed", "expired", "reset", "retracted", "corrected", "redefined"]
KINDS: tuple[Kind, ...] = get_args(Kind)
AMENDING: tuple[Kind, ...] = (
    "retracted",
    "corrected",
    "redefined",
)  # say that earlier records count otherwise
ONCE = ("step", "x", "y", "reset", "reason")  # of an event: columns of their own
NAMES = ("violated", "outcome_resets")  # lists of constraints


_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Compact JSON; floats survive bit for bit, and there is no NaN."""
    return _encoder.encode(value)


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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        found = {name: getattr(self, name) for name in FIELDS}
        return found | {name: list(getattr(self, name)) for name in NAMES}

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

    def row(self, study_id: int) -> dict[str, Any]:
        """The columns of the table of events."""
        event = self.event
        if event is not None:
            event = {name: value for name, value in event.items() if name not in ONCE}
        return {
            **self.as_dict(),
            "study_id": study_id,
            "x": None if self.x is None else dumps(self.x),
            "event": None if event is None else dumps(event),
            "metadata": dumps(dict(self.metadata)),
            **{name: dumps(names) if (names := getattr(self, name)) else None for name in NAMES},
        }

    @staticmethod
    def read(row: Row[Any]) -> Record:
        """An entry from its row."""
        return Record.of(row._mapping)

    @staticmethod
    def of(row: Mapping[Any, Any]) -> Record:
        """An entry from the columns of its table, among others."""
        columns = {each.name: row[each.name] for each in dataclasses.fields(Record)}
        try:
            columns["metadata"] = dict(json.loads(columns["metadata"]))
            if columns["kind"] not in KINDS:
                raise ValueError(f"its kind is {columns['kind']!r}")
            columns["x"] = None if columns["x"] is None else json.loads(columns["x"])
            for name in NAMES:
                columns[name] = () if columns[name] is None else tuple(json.loads(columns[name]))
            if columns["event"] is not None:
                columns["event"] = {**{n: columns[n] for n in ONCE}, **json.loads(columns["event"])}
        except (ValueError, TypeError) as error:
            raise altered(columns["seq"], error) from error
        return Record(**columns)


FIELDS = tuple(each.name for each in dataclasses.fields(Record))


@dataclass(frozen=True)
class Summary:
    """A study at a glance. `head` numbers its last record; `size` is the number of observations in use.

    `violations` counts the tells at which a constraint was beyond its limit; `last_violation` is the step of
    the last one, and `last_retreat` that of the last observation after which nothing was believed safe.
    `damaged` says why the study cannot be opened, if it cannot: then its definition is empty.
    """

    id: int
    name: str
    algorithm: str
    goal: str
    created: float
    definition: Mapping[str, Any]
    head: int
    trials: int
    pending: int
    tells: int
    resets: int
    failed: int
    size: int
    last_at: float | None
    last_reset: int | None
    violations: int = 0
    last_violation: int | None = None
    last_retreat: int | None = None
    damaged: str | None = None

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

    @staticmethod
    def read(row: Row[Any]) -> Summary:
        """A study from its row; `CorruptState` if its definition cannot be read."""
        columns = dict(row._mapping)
        try:
            columns["definition"] = _definition(columns["definition"])
        except (ValueError, TypeError, LookupError, AttributeError, StopIteration) as error:
            said = f"study {columns['name']!r}: its definition was altered ({error})"
            raise CorruptState(f"{said}. Restore it from a backup") from error
        return Summary(**columns)

    @staticmethod
    def listed(row: Row[Any]) -> Summary:
        """The same among others, where one that is damaged is said to be."""
        try:
            return Summary.read(row)
        except CorruptState as error:
            return Summary(**{**row._mapping, "definition": {}, "damaged": str(error)})


def _definition(text: Any) -> dict[str, Any]:
    """A definition, as far as it is needed to show the study."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    options = found.get("options", {})
    if "constraints" in options:
        for constraint in options["constraints"]["dict"].values():
            restated(constraint)
    return dict(found, options=dict(options))
