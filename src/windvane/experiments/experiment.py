"""An experiment: a frozen description -> trials -> results -> table, figure and verdicts.

A cell is one algorithm on one task, an entry of a table or a curve of a figure; it is run once a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from windvane.errors import InvalidArgument
from windvane.experiments.claims import Claim
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import REGRET, TOLD, Call, RunSpec, call


@dataclass(frozen=True)
class Cell:
    """One algorithm (usually the row) on one task (usually the column)."""

    row: str
    column: str
    task: Call
    algorithm: Call
    told: tuple[str, ...] = TOLD
    measure: Call = REGRET
    runs: int | None = None  # at most so many of the experiment's runs

    def trials(self, seeds: range) -> list[RunSpec]:
        """One trial a seed."""
        return [
            RunSpec(self.task, self.algorithm, seed, self.told, self.measure) for seed in seeds[: self.runs]
        ]


def trials_of(cells: Iterable[Cell], seeds: range) -> list[RunSpec]:
    """Every run, those of a seed together: a worker then draws an objective once for all rivals."""
    trials = dict.fromkeys(trial for cell in cells for trial in cell.trials(seeds))
    return sorted(trials, key=lambda trial: (trial.seed, str(trial.task)))


@dataclass(frozen=True)
class Setting:
    """What the caller decides: how large, and where the data are."""

    quick: bool = False
    data: Path | None = None
    synthetic: bool = False

    def sourced(self, name: str, **options: Any) -> Call:
        """A task that needs a file: from the data folder, or its stand-in if that was asked for."""
        if self.data is not None:
            return call(name, data=self.data, **options)
        if self.synthetic:
            return call(name, synthetic=True, **options)
        raise InvalidArgument(
            f"{name}: needs its data; give --data FOLDER, or --synthetic for the documented stand-in"
        )


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper."""

    name: str
    source: str  # where it is in the paper
    title: str
    runs: int  # a cell at full size, the paper's where it says so
    quick: int  # a cell, with --quick
    hours: float  # of one core at full size, if no run of it is kept: measured once, to plan by
    cells: Callable[[Setting], list[Cell]]
    table: Callable[[Results], TextTable]
    figure: Callable[[Results], Any]
    claims: Callable[[Results], list[Claim]]
    data: bool = False  # whether it reads files

    def trials(self, setting: Setting, seeds: range) -> list[RunSpec]:
        """Every run of its cells."""
        return trials_of(self.cells(setting), seeds)
