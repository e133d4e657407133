"""The paper's tables and figures, one file each; `EXPERIMENTS` is the list `windvane reproduce` knows."""

from __future__ import annotations

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
    turbo,
    window_regret,
)

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        theory,
        lemma3,
        reset_times,
        window_regret,
        table1,
        temperature,
        policy_search,
        ablation,
        table2,
        naive_mle,
        backtracking,
        rate_change,
        turbo,
        standard,
        table3,
        deng_original,
        table4,
        comparators,
    )
}
