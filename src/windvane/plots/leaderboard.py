"""Algorithms x tasks: how many times the regret of the best, a number in every cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument, InvalidType
from windvane.extras import require
from windvane.plots.inputs import named
from windvane.plots.picture import EXTRA
from windvane.plots.style import sheet, text

HOW = "as in {'auto': {'jumps': 0.41}, 'gp-ucb': {'jumps': [0.9, 1.1]}}"
PALETTE = "Blues"  # one hue whose lightness falls steadily, so colour-blind readers lose nothing
DARKEST = 10.0  # ratios beyond have the same colour; their numbers differ
WHITE_INK_FROM = 5.2  # where black and white stand out equally
TICKS = (1, 1.5, 2, 3, 5, 10)
GAP = 0.3  # rows between the tasks and their summary
SUMMARY = "worst of all tasks"


@runtime_checkable
class Board(Protocol):
    """What a leaderboard of `windvane bench` gives."""

    @property
    def standings(self) -> Sequence[Any]:
        """From first to last, each with `algorithm` and `worst_ratio`."""
        ...

    @property
    def tasks(self) -> Sequence[str]:
        """In the order in which they were given."""
        ...

    def line(self, algorithm: str, task: str) -> Any:
        """With `ratio`, to the best on the task."""
        ...


class Ratios(NamedTuple):
    """Algorithms in order, tasks, and the ratios, tasks x algorithms; NaN where nothing was run."""

    algorithms: list[str]
    tasks: list[str]
    values: Array

    @property
    def worst(self) -> Array:
        """Of each algorithm."""
        return np.asarray(np.nanmax(self.values, axis=0))


def leaderboard(
    results: Board | Mapping[str, Mapping[str, Any]], *, bold: Sequence[str] = (), title: str = ""
) -> Any:
    """A heat map of the ratios to the best algorithm on each task; lower is better, 1 is the best.

    `results` has, by algorithm and by task, a regret, or a list of regrets of which the median counts; or
    it is the leaderboard of `windvane.experiments`. Algorithms go from first to last by the worst of their
    ratios, or as their leaderboard has them. The names of `bold` ones stand out. Returns a matplotlib
    Figure.

    >>> found = {"auto": {"jumps": 0.4, "drift": [0.5, 0.6, 0.7]}, "gp-ucb": {"jumps": 0.8, "drift": 0.3}}
    >>> page = leaderboard(found)
    >>> [text.get_text() for text in page.axes[0].texts]
    ['1.00', '2.00', '2.00', '1.00', '2.00', '2.00']
    """
    found = _of_board(results) if isinstance(results, Board) else ratios(results)
    names, tasks = found.algorithms, found.tasks
    width = 0.075 * max(map(len, (*tasks, SUMMARY))) + 0.52 * len(names) + 1.2
    height = 0.27 * (len(tasks) + 1) + 0.055 * max(map(len, names)) + 1.0
    page, axes = sheet(1, 1, (max(width, 6.6), height))
    panel = axes[0, 0]
    image = _cells(panel, found.values, top=0.0)
    _cells(panel, found.worst[None, :], top=len(tasks) + GAP, best=False)
    panel.set_xlim(0, len(names))
    panel.set_ylim(len(tasks) + GAP + 1.0, 0)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    panel.set_yticks(
        [*(np.arange(len(tasks)) + 0.5), len(tasks) + GAP + 0.5], [*tasks, SUMMARY], fontsize=text(9)
    )
    panel.xaxis.tick_top()
    panel.set_xticks(
        np.arange(len(names)) + 0.5, names, fontsize=text(9), rotation=45, ha="left", rotation_mode="anchor"
    )
    for label in panel.get_xticklabels():
        label.set_fontweight("bold" if label.get_text() in bold else "normal")
    bar = page.colorbar(image, ax=panel, location="bottom", fraction=0.03, pad=0.02, aspect=50, shrink=0.7)
    bar.set_ticks(list(TICKS), labels=[*map(str, TICKS[:-1]), f"{TICKS[-1]} and more"])
    bar.ax.tick_params(labelsize=text(8), length=2)
    bar.ax.minorticks_off()
    bar.outline.set_visible(False)
    bar.set_label("median regret over that of the best algorithm on the task (framed)", fontsize=text(9))
    if title:
        page.suptitle(title, x=0.01, ha="left", fontsize=text(10))
    return page


def ratios(results: Any) -> Ratios:
    """Medians over the best median of each task; algorithms by their worst ratio, then by their mean.

    >>> found = ratios({"a": {"one": 2.0, "two": 1.0}, "b": {"one": 1.0, "two": 1.5}})
    >>> found.algorithms, found.values.tolist()
    (['b', 'a'], [[1.0, 2.0], [1.5, 1.0]])
    """
    rows = {
        str(name): named(f"results[{name!r}]", row, HOW)
        for name, row in named("results", results, HOW).items()
    }
    tasks = list(dict.fromkeys(str(task) for row in rows.values() for task in row))
    medians = np.full((len(tasks), len(rows)), np.nan)
    for column, (name, row) in enumerate(rows.items()):
        for task, value in row.items():
            medians[tasks.index(str(task)), column] = _median(f"results[{name!r}][{task!r}]", value)
    best = np.nanmin(medians, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(medians == best, 1.0, medians / best)
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(np.log(found), axis=0)
    order = np.lexsort((mean, np.nanmax(found, axis=0)))
    names = list(rows)
    return Ratios([names[column] for column in order], tasks, found[:, order])


def _median(where: str, value: Any) -> float:
    try:
        values = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        raise InvalidType(f"{where}={value!r}: must be a number or a list of numbers") from None
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or (values < 0.0).any():
        raise InvalidArgument(f"{where}={value!r}: must be a finite regret of at least 0, or a list of them")
    return float(np.median(values))


def _of_board(board: Board) -> Ratios:
    names = [standing.algorithm for standing in board.standings]
    values = np.array([[board.line(name, task).ratio for name in names] for task in board.tasks])
    return Ratios(names, list(board.tasks), values)


def shown(ratio: float) -> str:
    """At most four characters.

    >>> [shown(ratio) for ratio in (1.0, 1.034, 9.996, 12.3, 1234.5, math.inf, math.nan)]
    ['1.00', '1.03', '10.0', '12.3', '1234', '∞', '–']
    """
    if math.isnan(ratio):
        return "–"
    if math.isinf(ratio):
        return "∞"
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:.0f}"


def _cells(panel: Any, values: Array, *, top: float, best: bool = True) -> Any:
    """Coloured cells from row `top` on, each with its number; the best of a row is framed."""
    rows, columns = values.shape
    image = panel.pcolormesh(
        np.arange(columns + 1),
        top + np.arange(rows + 1),
        np.minimum(values, DARKEST),
        norm=require("matplotlib.colors", EXTRA).LogNorm(1.0, DARKEST),
        cmap=PALETTE,
        edgecolors="white",
        linewidth=1.0,
    )
    frame = require("matplotlib.patches", EXTRA).Rectangle
    for (row, column), ratio in np.ndenumerate(values):
        first = best and ratio == 1.0
        panel.text(
            column + 0.5,
            top + row + 0.5,
            shown(float(ratio)),
            ha="center",
            va="center_baseline",
            fontsize=text(8),
            fontweight="bold" if first else "normal",
            color="white" if ratio > WHITE_INK_FROM else "black",
        )
        if first:
            panel.add_patch(
                frame((column + 0.05, top + row + 0.07), 0.9, 0.86, fill=False, ec="black", lw=1.3)
            )
    return image
