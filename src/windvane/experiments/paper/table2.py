"""Table 2: nothing is told to the algorithms, hyperparameters come from a fit on the way.

How the fit is set up is not in the text beyond its bounds, so there are two protocols, chosen before either
was run at full size. Both have the paper's bounds, unit signal variance and zero mean, and each fit
climbs from one start, where the last fit ended.

- likelihood: no priors, maximum likelihood within the bounds.
- Gamma(3, 6): this prior on lengthscales, which BoTorch of that time puts there unless told otherwise.

GP-UCB and R-GP-UCB fit again whenever a tenth more observations are in use (every step up to ten),
ET-GP-UCB at each of the first 2d steps after a reset. The number of starts, which the paper does not say
either, was chosen for the first protocol on the seeds 0 to 7: of 1, 2 and 4, one start had the lowest median
for ET-GP-UCB at 0.01 and 0.05. So it is in favour of ET-GP-UCB there; nothing was tuned for the second.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from windvane.experiments.claims import Claim, close, judged
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import clusters
from windvane.experiments.paper.comparison import against, against_paper, beats
from windvane.experiments.paper.rates import COLUMNS, HORIZON, RATES, column, objective
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import Call, call
from windvane.plots.style import BLACK, legend, sheet
from windvane.surrogates import Gamma, LearnOnline, LearnThenMonitor, Scaling, Search

ROWS = ("GP-UCB", "R-GP-UCB", "ET-GP-UCB")
PAPER = {
    "GP-UCB": (0.835, 1.260, 1.405),
    "R-GP-UCB": (0.776, 0.998, 1.123),
    "ET-GP-UCB": (0.612, 0.870, 1.057),
}
GROWTH = 1.1  # of the data between two fits of GP-UCB and R-GP-UCB
NEAR = 0.15  # the paper prints no quartiles here; those of Table 1 are about so far from their median
LIKELIHOOD = Search(
    lengthscale=(0.01, 1.0), noise=(0.001, 0.1), lengthscale_prior=None, noise_prior=None, starts=1
)


PROTOCOLS = {"": LIKELIHOOD, ", Gamma(3, 6)": replace(LIKELIHOOD, lengthscale_prior=Gamma(3.0, 6.0))}
BOTH = [f"{name}{protocol}" for protocol in PROTOCOLS for name in COLUMNS]


def _algorithm(row: str, rate: float, search: Search) -> Call:
    if row == "ET-GP-UCB":
        return call("et-gp-ucb", learning=LearnThenMonitor(search=search), scaling=Scaling())
    online = {"learning": LearnOnline(GROWTH, search), "scaling": Scaling()}
    if row == "R-GP-UCB":
        return call("r-gp-ucb", rate=rate, horizon=HORIZON, **online)
    return call("gp-ucb", **online)


def cells(_: Setting) -> list[Cell]:
    """Neither kernel nor noise is told; only R-GP-UCB knows the rate."""
    return [
        Cell(row, f"{column(rate)}{name}", objective(rate), _algorithm(row, rate, search), told=())
        for row in ROWS
        for name, search in PROTOCOLS.items()
        for rate in RATES
    ]


def _paper(row: str, name: str) -> float:
    return PAPER[row][BOTH.index(name) % len(COLUMNS)]


def table(results: Results) -> TextTable:
    """The paper's median and ours, cell by cell."""
    return against_paper(
        results,
        _paper,
        notes=(
            "Fits with noise variance in [0.001, 0.1] and a lengthscale for each coordinate in [0.01, 1]: by "
            "maximum likelihood, and in the columns on the right with a Gamma(3, 6) prior on lengthscales. "
            "Which it was is not in the text, so both stand side by side, and neither was chosen by its "
            "outcome. ET-GP-UCB learns in the first 2d = 4 steps after a reset, then "
            f"freezes and monitors. GP-UCB and R-GP-UCB fit again after every {GROWTH - 1:.0%} more "
            "observations; how often the paper does is not said.",
            "Nor is it said from how many starts a fit climbs. One is used: of 1, 2 and 4, tried on seeds "
            "0 to 7 with maximum likelihood, it served ET-GP-UCB best at two of three rates, so its row is "
            "flattered there if anything.",
        ),
    )


def figure(results: Results) -> Any:
    """Boxes for our runs, a diamond for the paper's median."""
    page, axes = sheet(1, 1, (11.0, 4.4))
    panel = axes[0, 0]
    for number, (row, places) in enumerate(zip(results.rows, clusters(panel, results), strict=True)):
        name = "" if number else "median of the paper"
        printed = PAPER[row] * len(PROTOCOLS)
        panel.plot(places, printed, "D", ms=6, mfc="white", mec=BLACK, label=name or "_")
    legend(page, panel)
    return page


def claims(results: Results) -> list[Claim]:
    """What Section 6.3 says of the table, by each protocol."""
    found = []
    for protocol in PROTOCOLS:
        columns = [f"{name}{protocol}" for name in COLUMNS]
        said = protocol.removeprefix(", ") or "maximum likelihood"
        off = {(row, name): results[row, name].median / _paper(row, name) for row in ROWS for name in columns}
        (row, name), worst = max(off.items(), key=lambda item: abs(item[1] - 1.0))
        found += [
            judged(
                f"The medians of Table 2, within {NEAR:.0%} ({said}).",
                [close(results[cell].average, _paper(*cell), NEAR) for cell in off],
                f"{sum(abs(ratio - 1.0) <= NEAR for ratio in off.values())} of {len(off)} medians are within "
                f"{NEAR:.0%} of the paper's; the furthest, {row} at {name}, is off by {worst - 1.0:+.0%}",
            ),
            judged(
                "Learning first and monitoring then, ET-GP-UCB beats GP-UCB and R-GP-UCB without knowing "
                f"rate, lengthscales or noise ({said}).",
                beats(results, "ET-GP-UCB", ("GP-UCB", "R-GP-UCB"), columns),
                against(results, "ET-GP-UCB", ("GP-UCB", "R-GP-UCB"), columns),
            ),
        ]
    return found
