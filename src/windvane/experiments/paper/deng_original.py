"""Deng et al. (2022) with their original prior: as much noise as signal, prices it cannot explain."""

from __future__ import annotations

import numpy as np

from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.experiment import Experiment
from windvane.experiments.paper.deng import (
    ABRUPT,
    JUMPS,
    RAW,
    RIVALS,
    SLOW,
    STOCKS,
    deviation,
    figure,
    in_prices,
    mean,
    means,
    noticed,
    noticed_jumps,
    stocks,
    synthetic,
    total_table,
)
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable


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
    found = in_prices(results)
    first = [noticed(found["ET-GP-UCB", column], JUMPS[0]) >= 0.9 for column in ABRUPT]
    second = [0.3 <= noticed(found["ET-GP-UCB", column], JUMPS[1]) <= 0.7 for column in ABRUPT]
    ratios = {column: mean(found["ET-GP-UCB", column]) / mean(found["W-GP-UCB", column]) for column in SLOW}
    said = [
        Claim(
            "(a) With as much noise as signal ET-GP-UCB still notices the first jump reliably, the second in "
            "about half of the runs.",
            verdict_of(first + second),
            noticed_jumps(found),
        ),
        Claim(
            "(a) It still beats restarts and the sliding window.",
            verdict_of(
                mean(found["ET-GP-UCB", column]) < mean(found[row, column])
                for column in ABRUPT
                for row in ("BR-GP-UCB", "SW-GP-UCB")
            ),
            "; ".join(means(found, column, ["ET-GP-UCB", "BR-GP-UCB", "SW-GP-UCB"]) for column in ABRUPT),
        ),
        Claim(
            "(b) ET-GP-UCB does about as well as W-GP-UCB (within a quarter).",
            verdict_of(0.8 <= ratio <= 1.25 for ratio in ratios.values()),
            "its regret relative to W-GP-UCB's: " + ", ".join(f"{r:.2f} ({c})" for c, r in ratios.items()),
        ),
    ]
    if RAW not in found.columns:
        return [*said, Claim("(c) What is said of share prices.", "not tested", "no data were given")]
    rows = [*RIVALS, "ET-GP-UCB"]
    totals = np.array([found[row, RAW].total for row in rows]).round(6).T  # runs x algorithms
    orders = [tuple(order) for order in totals.argsort(axis=1, kind="stable").tolist()]
    different = float(np.mean([len(np.unique(run)) for run in totals]))
    usual = max(orders.count(order) for order in orders) / len(orders)
    deviations = {c: float(np.mean([deviation(found[row, c]) for row in rows])) for c in (STOCKS, RAW)}
    return [
        *said,
        Claim(
            "(c) All algorithms beat random search.",
            verdict_of(mean(found[row, RAW]) < mean(found["random", RAW]) for row in rows),
            means(found, RAW, [*rows, "random"]),
        ),
        Claim(
            "(c) The normalised prior improves all algorithms and makes their results vary less.",
            verdict_of(
                [
                    *(mean(found[row, STOCKS]) < mean(found[row, RAW]) for row in rows),
                    deviations[STOCKS] < deviations[RAW],
                ]
            ),
            f"{means(found, STOCKS, rows)}; {means(found, RAW, rows)}; average standard deviation "
            f"{deviations[STOCKS]:,.0f} and {deviations[RAW]:,.0f}",
        ),
        Claim(
            "(c) With raw prices the order of the algorithms is chance (none occurs in half of the runs).",
            verdict_of([usual < 0.5]),
            f"the most frequent order occurs in {usual:.0%} of the runs; of the {len(rows)} totals of a run "
            f"{different:.1f} differ on average",
        ),
    ]


EXPERIMENT = Experiment(
    name="deng-original",
    source="Fig. 12",
    title="Algorithms for a budget of variation, with the original prior",
    runs=20,
    quick=2,
    cells=lambda setting: (
        synthetic(1.0) + stocks(setting, RAW, normalise=False) + stocks(setting, STOCKS, normalise=True)
    ),
    table=table,
    figure=figure,
    claims=claims,
)
