"""The look of all figures, and the few kinds of panels they are made of.

Figures are made without pyplot: no window, no global state, nothing to close.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.results import Group, Results
from windvane.extras import require
from windvane.files import whole

EXTRA = "experiments"
# Okabe and Ito's palette: told apart by colour-blind readers too. An algorithm keeps its colour everywhere.
BLACK, GREY = "#000000", "#8c8c8c"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
NAVY = "#0B3C5D"
COLOURS = {
    "GP-UCB": GREY,
    "R-GP-UCB": ORANGE,
    "TV-GP-UCB": BLUE,
    "TV-GP-UCB + MLE": SKY,
    "UI-TVBO": GREEN,
    "ET-GP-UCB": VERMILION,
    "ET-GP-UCB + backtracking": PURPLE,
    "ET-GP-UCB [0.01, 0.05]": "#8a5a00",
    "ET-GP-UCB [0.001, 0.1]": "#b8860b",
    "always N_low": BLACK,
    "R-GP-UCB at ET's average": "#7a4b00",
    "IGP-UCB": GREY,
    "SW-GP-UCB": BLUE,
    "BR-GP-UCB": ORANGE,
    "W-GP-UCB": GREEN,
    "TuRBO trigger": "#4d4d4d",
    "random": "#c0c0c0",
}
SPARE = (VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
DASHES = {"random": (0, (1, 1)), "TV-GP-UCB + MLE": (0, (5, 1.5)), "ET-GP-UCB + backtracking": (0, (6, 1))}
BOLD = ("ET-GP-UCB", "ET-GP-UCB + backtracking")


def colour(label: str) -> str:
    """The colour of an algorithm; a stable one for names we do not know."""
    return COLOURS.get(label, SPARE[sum(label.encode()) % len(SPARE)])


def ramp(share: float) -> tuple[float, float, float]:
    """A colour for an ordered quantity, from dark blue at 0 to vermilion at 1."""
    stops = [[int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5)] for text in (NAVY, SKY, ORANGE, VERMILION)]
    places = np.linspace(0.0, 1.0, len(stops))
    red, green, blue = (float(np.interp(share, places, channel)) for channel in zip(*stops, strict=True))
    return red, green, blue


def sheet(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, rows x columns; `size` in inches."""
    figure = require("matplotlib.figure", EXTRA).Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=9)
    return figure, axes


def curves(
    panel: Any, groups: Mapping[str, Group], title: str = "", *, values: str = "curve", settle: int = 10
) -> None:
    """Median and quartiles over time, a line an algorithm; the axis ignores the first steps' spikes."""
    highest = 0.0
    for label, group in groups.items():
        series: Array = getattr(group, values)
        steps = np.arange(1, series.shape[1] + 1)
        low, middle, high = np.percentile(series, (25, 50, 75), axis=0)
        style = {"color": colour(label), "linestyle": DASHES.get(label, "-")}
        panel.plot(steps, middle, label=label, lw=2.2 if label in BOLD else 1.5, **style)
        panel.fill_between(steps, low, high, color=colour(label), alpha=0.14, lw=0)
        highest = max(highest, float(high[min(settle, len(high) // 2) :].max()))
    panel.set_ylim(0.0, 1.08 * highest or 1.0)
    panel.set_xlim(1, len(steps))
    panel.set_title(title, loc="left", fontsize=10)
    panel.grid(axis="y", lw=0.4, alpha=0.4)


def reset_strip(panel: Any, groups: Mapping[str, Group], most: int = 20) -> None:
    """A dash a reset, a line a run, a band an algorithm."""
    offset = 0
    middles = []
    for label, group in groups.items():
        shown = group.runs[:most]
        panel.eventplot(
            [run["resets"] for run in shown],
            lineoffsets=np.arange(len(shown)) + offset,
            linelengths=0.85,
            linewidths=0.9,
            colors=colour(label),
        )
        middles.append(offset + len(shown) / 2 - 0.5)
        offset += len(shown) + 3
    panel.set_yticks(middles, list(groups), fontsize=8)
    panel.set_ylim(offset - 2, -1.5)
    panel.tick_params(axis="y", length=0)


def boxes(panel: Any, groups: Sequence[tuple[str, Array]], places: Sequence[float], width: float) -> None:
    """A box with median and quartiles for each labelled sample; whiskers reach up to 1.5 boxes further."""
    drawn = panel.boxplot(
        [values for _, values in groups],
        positions=places,
        widths=width,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": BLACK, "lw": 1.3},
        flierprops={"marker": ".", "ms": 3, "mec": GREY},
    )
    for box, (label, _) in zip(drawn["boxes"], groups, strict=True):
        box.set(facecolor=colour(label), alpha=0.75, lw=0.6)
    for line in (*drawn["whiskers"], *drawn["caps"]):
        line.set(lw=0.8)
    panel.grid(axis="y", lw=0.4, alpha=0.4)


def clusters(panel: Any, results: Results) -> list[list[float]]:
    """R_T / T as boxes, a cluster a column and a colour a row; returns each row's places."""
    rows, columns = results.rows, results.columns
    width = 0.8 / len(rows)
    places = []
    for number, row in enumerate(rows):
        at = [place + (number - (len(rows) - 1) / 2) * width for place in range(len(columns))]
        boxes(panel, [(row, results[row, column].average) for column in columns], at, 0.85 * width)
        panel.bar(0, 0, color=colour(row), alpha=0.75, label=row)  # for the legend
        places.append(at)
    panel.set_xticks(range(len(columns)), columns)
    panel.set_xlim(-0.6, len(columns) - 0.4)
    panel.set_ylim(bottom=0.0)
    panel.set_ylabel("$R_T / T$")
    return places


def legend(figure: Any, panel: Any, columns: int = 4) -> None:
    """One legend for all panels, above them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside upper left", ncols=columns, frameon=False, fontsize=9, handlelength=2.2
    )


def save(figure: Any, folder: Path, name: str = "figure") -> list[Path]:
    """As .png for the screen and .pdf for print; the same figure gives the same bytes."""
    paths = [folder / f"{name}.png", folder / f"{name}.pdf"]
    with whole(paths[0]) as draft:
        figure.savefig(draft, dpi=130, metadata={"Software": None})
    with whole(paths[1]) as draft:
        figure.savefig(draft, metadata={"CreationDate": None})
    return paths
