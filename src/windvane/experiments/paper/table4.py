"""Table 4 and its figure: how much ET-GP-UCB depends on the trigger's parameter delta_B."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Check, Claim, judged, log_ratios, mean_of, spread_ratio
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import boxes
from windvane.experiments.paper.rates import RATES, objective
from windvane.experiments.paper.rates import column as rate_name
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import call
from windvane.plots.style import BLACK, colour, legend, sheet

ROW = "ET-GP-UCB"
DELTAS = (0.005, 0.01, 0.05, 0.1, 0.5)
RECOMMENDED = 0.1
PAPER = {  # average resets and average R_T, a pair a delta
    0.01: ((2.66, 191.39), (2.96, 193.05), (3.20, 200.16), (3.38, 200.33), (3.98, 196.03)),
    0.03: ((6.42, 276.84), (6.82, 273.37), (7.72, 269.01), (8.04, 271.59), (10.32, 280.05)),
    0.05: ((9.60, 331.69), (9.96, 328.74), (11.40, 329.47), (11.88, 332.04), (14.44, 334.80)),
}
CLOSE = 0.1  # of the paper's averages
LITTLE = 0.1  # of the mean: what we call a low sensitivity
GOOD = 0.05  # above the best delta's: what we call a good choice


def column(rate: float, delta: float) -> str:
    """The name of a column."""
    return f"{rate_name(rate)}, delta = {delta:g}"


def cells(_: Setting) -> list[Cell]:
    """No reset window: W = T."""
    return [
        Cell(ROW, column(rate, delta), objective(rate), call("et-gp-ucb", delta=delta))
        for rate in RATES
        for delta in DELTAS
    ]


def _groups(results: Results, rate: float) -> list[Group]:
    return [results[ROW, column(rate, delta)] for delta in DELTAS]


def error(values: Array) -> float:
    """The standard error of the mean; not a number for a single run."""
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan


def table(results: Results) -> TextTable:
    """Averages of the paper and ours with standard errors, one row per rate and delta."""
    rows = []
    for rate in RATES:
        for delta, group, (resets, regret) in zip(DELTAS, _groups(results, rate), PAPER[rate], strict=True):
            counted = f"**{group.resets.mean():.2f}** ± {error(group.resets):.2f}"
            summed = f"**{group.total.mean():.1f}** ± {error(group.total):.1f}"
            rows.append((rate_name(rate), f"{delta:g}", f"{resets:.2f}", counted, f"{regret:.1f}", summed))
    header = ("rate", "delta_B", "average resets: paper", "here", "average R_T: paper", "here")
    about = f"Averages of {results.runs} runs ± standard error; the paper's are of 50 runs, no errors given."
    return TextTable(header, rows, (about,))


def figure(results: Results) -> Any:
    """R_T of all runs above, average resets below, one column per rate."""
    page, axes = sheet(2, len(RATES), (11.0, 5.8), sharex=True, sharey="row", height_ratios=(3, 2))
    places = list(range(len(DELTAS)))
    mark = {"marker": "D", "ls": "", "ms": 5, "mfc": "white", "mec": BLACK, "label": "average of the paper"}
    for rate, (upper, lower) in zip(RATES, axes.T, strict=True):
        groups = _groups(results, rate)
        resets, regrets = zip(*PAPER[rate], strict=True)
        boxes(upper, [(ROW, group.total) for group in groups], places, 0.6)
        means = [group.resets.mean() for group in groups]
        bars = [0.0 if len(group) < 2 else 2.0 * error(group.resets) for group in groups]
        lower.bar(
            places, means, 0.6, yerr=bars, capsize=3, color=colour(ROW), alpha=0.75, label=f"{ROW}, here"
        )
        upper.plot(places, regrets, **mark)
        lower.plot(places, resets, **mark)
        upper.set_title(f"$\\varepsilon$ = {rate:g}", loc="left", fontsize=10)
        lower.set_xticks(places, [f"{delta:g}" for delta in DELTAS])
        lower.set_xlabel("$\\delta_B$")
    axes[0, 0].set_ylabel("$R_T$, a box for all runs")
    axes[0, 0].set_ylim(bottom=0.0)
    axes[1, 0].set_ylabel("average resets\n± 2 standard errors")
    legend(page, axes[1, 0])
    return page


def _close(name: str, values: dict[str, Array], paper: dict[str, float]) -> Claim:
    """Averages against the paper's, by column."""
    off = {key: float(ours.mean()) / paper[key] - 1.0 for key, ours in values.items()}
    furthest = max(off, key=lambda key: abs(off[key]))
    errors = [error(ours) / float(ours.mean()) for ours in values.values() if ours.any()]
    near = [mean_of(ours / paper[key]).within(1.0 - CLOSE, 1.0 + CLOSE) for key, ours in values.items()]
    return judged(
        f"The average {name} of Table 4, within {CLOSE:.0%}.",
        near,
        f"{sum(abs(value) <= CLOSE for value in off.values())} of {len(off)} averages are within "
        f"{CLOSE:.0%}; the furthest {off[furthest]:+.0%} at {furthest}; our standard errors alone are up to "
        f"{max(errors, default=math.nan):.1%}",
    )


