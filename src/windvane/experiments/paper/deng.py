"""What Table 3 and the same with the original prior share: the experiments of Deng et al. (2022).

The functions behind (a) and (b) are not public, and neither is their scale, which decides whether Lemma 3's
bound can notice a jump at all. So both are run at two scales: with a half-range of 1, the habit of the field,
and of 3, three standard deviations of the prior and so about the most that a unit variance explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import curves, legend, sheet
from windvane.experiments.paper.comparison import fewer
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import TOLD, Call, call
from windvane.tasks.stocks import Stocks

ABRUPT = {"(a) abrupt": 1.0, "(a) abrupt, 3 x": 3.0}  # column: half of the functions' range
SLOW = {"(b) slow": 1.0, "(b) slow, 3 x": 3.0}
STOCKS, RAW = "(c) stocks", "(c) stocks, raw"
JUMPS, NOTICED = (100, 200), 10  # a reset within so many steps after a jump has noticed it
BOUND = (*TOLD, "bound")
BUDGET = (*BOUND, "variation", "horizon")
ROWS = {  # row: name, what it is told of the task
    "IGP-UCB": ("igp-ucb", BOUND),
    "BR-GP-UCB": ("br-gp-ucb", BUDGET),
    "SW-GP-UCB": ("sw-gp-ucb", BUDGET),
    "W-GP-UCB": ("w-gp-ucb", BUDGET),
    "ET-GP-UCB": ("et-gp-ucb", TOLD),
    "random": ("random", TOLD),
}
RIVALS = [row for row in ROWS if row not in ("ET-GP-UCB", "random")]


def synthetic(noise: float) -> list[Cell]:
    """(a) and (b) at both scales."""
    return [
        Cell(row, column, call(kind, noise_variance=noise, magnitude=magnitude), call(name), told)
        for kind, columns in (("deng-abrupt", ABRUPT), ("deng-slow", SLOW))
        for column, magnitude in columns.items()
        for row, (name, told) in ROWS.items()
    ]


def stocks(setting: Setting, column: str, *, normalise: bool) -> list[Cell]:
    """None without data: there is no synthetic stand-in for them."""
    if setting.data is None:
        return []
    shares = call("stocks", data=setting.data, normalise=normalise)
    budget = variation(shares)

    def algorithm(name: str, told: tuple[str, ...]) -> Call:
        return call(name, variation=budget) if told is BUDGET else call(name)

    return [Cell(row, column, shares, algorithm(name, told), told) for row, (name, told) in ROWS.items()]


def variation(shares: Call) -> float:
    """B_T of a table in units of its standard deviation, so that it is the same for both priors."""
    values: Array = Stocks(**shares.keywords()).values
    return float(np.abs(np.diff(values, axis=0)).max(axis=1).sum() / values.std())


def in_prices(results: Results) -> Results:
    """With the regret of the stocks in the units of their prices."""
    scales = {
        column: results.task("random", column).scale if column.startswith(STOCKS) else 1.0
        for column in results.columns
    }
    return Results(
        {
            (row, column): Group(
                group.seeds, tuple({**run, "regret": run["regret"] * scales[column]} for run in group.runs)
            )
            for (row, column), group in results.items()
        }
    )


def mean(group: Group) -> float:
    """The mean of R_T."""
    return float(group.total.mean())


def deviation(group: Group) -> float:
    """The standard deviation of R_T."""
    return float(group.total.std(ddof=1)) if len(group) > 1 else 0.0


def _pair(mean: float, deviation: float) -> str:
    digits = 1 if mean < 1000.0 else 0
    return f"{mean:,.{digits}f} ± {deviation:,.{digits}f}"


Printed = Mapping[str, tuple[tuple[float, float], ...]]


def total_table(results: Results, paper: Printed, notes: tuple[str, ...]) -> TextTable:
    """Mean and standard deviation of R_T; `paper` has those of (a), (b) and (c) by row, or nothing."""
    found = in_prices(results)
    header, rows = ["algorithm"], []
    for column in found.columns:
        header += [f"{column}: paper", "here"] if paper else [column]
    for row in found.rows:
        line = [row]
        for column in found.columns:
            if paper:
                line.append(_pair(*paper[row]["abc".index(column[1])]) if row in paper else "-")
            group = found[row, column]
            line.append(f"**{_pair(mean(group), deviation(group))}**")
        rows.append(line)
    about = f"R_T, mean and standard deviation of {found.runs} runs; lower is better."
    missing = () if STOCKS in found.columns else ("(c) is left out: it needs --data with a file of prices.",)
    source = "(a) and (b): stand-ins, the functions of Deng et al. (2022) and their scale are not public; "
    source += "`3 x` has three times the range."
    if STOCKS in found.columns:
        shares = results.task("random", STOCKS)
        source += (
            f" (c): {shares.source} instead of the paper's 48; regret in units of the prices, as the size of "
            "the paper's figures suggests; B_T in standard deviations of the prices, B = 1."
        )
    return TextTable(header, rows, (about, *fewer(found), source, *missing, *notes))


def figure(results: Results) -> Any:
    """R_t, median and quartiles; the larger scale below. Random search may leave the panel."""
    found = in_prices(results)
    page, axes = sheet(2, 3, (13.0, 7.0))
    for panel, column in zip(axes.T.flat, (*ABRUPT, *SLOW, STOCKS, RAW), strict=True):
        if column not in found.columns:
            panel.set_axis_off()
            continue
        curves(panel, found.column(column), column, values="cumulative")
        highest = max(float(np.percentile(found[row, column].total, 75)) for row in (*RIVALS, "ET-GP-UCB"))
        panel.set_ylim(0.0, 1.15 * highest)
        for jump in JUMPS if column in ABRUPT else ():
            panel.axvline(jump, color="black", lw=0.8, ls="--", zorder=0)
        panel.set_xlabel("step t")
    for panel in axes[:, 0]:
        panel.set_ylabel("regret $R_t$")
    legend(page, axes[0, 0], columns=6)
    return page


def noticed(group: Group, jump: int) -> float:
    """The share of runs with a reset soon after a jump."""
    after = [run["resets"] - jump for run in group.runs]
    return float(np.mean([((steps >= 0) & (steps < NOTICED)).any() for steps in after]))


def means(results: Results, column: str, rows: list[str]) -> str:
    """The means that a verdict rests on."""
    return f"{column}: " + ", ".join(f"{row} {mean(results[row, column]):,.0f}" for row in rows)


def best(text: str, results: Results, columns: list[str]) -> Claim:
    """That ET-GP-UCB has the least mean of all."""
    ours = {column: mean(results["ET-GP-UCB", column]) for column in columns}
    return Claim(
        text,
        verdict_of(ours[column] < mean(results[row, column]) for column in columns for row in RIVALS),
        "; ".join(means(results, column, ["ET-GP-UCB", *RIVALS]) for column in columns),
    )


def noticed_jumps(results: Results) -> str:
    """Evidence on what ET-GP-UCB notices."""
    parts = []
    for column in ABRUPT:
        first, second = (noticed(results["ET-GP-UCB", column], jump) for jump in JUMPS)
        parts.append(f"{column}: {first:.0%} and {second:.0%}")
    return (
        f"a reset within {NOTICED} steps of t = 100 and of t = 200 in this share of runs, {'; '.join(parts)}"
    )
