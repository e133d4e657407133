"""Why data were thrown away, what is believed now, and how far that can be trusted: in words and figures."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windvane import notebook
from windvane.checks import Array
from windvane.codec import decode
from windvane.data import Event
from windvane.hypothesis_names import step_of_change
from windvane.notebook import shown
from windvane.optimizer import Optimizer
from windvane.replay.account import Coverage, coverage_of
from windvane.spaces import Arms, Candidates
from windvane.spaces.base import Domain
from windvane.spelling import plain
from windvane.storage import Record, Summary
from windvane.study import wording
from windvane.study.limits import ConstraintReport, Retreat, reports, retreat, sizes_of
from windvane.study.promises import NO_ALARM, Promise, promise, two_sided
from windvane.triggers import BelievedChange, NoImprovement, Periodic, alarm
from windvane.unit_labels import units_of

RECENT = 50  # observations that calibration is judged by
FEWEST = 10  # of them, to say anything
LEVEL = 0.95
QUANTILE = 1.959964  # of the normal distribution, for that level
MOST_ARMS = 10_000  # for which the runner-up is looked up


@dataclass(frozen=True, kw_only=True)
class LastReset:
    """The last reset. `kind`: "alarm", "forced", "periodic", "no improvement", "asked", "belief" (a mixture).

    Of one that somebody asked for there is no observation, and what is about one is None or NaN.

    `expected` and `spread` are the mean and standard deviation of y as predicted before it was seen, noise
    included; `sigmas` is how many of the latter `seen` was off, and `p_value` the probability of being at
    least so far off, on either side, if nothing has changed and the model is right.
    """

    kind: str = "asked"
    step: int
    steps_ago: int
    time: float | None
    at: float
    x: Any = None
    expected: float = math.nan
    spread: float = math.nan
    seen: float = math.nan
    sigmas: float = math.nan
    p_value: float = math.nan
    statistic: float | None = None
    threshold: float | None = None
    elapsed: int
    kept: int
    reason: str
    beliefs: Mapping[str, float]  # right after it, of a model that weighs hypotheses
    false_alarm: Promise = NO_ALARM
    change: Mapping[str, Any] | None = None  # what is believed to have happened, as `Event.change` has it
    where: str = ""  # x in words


@dataclass(frozen=True)
class BelievedBest:
    """What is believed best now, under the contexts seen last, if there are any.

    `low` to `high` is the 95 % interval of the objective there, noise excluded.

    `beats` names the point that it is compared with, and `at_least` bounds from below the probability that it
    is better than that one, whatever the correlation between the two, if they are jointly normal: of a
    mixture of hypotheses that is roughly so. `steps` is how many moves it is away, if `max_step` limits them.
    """

    x: Any
    mean: float
    std: float
    low: float
    high: float
    beats: str | None
    at_least: float | None
    steps: int | None = None
    where: str = ""  # x in words


@dataclass(frozen=True)
class InUse:
    """The data that the model rests on; ages in steps, `span` and `oldest_time` in the caller's time."""

    size: int
    oldest_step: int | None
    oldest_age: int | None
    median_age: float | None
    span: float | None
    oldest_time: float | None = None


