"""Whether a study that was written to under fire is what it would be had nothing happened.

What the writers logged is the one witness, and the other is a twin: a plain optimiser, made by
`windvane.make`, that is told the journal's observations in one go and never saw a database.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import windvane as wv
from windvane.storage import Record
from windvane.study import Study

BESIDE = 64  # a trial keeps away from that many others
ANSWERS = ("told", "failed")
KIND = {
    "ask": "asked",
    "tell": "told",
    "add": "told",
    "fail": "failed",
    "reset": "reset",
    "retract": "retracted",
    "correct": "corrected",
}
AMENDING = ("retracted", "corrected")


def faults(study: Study, twin: wv.Optimizer, lines: list[list[dict[str, Any]]]) -> list[str]:
    """What is wrong, in words; nothing if all is well. `lines` are the logs of the writers."""
    records = study.events()
    found = [*_order(study, records), *_witnessed(study.name, records, lines), *_same(study, records, twin)]
    return [f"{study.name}: {fault}" for fault in found]


def tally(study: str, lines: list[list[dict[str, Any]]], records: list[Record]) -> dict[str, int]:
    """How much was at stake."""
    wishes, done = _read(study, lines)
    kept = {record.key for record in records}
    told = [key for key in done if KIND[wishes[key]["verb"]] == "told"]
    kinds = Counter(record.kind for record in records)
    return {
        "records": len(records),
        "acknowledged": len(done),
        "tells acknowledged": len(told),
        "written, not acknowledged": sum(
            line.get("written", False) for log in lines for line in log if line.get("takes over") in wishes
        ),
        "lost": sum(key not in kept for key in told),
        "twice": sum(count > 1 for count in Counter(r.key for r in records if r.kind == "told").values()),
        "failed": kinds["failed"],
        "expired": kinds["expired"],
        "resets": sum(record.reset for record in records),
        "resets asked for": kinds["reset"],
        "amended": sum(kinds[kind] for kind in AMENDING),
    }


def _read(study: str, lines: list[list[dict[str, Any]]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was begun, and what was acknowledged, by key."""
    wishes = {line["key"]: line for log in lines for line in log if line.get("study") == study}
    done = {line["done"]: line for log in lines for line in log if line.get("done") in wishes}
    return wishes, done


def _order(study: Study, records: list[Record]) -> list[str]:
    """The journal has no gap, nothing is answered twice, and the counters say what it says."""
    found = []
    if [record.seq for record in records] != list(range(1, len(records) + 1)):
        found.append("the journal has gaps")
    answers = Counter(r.trial for r in records if r.kind in ANSWERS and r.trial is not None)
    found += [f"trial {trial} was answered {n} times" for trial, n in answers.items() if n > 1]
    asked = [record.trial for record in records if record.kind == "asked"]
    if asked != list(range(1, len(asked) + 1)):
        found.append("the trials are not numbered one by one")
    kinds = Counter(record.kind for record in records)
    over = {r.trial for r in records if r.kind != "asked"}
    resets = [record.step for record in records if record.reset]
    sizes = [record.event["size"] for record in records if record.event and "size" in record.event]
    counted = {
        "head": len(records),
        "trials": kinds["asked"],
        "tells": kinds["told"],
        "failed": kinds["failed"],
        "resets": len(resets),
        "pending": len(set(asked) - over),
        "last_reset": resets[-1] if resets else None,
        "last_at": records[-1].at if records else None,
        "size": sizes[-1] if sizes else 0,
    }
    summary = study.database.find(study.name)  # as it is kept, with trials whose time is up
    for name, value in counted.items():
        if getattr(summary, name) != value:
            found.append(f"{name} is {getattr(summary, name)}, and {value} by the journal")
    return found


def _witnessed(study: str, records: list[Record], lines: list[list[dict[str, Any]]]) -> list[str]:
    """Everything acknowledged is there once, as it was; and nothing is there that nobody wanted."""
    wishes, done = _read(study, lines)
    kept: dict[str, list[Record]] = {}
    for record in records:
        if record.key is not None:
            kept.setdefault(record.key, []).append(record)
        elif record.kind != "expired":
            kept.setdefault("", []).append(record)
    found = []
    for key, answer in done.items():
        there = kept.get(key, [])
        if len(there) != 1:
            found.append(f"{key}: acknowledged, and {len(there)} times in the journal")
        elif any(getattr(there[0], name) != answer[name] for name in ("seq", "trial", "x") if name in answer):
            found.append(f"{key}: acknowledged as {answer}, recorded as {there[0].as_dict()}")
    for key, there in kept.items():
        wish = wishes.get(key)
        if wish is None:
            found.append(f"{key!r}: in the journal, and nobody wanted it")
        elif there[0].kind != KIND[wish["verb"]] or any(
            getattr(there[0], name) != wish[name] for name in ("x", "y", "trial", "time") if name in wish
        ):
            found.append(f"{key}: wanted {wish}, recorded {there[0].as_dict()}")
    return found


def _same(study: Study, records: list[Record], twin: wv.Optimizer) -> list[str]:
    """The twin gives the same events and the same points, to the last bit, up to the next one."""
    found: list[str] = []
    pending: dict[int, Any] = {}
    start = twin.state()
    right: dict[int, float | None] = {}
    for record in records:
        if record.kind in AMENDING and record.event is not None:
            right[record.event["record"]] = record.y if record.kind == "corrected" else None
            twin = _afresh(start, records[: record.seq], right)
        time = _not_before(record, twin)
        if record.kind == "asked":
            point = twin.ask(time=time, pending=list(pending.values())[-BESIDE:])
            if _plain(point) != record.x:
                found.append(f"record {record.seq}: asked {record.x}, the twin {_plain(point)}")
            pending[record.trial or 0] = record.x
        else:
            pending.pop(record.trial or 0, None)
        if record.kind == "failed":
            twin.fail(record.x, reason=record.reason)
        if record.kind == "reset" and twin.reset(record.reason).as_dict() != record.event:
            found.append(f"record {record.seq}: the reset is not the twin's")
        if record.kind == "told" and record.event is not None:
            event = twin.tell(record.x, record.y or 0.0, time).as_dict()
            if event != record.event:
                odd = [name for name in event if event[name] != record.event.get(name)]
                apart = {name: (record.event.get(name), event[name]) for name in odd}
                found.append(f"record {record.seq}: {odd} are not the twin's: {apart}")
    late = {trial.number for trial in study.pending()}
    beside = [x for number, x in pending.items() if number in late][-BESIDE:]
    if study.ask().x != (wanted := _plain(twin.ask(pending=beside))):
        found.append(f"the next point is not the twin's, {wanted}")
    return found


def _not_before(record: Record, twin: wv.Optimizer) -> float | None:
    if record.time is None or twin.last_time is None:
        return record.time
    return max(record.time, twin.last_time)


def _afresh(start: dict[str, Any], records: list[Record], right: dict[int, float | None]) -> wv.Optimizer:
    """A twin that is told the right values from the beginning."""
    twin = wv.restore(start)
    for record in records:
        if record.kind == "told" and record.event is not None:
            y = right.get(record.seq, record.y)
            time = record.event["time"] if record.time is None else _not_before(record, twin)
            if y is not None:
                twin.tell(record.x, y, time)
        elif record.kind == "failed":
            twin.fail(record.x, reason=record.reason)
        elif record.kind == "reset":
            twin.reset(record.reason)
    return twin


def _plain(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else x
