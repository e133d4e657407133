"""The pieces that several figures share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.plots.style import BLACK, Look, text

QUARTILES = (25, 50, 75)


def quartiles(series: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Lower quartile, median and upper quartile at each step, over the runs that got so far.

    >>> [curve.tolist() for curve in quartiles([np.array([1.0, 2.0, 9.0]), np.array([3.0, 4.0])])]
    [[1.5, 2.5, 9.0], [2.0, 3.0, 9.0], [2.5, 3.5, 9.0]]
    """
    longest = max(map(len, series))
    padded = np.full((len(series), longest), np.nan)
    for row, values in zip(padded, series, strict=True):
        row[: len(values)] = values
    low, middle, high = np.nanpercentile(padded, QUARTILES, axis=0)
    return low, middle, high


def spread(panel: Any, label: str, series: Sequence[Array], look: Look) -> tuple[Array, Array, Array]:
    """The median over steps 1, 2, .. as a line, and the quartiles as a band if there are several runs."""
    low, middle, high = quartiles(series)
    steps = np.arange(1, len(middle) + 1)
    panel.plot(steps, middle, label=label, **look.line)
    if len(series) > 1:
        panel.fill_between(steps, low, high, color=look.colour, alpha=0.14, lw=0)
    return low, middle, high


def reset_ticks(panel: Any, resets: Mapping[str, Sequence[Any]], shades: Mapping[str, str]) -> None:
    """One dash per reset, one line per run, one band per algorithm, all bands of equal height."""
    for band, (name, runs) in enumerate(resets.items()):
        height = 0.8 / len(runs)
        panel.eventplot(
            [np.asarray(run, dtype=np.float64) for run in runs],
            lineoffsets=band - 0.4 + height * (np.arange(len(runs)) + 0.5),
            linelengths=0.85 * height,
            linewidths=1.3,
            colors=shades[name],
        )
    panel.set_yticks(range(len(resets)), list(resets), fontsize=text(8))
    panel.set_ylim(len(resets) - 0.45, -0.55)
    panel.tick_params(axis="y", length=0)


def change_lines(panels: Iterable[Any], changes: Sequence[float], label: str = "true change") -> None:
    """A dotted line through all panels wherever the objective truly changed."""
    for number, panel in enumerate(panels):
        for place, step in enumerate(changes):
            named = label if number == place == 0 else None
            panel.axvline(step, color=BLACK, lw=1.0, ls=(0, (1, 1.5)), zorder=0.5, label=named)


def beside(panel: Any, *named: Sequence[Any], **options: Any) -> None:
    """A legend right of its panel, where it hides nothing; of what is `named`, or of all."""
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False, "fontsize": text(8)}
    panel.legend(*named, **place, **{"handlelength": 1.6, **options})
