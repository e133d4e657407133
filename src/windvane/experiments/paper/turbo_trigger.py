"""Appendix A.3: a trigger on performance instead of fit, reset after d steps without improvement.

The objectives are those of `backtracking`, and so are the runs of all other algorithms.
"""

from __future__ import annotations

from typing import Any

from windvane.experiments.claims import Claim, judged, mean_of, ratios
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.paper import backtracking, dimensions
from windvane.experiments.paper.backtracking import EVERYWHERE, HIGHEST, LOWEST
from windvane.experiments.paper.comparison import against, beats
from windvane.experiments.paper.dimensions import DIMS, PROTOCOLS, column
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
    event = "ET-GP-UCB"
    worse = {rival: beats(results, rival, [ROW], EVERYWHERE) for rival in RIVALS}
    excess = {name: ratios(results[ROW, name], results[event, name]) for name in EVERYWHERE}
    falls = [
        mean_of(excess[column(DIMS[0], rate)] - excess[column(DIMS[-1], rate, protocol)]).above(0.0)
        for protocol in PROTOCOLS
        for rate in RATES
    ]
    still = {row: results[row, STATIC].resets for row in (ROW, event)}
    return [
        judged(
            "The TuRBO trigger does worse than all the others at every rate.",
            [check for checks in worse.values() for check in checks],
            f"worse, in so many of {len(EVERYWHERE)} cases, than "
            + ", ".join(f"{rival} {checks.count(True)}" for rival, checks in worse.items()),
        ),
        judged(
            "It does so in low dimensions above all, where few failures are allowed before a reset.",
            falls,
            f"{against(results, ROW, [event], [*LOWEST, *HIGHEST])}; d = {DIMS[0]} against "
            f"d = {DIMS[-1]} is asked for",
        ),
        judged(
            "With noisy values it resets even while nothing changes.",
            [mean_of(still[ROW]).above(0.0)],
            f"on a static objective (d = 2) {still[ROW].mean():.1f} resets per run of {HORIZON} steps; "
            f"{event} {still[event].mean():.2f}",
        ),
    ]
