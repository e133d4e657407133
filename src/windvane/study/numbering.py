"""Which tells count no longer, and which step that makes of a record.

A space that is changed may leave out most of a long journal. Their numbers are kept as one bit for each
record up to the last of them, compressed: 50,000 take less than 20 KB whichever they are, and next to nothing
where they follow each other.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windvane.data import Change
from windvane.moments import NamedSteps, Sentence, in_words, sentence_from_json, sentence_to_json, with_steps
from windvane.protocol.records import as_written
from windvane.storage import Record
from windvane.triggers.believed_change import sentence_about

Numbers = NDArray[np.int64]
NONE: Numbers = np.zeros(0, dtype=np.int64)


def packed(numbers: Sequence[int]) -> str:
    """Numbers of records, in any order, as text for JSON.

    >>> unpacked(packed([3, 4, 5, 900])).tolist()
    [3, 4, 5, 900]
    """
    bits = np.zeros(max(numbers, default=-1) + 1, dtype=np.uint8)
    bits[list(numbers)] = 1
    return b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode("ascii")


def unpacked(said: str | Sequence[int]) -> Numbers:
    """The numbers, in order; records of earlier versions have a list of them."""
    if not isinstance(said, str):
        return np.unique(np.array([*said], dtype=np.int64))
    try:
        found = np.frombuffer(zlib.decompress(b64decode(said, validate=True)), dtype=np.uint8)
    except zlib.error as error:
        raise ValueError(f"the numbers of the records left out: {error}") from error
    return np.flatnonzero(np.unpackbits(found)).astype(np.int64)


def left_out(redefined: Record) -> Numbers:
    """The numbers of the tells that a change of the space left out, in order."""
    with as_written(redefined):
        return unpacked((redefined.event or {}).get("outside", ()))  # those of earlier versions do not say


class Numbering:
    """Steps as they count now. `amending` are all records of a journal that amend others, in order."""

    def __init__(self, amending: Sequence[Record]) -> None:
        self._seqs = [0]
        self._counts = [0]  # how many tells did not count right after each of these records
        taken: set[int] = set()
        outside = NONE
        for each in amending:
            event: Mapping[str, Any] = each.event or {}
            if each.kind == "retracted":
                seq = event["record"]
                count = self._counts[-1] + (seq not in taken and not _among(seq, outside))
                taken.add(seq)
            elif each.kind == "redefined":
                outside = left_out(each)
                count = len(outside) + sum(not _among(seq, outside) for seq in taken)
            else:
                continue
            self._seqs.append(each.seq)
            self._counts.append(count)
        self._gone: Numbers = np.union1d(outside, np.fromiter(taken, dtype=np.int64, count=len(taken)))

    def earlier(self, seq: int) -> int:
        """How many steps earlier a record counts now than it did when it was written."""
        then = self._counts[bisect_left(self._seqs, seq) - 1]  # all of these are before it
        return int(np.searchsorted(self._gone, seq)) - then

    def now(self, record: Record) -> Record:
        """With the steps that count now, which are its times if none was told."""
        if record.step is None:
            return record
        earlier, event = self.earlier(record.seq), record.event or {}
        said = renumbered(event, record.step - earlier, earlier, timed=record.clock is not None)
        if record.kind == "told":
            return replace(record, step=said["step"], reason=said.get("reason", ""), event=said)
        said["reason"] = record.reason  # of a reset that was asked for: the caller's words
        return replace(record, step=said["step"], event=said)


def renumbered(event: Mapping[str, Any], step: int, earlier: int, *, timed: bool) -> dict[str, Any]:
    """An event at what is now `step`, so many `earlier`, as are those it names; and its time, if not told."""
    found = {**event, "step": step, **reworded(event, earlier, timed=timed)}
    if not timed and event.get("time") is not None:
        found["time"] = float(step)
    if event.get("outlier") is not None:
        found["outlier"] = max(1, event["outlier"] - earlier)
    return found


def reworded(event: Mapping[str, Any], earlier: int = 0, *, timed: bool) -> dict[str, Any]:
    """What an event says in words, with steps by so many earlier, and without times unless some were told."""
    found = _reworded(event, earlier, timed)
    if event.get("outcomes"):
        found["outcomes"] = {
            name: {**outcome, **_reworded(outcome, earlier, timed)}
            for name, outcome in event["outcomes"].items()
        }
    return found


def _reworded(said: Mapping[str, Any], earlier: int, timed: bool) -> dict[str, Any]:
    """The sentence and the change of an event, or of a constraint at one."""
    found: dict[str, Any] = {}

    def now(named: NamedSteps) -> NamedSteps:
        return (named if timed else NamedSteps(named.step, last=named.last)).earlier(earlier)

    sentence = _sentence(said) if earlier or not timed else ()
    if sentence:
        moved = with_steps(sentence, now)
        found = {"reason": in_words(moved), "sentence": sentence_to_json(moved)}
    if said.get("change"):
        change = found["change"] = dict(said["change"])
        change["step"] = max(1, change["step"] - earlier)
        if change.get("regime"):
            change["regime"] = [max(1, each - earlier) for each in change["regime"]]
        if not timed and change.get("time") is not None:
            change["time"] = float(change["step"])
    return found


def _sentence(said: Mapping[str, Any]) -> Sentence:
    """The parts of the sentence, if it names steps; events of earlier versions have what is known of them."""
    if "sentence" in said:
        return sentence_from_json(said["sentence"])
    if said.get("change"):
        known = {name: value for name, value in said["change"].items() if name in Change._fields}
        return sentence_about(Change(**known), said["statistic"])
    if said.get("outlier") not in (None, said.get("step")):
        return ("outlier at ", NamedSteps(said["outlier"]), ": the second look does not confirm it")
    return ()


def _among(number: int, ordered: Numbers) -> bool:
    place = int(np.searchsorted(ordered, number))
    return place < len(ordered) and int(ordered[place]) == number
