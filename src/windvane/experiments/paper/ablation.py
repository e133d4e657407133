"""Fig. 4: is it how often ET-GP-UCB resets that helps, or when?"""

from __future__ import annotations

from typing import Any

from windvane.experiments.claims import Claim, judged, mean_of, ratios
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.figures import clusters
from windvane.experiments.paper.comparison import against, beats, medians
from windvane.experiments.paper.rates import COLUMNS, HORIZON, RATES, column, objective
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable, spread
from windvane.experiments.trial import Call, call
from windvane.plots.style import legend, sheet

PERIODIC, AVERAGE, EVENT = "R-GP-UCB", "R-GP-UCB at ET's average", "ET-GP-UCB"
ROWS = (PERIODIC, AVERAGE, EVENT)


def _algorithm(row: str, rate: float) -> Call:
    if row == PERIODIC:
        return call("r-gp-ucb", rate=rate, horizon=HORIZON)  # N = 38, 29, 26
    return call("r-gp-ucb-average", rate=rate) if row == AVERAGE else call("et-gp-ucb")  # N = 100, 45, 32


def cells(_: Setting) -> list[Cell]:
    """Two clocks and the trigger on the same objectives."""
    return [Cell(row, column(rate), objective(rate), _algorithm(row, rate)) for row in ROWS for rate in RATES]


def table(results: Results) -> TextTable:
    """Regret, and the mean number of resets."""
    header = ["algorithm"]
    for name in COLUMNS:
        header += [name, "resets"]
    rows = []
    for row in ROWS:
        groups = [results[row, name] for name in COLUMNS]
        pairs = [(f"**{spread(g.median, *g.quartiles)}**", f"{g.resets.mean():.1f}") for g in groups]
        rows.append([row, *(text for pair in pairs for text in pair)])
    about = (
        f"R_T / T, median (quartiles) of {results.runs} runs, lower is better; average resets per run. The "
        "paper shows a figure only. N = 38, 29, 26 for R-GP-UCB; at ET's average 100, 45, 32, as the paper's "
        "table of hyperparameters says."
    )
    return TextTable(header, rows, (about,))


def figure(results: Results) -> Any:
    """Boxes, one cluster per rate."""
    page, axes = sheet(1, 1, (8.0, 4.4))
    clusters(axes[0, 0], results)
    legend(page, axes[0, 0])
    return page


def claims(results: Results) -> list[Claim]:
    """What Section 6.2 says of the figure."""
    first, last = (ratios(results[EVENT, name], results[AVERAGE, name]) for name in (COLUMNS[0], COLUMNS[-1]))
    return [
        judged(
            "At low rates, resetting as often as ET-GP-UCB does on average already improves R-GP-UCB.",
            beats(results, AVERAGE, [PERIODIC], COLUMNS[:1]),
            f"{against(results, AVERAGE, [PERIODIC], COLUMNS)}; {medians(results, ROWS, COLUMNS)}",
        ),
        judged(
            "As the rate grows, resetting at the right steps, not only as often, becomes crucial.",
            [*beats(results, EVENT, [AVERAGE], COLUMNS[1:]), mean_of(last - first).below(0.0)],
            f"{against(results, EVENT, [AVERAGE], COLUMNS)}; asked for are less regret at the higher rates, "
            "and more of a difference at the highest than at the lowest",
        ),
    ]
