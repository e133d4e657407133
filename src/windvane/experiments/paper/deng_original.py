"""Deng et al. (2022) with their original prior: as much noise as signal, prices it cannot explain."""

from __future__ import annotations

import numpy as np

from windvane.experiments.claims import Check, Claim, judged, lower, share_of, similar, spread_ratio
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.paper.comparison import against, beats
from windvane.experiments.paper.deng import (
    ABRUPT,
    JUMPS,
    RAW,
    RIVALS,
    SLOW,
    STOCKS,
    WEIGHTED,
    deviation,
    in_prices,
    means,
    noticed,
    noticed_jumps,
    notices,
    stocks,
    synthetic,
    total_table,
)
from windvane.experiments.paper.deng import figure as figure
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable

HALF = (0.3, 0.7)
QUARTER = 0.25


def cells(setting: Setting) -> list[Cell]:
    """Of (c) both priors, and only with the data."""
    raw, normalised = stocks(setting, RAW, normalise=False), stocks(setting, STOCKS, normalise=True)
    return synthetic(1.0) + raw + normalised


def table(results: Results) -> TextTable:
    """Totals; the paper prints none."""
    return total_table(
        results,
        {},
        (
            "Noise variance 1 in (a) and (b), 300 with raw prices. The column of normalised prices is "
            "that of Table 3, for comparison. The paper shows curves, not figures.",
        ),
    )


def claims(results: Results) -> list[Claim]:
    """What the appendix says of the original prior."""
    found, slow, abrupt = in_prices(results), list(SLOW), list(ABRUPT)
    resetting = ["BR-GP-UCB", "SW-GP-UCB"]
    said = [
        judged(
            "(a) With as much noise as signal ET-GP-UCB still notices the first jump reliably, the second in "
            "about half of the runs (30 to 70 %).",
            [
                *notices(found, JUMPS[0]),
                *(share_of(noticed(found["ET-GP-UCB", c], JUMPS[1])).within(*HALF) for c in abrupt),
            ],
            noticed_jumps(found),
        ),
        judged(
            "(a) It still beats restarts and the sliding window.",
            beats(found, "ET-GP-UCB", resetting, abrupt),
            f"{'; '.join(means(found, column, ['ET-GP-UCB', *resetting]) for column in abrupt)}; "
            f"{against(found, 'ET-GP-UCB', resetting, abrupt)}",
        ),
        judged(
            "(b) ET-GP-UCB does about as well as W-GP-UCB (within a quarter, above it or below it).",
            [similar(found["ET-GP-UCB", c], found[row, c], QUARTER) for row in WEIGHTED for c in slow],
            against(found, "ET-GP-UCB", WEIGHTED, slow),
        ),
    ]
    if RAW not in found.columns:
        return [*said, Claim("(c) What is said of share prices.", "not tested", "no data were given")]
    rows = [*RIVALS, "ET-GP-UCB"]
    totals = np.array([found[row, RAW].total for row in rows]).round(6).T  # runs x algorithms
    orders = [tuple(order) for order in totals.argsort(axis=1, kind="stable").tolist()]
    different = float(np.mean([len(np.unique(run)) for run in totals]))
    usual = max(orders, key=orders.count)
    often = [order == usual for order in orders]
    better = [check for row in rows for check in _improves(found, row)]
    deviations = {c: float(np.mean([deviation(found[row, c]) for row in rows])) for c in (STOCKS, RAW)}
    return [
        *said,
        judged(
            "(c) All algorithms beat random search.",
            [check for row in rows for check in beats(found, row, ["random"], [RAW])],
            means(found, RAW, [*rows, "random"]),
        ),
        judged(
            "(c) The normalised prior improves all algorithms and makes their results vary less.",
            better,
            f"{means(found, STOCKS, rows)}; {means(found, RAW, rows)}; average standard deviation "
            f"{deviations[STOCKS]:,.0f} and {deviations[RAW]:,.0f}",
        ),
        judged(
            "(c) With raw prices the order of the algorithms is chance (none occurs in half of the runs).",
            [share_of(often).below(0.5)],
            f"the most frequent order occurs in {np.mean(often):.0%} of the runs; of the {len(rows)} totals "
            f"of a run {different:.1f} differ on average",
        ),
    ]


def _improves(found: Results, row: str) -> list[Check]:
    """Whether normalised prices lower the regret of a row, and the spread of its runs."""
    ours, raw = found[row, STOCKS], found[row, RAW]
    return [lower(ours, raw), spread_ratio(ours.total, raw.total).below(0.0)]
