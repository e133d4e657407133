"""The within-model objectives in two to eight dimensions, shared by two of the paper's experiments.

The paper gives neither the lengthscale nor the number of runs. The lengthscale is 0.2, as everywhere else in
the paper. One that grows with the dimension is not needed for the problem to be a problem: at d = 8 every
algorithm is well below uniformly random points, which the tables show beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from windvane.experiments.experiment import Cell
from windvane.experiments.figures import BOLD, DASHES, colour, curves, legend, sheet
from windvane.experiments.paper.rates import HORIZON, RATES
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable, spread
from windvane.experiments.trial import Call, call

LENGTHSCALE = 0.2
FEATURES = 1028  # M, Appendix A.1
DIMS = (2, 4, 6, 8)
RUNS = 20


def column(dim: int, rate: float) -> str:
    """The name of a column.

    >>> column(8, 0.03)
    'd = 8, eps = 0.03'
    """
    return f"d = {dim}, eps = {rate:g}"


def objective(dim: int, rate: float) -> Call:
    """From random Fourier features in every dimension, two included."""
    return call(
        "within-model", dim=dim, rate=rate, horizon=HORIZON, features=FEATURES, lengthscale=LENGTHSCALE
    )


def algorithm(row: str, rate: float) -> Call:
    """The algorithm of a row; three of them are told the rate."""
    if row == "R-GP-UCB":
        return call("r-gp-ucb", rate=rate, horizon=HORIZON)
    if row == "TV-GP-UCB":
        return call("tv-gp-ucb", rate=rate)
    names = {"ET-GP-UCB + backtracking": "et-gp-ucb-backtracking", "TuRBO trigger": "turbo-trigger"}
    return call(names.get(row, row.lower()))


def cells(rows: Iterable[str]) -> list[Cell]:
    """Every row in every dimension at every rate."""
    return [
        Cell(row, column(dim, rate), objective(dim, rate), algorithm(row, rate))
        for row in rows
        for rate in RATES
        for dim in DIMS
    ]


def final(results: Results, row: str, rate: float) -> list[float]:
    """The medians of R_T / T over the dimensions."""
    return [results[row, column(dim, rate)].median for dim in DIMS]


def table(results: Results, rows: Sequence[str]) -> TextTable:
    """A row a rate and dimension, a column an algorithm; the best one bold."""
    lines = []
    for rate in RATES:
        for dim in DIMS:
            groups = [results[row, column(dim, rate)] for row in rows]
            least = min(group.median for group in groups)
            texts = [spread(group.median, *group.quartiles, 2) for group in groups]
            marked = (f"**{t}**" if g.median == least else t for t, g in zip(texts, groups, strict=True))
            lines.append((f"eps = {rate:g}", str(dim), *marked))
    about = (
        f"R_T / T, median (quartiles) of {results.runs} runs; lower is better, the best is bold. The paper "
        f"shows figures only and gives neither the lengthscale ({LENGTHSCALE:g} here, as in its other "
        f"experiments) nor the number of runs. Objectives from {FEATURES} random Fourier features."
    )
    return TextTable(("rate", "d", *rows), lines, (about,))


def figure(results: Results, rows: Sequence[str]) -> Any:
    """Regret over time in the highest dimension above, final regret over d below, a column a rate."""
    page, axes = sheet(2, len(RATES), (12.0, 7.2), sharey="row")
    top = 0.0
    for rate, (upper, lower) in zip(RATES, axes.T, strict=True):
        shown = {row: results[row, column(DIMS[-1], rate)] for row in rows}
        curves(upper, shown, f"$\\varepsilon$ = {rate:g}, d = {DIMS[-1]}")
        top = max(top, upper.get_ylim()[1])
        upper.set_xlabel("step t")
        for number, row in enumerate(rows):
            groups = [results[row, column(dim, rate)] for dim in DIMS]
            middle = np.array([group.median for group in groups])
            low, high = np.transpose([group.quartiles for group in groups])
            lower.errorbar(
                np.array(DIMS) + 0.1 * (number - (len(rows) - 1) / 2),
                middle,
                (middle - low, high - middle),
                color=colour(row),
                ls=DASHES.get(row, "-"),
                marker="o",
                ms=4,
                lw=2.0 if row in BOLD else 1.3,
                elinewidth=0.9,
                label=row,
            )
        lower.set_xticks(DIMS)
        lower.set_xlabel("dimension d")
        lower.grid(axis="y", lw=0.4, alpha=0.4)
    axes[0, 0].set_ylim(0.0, top)
    axes[1, 0].set_ylim(bottom=0.0)
    axes[0, 0].set_ylabel("regret per step, $R_t / t$")
    axes[1, 0].set_ylabel(f"$R_T / T$ at T = {HORIZON}")
    legend(page, axes[0, 0], columns=len(rows))
    return page
