"""Records as rows of their tables, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from windvane.constraints import restated
from windvane.errors import CorruptState
from windvane.protocol.records import FIELDS, KINDS, Record, Summary, altered

ONCE = ("step", "x", "y", "reset", "reason")  # of an event: columns of their own
NAMES = ("violated", "outcome_resets")  # lists of constraints


_encoder = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


def dumps(value: Any) -> str:
    """Compact JSON; floats survive bit for bit, and there is no NaN."""
    return _encoder.encode(value)


def row_of(record: Record, study_id: int) -> dict[str, Any]:
    """The columns of the table of events."""
    event = record.event
    if event is not None:
        event = {name: value for name, value in event.items() if name not in ONCE}
    return {
        **record.as_dict(),
        "study_id": study_id,
        "x": None if record.x is None else dumps(record.x),
        "event": None if event is None else dumps(event),
        "metadata": dumps(dict(record.metadata)),
        **{name: dumps(names) if (names := getattr(record, name)) else None for name in NAMES},
    }


def record_of(row: Mapping[Any, Any]) -> Record:
    """An entry from the columns of its table, among others."""
    columns = {name: row[name] for name in FIELDS}
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


def summary_of(row: Row[Any]) -> Summary:
    """A study from its row; `CorruptState` if its definition cannot be read."""
    columns = dict(row._mapping)
    try:
        columns["definition"] = _definition(columns["definition"])
    except (ValueError, TypeError, LookupError, AttributeError, StopIteration) as error:
        said = f"study {columns['name']!r}: its definition was altered ({error})"
        raise CorruptState(f"{said}. Restore it from a backup") from error
    return Summary(**columns)


def listed_summary(row: Row[Any]) -> Summary:
    """The same among others, where one that is damaged is said to be."""
    try:
        return summary_of(row)
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
