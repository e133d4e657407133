"""Who is run to the end: the first runs of all show who has no chance to be the best rival on a world.

The rule is fixed before anything is run, and asks nothing of the subject of the suite: a rival that is more
than `FAR` times the best rival on a world after `FIRST` runs each, by the median, by the mean and by the
ninth decile, is not run further there. Its figures are those of its first runs, and are marked as such.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from windvane.experiments.experiment import Cell
from windvane.experiments.results import Results
from windvane.experiments.statistic import STATISTICS

FIRST = 10  # runs of everybody
FAR = 1.5  # times the best rival, by every statistic


def lap(cells: Sequence[Cell], finishers: Collection[str]) -> list[Cell]:
    """The first runs of every cell; the rows of `finishers` are always run to the end."""
    return [cell if cell.row in finishers else replace(cell, runs=FIRST) for cell in cells]


def rest(cells: Sequence[Cell], found: Results, finishers: Collection[str]) -> list[Cell]:
    """The cells with as many runs as they are worth, given the results of the first lap."""
    return [
        replace(cell, runs=FIRST) if cell.row not in finishers and beaten(cell, found, finishers) else cell
        for cell in cells
    ]


def beaten(cell: Cell, found: Results, finishers: Collection[str]) -> bool:
    """Whether a rival is far behind the best rival on its world, whatever is asked for."""
    rivals = {row: group for row, group in found.column(cell.column).items() if row not in finishers}
    return all(
        rivals[cell.row].by(one) > FAR * min(group.by(one) for group in rivals.values()) for one in STATISTICS
    )
