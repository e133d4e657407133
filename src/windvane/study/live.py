"""A study in memory: the optimiser and the trials that are out, as of a certain record of the journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from windvane.data import Event
from windvane.errors import CorruptState
from windvane.optimizer import Optimizer, restore
from windvane.protocol.checks import inside
from windvane.protocol.measured import Measured, check_names
from windvane.protocol.records import Kind, Trial, counted
from windvane.spelling import plain
from windvane.storage import AMENDING, Record, journal
from windvane.study.numbering import reworded

SPARSE = 64  # tells between two checkpoints
MANY = 1024  # records of any kind between two checkpoints
BESIDE = 64  # outstanding trials that a new one keeps away from: the newest


class Live:
    """What a journal amounts to. `head` is the last record in it, `trials` the number of the last trial."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.pending: dict[int, Trial] = {}
        self.trials = 0
        self.head = 0
        self.tells = 0  # since the last checkpoint
        self.records = 0

    def copy(self) -> Live:
        """Another that goes its own way: an optimiser replaces what it has learned, and changes nothing."""
        twin = copy(self)
        twin.optimizer, twin.pending = copy(self.optimizer), dict(self.pending)
        return twin

    def state(self) -> dict[str, Any]:
        """Plain JSON, for a checkpoint."""
        return {
            "optimizer": self.optimizer.state(),
            "trials": self.trials,
            "pending": [trial.as_dict() for trial in self.pending.values()],
        }

    @staticmethod
    def restore(head: int, text: str) -> Live:
        """A study as its checkpoint says."""
        try:
            state = json.loads(text)
            live = Live(restore(state["optimizer"]))
            live.trials = int(state["trials"])
            live.pending = {each["number"]: Trial(**each) for each in state["pending"]}
        except (CorruptState, ValueError, KeyError, TypeError) as error:
            said = str(error).removeprefix("state: ")
            raise CorruptState(
                f"checkpoint at record {head}: {said}. The journal is whole: "
                "`windvane study rebuild NAME`, or study.rebuild(), makes it anew"
            ) from error
        live.head = head
        return live

    def ask(self, time: float | None, context: Mapping[str, Any] | None = None, available: Any = None) -> Any:
        """The next point, as plain JSON; nothing changes until the record of it is applied."""
        beside = [trial.x for trial in list(self.pending.values())[-BESIDE:]]
        asked = self.optimizer.ask(
            time=self.not_before(time), pending=beside, context=context, available=available
        )
        return plain(asked)

    def tell(self, x: Any, measured: Measured, time: float | None) -> Event:
        """Tell the optimiser. A time before the last observation's is taken as that one."""
        check_names(measured.outcomes, self.optimizer.constraints)
        return self.optimizer.tell(x, time=self.not_before(time), **measured.told)

    def not_before(self, time: float | None) -> float | None:
        """The model's time: it does not go back, though answers may come in any order."""
        last = self.optimizer.last_time
        return time if time is None or last is None else max(time, last)

    def apply(self, record: Record, *, told: bool = False) -> Event | None:
        """Follow the journal by one record; `told` if the optimiser has heard of it, or need not hear of it.

        Returns what the optimiser said. To a record that amends others it cannot be led from here: its state
        after that is in a checkpoint, or made from the beginning (`study.amendments`).
        """
        if record.seq != self.head + 1:
            raise CorruptState(f"journal: record {self.head + 1} is missing. Restore it from a backup")
        if record.kind in AMENDING and not told:
            raise CorruptState(
                f"checkpoint: that of record {record.seq} is missing. The journal is whole: "
                "`windvane study rebuild NAME`, or study.rebuild(), makes it anew"
            )
        said: Event | None = None
        if record.kind == "asked":
            trial = Trial.of(record)
            self.pending[trial.number] = trial
            self.trials = trial.number
        elif record.trial is not None:
            self.pending.pop(record.trial, None)
        if record.kind == "told" and not told:
            assert record.event is not None
            # a time that was told may count as it is, once another is taken back that was before it
            time = record.event["time"] if record.time is None else self.not_before(record.time)
            said = self.optimizer.tell(record.x, time=time, **record.told)
        elif record.kind == "failed" and not told and inside(self.optimizer.space, record.x):
            self.optimizer.fail(record.x, reason=record.reason or "")
        elif record.kind == "reset" and not told:
            said = self.optimizer.reset(record.reason)
        self.tells += record.kind == "told"
        self.records += 1
        self.head = record.seq
        return said

    def arrived(self, head: int) -> None:
        """An error unless this is the record `head`: the end of the journal may be missing too."""
        if self.head != head:
            raise CorruptState(
                f"journal: records {self.head + 1} to {head} are missing. Restore it from a backup"
            )

    def checkpoint(self, *, now: bool = False) -> dict[str, Any] | None:
        """The state, if it is time to keep it, or to be kept `now`."""
        if not now and self.tells < SPARSE and self.records < MANY:
            return None
        self.tells = self.records = 0
        return self.state()

    def expired(self, now: float) -> list[Trial]:
        """The trials whose time is up."""
        return [
            replace(trial, status="expired")
            for trial in self.pending.values()
            if trial.expires_at is not None and trial.expires_at <= now
        ]


