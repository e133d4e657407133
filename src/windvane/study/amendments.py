"""What later records say of earlier ones: values that were taken back or corrected, a space that has changed.

A journal is never rewritten. What it amounts to after an amendment is what the same records amount to when
they are followed once more, with each value as it counts now: the optimiser is equal, bit for bit, to one
that was told the right values at these times. That takes as long as the tells took, from the last checkpoint
before the record in question; a space that has changed is followed from the beginning.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sqlalchemy import Connection

from windvane.codec import decode
from windvane.data import Event
from windvane.errors import InvalidArgument, InvalidType
from windvane.protocol.checks import inside
from windvane.protocol.measured import Measured
from windvane.protocol.records import as_written
from windvane.reading import Reading
from windvane.spaces import Arms, Box, Candidates, Space
from windvane.spaces.base import Domain
from windvane.storage import AMENDING, Record, journal
from windvane.study.live import Live
from windvane.study.numbering import Numbering, renumbered

BATCH = 1000  # records read at once


Right: TypeAlias = Mapping[int, Measured | None]
"""What counts for a record, by its number; None if it was taken back."""


def told_of(record: Record) -> Measured:
    """What was told at a record, or at one that corrects another."""
    assert record.y is not None
    event = _event(record)
    reading = Reading(record.y, event.get("told_variance"), tuple(event.get("values") or ()))
    return Measured(reading, record.outcomes)


def retold(record: Record, told: Measured) -> Record:
    """A record of a tell as if that had been told."""
    event, reading = _event(record), told.reading
    said = event.get("outcomes") or {}
    outcomes = {name: {**said.get(name, {}), "value": value} for name, value in told.outcomes.items()}
    noise = {"values": list(reading.values), "told_variance": reading.variance}
    return replace(record, y=reading.y, event={**event, "y": reading.y, **noise, "outcomes": outcomes})


def right_values(connection: Connection, study_id: int) -> dict[int, Measured | None]:
    """What the journal says of its own records, the latest word last."""
    found: dict[int, Measured | None] = {}
    for record in journal.read(connection, study_id, kinds=("retracted", "corrected")):
        found[_event(record)["record"]] = told_of(record) if record.kind == "corrected" else None
    return found


def follow(live: Live, record: Record, right: Right) -> Event | None:
    """Follow the journal by one record as it counts now: not if it was taken back, nor outside the space."""
    with as_written(record):
        if record.kind in AMENDING:
            return live.apply(record, told=True)
        if record.kind in ("told", "failed"):
            if record.seq in right:
                value = right[record.seq]
                if value is None:
                    return live.apply(record, told=True)
                record = retold(record, value)
            if not inside(live.optimizer.space, record.x):
                return live.apply(record, told=True)
        return live.apply(record)


@dataclass
class SecondReading:
    """The journal followed once more. `start` is the record after which that began.

    `undone` are records at which there was a reset and now there is none, `new` the events of those at which
    there is one now, each with the number of its record; `last` is that of the last reset, if there was one
    at its record before, since it says something else by now. `outside` are those whose point lies outside
    the space.
    """

    live: Live
    right: Right
    start: int
    undone: list[int] = field(default_factory=list)
    new: list[dict[str, Any]] = field(default_factory=list)
    last: dict[str, Any] | None = None
    outside: list[int] = field(default_factory=list)
    states: dict[int, Any] = field(default_factory=dict)  # checkpoints on the way

    def go_on(
        self, connection: Connection, study_id: int, head: int, on_progress: Callable[[int, int], None]
    ) -> None:
        """Up to the record `head`."""
        while self.live.head < head:
            records = journal.read(connection, study_id, after=self.live.head, up_to=head, limit=BATCH)
            for record in records:
                self._follow(record)
                if self.live.head % journal.STRETCH == 0:
                    self.states[self.live.head] = self.live.state()
                    for seq in set(self.states) - journal.worth_keeping(self.states):
                        del self.states[seq]
            self.live.arrived(head if len(records) < BATCH else self.live.head)
            on_progress(self.live.head - self.start, head - self.start)

    def _follow(self, record: Record) -> None:
        event = follow(self.live, record, self.right)
        if record.kind == "reset":
            self.last = None
        if record.kind != "told":
            return
        if event is None and (record.seq not in self.right or self.right[record.seq]):
            self.outside.append(record.seq)
        if event is None or not event.reset:
            if record.reset:
                self.undone.append(record.seq)
            return
        said = {"record": record.seq, "time_told": record.time is not None, **event.as_dict()}
        self.last = said if record.reset else None
        if not record.reset:
            self.new.append(said)

    def account(self) -> dict[str, Any]:
        """What has come of it, as plain JSON."""
        optimizer = self.live.optimizer
        return {
            "from": self.start,
            "undone": self.undone,
            "new": self.new,
            "last": self.last,
            "size": optimizer.size,
            "observations": optimizer.step - 1,
        }


def as_they_count(told: Iterable[Record], amending: Sequence[Record], space: Domain) -> list[Record]:
    """Records of tells with their right values and steps, without those taken back and those outside."""
    numbering = Numbering(amending)
    right = {_event(each)["record"]: each for each in amending if each.kind != "redefined"}
    found = []
    for record in told:
        word = right.get(record.seq)
        if (word is not None and word.kind == "retracted") or not inside(space, record.x):
            continue
        if word is not None:
            said = _event(word).get("outcomes") or {}
            names = tuple(name for name, outcome in said.items() if outcome["violated"])
            record = replace(retold(record, told_of(word)), violated=names)
        found.append(numbering.now(record))
    return found


def resets_now(resets: Iterable[Record], amending: Sequence[Record]) -> list[Record]:
    """The records at which there is a reset as things count now, oldest first.

    `resets` are those at which there was one; of a record, the latest amendment that has followed it counts.
    """
    word, numbering = _Words(amending), Numbering(amending)
    undone = {each.seq: frozenset(_event(each)["undone"]) for each in amending}
    found = {}
    for record in resets:
        said = word.of(record.seq)
        if said is None or record.seq not in undone[said.seq]:
            found[record.seq] = numbering.now(record)
            again = said and _event(said).get("last")  # amendments of earlier versions do not say
            if again and again["record"] == record.seq:
                found[record.seq] = _reset(record, again)
    for amendment in amending:
        for event in _event(amendment)["new"]:
            if word.of(event["record"]) is amendment:
                told = Record(event["record"], "told", amendment.at)
                found[told.seq] = _reset(told, event)  # no amendment since has to do with it
    return [found[seq] for seq in sorted(found)]


class _Words:
    """Which amendment followed a record last: each follows those after the one that it starts `from`."""

    def __init__(self, amending: Sequence[Record]) -> None:
        self._starts: list[int] = []  # ascending, and so are the numbers of the amendments
        self._latest: list[Record] = []
        for each in amending:
            start = _event(each)["from"]
            while self._starts and self._starts[-1] >= start:
                self._starts.pop()
                self._latest.pop()
            self._starts.append(start)
            self._latest.append(each)

    def of(self, seq: int) -> Record | None:
        """That of the record `seq`, if there is one."""
        place = bisect_left(self._starts, seq)
        found = self._latest[place - 1] if place else None
        return found if found is not None and seq < found.seq else None


def _event(record: Record) -> Mapping[str, Any]:
    assert record.event is not None
    return record.event


def _reset(record: Record, event: Mapping[str, Any]) -> Record:
    """A record with the reset that there is now."""
    said = {name: value for name, value in event.items() if name not in ("record", "time_told")}
    told = event.get("time_told")  # amendments of earlier versions do not say
    if told is False:
        said = renumbered(said, said["step"], 0, timed=False)
    same = {name: said[name] for name in ("x", "y", "step", "reason")}
    return replace(record, **same, reset=True, event=said, time=said["time"] if told else None)


def check_change(old: Domain, new: Any) -> None:
    """An error unless points of one space can be read as points of the other."""
    kind = type(old).__name__
    if not isinstance(new, Domain):
        raise InvalidType(f"space={new!r}: must be a {kind}, as that of the study is")
    if type(new) is not type(old) or not isinstance(old, Box | Arms | Candidates | Space):
        raise InvalidArgument(
            f"space={new!r}: the study has a {kind}, and what was measured there says nothing about "
            f"a {type(new).__name__}; create another study"
        )
    if new == old:
        raise InvalidArgument(f"space={new!r}: the study has this space already; nothing was changed")
    if isinstance(old, Space) and isinstance(new, Space):
        _check_parameters(dict(old.parameters), dict(new.parameters))
    elif isinstance(old, Candidates) and isinstance(new, Candidates):
        same = new.size >= old.size and all(new.row(i) == old.row(i) for i in range(old.size))
        if not same:
            raise InvalidArgument(
                f"space={new!r}: must begin with the {old.size} settings that there are, since what was "
                "measured is known by their numbers; others may follow"
            )
    elif isinstance(old, Box) and old.dim != new.dim:
        raise InvalidArgument(f"space={new!r}: must have {old.dim} coordinates, as that of the study has")


def check_starts(definition: Mapping[str, Any], space: Domain) -> None:
    """An error if the settings that are known to be safe are not all in a space."""
    for number, point in enumerate(decode(definition["options"].get("start")) or ()):
        given = point
        if isinstance(space, Space) and space.contexts and isinstance(point, dict):
            given = {**_some_context(space), **point}
        if not inside(space, given):
            raise InvalidArgument(
                f"space={space!r}: start[{number}], {point!r}, is known to be safe and lies outside of it; a "
                "space must have all settings that the study starts from. Nothing was changed"
            )


def _some_context(space: Space) -> dict[str, Any]:
    middle = space.decode(space.candidates(1)[0])
    return {name: middle[name] for name in space.contexts}


def _check_parameters(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    if old.keys() != new.keys():
        more, less = sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys())
        what = ", ".join([f"{name!r} is new" for name in more] + [f"{name!r} is missing" for name in less])
        raise InvalidArgument(
            f"space: {what}; the parameters must be {', '.join(old)}, since all that was measured had these. "
            "Their ranges and options may change"
        )
    for name, before in old.items():
        after = new[name]
        if _kind(before) != _kind(after):
            raise InvalidArgument(
                f"space: {name!r} is {_kind(before)} and cannot become {_kind(after)}; its range may change"
            )


def _kind(parameter: Any) -> str:
    """The class of a parameter; of a context, with that of what is observed."""
    within = getattr(parameter, "parameter", None)
    return type(parameter).__name__ if within is None else f"{type(parameter).__name__}({_kind(within)})"
