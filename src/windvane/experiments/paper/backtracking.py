"""Fig. 5 and its counterpart in the appendix: what backtracking (Alg. 2) gains in two to eight dimensions.

Objectives and lengthscale: see `dimensions`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, happens, judged, mean_of, ratios, similar
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.paper import dimensions
from windvane.experiments.paper.comparison import against, beats, extremes
from windvane.experiments.paper.dimensions import DIMS, FIXED, KEEPS, PROTOCOLS, column
from windvane.experiments.paper.rates import HORIZON, RATES
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable

FULL, TOLD = "ET-GP-UCB", "TV-GP-UCB"
ROWS = ("GP-UCB", "R-GP-UCB", TOLD, FULL, KEEPS)
MARKED = 0.05  # of the regret: what we call a marked improvement
ALMOST = 0.1  # above TV-GP-UCB's regret: what we call almost matching it
CHOOSING = 1024  # posterior evaluations by which a step chooses its point, at least: its candidates
CHEAP = 0.01  # of these: what we call no significant cost
HIGHEST = [column(DIMS[-1], rate, protocol) for protocol in PROTOCOLS for rate in RATES]
LOWEST = [column(DIMS[0], rate) for rate in RATES]
EVERYWHERE = [
    column(dim, rate, protocol)
    for protocol in PROTOCOLS
    for rate in RATES
    for dim in DIMS
    if protocol == FIXED or dim > DIMS[0]
]


def cells(_: Setting) -> list[Cell]:
    """The algorithms of the figure, and random points to show what the problem leaves to be gained."""
    return dimensions.cells((*ROWS, "random"))


def table(results: Results) -> TextTable:
    """Final regret."""
    dims = [f"{_extra(results, dim).mean():.1f} at d = {dim}" for dim in DIMS]
    cost = (
        "The cost of backtracking, in evaluations of the posterior at a point: a step takes at least "
        f"{CHOOSING} to choose, and one to test what came of it, so {HORIZON * (CHOOSING + 1):,} a run. A "
        "reset with backtracking tests those that it keeps and the first that it does not, at most 2d + 1, "
        f"each given no more than 2d points. Such tests per run, mean of the rates: {', '.join(dims)}."
    )
    return dimensions.table(results, (*ROWS, "random"), (cost,))


def figure(results: Results) -> Any:
    """Curves at d = 8 and final regret over d."""
    return dimensions.figure(results, ROWS)


def _in_a_row(results: Results) -> Array:
    """How many of backtracking's resets come one step after another reset, at the highest d, by seed."""
    groups = [results[KEEPS, name] for name in HIGHEST]
    counts = [[float((np.diff(run["resets"]) == 1).sum()) for run in group.runs] for group in groups]
    return np.asarray(np.sum(counts, axis=0))


def _extra(results: Results, dim: int) -> Array:
    """The tests that backtracking makes beside one a step, those kept and one more; by seed, mean of rates.

    A reset that keeps 2d points stops at the cap and tests no further one.
    """
    groups = [results[KEEPS, column(dim, rate)] for rate in RATES]
    tests = [[(run["kept"] + (run["kept"] < 2 * dim)).sum() for run in group.runs] for group in groups]
    return np.asarray(np.mean(tests, axis=0))


def claims(results: Results) -> list[Claim]:
    """What Section 6.3 and Appendix A.2 say."""
    saved = {name: ratios(results[KEEPS, name], results[FULL, name]) for name in EVERYWHERE}
    low = {rate: saved[column(DIMS[0], rate)] for rate in RATES}
    grows = [
        mean_of(saved[column(DIMS[-1], rate, protocol)] - low[rate]).below(0.0)
        for protocol in PROTOCOLS
        for rate in RATES
    ]
    consecutive = _in_a_row(results)
    total = sum(len(run["resets"]) for name in HIGHEST for run in results[KEEPS, name].runs)
    extra = {dim: _extra(results, dim) for dim in DIMS}
    return [
        judged(
            f"In {DIMS[-1]} dimensions, retaining recent data improves ET-GP-UCB markedly.",
            [mean_of(saved[name]).below(math.log1p(-MARKED)) for name in HIGHEST],
            f"{against(results, KEEPS, [FULL], HIGHEST)}; {MARKED:.0%} less counts as marked",
        ),
        judged(
            f"With it, and untold of the rate, it almost matches TV-GP-UCB in {DIMS[-1]} dimensions.",
            [similar(results[KEEPS, name], results[TOLD, name], ALMOST) for name in HIGHEST],
            f"{against(results, KEEPS, [TOLD], HIGHEST)}; up to {ALMOST:.0%} either way counts as almost",
        ),
        judged(
            "The higher the dimension, the more retaining data helps.",
            grows,
            f"{against(results, KEEPS, [FULL], [*LOWEST, *HIGHEST])}; a difference between d = {DIMS[-1]} "
            f"and d = {DIMS[0]} on the same seeds is asked for",
        ),
        judged(
            "It helps in every dimension at every rate.",
            beats(results, KEEPS, [FULL], EVERYWHERE),
            extremes(results, KEEPS, FULL, EVERYWHERE),
        ),
        judged(
            "Keeping data while the objective drifts can lead to resets at consecutive steps.",
            [happens(consecutive > 0)],
            f"{consecutive.sum():.0f} of its {total} resets at d = {DIMS[-1]} come one step after another",
        ),
        judged(
            f"Backtracking costs no significant time: it adds less than {CHEAP:.0%} to the evaluations of "
            "the posterior, and those it adds are given at most 2d points.",
            [mean_of(tests / (HORIZON * (CHOOSING + 1))).below(CHEAP) for tests in extra.values()],
            f"evaluations per run beside some {HORIZON * (CHOOSING + 1):,}: "
            + ", ".join(f"{tests.mean():.1f} at d = {dim}" for dim, tests in extra.items()),
        ),
    ]
