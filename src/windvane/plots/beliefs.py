"""What a mixture believes over time, as a stacked area."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.data import Event
from windvane.hypothesis_names import CHANGED, MOVED, SEASON, SWING, by_present_name
from windvane.plots.panels import beside
from windvane.plots.style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW

SHOWN = 7  # hypotheses with a colour of their own
COLOURS = (BLUE, SKY, GREEN, YELLOW, ORANGE, PURPLE, "#222222")
CHANGE, LEVEL, OTHERS = "a sudden change", "a level that moved", "others"
PUT_TOGETHER = {  # how names begin that differ by a number
    CHANGED: CHANGE,
    MOVED: LEVEL,
    SEASON: "a season",
    SWING: "a season",
}


def weights(events: Sequence[Event]) -> dict[str, Array]:
    """The weight of each hypothesis over time, summing to 1 wherever something is believed.

    Sudden changes are one hypothesis, whenever they were, so are moves of the level, and so is a season while
    its period is refined; what weighs least on the whole is put together.

    >>> from types import SimpleNamespace
    >>> told = [{"static": 1.0}, {"static": 0.6, "changed at step 2": 0.3, "changed at step 1": 0.1}]
    >>> found = weights([SimpleNamespace(beliefs=each) for each in told])
    >>> {name: row.tolist() for name, row in found.items()}
    {'static': [1.0, 0.6], 'a sudden change': [0.0, 0.4]}
    """
    found: dict[str, Array] = {}
    for column, event in enumerate(events):
        for name, weight in by_present_name(event.beliefs).items():
            label = next((one for start, one in PUT_TOGETHER.items() if name.startswith(start)), name)
            found.setdefault(label, np.zeros(len(events)))[column] += weight
    ordinary = [name for name in found if name != CHANGE]
    heaviest = sorted(ordinary, key=lambda name: -float(found[name].sum()))[:SHOWN]
    kept = {name: found[name] for name in ordinary if name in heaviest}
    rest = [found[name] for name in ordinary if name not in heaviest]
    if rest:
        kept[OTHERS] = np.sum(rest, axis=0)
    if CHANGE in found:
        kept[CHANGE] = found[CHANGE]
    return kept


def stack(panel: Any, places: Array, events: Sequence[Event]) -> None:
    """The areas, and their names beside the panel from top to bottom."""
    found = weights(events)
    spare = iter(COLOURS)
    fixed = {CHANGE: VERMILION, OTHERS: GREY}
    shades = [fixed[name] if name in fixed else next(spare) for name in found]
    panel.stackplot(places, *found.values(), colors=shades, labels=list(found), alpha=0.85, lw=0)
    panel.set_ylim(0.0, 1.0)
    handles, labels = panel.get_legend_handles_labels()
    beside(panel, handles[::-1], labels[::-1], handlelength=1.2, labelspacing=0.3)
