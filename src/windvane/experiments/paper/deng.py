"""What Table 3 and the same with the original prior share: the experiments of Deng et al. (2022).

The functions behind (a) and (b) were not available to us, and neither was their scale, which decides whether
Lemma 3's bound can notice a jump at all. So both are run at two scales: with a half-range of 1, the habit of
the field, and of 3, three standard deviations of the prior and so about the most that a unit variance
explains. Nor do we know whether every run had a function of its own. The standard deviations in Table 3 are
so small that one may have served for all, so both are run: drawn again for every run, and one for all, drawn
with seed 0, where runs differ by their noise only.

W-GP-UCB takes its g from the budget. In Table 3 it equals IGP-UCB in (c), as it does with a g near 1, so it
is run with such a g as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from windvane.checks import Array
from windvane.experiments.claims import Claim, judged, share_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import curves
from windvane.experiments.paper.comparison import against, beats
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import TOLD, Call, call
from windvane.plots.style import legend, sheet
from windvane.tasks.stocks import Stocks


class DengScene(NamedTuple):
    """Half of the functions' range, and the seed that draws them, if it is the same for every run."""

    magnitude: float
    seed: int | None = None


SCENES = {
    "": DengScene(1.0),
    ", 3 x": DengScene(3.0),
    ", one f": DengScene(1.0, 0),
    ", 3 x, one f": DengScene(3.0, 0),
}
ABRUPT = {f"(a) abrupt{name}": scene for name, scene in SCENES.items()}
SLOW = {f"(b) slow{name}": scene for name, scene in SCENES.items()}
STOCKS, RAW = "(c) stocks", "(c) stocks, raw"
JUMPS, NOTICED = (100, 200), 10  # a reset within so many steps after a jump has noticed it
RELIABLY = 0.9  # of the runs
BOUND = (*TOLD, "bound")
BUDGET = (*BOUND, "variation", "horizon")
LASTING = "W-GP-UCB, g = 0.9999"
ROWS = {  # row: name, what it is told of the task
    "IGP-UCB": ("igp-ucb", BOUND),
    "BR-GP-UCB": ("br-gp-ucb", BUDGET),
    "SW-GP-UCB": ("sw-gp-ucb", BUDGET),
    "W-GP-UCB": ("w-gp-ucb", BUDGET),
    LASTING: ("w-gp-ucb", BOUND),
    "ET-GP-UCB": ("et-gp-ucb", TOLD),
    "random": ("random", TOLD),
}
OPTIONS: dict[str, dict[str, float]] = {LASTING: {"forgetting": 0.9999}}
RIVALS = [row for row in ROWS if row not in ("ET-GP-UCB", "random")]
WEIGHTED = ["W-GP-UCB", LASTING]


def synthetic(noise: float) -> list[Cell]:
    """(a) and (b) at both scales, with functions of their own for every run and with one for all."""
    return [
        Cell(row, column, _functions(kind, noise, scene), call(name, **OPTIONS.get(row, {})), told)
        for kind, columns in (("deng-abrupt", ABRUPT), ("deng-slow", SLOW))
        for column, scene in columns.items()
        for row, (name, told) in ROWS.items()
    ]


def _functions(kind: str, noise: float, scene: DengScene) -> Call:
    one = {} if scene.seed is None else {"seed": scene.seed}
    return call(kind, noise_variance=noise, magnitude=scene.magnitude, **one)


def stocks(setting: Setting, column: str, *, normalise: bool) -> list[Cell]:
    """None without data: there is no synthetic stand-in for them."""
    if setting.data is None:
        return []
    shares = call("stocks", data=setting.data, normalise=normalise)
    budget = variation(shares)

    def algorithm(row: str, name: str, told: tuple[str, ...]) -> Call:
        return call(name, variation=budget) if told is BUDGET else call(name, **OPTIONS.get(row, {}))

    return [Cell(row, column, shares, algorithm(row, name, told), told) for row, (name, told) in ROWS.items()]


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
                printed = paper.get(row.split(",")[0])
                line.append(_pair(*printed["abc".index(column[1])]) if printed else "–")
            group = found[row, column]
            line.append(f"**{_pair(mean(group), deviation(group))}**")
        rows.append(line)
    about = f"R_T, mean and standard deviation of {found.runs} runs; lower is better."
    missing = () if STOCKS in found.columns else ("(c) is left out: it needs --data with a file of prices.",)
    source = "(a) and (b): stand-ins, since the functions of Deng et al. (2022) and their scale were not "
    source += (
        "available to us; `3 x` has three times the range, and with `one f` runs differ by their noise only, "
        "as the paper's small standard deviations suggest."
    )
    if STOCKS in found.columns:
        shares = results.task("random", STOCKS)
        source += (
            f" (c): {shares.source} instead of the paper's 48; regret in units of the prices, as the size of "
            "the paper's figures suggests; B_T in standard deviations of the prices, B = 1."
        )
    return TextTable(header, rows, (about, source, *missing, *notes))


def figure(results: Results) -> Any:
    """R_t, median and quartiles, one row per scene. Random search may leave the panel."""
    found = in_prices(results)
    page, axes = sheet(len(SCENES), 3, (13.0, 13.0))
    shown = [*ABRUPT, *SLOW, STOCKS, RAW]
    for panel, column in zip(axes.T.flat, [*shown, *[""] * (axes.size - len(shown))], strict=True):
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
    legend(page, axes[0, 0], columns=7)
    return page


def noticed(group: Group, jump: int) -> npt.NDArray[np.bool_]:
    """Which runs have a reset soon after a jump."""
    after = [run["resets"] - jump for run in group.runs]
    return np.array([((steps >= 0) & (steps < NOTICED)).any() for steps in after])


def means(results: Results, column: str, rows: list[str]) -> str:
    """The means that a verdict rests on."""
    return f"{column}: " + ", ".join(f"{row} {mean(results[row, column]):,.0f}" for row in rows)


def best(text: str, results: Results, columns: list[str]) -> Claim:
    """That ET-GP-UCB has less regret than every rival."""
    return judged(
        text,
        beats(results, "ET-GP-UCB", RIVALS, columns),
        "; ".join(means(results, column, ["ET-GP-UCB", *RIVALS]) for column in columns)
        + f"; {against(results, 'ET-GP-UCB', RIVALS, columns)}",
    )


def notices(results: Results, jump: int) -> list[bool | None]:
    """Whether a reset follows a jump in most runs, in each scene."""
    return [share_of(noticed(results["ET-GP-UCB", column], jump)).above(RELIABLY) for column in ABRUPT]


def noticed_jumps(results: Results) -> str:
    """Evidence on what ET-GP-UCB notices."""
    parts = []
    for column in ABRUPT:
        first, second = (float(noticed(results["ET-GP-UCB", column], jump).mean()) for jump in JUMPS)
        parts.append(f"{column}: {first:.0%} and {second:.0%}")
    return (
        f"a reset within {NOTICED} steps of t = 100 and of t = 200 in this share of runs, "
        f"{'; '.join(parts)}; {RELIABLY:.0%} counts as reliably"
    )
