"""What a database holds, as frozen values: an entry of a journal, and a study at a glance."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sqlalchemy import Row

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


_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Compact JSON; floats survive bit for bit, and there is no NaN."""
    return _encoder.encode(value)


@dataclass(frozen=True)
class Record:
    """One entry of a study's journal.

    `at` is when it was recorded, in seconds since 1970. `trial` is None for an evaluation that nobody asked
    for. `time` is the caller's own timestamp as given. `event` is what `Event.as_dict` gave for a tell; its
    "time" is the one the model used. `reason` explains a reset or an outlier, or says why a trial failed. Of
    a record that amends others, `event` says which, and what has come of it.
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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {name: getattr(self, name) for name in FIELDS}

    @property
    def told(self) -> dict[str, Any]:
        """What the optimiser was told at a tell, beside point and time; records of old have a value only."""
        event = self.event or {}
        return told_as(self.y, event.get("values") or (), event.get("told_variance"))

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
            columns["metadata"] = json.loads(columns["metadata"])
            columns["x"] = None if columns["x"] is None else json.loads(columns["x"])
            if columns["event"] is not None:
                columns["event"] = {**{n: columns[n] for n in ONCE}, **json.loads(columns["event"])}
        except (ValueError, TypeError) as error:
            raise CorruptState(
                f"record {columns['seq']}: altered ({error}). Restore it from a backup"
            ) from error
        return Record(**columns)


FIELDS = tuple(each.name for each in dataclasses.fields(Record))


@dataclass(frozen=True)
class Summary:
    """A study at a glance. `head` numbers its last record; `size` is the number of observations in use."""

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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the database's own number is left out."""
        fields = dataclasses.fields(self)
        return {each.name: getattr(self, each.name) for each in fields if each.name != "id"}

    @staticmethod
    def read(row: Row[Any]) -> Summary:
        """A study from its row."""
        columns = dict(row._mapping)
        try:
            columns["definition"] = json.loads(columns["definition"])
        except (ValueError, TypeError) as error:
            said = f"study {columns['name']!r}: its definition was altered ({error})"
            raise CorruptState(f"{said}. Restore it from a backup") from error
        return Summary(**columns)
