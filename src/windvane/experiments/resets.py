"""What resets tell: false ones where nothing changes, and how late the true ones are.

Both are counted in runs that were made for their regret.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from windvane.checks import Array
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable
from windvane.theory.proportion import wilson

STEPS = 200  # from the first on, in which false resets are counted
SOON = 3  # observations, within which a full jump should be noticed
CONFIDENCE = 0.95
ALL = "all of them"


@dataclass(frozen=True)
class Share:
    """`count` of `total` runs.

    >>> str(Share(2, 40)), str(Share(0, 40))
    ('2 of 40 (1 to 17 %)', '0 of 40 (0 to 9 %)')
    """

    count: int
    total: int

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, for 95 %."""
        return wilson(self.count, self.total, CONFIDENCE)

    def __add__(self, other: Share) -> Share:
        return Share(self.count + other.count, self.total + other.total)

    def __str__(self) -> str:
        low, high = (round(100.0 * end) for end in self.interval)
        return f"{self.count} of {self.total} ({low} to {high} %)"


def with_reset(group: Group, steps: int = STEPS) -> Share:
    """The runs with a reset in the first steps."""
    hit = [bool((np.asarray(run["resets"]) <= steps).any()) for run in group.runs]
    return Share(sum(hit), len(hit))


def delays(group: Group) -> Array:
    """Of every jump of every run: observations up to and with the one that made the reset.

    1 is the best possible; infinity stands where there was no reset before the next jump, or the end.
    """
    found = []
    for run in group.runs:
        jumps, resets = run["jumps"].tolist(), run["resets"].tolist()
        for jump, end in zip(jumps, [*jumps[1:], math.inf], strict=False):
            noticed = [reset for reset in resets if jump <= reset < end]
            found.append(noticed[0] - jump + 1.0 if noticed else math.inf)
    return np.array(found)


def resetting(results: Results) -> list[str]:
    """The algorithms that reset at all."""
    return [row for row in results.rows if any(results[row, c].resets.any() for c in results.columns)]


def false_resets(results: Results, worlds: Sequence[str], rows: Sequence[str]) -> TextTable:
    """One row per world in which nothing changes, one column per algorithm; the last row is their sum."""
    shares = {(row, world): with_reset(results[row, world]) for row in rows for world in worlds}
    lines = [(world, *(str(shares[row, world]) for row in rows)) for world in worlds]
    sums = [sum((shares[row, world] for world in worlds), Share(0, 0)) for row in rows]
    return TextTable(("world", *rows), [*lines, (ALL, *map(str, sums))])


def delay_table(results: Results, worlds: Sequence[str], rows: Sequence[str]) -> TextTable:
    """One row per algorithm, three columns per world whose jumps leave nothing of what was."""
    header = ["algorithm"]
    for world in worlds:
        header += [f"{world}: median delay", f"within {SOON}", "noticed"]
    lines = []
    for row in rows:
        line = [row]
        for world in worlds:
            found = delays(results[row, world])
            median = float(np.median(found))
            line += [
                f"{median:g}" if math.isfinite(median) else "∞",
                f"{np.mean(found <= SOON):.0%}",
                f"{np.mean(np.isfinite(found)):.0%}",
            ]
        lines.append(tuple(line))
    return TextTable(tuple(header), lines)
