"""The kinds of panels that figures of experiments are made of; their look is that of `windvane.plots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from windvane.checks import Array
from windvane.experiments.results import Group, Results
from windvane.plots.panels import reset_ticks, spread
from windvane.plots.style import BLACK, GREY, colour, look


def curves(
    panel: Any, groups: Mapping[str, Group], title: str = "", *, values: str = "curve", settle: int = 10
) -> None:
    """Median and quartiles over time, one line per algorithm; the axis ignores the first steps' spikes."""
    highest = 0.0
    for label, group in groups.items():
        series: Array = getattr(group, values)
        *_, high = spread(panel, label, list(series), look(label))
        highest = max(highest, float(high[min(settle, len(high) // 2) :].max()))
    panel.set_ylim(0.0, 1.08 * highest or 1.0)
    panel.set_xlim(1, series.shape[1])
    panel.set_title(title, loc="left", fontsize=10)
    panel.grid(axis="y", lw=0.4, alpha=0.4)


def reset_strip(panel: Any, groups: Mapping[str, Group], most: int = 20) -> None:
    """One dash per reset, one line per run, one band per algorithm."""
    resets = {label: [run["resets"] for run in group.runs[:most]] for label, group in groups.items()}
    reset_ticks(panel, resets, {label: colour(label) for label in groups})


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
    """R_T / T as boxes, one cluster per column and one colour per row; returns each row's places."""
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
