"""Results of an experiment, by row and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.errors import UnknownName
from windvane.experiments.measures import Result
from windvane.experiments.statistic import Statistic
from windvane.experiments.trial import Call
from windvane.tasks import task


@dataclass(frozen=True, eq=False)
class Group:
    """The runs of one cell, in the order of their seeds."""

    seeds: tuple[int, ...]
    runs: tuple[Result, ...]

    def __len__(self) -> int:
        return len(self.runs)

    @cached_property
    def regret(self) -> Array:
        """r_t, runs x T."""
        return np.array([run["regret"] for run in self.runs])

    @cached_property
    def average(self) -> Array:
        """R_T / T of each run."""
        return np.array([run["regret"].mean() for run in self.runs])

    @cached_property
    def total(self) -> Array:
        """R_T of each run."""
        return np.asarray(self.regret.sum(axis=1))

    @cached_property
    def curve(self) -> Array:
        """R_t / t, runs x T."""
        return np.asarray(self.regret.cumsum(axis=1) / np.arange(1, self.regret.shape[1] + 1))

    @cached_property
    def cumulative(self) -> Array:
        """R_t, runs x T."""
        return np.asarray(self.regret.cumsum(axis=1))

    @cached_property
    def resets(self) -> Array:
        """The number of resets of each run."""
        return np.array([len(run["resets"]) for run in self.runs], dtype=np.float64)

    @cached_property
    def violations(self) -> float | None:
        """The share of steps at which a limit was broken, over all runs; None if there are no limits."""
        if not all("violated" in run for run in self.runs):
            return None
        return float(np.mean([run["violated"].mean() for run in self.runs]))

    @property
    def median(self) -> float:
        """The median of R_T / T, the figure of the paper's tables."""
        return float(np.median(self.average))

    def by(self, statistic: Statistic) -> float:
        """A statistic of R_T / T over the runs."""
        return float(statistic.of(self.average))

    @property
    def quartiles(self) -> tuple[float, float]:
        """The quartiles of R_T / T."""
        low, high = np.percentile(self.average, (25, 75))
        return float(low), float(high)


class Results(Mapping[tuple[str, str], Group]):
    """Groups by (row, column), in the order of the experiment's cells."""

    def __init__(
        self, groups: Mapping[tuple[str, str], Group], *, tasks: Mapping[tuple[str, str], Call] | None = None
    ) -> None:
        self._groups = dict(groups)
        self._tasks = dict(tasks or {})

    def __getitem__(self, cell: tuple[str, str]) -> Group:
        try:
            return self._groups[cell]
        except KeyError:
            raise UnknownName(f"results: no cell {cell!r}") from None

    def __iter__(self) -> Any:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def task(self, row: str, column: str) -> Any:
        """The task of a cell, made again for the first of its seeds: for what is shown of the objective."""
        made = self.made(row, column)
        return task(made.name, **{"seed": self[row, column].seeds[0], **made.keywords()})

    def made(self, row: str, column: str) -> Call:
        """What the task of a cell was made from."""
        return self._tasks[row, column]

    @property
    def rows(self) -> Sequence[str]:
        """The rows, as first met."""
        return list(dict.fromkeys(row for row, _ in self._groups))

    @property
    def columns(self) -> Sequence[str]:
        """The columns, as first met."""
        return list(dict.fromkeys(column for _, column in self._groups))

    def column(self, name: str) -> dict[str, Group]:
        """The groups of a column, by row."""
        return {row: group for (row, column), group in self._groups.items() if column == name}

    @property
    def runs(self) -> int:
        """The most runs that a cell has."""
        return max(len(group) for group in self._groups.values())
