"""Section 6.3: maximum likelihood on the way inflates the noise, and the trigger goes blind.

Four ways to come by the hyperparameters of ET-GP-UCB, on the objectives of Table 1 and on one that stands
still: told, fitted all the while by maximum likelihood (with a noise variance of up to 1, and within the
bounds of Table 2, up to 0.1), and learned first, then frozen and monitored.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, judged, mean_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.paper.comparison import against, beats, percent
from windvane.experiments.paper.rates import COLUMNS, RATES, column, objective
from windvane.experiments.paper.table2 import GROWTH, LIKELIHOOD
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable, spread
from windvane.experiments.trial import TOLD, call
from windvane.plots.style import BLACK, BLUE, GREEN, ORANGE, VERMILION, legend, sheet
from windvane.surrogates import LearnOnline, LearnThenMonitor, Scaling

TRUE = 0.02  # the noise variance
INFLATED = 1.5  # times that: what we call inflated
STILL = "eps = 0"
KNOWN, NAIVE, BOUNDED, THEN = (
    "told",
    "likelihood, noise up to 1",
    "likelihood, noise up to 0.1",
    "learned, then monitored",
)
OPEN = replace(LIKELIHOOD, noise=(0.001, 1.0))
ROWS = {
    KNOWN: call("et-gp-ucb"),
    NAIVE: call("et-gp-ucb", learning=LearnOnline(GROWTH, OPEN), scaling=Scaling()),
    BOUNDED: call("et-gp-ucb", learning=LearnOnline(GROWTH, LIKELIHOOD), scaling=Scaling()),
    THEN: call("et-gp-ucb", learning=LearnThenMonitor(search=LIKELIHOOD), scaling=Scaling()),
}
SHADES = {KNOWN: VERMILION, NAIVE: BLUE, BOUNDED: GREEN, THEN: ORANGE}


def cells(_: Setting) -> list[Cell]:
    """Every way on every objective; the noise that the model believes in is measured besides."""
    return [
        Cell(
            row,
            column(rate),
            objective(rate),
            algorithm,
            told=TOLD if row == KNOWN else (),
            measure=call("steps"),
        )
        for rate in (0.0, *RATES)
        for row, algorithm in ROWS.items()
    ]


def believed(group: Group) -> Array:
    """ln of the noise variance that the model believes in over the true one, mean of each run's steps."""
    return np.array([float(np.log(run["noise"] / TRUE).mean()) for run in group.runs])


def table(results: Results) -> TextTable:
    """The noise, the resets and the regret."""
    rows = []
    for name in (STILL, *COLUMNS):
        for row in ROWS:
            group = results[row, name]
            noise = TRUE * np.exp(believed(group))
            middle, low, high = np.percentile(noise, (50, 25, 75))
            rows.append(
                (
                    name,
                    row,
                    f"**{spread(middle, low, high)}**",
                    f"{group.resets.mean():.1f}",
                    spread(group.median, *group.quartiles),
                )
            )
    return TextTable(
        ("rate", "hyperparameters", "noise variance believed in", "resets per run", "R_T / T"),
        rows,
        (
            f"Median (quartiles) of {results.runs} runs; the true noise variance is {TRUE:g}, and that of a "
            f"run is the geometric mean over its steps. Fits after every {GROWTH - 1:.0%} more observations, "
            "lengthscales in [0.01, 1], no priors. The paper has no figures for this.",
        ),
    )


def figure(results: Results) -> Any:
    """The noise over time above, resets and regret below, one column per rate."""
    names = (STILL, *COLUMNS)
    page, axes = sheet(2, len(names), (14.0, 6.6), sharey="row")
    for (upper, lower), name in zip(axes.T, names, strict=True):
        for number, (row, shade) in enumerate(SHADES.items()):
            group = results[row, name]
            noise = np.array([run["noise"] for run in group.runs])
            low, middle, high = np.percentile(noise, (25, 50, 75), axis=0)
            steps = np.arange(1, noise.shape[1] + 1)
            upper.semilogy(steps, middle, color=shade, lw=1.5, label=row)
            upper.fill_between(steps, low, high, color=shade, alpha=0.15, lw=0)
            lower.bar(number, group.resets.mean(), 0.7, color=shade, alpha=0.75)
            lower.annotate(
                f"{group.median:.2f}", (number, group.resets.mean()), ha="center", va="bottom", fontsize=8
            )
        upper.axhline(TRUE, color=BLACK, lw=0.8, ls=":")
        upper.set_title(name, loc="left", fontsize=10)
        upper.set_xlabel("step t")
        lower.set_xticks([])
        lower.set_xlabel("above a bar: median of $R_T / T$")
    axes[0, 0].set_ylabel("noise variance believed in")
    axes[1, 0].set_ylabel("resets per run, mean")
    legend(page, axes[0, 0], columns=len(ROWS))
    return page


def claims(results: Results) -> list[Claim]:
    """What Section 6.3 warns of."""
    inflated = {name: believed(results[NAIVE, name]) for name in (STILL, *COLUMNS)}
    fewer = {name: results[NAIVE, name].resets - results[KNOWN, name].resets for name in COLUMNS}
    return [
        judged(
            "Fitted by maximum likelihood all the while, a static model takes change for noise: the noise "
            "variance is inflated.",
            [mean_of(inflated[name]).above(math.log(INFLATED)) for name in COLUMNS],
            "noise believed in against the true one: "
            + ", ".join(f"{percent(values)} ({name})" for name, values in inflated.items())
            + f"; a factor of {INFLATED:g} is asked for where the objective changes",
        ),
        judged(
            "So its thresholds are large, and it resets less often than if it were told the noise.",
            [mean_of(values).below(0.0) for values in fewer.values()],
            "resets per run, fitted and told: "
            + ", ".join(
                f"{results[NAIVE, n].resets.mean():.1f} and {results[KNOWN, n].resets.mean():.1f} ({n})"
                for n in COLUMNS
            ),
        ),
        judged(
            "Learning first and monitoring then does better.",
            beats(results, THEN, [NAIVE, BOUNDED], COLUMNS),
            against(results, THEN, [NAIVE, BOUNDED], COLUMNS),
        ),
    ]
