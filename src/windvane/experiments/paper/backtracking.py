"""Fig. 5 and its counterpart in the appendix: what backtracking (Alg. 2) gains in two to eight dimensions.

Objectives, lengthscale and number of runs: see `dimensions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.experiment import Cell, Experiment, Setting
from windvane.experiments.paper import dimensions
from windvane.experiments.paper.comparison import beats, medians
from windvane.experiments.paper.dimensions import DIMS, RUNS, column, final
from windvane.experiments.paper.rates import RATES
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable

FULL, KEEPS, TOLD = "ET-GP-UCB", "ET-GP-UCB + backtracking", "TV-GP-UCB"
ROWS = ("GP-UCB", "R-GP-UCB", TOLD, FULL, KEEPS)
MARKED = 0.05  # of the regret: what we call a marked improvement
ALMOST = 0.1  # above TV-GP-UCB's regret: what we call almost matching it
HIGHEST = [column(DIMS[-1], rate) for rate in RATES]


def cells(_: Setting) -> list[Cell]:
    """The algorithms of the figure, and random points to show what the problem leaves to be gained."""
    return dimensions.cells((*ROWS, "random"))


def table(results: Results) -> TextTable:
    """Final regret."""
    return dimensions.table(results, (*ROWS, "random"))


def figure(results: Results) -> Any:
    """Curves at d = 8 and final regret over d."""
    return dimensions.figure(results, ROWS)


def _in_a_row(results: Results) -> float:
    """The share of backtracking's resets that come one step after another reset."""
    gaps = [np.diff(run["resets"]) for name in HIGHEST for run in results[KEEPS, name].runs]
    total = sum(len(run["resets"]) for name in HIGHEST for run in results[KEEPS, name].runs)
    return sum(int((gap == 1).sum()) for gap in gaps) / max(total, 1)


def claims(results: Results) -> list[Claim]:
    """What Section 6.3 and Appendix A.2 say."""
    gains = {
        rate: 1.0 - np.array(final(results, KEEPS, rate)) / np.array(final(results, FULL, rate))
        for rate in RATES
    }
    everywhere = [column(dim, rate) for rate in RATES for dim in DIMS]
    better = beats(results, KEEPS, [FULL], everywhere)
    worse = [name for name, fits in zip(everywhere, better, strict=True) if not fits]
    excess = [results[KEEPS, name].median / results[TOLD, name].median - 1.0 for name in HIGHEST]
    again = _in_a_row(results)
    dims = ", ".join(map(str, DIMS))
    return [
        Claim(
            f"In {DIMS[-1]} dimensions, retaining recent data improves ET-GP-UCB markedly.",
            verdict_of(bool(line[-1] >= MARKED) for line in gains.values()),
            f"{medians(results, (KEEPS, FULL), HIGHEST)}; {MARKED:.0%} less counts as marked",
        ),
        Claim(
            f"With it, and untold of the rate, it almost matches TV-GP-UCB in {DIMS[-1]} dimensions.",
            verdict_of(share <= ALMOST for share in excess),
            f"{' / '.join(f'{share:+.0%}' for share in excess)} against TV-GP-UCB "
            f"({'; '.join(HIGHEST)}); up to {ALMOST:+.0%} counts as almost",
        ),
        Claim(
            "The higher the dimension, the more retaining data helps.",
            verdict_of(bool(line[-1] > line[0]) for line in gains.values()),
            f"regret saved at d = {dims}: "
            + "; ".join(
                f"{' / '.join(f'{gain:+.0%}' for gain in line)} (eps = {rate:g})"
                for rate, line in gains.items()
            ),
        ),
        Claim(
            "It helps in every dimension at every rate.",
            verdict_of(better),
            f"in {sum(better)} of {len(better)} cases" + (f"; not at {'; '.join(worse)}" if worse else ""),
        ),
        Claim(
            "Keeping data while the objective drifts can lead to resets at consecutive steps.",
            verdict_of([again > 0.0]),
            f"{again:.1%} of its resets at d = {DIMS[-1]} come one step after another one",
        ),
        Claim(
            "Backtracking costs no significant time.",
            "not tested",
            "the records of runs hold no times",
        ),
    ]


EXPERIMENT = Experiment(
    name="backtracking",
    source="Fig. 5, Fig. 8",
    title="Retaining past data in higher dimensions",
    runs=RUNS,
    quick=1,
    cells=cells,
    table=table,
    figure=figure,
    claims=claims,
)
