"""What is to be said of the constraints: what is believed of them, and how often they were broken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.constraints import constraint_to_json
from windvane.digits import estimate, number
from windvane.errors import WindvaneError
from windvane.moments import place_text
from windvane.optimizer import Optimizer
from windvane.spelling import plain
from windvane.storage import Record
from windvane.study.numbering import Numbering

Where = Callable[[Any], str]  # a point in words


@dataclass(frozen=True, kw_only=True)
class ConstraintReport:
    """A constraint, what is believed of it at the point that is believed best, and what came of it so far.

    `size` is the number of its values in use. `last_violation` and `last_reset`, that of its own model, say
    at which record (`seq`), step and time (`at`), and with which value at which point, or why.
    """

    name: str
    kind: str  # "at_most" or "at_least"
    limit: float
    unit: str
    size: int
    mean: float | None = None
    std: float | None = None
    probability: float | None = None
    violations: int
    last_violation: Mapping[str, Any] | None
    resets: int
    last_reset: Mapping[str, Any] | None


@dataclass(frozen=True)
class Retreat:
    """What is asked for while nothing is believed safe.

    `kind`: "safe" is the last setting that was measured to be safe, "start" one that the study began with,
    and "likeliest" the most likely to be safe of those that are looked at.
    """

    x: Any
    where: str
    kind: str


def believed(optimizer: Optimizer, x: Any, time: float | None = None) -> dict[str, dict[str, float]]:
    """Of each constraint at a point: mean, standard deviation, and the probability that it holds there."""
    chances = optimizer.feasibility([x], time)
    found = {}
    for name in optimizer.constraints:
        mean, std = optimizer.predict([x], time, of=name)
        found[name] = {"mean": float(mean[0]), "std": float(std[0]), "probability": float(chances[name][0])}
    return found


def reports(
    optimizer: Optimizer,
    x: Any,
    violations: Sequence[Record],
    resets: Sequence[Record],
    amending: Sequence[Record],
    sizes: Mapping[str, int],
    where: Where,
) -> tuple[ConstraintReport, ...]:
    """All constraints; `x` is the point believed best, None before the first tell.

    `violations` are the records of tells with a violation, `resets` of those with a reset of a constraint's
    model, and `amending` say that others count otherwise. `sizes`: how many values of each are in use.
    """
    told = believed(optimizer, x) if x is not None and optimizer.constraints else {}
    beyond = _as_they_count(violations, amending)
    gone = {each.event["record"] for each in amending if each.kind == "retracted" and each.event is not None}
    numbering, found = Numbering(amending), []
    for name, constraint in optimizer.constraints.items():
        broken = [record for record, names in beyond if name in names]
        renewed = [each for each in resets if name in each.outcome_resets and each.seq not in gone]
        spelt = constraint_to_json(constraint)
        found.append(
            ConstraintReport(
                name=name,
                kind="at_most" if "at_most" in spelt else "at_least",
                limit=constraint.limit,
                unit=constraint.unit,
                size=sizes.get(name, 0),
                **told.get(name, {}),
                violations=len(broken),
                last_violation=_violation(numbering.now(broken[-1]), name, where) if broken else None,
                resets=len(renewed),
                last_reset=_reset(numbering.now(renewed[-1]), name) if renewed else None,
            )
        )
    return tuple(found)


def sizes_of(recent: Sequence[Record], reset: int) -> dict[str, int]:
    """How many values of each constraint are in use, as the last tell of it said; `reset` is the number of
    the last record at which all of them were forgotten.
    """
    found: dict[str, int] = {}
    for record in recent:
        for name, outcome in ((record.event or {}).get("outcomes") or {}).items():
            found[name] = outcome.get("size", 1) if record.seq > reset else 0
    return found


def _as_they_count(
    violations: Sequence[Record], amending: Iterable[Record]
) -> list[tuple[Record, tuple[str, ...]]]:
    """The records at which there is a violation as values count now, oldest first, and of what."""
    found = {record.seq: (record, record.violated) for record in violations}
    for word in amending:
        if word.event is None or word.kind == "redefined":
            continue
        target, outcomes = word.event["record"], word.event.get("outcomes") or {}
        before = found.pop(target, None)
        names = tuple(name for name, outcome in outcomes.items() if outcome["violated"])
        if word.kind == "corrected" and names:
            step = time = told = None  # known only of what was beyond before
            if before is not None:
                step, time, told = before[0].step, (before[0].event or {}).get("time"), before[0].time
            event = {**word.event, "time": time}
            found[target] = (replace(word, seq=target, step=step, time=told, event=event), names)
    return [found[seq] for seq in sorted(found)]


def _at(record: Record) -> dict[str, Any]:
    time = (record.event or {}).get("time")
    return {"seq": record.seq, "step": record.step, "at": record.at, "time": time}


def _violation(record: Record, name: str, where: Where) -> dict[str, Any]:
    return _at(record) | {"value": record.outcomes[name], "x": plain(record.x), "where": where(record.x)}


def _reset(record: Record, name: str) -> dict[str, Any]:
    assert record.event is not None
    return _at(record) | {"reason": record.event["outcomes"][name]["reason"]}


def retreat(
    optimizer: Optimizer, last: Mapping[str, Any] | None, recent: Sequence[Record], start: Any, where: Where
) -> Retreat | None:
    """What is asked for next, if that is because nothing is believed safe; `last` is the event told last."""
    x = None if last is None else last.get("retreat")
    if x is None:
        return None
    space = optimizer.space

    def setting(point: Any) -> Array:
        chosen = np.setdiff1d(np.arange(space.dim), space.context_axes)
        return np.asarray(space.encode(point)[chosen])

    def same(point: Any) -> bool:
        if isinstance(point, Mapping) and isinstance(x, Mapping):
            point = {**x, **point}  # a start says nothing of contexts
        try:
            return bool(np.allclose(setting(point), setting(x)))
        except WindvaneError:
            return False

    there = [each for each in recent if each.outcomes and same(each.x)]
    kind = "start" if not there and any(map(same, start or ())) else "likeliest"
    kind = "safe" if there and not there[-1].violated else kind
    return Retreat(plain(x), where(x), kind)


# -- in sentences ------------------------------------------------------------------------------------------

RETREATS = {
    "safe": "the last setting that was measured to be safe",
    "start": "one of the settings it started from",
    "likeliest": "the setting that is most likely to be safe, of those it looks at",
}


def sentences(
    found: Sequence[ConstraintReport], safe: float | None, back: Retreat | None, last_retreat: int | None
) -> list[str]:
    """A line for each constraint, and one for what it means that they must be kept."""
    lines = [_about(one) for one in found]
    if found and safe is not None:
        least = number(safe)
        rule = f"Only points are asked for at which each constraint holds with a probability of {least}."
        if back is not None:
            rule += f" Nothing is believed safe; asking for {back.where}, {RETREATS[back.kind]}."
        elif last_retreat is not None:
            rule += f" The last time that nothing was believed safe was after step {last_retreat}."
        lines.append(rule)
    return lines


def _about(one: ConstraintReport) -> str:
    unit = one.unit and f" {one.unit}"
    side = "most" if one.kind == "at_most" else "least"
    text = f"{one.name} must be at {side} {number(one.limit, 6)}{unit}."
    if not one.size or one.mean is None or one.std is None or one.probability is None:
        text += " Nothing that was measured of it is in use."
    else:
        text += (
            f" At the point believed best it is {estimate(one.mean, one.std)}{unit}, and the limit holds "
            f"with a probability of {_share(one.probability)}."
        )
    text += f" {_violations(one, unit)}"
    if one.last_reset is not None:
        reset, count = one.last_reset, "once" if one.resets == 1 else f"{one.resets} times"
        why = " ".join(reset["reason"].split())
        place = place_text(reset["step"], reset["time"])
        text += f" What was known of it was reset {count}, last at {place}: {why}."
    return text


def _violations(one: ConstraintReport, unit: str) -> str:
    last = one.last_violation
    if last is None:
        return "It has never been beyond its limit."
    count = "once" if one.violations == 1 else f"{one.violations} times"
    when = f"record {last['seq']}" if last["step"] is None else place_text(last["step"], last["time"])
    when = when if one.violations == 1 else f"last at {when}"
    when = when if when.startswith("last") else f"at {when}"
    return f"It has been beyond its limit {count}, {when}: {number(last['value'])}{unit} at {last['where']}."


def _share(probability: float) -> str:
    """A percentage that does not say 100 % where it is not."""
    if probability > 0.9995:
        return "more than 99.9 %"
    if probability < 0.0005:
        return "less than 0.1 %"
    return f"{100.0 * math.floor(1000.0 * probability + 0.5) / 1000.0:.1f} %"
