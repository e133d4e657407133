"""The paper's tables and figures, one file each; `EXPERIMENTS` is the list `windvane reproduce` knows.

A file has the functions `cells`, `table`, `figure` and `claims`; the list has what it is, and what it takes.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

from windvane.experiments.experiment import Experiment
from windvane.experiments.paper import (
    ablation,
    backtracking,
    comparators,
    deng_original,
    lemma3,
    naive_mle,
    policy_search,
    rate_change,
    reset_times,
    standard,
    table1,
    table2,
    table3,
    table4,
    temperature,
    theory,
    turbo_trigger,
    window_regret,
)


class Size(NamedTuple):
    """Runs of a cell: the paper's where it says so, and with --quick; hours of one core at full size."""

    runs: int
    quick: int
    hours: float


def _of(module: ModuleType, source: str, title: str, size: Size, data: bool = False) -> Experiment:
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    parts = (module.cells, module.table, module.figure, module.claims)
    return Experiment(name, source, title, *size, *parts, data)


_LISTED = (
    _of(theory, "Theorem 1, Corollary 1", "The regret bounds against measured regret", Size(50, 2, 0.06)),
    _of(lemma3, "Lemma 3", "False alarms while nothing changes", Size(1000, 100, 0.19)),
    _of(
        reset_times,
        "Fig. 2 (left), Fig. 14",
        "When the first reset comes, by the size of the reset window",
        Size(30_000, 300, 0.9),
    ),
    _of(window_regret, "Fig. 2 (right)", "Regret by the size of the reset window", Size(200, 6, 0.14)),
    _of(
        table1, "Table 1, Fig. 7", "Within-model comparison, with the rate right and wrong", Size(50, 6, 0.21)
    ),
    _of(
        temperature,
        "Fig. 3 (a-c), Fig. 15",
        "Temperatures of the Intel Berkeley lab",
        Size(50, 5, 0.067),
        data=True,
    ),
    _of(policy_search, "Fig. 3 (d)", "Policy search on a cart-pole whose friction grows", Size(50, 3, 0.2)),
    _of(ablation, "Fig. 4", "Reset frequency against reset timing", Size(50, 6, 0.022)),
    _of(table2, "Table 2", "Hyperparameters learned online", Size(50, 4, 0.14)),
    _of(naive_mle, "Section 6.3", "Maximum likelihood on the way, and the noise", Size(50, 3, 0.089)),
    _of(backtracking, "Fig. 5, Fig. 8", "Retaining past data in higher dimensions", Size(50, 1, 3.1)),
    _of(rate_change, "Fig. 6", "A rate of change that changes", Size(50, 4, 0.063)),
    _of(turbo_trigger, "Fig. 9", "A trigger on performance", Size(50, 1, 3.2)),
    _of(standard, "Fig. 10", "Ackley and Hartmann, moved after half of the steps", Size(50, 2, 0.21)),
    _of(
        table3,
        "Table 3, Fig. 11",
        "Algorithms for a budget of variation, with the refactored prior",
        Size(50, 2, 0.67),
    ),
    _of(
        deng_original,
        "Fig. 12",
        "Algorithms for a budget of variation, with the original prior",
        Size(50, 2, 0.8),
    ),
    # the paper has 50 runs, which leave open what is said of variances
    _of(table4, "Table 4, Fig. 13", "Sensitivity to delta_B", Size(200, 6, 0.16)),
    _of(comparators, "Conclusion", "Comparators that are fixed within windows", Size(50, 4, 0.11)),
)
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _LISTED}
