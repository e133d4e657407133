"""Fig. 6: the rate of change itself changes; algorithms that need it are told the first one.

The two rates are not in the text. Three pairs are run, named before any was run at full size: the lowest
and the highest rate of Table 1, a first rate so small that TV-GP-UCB hardly forgets at all, and a tenfold
rise from the lowest rate of Table 1. In small runs that came before, what is said of TV-GP-UCB held with the
second and not with the third, so both have to be there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, judged, mean_and_error, mean_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import curves, reset_strip
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable, spread
from windvane.experiments.trial import Call, call
from windvane.plots.style import GREY, legend, sheet

CHANGE, HORIZON = 175, 500
PAIRS = {
    f"eps = {first:g}, then {second:g}": (first, second)
    for first, second in ((0.01, 0.05), (0.001, 0.05), (0.01, 0.1))
}
ROWS = ("GP-UCB", "R-GP-UCB", "TV-GP-UCB", "UI-TVBO", "ET-GP-UCB")
STATIC = ("GP-UCB", "ET-GP-UCB")  # told no rate


def _algorithm(row: str, rate: float) -> Call:
    told = {} if row in STATIC else {"rate": rate}
    return call(row.lower(), **told, **({"horizon": HORIZON} if row == "R-GP-UCB" else {}))


def cells(_: Setting) -> list[Cell]:
    """All on the same objectives, one column per pair of rates."""
    return [
        Cell(
            row,
            column,
            call("rate-change", rate=first, later_rate=second, switch=CHANGE, horizon=HORIZON),
            _algorithm(row, first),
        )
        for column, (first, second) in PAIRS.items()
        for row in ROWS
    ]


def halves(values: Array) -> tuple[Array, Array]:
    """Means of each run before the change and from it on; runs x T."""
    return values[:, : CHANGE - 1].mean(axis=1), values[:, CHANGE - 1 :].mean(axis=1)


def frequencies(group: Group) -> tuple[Array, Array]:
    """Resets in 100 steps, a run, before the change and from it on."""
    hits = np.zeros_like(group.regret)
    for line, run in zip(hits, group.runs, strict=True):
        line[run["resets"] - 1] = 100.0
    return halves(hits)


def trend(values: Array) -> Array:
    """The slope of each run in 100 steps after the change."""
    later = values[:, CHANGE - 1 :]
    return np.asarray(np.polyfit(np.arange(later.shape[1]) / 100.0, later.T, 1)[0])


def table(results: Results) -> TextTable:
    """Before and after, by pairs of rates."""
    rows = []
    for column in PAIRS:
        for row, group in results.column(column).items():
            regrets = [spread(*np.percentile(half, (50, 25, 75))) for half in halves(group.regret)]
            resets = [f"{half.mean():.1f}" for half in frequencies(group)]
            rows.append((column, row, f"**{spread(group.median, *group.quartiles)}**", *regrets, *resets))
    last = f"t >= {CHANGE}"
    before = f"t < {CHANGE}"
    return TextTable(
        ("rates", "algorithm", "R_T / T", before, last, f"resets in 100 steps, {before}", last),
        rows,
        (
            f"Mean regret per step, median (quartiles) of {results.runs} runs; lower is better. The rates "
            f"are ours, they are not in the paper's text; the second rules from t = {CHANGE} on.",
        ),
    )


def figure(results: Results) -> Any:
    """Regret per step above, resets below, one column per pair of rates; grey where the second rate rules."""
    page, axes = sheet(2, len(PAIRS), (16.0, 6.2), sharex=True, height_ratios=(3, 1.4))
    for (upper, lower), (column, (first, second)) in zip(axes.T, PAIRS.items(), strict=True):
        groups = results.column(column)
        curves(upper, groups)
        reset_strip(lower, {row: groups[row] for row in ("R-GP-UCB", "ET-GP-UCB")})
        for panel in (upper, lower):
            panel.axvspan(CHANGE - 0.5, HORIZON, color=GREY, alpha=0.15, lw=0, zorder=0)
        upper.set_title(
            f"$\\varepsilon$ = {first:g} before t = {CHANGE}, then {second:g} (grey)", loc="left", fontsize=10
        )
        lower.set_xlabel("step t")
    axes[0, 0].set_ylabel("regret per step, $R_t / t$")
    legend(page, axes[0, 0], columns=5)
    return page


def claims(results: Results) -> list[Claim]:
    """What Appendix A.2 says of the figure, by pairs of rates."""
    found = []
    for column in PAIRS:
        ours, told = results["ET-GP-UCB", column], results["TV-GP-UCB", column]
        before, after = frequencies(ours)
        periodic = [half.mean() for half in frequencies(results["R-GP-UCB", column])]
        apart, own = trend(told.curve - ours.curve), trend(told.curve)
        (slope, error), (rise, own_error) = mean_and_error(apart), mean_and_error(own)
        found += [
            judged(
                f"After the rate of change has risen, ET-GP-UCB resets more often ({column}).",
                [mean_of(after - before).above(0.0)],
                f"{before.mean():.2f} resets in 100 steps before, {after.mean():.2f} after; R-GP-UCB "
                f"{periodic[0]:.2f} and {periodic[1]:.2f}",
            ),
            judged(
                "TV-GP-UCB, told a rate that is now too small, diverges, if slowly within 500 steps "
                f"({column}).",
                [mean_of(own).above(0.0), mean_of(apart).above(0.0)],
                f"in 100 steps after the change its R_t / t rises by {rise:.3f} (standard error "
                f"{own_error:.3f}) and its distance from ET-GP-UCB's by {slope:+.3f} ({error:.3f}); in the "
                f"end {told.median:.3f} against {ours.median:.3f}",
            ),
        ]
    return found
