"""How records look in a notebook: small tables in HTML, all text escaped, colours inherited from the page.

`data` hands its records over and knows no HTML; so this module knows their fields and not their classes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np


def event(record: Any) -> str:
    """An `Event`: what was told, what had been predicted, and what was made of it."""
    if record.cause == "asked":
        rows = {"why": record.reason, "in use": "0 observations: all that came before is of the past"}
        return card(f"after step {record.step}: reset, asked for", rows, marked=True)
    spread = math.sqrt(record.std**2 + record.noise_variance)
    relation = ">" if record.statistic > record.threshold else "≤"
    tested = f"{record.statistic:.4g} {relation} {record.threshold:.4g}"
    heaviest = sorted(record.beliefs.items(), key=lambda belief: -belief[1])[:3]
    rows = {
        "x": shown(record.x),
        "y": f"{record.y:.6g}, where {record.mean:.4g} ± {spread:.2g} was predicted",
        "test": tested if record.monitored else f"{tested}, not monitored yet",
        "in use": f"{record.size} observation{'' if record.size == 1 else 's'}{', kept' * record.reset}",
        "why": record.reason,
        "beliefs": ", ".join(f"{name} {weight:.2f}" for name, weight in heaviest),
    }
    kinds = {"reset": record.reset, "set aside": record.set_aside, "outlier": record.outlier is not None}
    happened = ", ".join(kind for kind, so in kinds.items() if so)
    title = f"step {record.step}" + (f": {happened}" if happened else "")
    return card(title, {name: text for name, text in rows.items() if text}, marked=bool(happened))


def best(record: Any) -> str:
    """A `Best`."""
    rows = {"x": shown(record.x), "objective": f"{record.mean:.6g} ± {record.std:.2g}"}
    return card("best now", rows if record.steps is None else {**rows, "steps away": str(record.steps)})


def shown(x: Any) -> str:
    """A point in few characters.

    >>> shown(np.array([0.123456, 2.0])), shown({"gain": 0.5, "mode": "a"}), shown(7)
    ('[0.1235, 2]', 'gain=0.5, mode=a', 'arm 7')
    """
    if isinstance(x, Mapping):
        return ", ".join(f"{name}={_short(value)}" for name, value in x.items())
    if isinstance(x, np.ndarray | list | tuple):
        return "[" + ", ".join(_short(float(value)) for value in x) + "]"
    return f"arm {x}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def card(title: str, rows: Mapping[str, str], *, marked: bool = False) -> str:
    """A title and rows of a name and a text; `marked` gives it a coloured edge.

    >>> "a &lt; b" in card("step 1", {"why": "a < b"})
    True
    """
    cell = "padding:1px 10px 1px 0;text-align:left;vertical-align:top;background:none"
    lines = "".join(
        f'<tr style="background:none"><th style="{cell};opacity:0.7;font-weight:normal">{escape(name)}</th>'
        f'<td style="{cell}">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    edge = "#D55E00" if marked else "rgba(128,128,128,0.5)"
    frame = f"border-left:4px solid {edge};padding:2px 0 2px 12px;margin:4px 0"
    bare = "font-size:inherit;border-collapse:collapse;margin:2px 0;color:inherit;background:none"
    return f'<div style="{frame}"><b>{escape(title)}</b><table style="{bare}">{lines}</table></div>'
