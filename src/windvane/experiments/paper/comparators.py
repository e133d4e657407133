"""The paper's conclusion: comparators that are fixed within windows, in place of the best point of each step.

Against the best point of every window of L steps the regret is R_T less what that point loses to the best
point of each step. The latter depends on the objective alone. So the runs of Table 1 answer for every L, and
the difference between two algorithms is the same for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, judged, mean_and_error, mean_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.paper import table1
from windvane.experiments.paper.comparison import against, beats
from windvane.experiments.paper.rates import COLUMNS, HORIZON, RATES, column, objective
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import call
from windvane.plots.style import BLACK, legend, look, sheet

WINDOWS = (1, 5, 10, 25, 50, 100, 200, HORIZON)
LOSS = "comparators"
ROWS = ("GP-UCB", "R-GP-UCB", "TV-GP-UCB", "UI-TVBO", "ET-GP-UCB", *table1.BEYOND)
ADAPTIVE, RIGID = "ET-GP-UCB", ("GP-UCB", "R-GP-UCB")


def cells(setting: Setting) -> list[Cell]:
    """The runs of Table 1 with the right rate, and what fixed points lose on its objectives."""
    shared = [cell for cell in table1.cells(setting) if cell.row in ROWS and cell.column in COLUMNS]
    measure = call("comparators", windows=WINDOWS)
    losses = [Cell(LOSS, column(rate), objective(rate), call("random"), measure=measure) for rate in RATES]
    return shared + losses


def per_step(results: Results, row: str, name: str, window: int) -> Array:
    """The regret per step against points that are fixed within windows, of each run."""
    loss = np.array([run[f"loss {window}"][0] for run in results[LOSS, name].runs])
    return results[row, name].average - loss / HORIZON


def table(results: Results) -> TextTable:
    """A row an algorithm and rate, a column a length of the windows."""
    rows = []
    for name in COLUMNS:
        for row in ROWS:
            figures = [mean_and_error(per_step(results, row, name, window)) for window in WINDOWS]
            shown = [f"{middle:+.3f} ± {error:.3f}" for middle, error in figures]
            rows.append((name, row, *shown))
    return TextTable(
        ("rate", "algorithm", *(f"L = {window}" for window in WINDOWS)),
        rows,
        (
            f"Regret a step against the best point of every window of L steps, mean of {results.runs} runs ± "
            "standard error; L = 1 is the dynamic regret of the other tables. Below 0 an algorithm gains "
            "more than the best point that is chosen afterwards and stays. The paper shows no such figures.",
        ),
    )


def figure(results: Results) -> Any:
    """Over the length of the windows, one panel per rate."""
    page, axes = sheet(1, len(COLUMNS), (13.0, 4.4), sharey=True)
    for panel, name in zip(axes[0], COLUMNS, strict=True):
        for row in ROWS:
            means = [per_step(results, row, name, window).mean() for window in WINDOWS]
            panel.plot(WINDOWS, means, marker="o", ms=3, label=row, **look(row).line)
        panel.axhline(0.0, color=BLACK, lw=0.8, ls=":")
        panel.set_xscale("log")
        panel.set_xticks(WINDOWS, [str(window) for window in WINDOWS])
        panel.minorticks_off()
        panel.set_title(name, loc="left", fontsize=10)
        panel.set_xlabel("steps for which the comparator is fixed, L")
        panel.grid(axis="y", lw=0.4, alpha=0.4)
    axes[0, 0].set_ylabel("regret per step against it")
    legend(page, axes[0, 0], columns=len(ROWS))
    return page


def claims(results: Results) -> list[Claim]:
    """What the conclusion hopes for."""
    lead = {name: per_step(results, ADAPTIVE, name, HORIZON) for name in COLUMNS}
    return [
        judged(
            "Against comparators that are fixed within windows adaptive resets are beneficial: ET-GP-UCB "
            "loses less to them than GP-UCB and R-GP-UCB.",
            beats(results, ADAPTIVE, RIGID, COLUMNS),
            f"{against(results, ADAPTIVE, RIGID, COLUMNS)} at L = 1; the difference is the same for every L",
        ),
        judged(
            "It gains more than the best point that stays for the whole run.",
            [mean_of(values).below(0.0) for values in lead.values()],
            "regret per step against it: "
            + ", ".join(f"{values.mean():+.3f} ({name})" for name, values in lead.items()),
        ),
    ]
