"""Regret over time: medians and quartiles over runs, and the resets beneath."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from windvane.checks import Array, one_of
from windvane.plots.inputs import changes_of, runs_of
from windvane.plots.panels import change_lines, reset_ticks, spread
from windvane.plots.style import legend, looks, sheet, text

COLUMNS = 5  # of the legend, at most
SETTLE = 10  # steps; what is averaged over fewer may leave the panel
LABELS = {
    "regret": "regret, $r_t$",
    "cumulative": "cumulative regret, $R_t$",
    "average": "regret per step, $R_t / t$",
}


def regret(
    traces: Mapping[str, Any],
    *,
    what: Literal["regret", "cumulative", "average"] = "regret",
    resets: bool = True,
    changes: Any = None,
    colours: Mapping[str, str] | None = None,
    title: str = "",
) -> Any:
    """Regret over time, one line per algorithm; several runs give their median, and quartiles as a band.

    `traces` has a trace or a list of traces by name; where runs are not equally long, each step counts
    those that got so far. "regret" is r_t, "cumulative" is R_t, and "average" is R_t / t. Beneath, unless
    `resets` is False, is a dash for each reset and a line for each run. `changes` are the steps of true
    changes, or a task that knows them. Returns a matplotlib Figure.

    >>> import windvane as wv
    >>> task = wv.task("jumps", horizon=30, seed=0)
    >>> known = {"kernel": task.kernel, "noise_variance": task.noise_variance, "seed": 0}
    >>> names = ("et-gp-ucb", "gp-ucb")
    >>> runs = {name: wv.simulate(wv.make(name, task.space, **known), task) for name in names}
    >>> page = regret(runs, what="average", changes=task)
    >>> [line.get_label() for line in page.axes[0].lines[:2]]
    ['et-gp-ucb', 'gp-ucb']
    """
    groups = runs_of(traces)
    one_of("what", what, LABELS)
    known = changes_of(changes)
    drawn = looks(groups, colours)
    dashes = {
        name: [list(run.resets) for run in runs]
        for name, runs in groups.items()
        if resets and any(len(run.resets) for run in runs)
    }
    strip = 0.25 + 0.3 * len(dashes)
    heights = (3.2, strip) if dashes else (3.2,)
    entries = len(groups) + bool(known)
    rows = -(-entries // COLUMNS)
    columns = -(-entries // rows)
    page, axes = sheet(
        len(heights), 1, (8.0, sum(heights) + 0.6 + 0.2 * rows), sharex=True, height_ratios=heights
    )
    panel, lowest = axes[0, 0], axes[-1, 0]
    bottom, top = 0.0, 0.0
    for name, runs in groups.items():
        series = [_curve(np.asarray(run.regret, dtype=np.float64), what) for run in runs]
        low, _, high = spread(panel, name, series, drawn[name])
        settled = high[min(SETTLE, len(high) // 2) :] if what == "average" else high
        bottom, top = min(bottom, float(low.min())), max(top, float(settled.max()))
    panel.set_ylim(1.06 * bottom, 1.06 * top or 1.0)
    panel.set_xlim(0.5, max(len(run.regret) for runs in groups.values() for run in runs) + 0.5)
    panel.set_ylabel(LABELS[what])
    panel.grid(axis="y", lw=0.4, alpha=0.4)
    if dashes:
        reset_ticks(lowest, dashes, {name: each.colour for name, each in drawn.items()})
        lowest.set_title("resets, one line per run", loc="left", fontsize=text(9))
    lowest.set_xlabel("step t", fontsize=text(9))
    change_lines(axes[:, 0], known)
    if title:
        panel.set_title(title, loc="left", fontsize=text(10))
    legend(page, panel, columns)
    return page


def _curve(values: Array, what: str) -> Array:
    if what == "regret":
        return values
    total = np.cumsum(values)
    return np.asarray(total if what == "cumulative" else total / np.arange(1, len(values) + 1))
