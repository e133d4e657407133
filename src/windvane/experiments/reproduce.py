"""Run experiments and leave behind what people read: records, table, figure, report.

OUT/runs.sqlite                 every finished run, shared by all experiments
OUT/NAME/records.parquet        one row per run
OUT/NAME/table.md, figure.png, figure.pdf, summary.json
OUT/report.html                 everything reproduced in OUT so far

What goes into the documentation is kept beside its page as well (`sections.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from windvane.errors import StorageFailure
from windvane.experiments.claims import Claim
from windvane.experiments.experiment import Cell, Experiment, Setting
from windvane.experiments.measures import Result
from windvane.experiments.records import write_records
from windvane.experiments.results import Group, Results
from windvane.experiments.stamp import Stamp, stamp
from windvane.experiments.store import KEPT, fingerprint
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import RunSpec, digest_of_code
from windvane.files import write_text, writing
from windvane.plots import style


@dataclass(frozen=True)
class CellRecord:
    """What the runs of a cell depend on: names, a digest of the code, and one of its first run."""

    task: str
    algorithm: str
    measure: str
    code: str
    first: str

    @property
    def current(self) -> bool:
        """Whether the code is still the same."""
        return self.code == digest_of_code(self.task, self.algorithm, self.measure)


@dataclass(frozen=True)
class ExperimentSummary:
    """What a report says of an experiment; kept as JSON beside its figure."""

    name: str
    source: str
    title: str
    command: str
    runs: int
    full: int  # runs per cell at full size
    stamp: Stamp
    table: TextTable
    claims: tuple[Claim, ...]
    plan: str = ""  # a digest of what was run: cells, first seed, data
    cells: tuple[CellRecord, ...] = ()
    earlier: int = 0  # runs of earlier code that were taken over

    def write(self, path: Path) -> None:
        """As JSON."""
        write_text(path, json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def read(cls, path: Path) -> ExperimentSummary:
        """The inverse of `write`."""
        try:
            plain: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            table, computed = TextTable(**plain.pop("table")), Stamp(**plain.pop("stamp"))
            found = tuple(Claim(**claim) for claim in plain.pop("claims"))
            cells = tuple(CellRecord(**cell) for cell in plain.pop("cells", ()))
            return cls(**plain, stamp=computed, table=table, claims=found, cells=cells)
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise StorageFailure(
                f"{path}: not a summary of this version ({error}); remove the folder and reproduce it again"
            ) from None


def first_runs(cells: Iterable[Cell], first: int) -> list[RunSpec]:
    """That of each cell, once where cells share their runs."""
    return list(dict.fromkeys(cell.trials(range(first, first + 1))[0] for cell in cells))


def planned(cells: Iterable[Cell], first: int) -> str:
    """A digest of what is to be run, whatever the number of runs and the code."""
    plain = [{**cell.trials(range(first, first + 1))[0].plain(), "most": cell.runs} for cell in cells]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def section_stamp(cells: Iterable[CellRecord]) -> Stamp:
    """That of the code behind these cells and no other."""
    codes = sorted({cell.code for cell in cells})
    return stamp(hashlib.sha256(json.dumps(codes).encode()).hexdigest())


def gather(cells: list[Cell], seeds: range, results: dict[RunSpec, Result]) -> Results:
    """Results by row and column."""
    return Results(
        {
            (cell.row, cell.column): Group(
                tuple(trial.seed for trial in cell.trials(seeds)),
                tuple(results[trial] for trial in cell.trials(seeds)),
            )
            for cell in cells
        },
        tasks={(cell.row, cell.column): cell.task for cell in cells},
    )


def publish(
    experiment: Experiment,
    setting: Setting,
    seeds: range,
    results: dict[RunSpec, Result],
    out: Path,
    command: str,
    earlier: int = 0,
) -> ExperimentSummary:
    """Write the experiment's folder; `earlier` of the runs are of earlier code."""
    folder = out / experiment.name
    cells = experiment.cells(setting)
    found = gather(cells, seeds, results)
    records = tuple(
        CellRecord(
            trial.task.name, trial.algorithm.name, trial.measure.name, trial.code, fingerprint(results[trial])
        )
        for trial in first_runs(cells, seeds[0])
    )
    with writing(folder, KEPT, inside=True):
        folder.mkdir(parents=True, exist_ok=True)
        write_records(folder / "records.parquet", experiment.name, cells, seeds, results)
        summary = ExperimentSummary(
            experiment.name,
            experiment.source,
            experiment.title,
            command,
            found.runs,
            experiment.runs,
            section_stamp(records),
            experiment.table(found),
            tuple(experiment.claims(found)),
            planned(cells, seeds[0]),
            records,
            earlier,
        )
        heading = f"# {experiment.source}: {experiment.title}\n\n"
        write_text(folder / "table.md", heading + summary.table.markdown() + "\n")
        style.save(experiment.figure(found), folder)
        summary.write(folder / "summary.json")
    return summary


def summaries(out: Path, order: list[str]) -> list[ExperimentSummary]:
    """Everything reproduced in a folder so far, in the given order."""
    return [
        ExperimentSummary.read(out / name / "summary.json")
        for name in order
        if (out / name / "summary.json").is_file()
    ]
