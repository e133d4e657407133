"""The paper's tables and figures, one file each; `EXPERIMENTS` is the list `windvane reproduce` knows."""

from __future__ import annotations

from windvane.experiments.experiment import Experiment
from windvane.experiments.paper import (
    ablation,
    backtracking,
    lemma3,
    rate_change,
    reset_times,
    table1,
    table2,
    table4,
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
        ablation,
        table2,
        backtracking,
        rate_change,
        turbo,
        table4,
    )
}
