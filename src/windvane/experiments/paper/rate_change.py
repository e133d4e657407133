"""Fig. 6: the rate of change itself changes; algorithms that need it are told the first one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.experiment import Cell, Experiment, Setting
from windvane.experiments.figures import GREY, curves, legend, reset_strip, sheet
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable, spread
from windvane.experiments.trial import call

FIRST, SECOND, CHANGE, HORIZON = 0.01, 0.05, 175, 500
COLUMN = f"eps = {FIRST:g}, then {SECOND:g}"
ROWS = {
    "GP-UCB": call("gp-ucb"),
    "R-GP-UCB": call("r-gp-ucb", rate=FIRST, horizon=HORIZON),
    "TV-GP-UCB": call("tv-gp-ucb", rate=FIRST),
    "UI-TVBO": call("ui-tvbo", rate=FIRST),
    "ET-GP-UCB": call("et-gp-ucb"),
}


def cells(_: Setting) -> list[Cell]:
    """All on the same objectives."""
    task = call("rate-change", rate=FIRST, later_rate=SECOND, switch=CHANGE, horizon=HORIZON)
    return [Cell(row, COLUMN, task, algorithm) for row, algorithm in ROWS.items()]


def halves(values: Array) -> tuple[Array, Array]:
    """Means of each run before the change and from it on; runs x T."""
    return values[:, : CHANGE - 1].mean(axis=1), values[:, CHANGE - 1 :].mean(axis=1)


def frequencies(group: Group) -> tuple[Array, Array]:
    """Resets in 100 steps, a run, before the change and from it on."""
    hits = np.zeros_like(group.regret)
    for line, run in zip(hits, group.runs, strict=True):
        line[run["resets"] - 1] = 100.0
    return halves(hits)


def trend(values: Array) -> tuple[float, float]:
    """The slope in 100 steps after the change, mean over the runs, and its standard error."""
    later = values[:, CHANGE - 1 :]
    slopes = np.polyfit(np.arange(later.shape[1]) / 100.0, later.T, 1)[0]
    error = float(slopes.std(ddof=1)) / math.sqrt(len(slopes)) if len(slopes) > 1 else math.inf
    return float(slopes.mean()), error


def table(results: Results) -> TextTable:
    """Before and after."""
    rows = []
    for row, group in results.column(COLUMN).items():
        regrets = [spread(*np.percentile(half, (50, 25, 75))) for half in halves(group.regret)]
        resets = [f"{half.mean():.1f}" for half in frequencies(group)]
        rows.append((row, f"**{spread(group.median, *group.quartiles)}**", *regrets, *resets))
    last = f"t >= {CHANGE}"
    return TextTable(
        ("algorithm", "R_T / T", f"t < {CHANGE}", last, f"resets in 100 steps, t < {CHANGE}", last),
        rows,
        (
            f"Mean regret a step, median (quartiles) of {results.runs} runs; lower is better. The rates are "
            f"ours, the paper does not give them: {FIRST:g} before t = {CHANGE}, then {SECOND:g}.",
        ),
    )


def figure(results: Results) -> Any:
    """Regret per step above, resets below; grey where the second rate rules."""
    page, axes = sheet(2, 1, (8.5, 6.2), sharex=True, height_ratios=(3, 1.4))
    groups = results.column(COLUMN)
    curves(axes[0, 0], groups)
    reset_strip(axes[1, 0], {row: groups[row] for row in ("R-GP-UCB", "ET-GP-UCB")})
    for panel in axes[:, 0]:
        panel.axvspan(CHANGE - 0.5, HORIZON, color=GREY, alpha=0.15, lw=0, zorder=0)
    axes[0, 0].set_ylabel("regret per step, $R_t / t$")
    axes[0, 0].set_title(
        f"$\\varepsilon$ = {FIRST:g} before t = {CHANGE}, then {SECOND:g} (grey)", loc="left", fontsize=10
    )
    axes[1, 0].set_xlabel("step t")
    legend(page, axes[0, 0], columns=5)
    return page


def claims(results: Results) -> list[Claim]:
    """What Appendix A.2 says of the figure."""
    ours, told = results["ET-GP-UCB", COLUMN], results["TV-GP-UCB", COLUMN]
    before, after = (half.mean() for half in frequencies(ours))
    periodic = [half.mean() for half in frequencies(results["R-GP-UCB", COLUMN])]
    slope, error = trend(told.curve - ours.curve)
    own, own_error = trend(told.curve)
    return [
        Claim(
            "After the rate of change has risen, ET-GP-UCB resets more often.",
            verdict_of([bool(after > before)]),
            f"{before:.2f} resets in 100 steps before, {after:.2f} after; R-GP-UCB {periodic[0]:.2f} and "
            f"{periodic[1]:.2f}",
        ),
        Claim(
            "TV-GP-UCB, told a rate that is now too small, diverges, if slowly within 500 steps.",
            verdict_of([own > 2.0 * own_error, slope > 2.0 * error]),
            f"in 100 steps after the change its R_t / t rises by {own:.3f} (standard error {own_error:.3f}) "
            f"and its distance from ET-GP-UCB's by {slope:+.3f} ({error:.3f}); in the end {told.median:.3f} "
            f"against {ours.median:.3f}",
        ),
    ]


EXPERIMENT = Experiment(
    name="rate-change",
    source="Fig. 6",
    title="A rate of change that changes",
    runs=50,
    quick=4,
    cells=cells,
    table=table,
    figure=figure,
    claims=claims,
)