@dataclass(frozen=True)
class Explanation:
    """What `explain` found; `str()` of it is the text."""

    study: str
    algorithm: str
    goal: str
    tells: int
    resets: int
    pending: int
    failed: int
    reset: LastReset | None
    belief: BelievedBest | None
    data: InUse
    coverage: Coverage | None  # of the 95 % interval over the last observations, if there are enough
    half: Coverage | None  # of the 50 % interval: the other one cannot show too much caution in so few
    nearest: float | None  # the largest statistic / threshold lately, where the trigger was heeded
    set_aside: Mapping[str, Any] | None  # the event of an observation that awaits a second look
    outliers: tuple[Mapping[str, Any], ...]  # events lately at which one was found
    beliefs: Mapping[str, float]  # the weights of the hypotheses, if the model has any
    looked_at: int  # how many observations "lately" is
    follows: tuple[str, ...] = ()  # the contexts that the objective follows, as `Optimizer.follows` says
    amendments: tuple[Mapping[str, Any], ...] = ()  # values taken back or corrected, other spaces
    constraints: tuple[ConstraintReport, ...] = ()
    safe: float | None = None  # the probability with which each of them must hold
    retreat: Retreat | None = None  # what is asked for next, if that is because nothing is believed safe
    last_retreat: int | None = None  # after which step nothing was believed safe, the last time
    step_times: Mapping[int, float] = field(
        default_factory=dict
    )  # of the changes in `beliefs`, as they were told
    step_length: float | None = None  # of one step in `beliefs`, if times were told

    @property
    def text(self) -> str:
        """All of it in a few sentences."""
        return wording.text(self)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """For notebooks: the text, a paragraph for each of its parts."""
        title, *lines = self.text.splitlines()
        return notebook.paragraphs(title, lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        found: dict[str, Any] = dataclasses.asdict(self)
        for name in ("coverage", "half"):
            share: Coverage | None = getattr(self, name)
            found[name] = None if share is None else share._asdict()
        found["text"] = self.text
        return {name: _plain(value) for name, value in found.items()}


def explain(
    resets: Sequence[Record],
    recent: Sequence[Record],
    optimizer: Optimizer,
    summary: Summary,
    amending: Sequence[Record] = (),
    violations: Sequence[Record] = (),
    outcome_resets: Sequence[Record] = (),
) -> Explanation:
    """In words and figures: the last reset and why, what is believed best now, and how sure that is.

    `resets` are the records of resets, of which the last one counts; with amendments all of them. `recent`
    are the last records of tells, in order; `optimizer` is only looked at. `amending` are the records that
    say that others count otherwise. `violations` and `outcome_resets` are those of tells with a constraint
    beyond its limit, and with a reset of the model of one.
    """
    events = [record.event for record in recent if record.event is not None]
    last = max(resets, key=lambda record: record.seq, default=None)
    reset = None if last is None or last.event is None else _reset(last, last.event, optimizer)
    told = optimizer.last_time is not None
    belief = _belief(optimizer, events[-1] if events else None) if told else None
    residuals = _residuals(events, optimizer)
    since = [each.seq for each in (*amending[-1:], *([last] if last is not None else []))]
    current = bool(recent) and recent[-1].seq >= max(since, default=0)  # what it said still holds
    timed = not amending or any(record.clock is not None for record in recent)
    times = _times(optimizer, timed)
    start = decode(summary.definition.get("options", {}).get("start"))

    def where(x: Any) -> str:
        return _where(x, optimizer.space)

    return Explanation(
        study=summary.name,
        algorithm=summary.algorithm,
        goal=summary.goal,
        tells=summary.tells,
        resets=len(resets) if amending else summary.resets,
        pending=summary.pending,
        failed=summary.failed,
        reset=reset,
        belief=belief,
        data=_in_use(optimizer, times),
        coverage=None if residuals is None else coverage_of(residuals, LEVEL),
        half=None if residuals is None else coverage_of(residuals, 0.5),
        nearest=_nearest(events, optimizer.composition.window.low),
        set_aside=events[-1] if events and optimizer.second_look else None,
        outliers=tuple(event for event in events if event["outlier"] is not None),
        beliefs=optimizer.beliefs if events else {},
        looked_at=len(events),
        follows=optimizer.follows(),
        amendments=tuple(map(_amendment, amending)),
        constraints=reports(
            optimizer,
            None if belief is None else optimizer.best(context=optimizer.last_context).x,
            violations,
            outcome_resets,
            amending,
            sizes_of(recent, last.seq if last is not None and last.kind == "reset" else 0),
            where,
        ),
        safe=optimizer.safe,
        retreat=retreat(optimizer, events[-1] if current else None, recent, start, where),
        last_retreat=summary.last_retreat,
        step_times=_changes(optimizer, times) if events else {},
        step_length=_step_length(optimizer, times),
    )


# -- figures -----------------------------------------------------------------------------------------------


def _spread(event: Mapping[str, Any]) -> float:
    return math.hypot(event["std"], math.sqrt(event["noise_variance"]))


def _sigmas(event: Mapping[str, Any]) -> float:
    off, spread = event["y"] - event["mean"], _spread(event)
    if off == 0.0:
        return 0.0
    return off / spread if spread > 0.0 else math.copysign(math.inf, off)


def _amendment(record: Record) -> dict[str, Any]:
    event = record.event or {}
    found: dict[str, Any] = {"kind": record.kind, "seq": record.seq, "at": record.at, "reason": record.reason}
    found |= {"undone": len(event["undone"]), "new": len(event["new"])}
    if record.kind == "redefined":
        return {**found, "left_out": event["left_out"]}
    value = record.y if record.kind == "corrected" else None
    found["outcomes"] = event.get("outcomes") or {}
    return {**found, "trial": record.trial, "record": event["record"], "was": event["was"], "y": value}


def _reset(record: Record, event: Mapping[str, Any], optimizer: Optimizer) -> LastReset:
    same = ("step", "time", "elapsed", "kept", "reason", "beliefs")
    asked = LastReset(
        steps_ago=max(0, optimizer.step - 1 - event["step"]),
        at=record.at,
        **{name: event[name] for name in same},
    )
    if event.get("cause") == "asked":
        return asked
    sigmas, spread, kind = _sigmas(event), _spread(event), _kind(event, optimizer)
    tested = {name: event[name] for name in ("statistic", "threshold")}
    promised = NO_ALARM
    if kind != "forced":
        promised = promise(optimizer, elapsed=event["elapsed"], spread=spread, **tested)
    return dataclasses.replace(
        asked,
        kind=kind,
        x=plain(event["x"]),
        expected=event["mean"],
        spread=spread,
        seen=event["y"],
        sigmas=sigmas,
        p_value=two_sided(sigmas),
        **tested,
        false_alarm=promised,
        change=event.get("change"),
        where=_where(event["x"], optimizer.space),
    )


def _kind(event: Mapping[str, Any], optimizer: Optimizer) -> str:
    if _cause(event, optimizer) == "forced":
        return "forced"
    trigger = alarm(optimizer.composition.trigger)
    if isinstance(trigger, Periodic):
        return "periodic"
    if isinstance(trigger, NoImprovement):
        return "no improvement"
    return "belief" if isinstance(trigger, BelievedChange) else "alarm"


def _cause(event: Mapping[str, Any], optimizer: Optimizer) -> str:
    """Of a reset, as events of earlier versions do not say it: what the reset window makes of the test."""
    if "cause" in event:
        return str(event["cause"])
    said = Event.from_dict(event)
    fired = said.monitored and said.statistic > said.threshold
    return optimizer.composition.window.decide(fired, said.elapsed)


def _belief(optimizer: Optimizer, last: Mapping[str, Any] | None) -> BelievedBest:
    best = optimizer.best(context=optimizer.last_context)
    half = QUANTILE * best.std
    rival = _rival(optimizer, best.x, last)
    name, at_least = None, None
    if rival is not None:
        name, mean, std = rival
        better = best.mean - mean if optimizer.goal == "maximize" else mean - best.mean
        if better >= 0.0 and best.std + std > 0.0:
            # the difference has a standard deviation of at most the sum of the two
            at_least = 1.0 - 0.5 * math.erfc(better / (best.std + std) / math.sqrt(2.0))
        else:
            name = None
    return BelievedBest(
        x=plain(best.x),
        mean=best.mean,
        std=best.std,
        low=best.mean - half,
        high=best.mean + half,
        beats=name,
        at_least=at_least,
        steps=best.steps,
        where=_where(best.x, optimizer.space),
    )


def _where(x: Any, space: Domain) -> str:
    """A point in words; a candidate with its setting."""
    if isinstance(space, Candidates):
        return f"candidate {x} ({shown(space.row(x))})"
    return shown(np.array(x) if isinstance(x, list) else x, units_of(space))


def _rival(
    optimizer: Optimizer, best: Any, last: Mapping[str, Any] | None
) -> tuple[str, float, float] | None:
    """What the best is compared with: the runner-up among arms, else the point told last, if another."""
    space = optimizer.space
    if isinstance(space, Arms | Candidates):
        if not 1 < space.size <= MOST_ARMS:
            return None
        others = [arm for arm in range(space.size) if arm != best]
        means, stds = optimizer.predict(others)
        order = np.argmax(means) if optimizer.goal == "maximize" else np.argmin(means)
        second = _where(others[int(order)], space)
        return f"the runner-up, {second}", float(means[order]), float(stds[order])
    if last is None:
        return None
    x = np.array(last["x"]) if isinstance(last["x"], list) else last["x"]
    if np.allclose(space.encode(x), space.encode(best)):
        return None
    means, stds = optimizer.predict([x])
    return f"the point told last, {_where(x, space)}", float(means[0]), float(stds[0])


def _times(optimizer: Optimizer, timed: bool) -> dict[int, float]:
    """The times of the observations in use as they were told, by step; empty if they cannot be known.

    Where none was told they are the steps, though the model has gaps where values were taken back.
    """
    data, last = optimizer.data, optimizer.last_time
    if not timed:
        return {step: float(step) for step in data.steps.tolist()}
    if last is None or not len(data) or data.steps[-1] != optimizer.step - 1:  # the last is not in use
        return {}
    told = last - (data.times[-1] - data.times)
    return dict(zip(data.steps.tolist(), told.tolist(), strict=True))


def _changes(optimizer: Optimizer, times: Mapping[int, float]) -> dict[int, float]:
    """When what hypotheses believe in happened, of those steps that their names have in them."""
    named = {step_of_change(name) for name in optimizer.beliefs}
    return {step: time for step, time in times.items() if step in named}


def _step_length(optimizer: Optimizer, times: Mapping[int, float]) -> float | None:
    """How long a step of the hypotheses is; None where nobody told a time."""
    interval: float | None = getattr(optimizer.model, "interval", None)  # if its hypotheses count in steps
    return None if all(step == time for step, time in times.items()) else interval


def _in_use(optimizer: Optimizer, times: Mapping[int, float]) -> InUse:
    data = optimizer.data
    if not len(data):
        return InUse(0, None, None, None, None)
    ages = optimizer.step - 1 - data.steps
    oldest = int(data.steps.min())
    span = float(data.times.max() - data.times.min())
    return InUse(len(data), oldest, int(ages.max()), float(np.median(ages)), span, times.get(oldest))


def _residuals(events: Sequence[Mapping[str, Any]], optimizer: Optimizer) -> Array | None:
    """Of the last observations; the very first is left out where its scale was not known yet."""
    scored = [event for event in events if event["step"] > 1 or not optimizer.composition.rescale][-RECENT:]
    return np.array([_sigmas(event) for event in scored]) if len(scored) >= FEWEST else None


def _nearest(events: Sequence[Mapping[str, Any]], earliest: int) -> float | None:
    shares = [
        event["statistic"] / event["threshold"]
        for event in events
        if event["monitored"] and event["elapsed"] >= earliest and not event["set_aside"]
        if not event["reset"]  # where there was one that is undone now
        if event["statistic"] is not None and (event["threshold"] or 0.0) > 0.0
    ]
    return max(shares, default=None)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else plain(value)
