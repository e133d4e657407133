"""Records: one row per run in a Parquet file, which pandas, Polars, DuckDB and R read.

The file depends on the results alone: the same trials give the same bytes, wherever they ran.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from windvane.experiments.evidence import STEPS
from windvane.experiments.experiment import Cell
from windvane.experiments.measures import Result
from windvane.experiments.store import KEPT
from windvane.experiments.trial import Call, RunSpec
from windvane.extras import require
from windvane.files import whole, writing


def write_records(
    path: Path, name: str, cells: Sequence[Cell], seeds: range, results: dict[RunSpec, Result]
) -> None:
    """Write the runs of an experiment, cell by cell and seed by seed.

    Columns: experiment, row, column, task, task_options, algorithm, algorithm_options (JSON), seed,
    average (R_T / T), total (R_T), and the measured arrays, such as regret (r_t) and resets (steps).
    """
    arrow, parquet = require("pyarrow", "experiments"), require("pyarrow.parquet", "experiments")
    lines = [(cell, trial, results[trial]) for cell in cells for trial in cell.trials(seeds)]
    arrays = sorted({array for _, _, result in lines for array in result})
    columns: dict[str, list[object]] = {
        "experiment": [name] * len(lines),
        "row": [cell.row for cell, _, _ in lines],
        "column": [cell.column for cell, _, _ in lines],
    }
    for part in ("task", "algorithm"):
        calls: list[Call] = [getattr(trial, part) for _, trial, _ in lines]
        options = {described: _options(described) for described in dict.fromkeys(calls)}
        columns[part] = [described.name for described in calls]
        columns[f"{part}_options"] = [options[described] for described in calls]
    columns["seed"] = [trial.seed for _, trial, _ in lines]
    if "regret" in arrays:
        columns["average"] = [_average(result) for _, _, result in lines]
        columns["total"] = [_total(result) for _, _, result in lines]
    for array in arrays:
        columns[array] = [result.get(array) for _, _, result in lines]
    with writing(path.parent, KEPT, inside=True), whole(path) as draft:
        parquet.write_table(arrow.table(columns), draft, compression="zstd")


def _average(result: Result) -> float | None:
    return float(np.mean(result["regret"])) if "regret" in result else None


def _total(result: Result) -> float | None:
    if "regret" not in result:  # a run that was made for something else
        return None
    if STEPS in result:  # of which the mean is all that is left
        return float(np.mean(result["regret"]) * result[STEPS][0])
    return float(np.sum(result["regret"]))


def _options(described: Call) -> str:
    return json.dumps({k: v for k, v in described.plain().items() if k != "name"}, sort_keys=True)