def _excess(results: Results, rate: float, best: float, other: float) -> Array:
    """ln of R_T with another delta over R_T with the best one, on the same objectives."""
    return log_ratios(results[ROW, column(rate, other)].total, results[ROW, column(rate, best)].total)


def _apart(results: Results, best: dict[float, float]) -> tuple[Check, str]:
    """Whether the best delta of one rate is worse at another, and where that is clearest.

    A difference too small to be seen does not contradict it: then it is open.
    """
    others = [(rate, other) for rate in RATES for other in set(best.values()) - {best[rate]}]
    if not others:
        return None, "the same delta_B is best at every rate"
    scores = {(rate, other): _excess(results, rate, best[rate], other) for rate, other in others}
    (rate, other), most = max(scores.items(), key=lambda item: mean_of(item[1]).low)
    worse = mean_of(most).above(0.0)
    middle, spread = float(most.mean()), error(most)
    return (
        worse or None,
        f"{other:g} in place of {best[rate]:g} costs {middle:+.1%} ± {spread:.1%} at {rate_name(rate)}",
    )


def claims(results: Results) -> list[Claim]:
    """What Appendix B says of table and figure."""
    groups = {rate: _groups(results, rate) for rate in RATES}
    regrets = {rate: [float(g.total.mean()) for g in line] for rate, line in groups.items()}
    best = {rate: DELTAS[int(np.argmin(line))] for rate, line in regrets.items()}
    worse, clearest = _apart(results, best)
    ends = {rate: (line[0].total, line[-1].total) for rate, line in groups.items()}
    spans = {rate: (max(line) - min(line)) / float(np.mean(line)) for rate, line in regrets.items()}
    pairs = {rate: [_excess(results, rate, a, b) for a in DELTAS for b in DELTAS if a < b] for rate in RATES}
    good = {rate: [_excess(results, rate, other, RECOMMENDED) for other in DELTAS] for rate in RATES}
    printed = {
        column(rate, delta): line[number]
        for rate, line in PAPER.items()
        for number, delta in enumerate(DELTAS)
    }
    names = [
        (column(rate, delta), group)
        for rate in RATES
        for delta, group in zip(DELTAS, groups[rate], strict=True)
    ]
    return [
        _close(
            "number of resets",
            {name: group.resets for name, group in names},
            {k: p[0] for k, p in printed.items()},
        ),
        _close("R_T", {name: group.total for name, group in names}, {k: p[1] for k, p in printed.items()}),
        judged(
            "A larger delta_B resets more often.",
            [mean_of(b.resets - a.resets).above(0.0) for line in groups.values() for a, b in pairwise(line)],
            "; ".join(
                f"{line[0].resets.mean():.1f} to {line[-1].resets.mean():.1f} at {rate_name(rate)}"
                for rate, line in groups.items()
            ),
        ),
        judged(
            "Which delta_B is best depends on the rate of change.",
            [worse],
            f"{clearest}; lowest average R_T with "
            + ", ".join(f"{d:g} at {rate_name(r)}" for r, d in best.items()),
        ),
        judged(
            "At higher rates a smaller delta_B can make the final regret vary less.",
            [spread_ratio(*ends[rate]).below(0.0) for rate in RATES[1:]],
            f"standard deviation of R_T with {DELTAS[0]:g} against {DELTAS[-1]:g}: "
            + ", ".join(
                f"{a.std():.0f} against {b.std():.0f} at {rate_name(r)}" for r, (a, b) in ends.items()
            ),
        ),
        judged(
            f"ET-GP-UCB is not sensitive to delta_B (any two differ by at most {LITTLE:.0%}).",
            [
                mean_of(pair).within(math.log1p(-LITTLE), math.log1p(LITTLE))
                for line in pairs.values()
                for pair in line
            ],
            f"over a factor of {DELTAS[-1] / DELTAS[0]:.0f} in delta_B the average R_T varies by "
            + ", ".join(f"{span:.1%} at {rate_name(r)}" for r, span in spans.items()),
        ),
        judged(
            f"delta_B = {RECOMMENDED:g} is a good choice throughout (no other is better by {GOOD:.0%}).",
            [
                mean_of(pair).below(math.log1p(GOOD))
                for line in good.values()
                for other, pair in zip(DELTAS, line, strict=True)
                if other != RECOMMENDED
            ],
            "its average R_T is above the best one's by "
            + ", ".join(
                f"{line[DELTAS.index(RECOMMENDED)] / min(line) - 1.0:.1%} at {rate_name(r)}"
                for r, line in regrets.items()
            ),
        ),
    ]
