"""How records look in a notebook: small tables in HTML, all text escaped, colours inherited from the page.

`data` hands its records over and knows no HTML; so this module knows their fields and not their classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import Any

import numpy as np

from windvane.digits import estimate, number
from windvane.moments import utc
from windvane.unit_labels import units_of


def event(record: Any) -> str:
    """An `Event`: what was told, what had been predicted, and what was made of it."""
    if record.cause == "asked":
        rows = {"why": record.reason, "in use": "0 observations: nothing told before is used any more"}
        return card(f"after step {record.step}: reset, asked for", rows, marked=True)
    spread = math.sqrt(record.std**2 + record.noise_variance)
    relation = ">" if record.statistic > record.threshold else "≤"
    tested = f"{number(record.statistic)} {relation} {number(record.threshold)}"
    heaviest = sorted(record.beliefs.items(), key=lambda belief: -belief[1])[:3]
    rows = {
        "x": shown(record.x),
        "y": f"{number(record.y, 6)}, where {estimate(record.mean, spread)} was predicted",
        "test": tested if record.monitored else f"{tested}, not monitored yet",
        "in use": f"{record.size} observation{'' if record.size == 1 else 's'}{', kept' * record.reset}",
        **{f"constraint {name}": _outcome(outcome) for name, outcome in record.outcomes.items()},
        "why": record.reason,
        "next": "" if record.retreat is None else f"{shown(record.retreat)}: nothing is believed safe",
        "beliefs": ", ".join(f"{name} {weight:.2f}" for name, weight in heaviest),
    }
    broken = f"{' and '.join(record.violated)} beyond the limit"
    kinds = {
        broken: bool(record.violated),
        "reset": record.reset,
        "set aside": record.set_aside,
        "outlier": record.outlier is not None,
    }
    happened = ", ".join(kind for kind, so in kinds.items() if so)
    title = f"step {record.step}" + (f": {happened}" if happened else "")
    return card(title, {name: text for name, text in rows.items() if text}, marked=bool(happened))


def _outcome(outcome: Any) -> str:
    """What was told of a constraint, and what had been predicted."""
    verdict = "BEYOND THE LIMIT" if outcome.violated else "within the limit"
    believed = f"{estimate(outcome.mean, outcome.std)} was predicted, within with {outcome.probability:.2g}"
    text = f"{number(outcome.value, 6)}, {verdict}, where {believed}"
    return f"{text}; what was known of it was reset: {outcome.reason}" if outcome.reset else text


def best(record: Any) -> str:
    """A `Best`."""
    rows = {"x": shown(record.x), "objective": estimate(record.mean, record.std)}
    if record.feasible is not None:
        rows["constraints"] = f"all hold with probability {record.feasible:.3g}"
    return card("best now", rows if record.steps is None else {**rows, "steps away": str(record.steps)})


def space(name: str, rows: Mapping[str, Any]) -> str:
    """A space: each parameter with its range and its unit."""
    return card(name, {str(key): parameter_text(each) for key, each in rows.items()})


def parameter_text(parameter: Any) -> str:
    """The values of a parameter in words."""
    values = parameter.values
    seen = "context, observed: " if values is not parameter else ""
    if hasattr(values, "options"):
        return f"{seen}one of {', '.join(map(str, values.options))}"
    unit = f" {values.unit}" if values.unit else ""
    more = f", in steps of {values.step:g}" if getattr(values, "step", None) is not None else ""
    whole = "whole numbers, " if isinstance(values.lo, int) else ""
    return f"{seen}{whole}{values.lo:g} to {values.hi:g}{unit}{more}{', log scale' if values.log else ''}"


def optimizer(record: Any) -> str:
    """An optimiser: where it stands, what it believes best, and what it believes about time."""
    told = record.last_time is not None
    found = record.best(context=record.last_context) if told else None
    heaviest = sorted(record.beliefs.items(), key=lambda belief: -belief[1])[:3] if told else []
    units = units_of(record.space)
    rows = {
        "space": _space_text(record.space),
        "goal": record.goal,
        "told": _told(record.step - 1, record.size),
        "best now": "" if found is None else f"{shown(found.x, units)}: {estimate(found.mean, found.std)}",
        "beliefs": ", ".join(f"{name} {weight:.2f}" for name, weight in heaviest),
    }
    return card(record.composition.name, {name: text for name, text in rows.items() if text})


def _space_text(given: Any) -> str:
    """A space in few words: its parameters if they have names, else what it is."""
    named = getattr(given, "parameters", ())
    return "; ".join(f"{name}: {parameter_text(each)}" for name, each in named) or str(given)


def _told(count: int, size: int) -> str:
    return f"{count} observation{'' if count == 1 else 's'}, of which {size} in use"


def summary(record: Any, path: str = "") -> str:
    """A `Summary` of a study."""
    last = f", the last at step {record.last_reset}" if record.last_reset is not None else ""
    rows = {
        "algorithm": f"{record.algorithm}, {record.goal}",
        "created": utc(record.created),
        "told": _told(record.tells, record.size),
        "resets": f"{record.resets}{last}",
        "trials": f"{record.pending} outstanding, {record.failed} failed",
        "violations": f"{record.violations} of a limit" if record.violations else "",
        "last record": "" if record.last_at is None else utc(record.last_at),
        "database": path,
    }
    return card(f"study {record.name}", {name: text for name, text in rows.items() if text})


def paragraphs(title: str, lines: Sequence[str]) -> str:
    """A title and sentences beneath.

    >>> "1 &lt; 2" in paragraphs("a study", ["1 < 2"])
    True
    """
    said = "".join(f'<p style="margin:4px 0">{escape(each)}</p>' for each in lines)
    frame = "border-left:4px solid rgba(128,128,128,0.5);padding:2px 0 2px 12px;margin:4px 0;max-width:60em"
    return f'<div style="{frame}"><b>{escape(title)}</b>{said}</div>'


def shown(x: Any, units: Mapping[str, str] = MappingProxyType({})) -> str:
    """A point in few characters; `units` by the names of parameters.

    >>> shown(np.array([0.123456, 2.0])), shown({"gain": 0.5, "mode": "a"}), shown(7)
    ('[0.1235, 2]', 'gain=0.5, mode=a', 'arm 7')
    >>> shown({"gain": 0.5, "taps": 4}, {"gain": "dB"})
    'gain=0.5 dB, taps=4'
    """
    if isinstance(x, Mapping):
        return ", ".join(f"{name}={_short(value)}{_unit(units.get(name))}" for name, value in x.items())
    if isinstance(x, np.ndarray | list | tuple):
        return "[" + ", ".join(_short(float(value)) for value in x) + "]"
    return f"arm {x}"


def _unit(unit: str | None) -> str:
    return f" {unit}" if unit else ""


def _short(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)


def card(title: str, rows: Mapping[str, str], *, marked: bool = False) -> str:
    """A title and rows of a name and a text; `marked` gives it a coloured edge.

    >>> "a &lt; b" in card("step 1", {"why": "a < b"})
    True
    """
    cell = "padding:1px 10px 1px 0;text-align:left;vertical-align:top;background:none"
    head = f"{cell};opacity:0.7;font-weight:normal;white-space:nowrap"
    lines = "".join(
        f'<tr style="background:none"><th style="{head}">{escape(name)}</th>'
        f'<td style="{cell}">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    edge = "#D55E00" if marked else "rgba(128,128,128,0.5)"
    frame = f"border-left:4px solid {edge};padding:2px 0 2px 12px;margin:4px 0"
    bare = "font-size:inherit;border-collapse:collapse;margin:2px 0;color:inherit;background:none"
    return f'<div style="{frame}"><b>{escape(title)}</b><table style="{bare}">{lines}</table></div>'
