"""Appendix A.3: a trigger on performance instead of fit, reset after d steps without improvement.

The objectives are those of `backtracking`, and so are the runs of all other algorithms.
"""

from __future__ import annotations

from typing import Any

from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.experiment import Cell, Experiment, Setting
from windvane.experiments.paper import backtracking, dimensions
from windvane.experiments.paper.comparison import beats
from windvane.experiments.paper.dimensions import DIMS, RUNS, column, final
from windvane.experiments.paper.rates import HORIZON, RATES
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable

ROW = "TuRBO trigger"
RIVALS = backtracking.ROWS
STATIC = "d = 2, static"


def cells(_: Setting) -> list[Cell]:
    """All on the same objectives; and one that stands still, for false alarms."""
    still = [
        Cell(row, STATIC, dimensions.objective(2, 0.0), dimensions.algorithm(row, 0.0))
        for row in (ROW, "ET-GP-UCB")
    ]
    return [*dimensions.cells((*RIVALS, ROW)), *still]


def table(results: Results) -> TextTable:
    """Final regret."""
    return dimensions.table(results, (*RIVALS, ROW))


def figure(results: Results) -> Any:
    """Curves at d = 8 and final regret over d."""
    return dimensions.figure(results, (*RIVALS, ROW))


def claims(results: Results) -> list[Claim]:
    """What Appendix A.3 says of the trigger."""
    everywhere = [column(dim, rate) for rate in RATES for dim in DIMS]
    worse = {rival: beats(results, rival, [ROW], everywhere) for rival in RIVALS}
    excess = {
        rate: [
            ours / rival - 1.0
            for ours, rival in zip(final(results, ROW, rate), final(results, "ET-GP-UCB", rate), strict=True)
        ]
        for rate in RATES
    }
    still = {row: results[row, STATIC].resets.mean() for row in (ROW, "ET-GP-UCB")}
    dims = ", ".join(map(str, DIMS))
    return [
        Claim(
            "The TuRBO trigger does worse than all the others at every rate.",
            verdict_of(outcome for outcomes in worse.values() for outcome in outcomes),
            f"worse, in so many of {len(everywhere)} cases, than "
            + ", ".join(f"{rival} {sum(outcomes)}" for rival, outcomes in worse.items()),
        ),
        Claim(
            "It does so in low dimensions above all, where few failures are allowed before a reset.",
            verdict_of(line[0] > line[-1] for line in excess.values()),
            f"regret above ET-GP-UCB's at d = {dims}: "
            + "; ".join(
                f"{' / '.join(f'{share:+.0%}' for share in line)} (eps = {r:g})" for r, line in excess.items()
            ),
        ),
        Claim(
            "With noisy values it resets even while nothing changes.",
            verdict_of([bool(still[ROW] > 0.0)]),
            f"on a static objective (d = 2) {still[ROW]:.1f} resets a run of {HORIZON} steps; "
            f"ET-GP-UCB {still['ET-GP-UCB']:.2f}",
        ),
    ]


EXPERIMENT = Experiment(
    name="turbo-trigger",
    source="Fig. 9",
    title="A trigger on performance",
    runs=RUNS,
    quick=1,
    cells=cells,
    table=table,
    figure=figure,
    claims=claims,
)
