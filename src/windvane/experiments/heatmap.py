"""The ratios to the best as a heat map: tasks x algorithms, a number in every cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments import figures
from windvane.experiments.figures import EXTRA
from windvane.experiments.leaderboard import Leaderboard
from windvane.extras import require

PALETTE = "Blues"  # one hue whose lightness falls steadily, so colour-blind readers lose nothing
DARKEST = 10.0  # ratios beyond have the same colour; their numbers differ
WHITE_INK_FROM = 5.2  # where black and white stand out equally
TICKS = (1, 1.5, 2, 3, 5, 10)
GAP = 0.3  # rows between the tasks and their summary
SUMMARY = "worst of all tasks"


def shown(ratio: float) -> str:
    """At most four characters.

    >>> [shown(ratio) for ratio in (1.0, 1.034, 9.996, 12.3, 1234.5, math.inf)]
    ['1.00', '1.03', '10.0', '12.3', '1234', '∞']
    """
    if math.isinf(ratio):
        return "∞"
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def figure(board: Leaderboard, bold: Sequence[str] = ()) -> Any:
    """A row a task and, apart from them, the worst ratio; a column an algorithm, from first to last.

    The names of `bold` algorithms stand out.
    """
    names, tasks = [standing.algorithm for standing in board.standings], board.tasks
    ratios = np.array([[board.line(name, task).ratio for name in names] for task in tasks])
    worst = np.array([[standing.worst_ratio for standing in board.standings]])
    width = 0.075 * max(map(len, (*tasks, SUMMARY))) + 0.52 * len(names) + 1.2
    height = 0.27 * (len(tasks) + 1) + 0.055 * max(map(len, names)) + 1.0
    page, axes = figures.sheet(1, 1, (max(width, 5.0), height))
    panel = axes[0, 0]
    image = _cells(panel, ratios, top=0.0)
    _cells(panel, worst, top=len(tasks) + GAP, best=False)
    panel.set_xlim(0, len(names))
    panel.set_ylim(len(tasks) + GAP + 1.0, 0)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    panel.set_yticks([*(np.arange(len(tasks)) + 0.5), len(tasks) + GAP + 0.5], [*tasks, SUMMARY], fontsize=9)
    panel.xaxis.tick_top()
    panel.set_xticks(
        np.arange(len(names)) + 0.5, names, fontsize=9, rotation=45, ha="left", rotation_mode="anchor"
    )
    for label in panel.get_xticklabels():
        label.set_fontweight("bold" if label.get_text() in bold else "normal")
    bar = page.colorbar(image, ax=panel, location="bottom", fraction=0.03, pad=0.02, aspect=50, shrink=0.7)
    bar.set_ticks(list(TICKS), labels=[*map(str, TICKS[:-1]), f"{TICKS[-1]} and more"])
    bar.ax.tick_params(labelsize=8, length=2)
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label("median regret over that of the best algorithm on the task (framed)", fontsize=9)
    return page


def _cells(panel: Any, ratios: Array, *, top: float, best: bool = True) -> Any:
    """Coloured cells from row `top` on, each with its number; the best of a row is framed."""
    rows, columns = ratios.shape
    image = panel.pcolormesh(
        np.arange(columns + 1),
        top + np.arange(rows + 1),
        np.minimum(ratios, DARKEST),
        norm=require("matplotlib.colors", EXTRA).LogNorm(1.0, DARKEST),
        cmap=PALETTE,
        edgecolors="white",
        linewidth=1.0,
    )
    frame = require("matplotlib.patches", EXTRA).Rectangle
    for (row, column), ratio in np.ndenumerate(ratios):
        first = best and ratio == 1.0
        panel.text(
            column + 0.5,
            top + row + 0.5,
            shown(float(ratio)),
            ha="center",
            va="center_baseline",
            fontsize=8,
            fontweight="bold" if first else "normal",
            color="white" if ratio > WHITE_INK_FROM else "black",
        )
        if first:
            panel.add_patch(
                frame((column + 0.05, top + row + 0.07), 0.9, 0.86, fill=False, ec="black", lw=1.3)
            )
    return image