class UnwrittenStep:
    """A step under way: records that memory has followed already and that are still to be written."""

    def __init__(self, live: Live, now: float, keyed: int | None = None, *, in_turn: bool = True) -> None:
        self.live = live
        self.now = now
        self.keyed = keyed  # the record that was written under its key before
        self.in_turn = in_turn
        self.before = live.head
        self.records: list[Record] = []
        self.stale_from: int | None = None  # the first record that counts otherwise from here on
        self.states: Mapping[int, Any] = {}
        self.redefined: tuple[Mapping[str, Any], Any] | None = None

    def write(self, kind: Kind, *, told: bool = False, **fields: Any) -> Record:
        """The next record."""
        if kind != "told" and fields.get("event") is not None:  # as it will be read
            alone = {"step": None, "x": None, "y": None, "reset": False, "reason": ""}
            fields["event"] = {
                **{name: fields.get(name, none) for name, none in alone.items()},
                **fields["event"],
            }
        record = Record(self.live.head + 1, kind, self.now, **fields)
        self.live.apply(record, told=told)
        self.records.append(record)
        return record

    def tell(
        self, x: Any, measured: Measured, time: float | None, *, trial: int | None = None, **fields: Any
    ) -> Record:
        """An observation, judged by the optimiser."""
        event = self.live.tell(x, measured, time)  # may refuse, so it comes first
        self.expire(but=trial)
        heard = event.as_dict()
        if counted(event.step, event.time, self.live.head + 1) and time is None:
            heard |= reworded(heard, timed=False)  # the model counts on where values were taken back
        said = {
            "step": event.step,
            "reset": event.reset,
            "reason": heard["reason"],
            "event": heard,
            "violated": event.violated,
            "outcome_resets": tuple(name for name, outcome in event.outcomes.items() if outcome.reset),
        }
        return self.write(
            "told", told=True, trial=trial, x=plain(event.x), y=event.y, time=time, **said, **fields
        )

    def reset(self, reason: str, **fields: Any) -> Record:
        """A reset that somebody asks for."""
        self.expire()
        event = self.live.optimizer.reset(reason)
        said = {"step": event.step, "reset": True, "reason": event.reason, "event": event.as_dict()}
        return self.write("reset", told=True, **said, **fields)

    def amend(
        self, kind: Kind, first: int, optimizer: Optimizer, states: Mapping[int, Any], **fields: Any
    ) -> Record:
        """A record by which others, from `first` on, count otherwise; the optimiser is as that makes it.

        `states` are checkpoints on the way there.
        """
        self.live.optimizer, self.stale_from = optimizer, first
        self.states = {seq: state for seq, state in states.items() if seq >= first}
        return self.write(kind, told=True, **fields)

    def expire(self, but: int | None = None) -> None:
        """Records for the trials whose time is up."""
        for trial in self.live.expired(self.now):
            if trial.number != but:
                self.write("expired", trial=trial.number, x=trial.x)

    def commit(self, connection: Connection, study_id: int) -> None:
        """Write it all, on the condition that nobody else wrote meanwhile."""
        if self.records:
            live = self.live
            counters = {"size": live.optimizer.size, "pending": len(live.pending)}
            journal.append(
                connection,
                study_id,
                self.before,
                self.records,
                state=live.checkpoint(now=self.stale_from is not None),
                stale_from=self.stale_from,
                states=self.states,
                redefined=self.redefined,
                in_turn=self.in_turn,
                **counters,
            )
