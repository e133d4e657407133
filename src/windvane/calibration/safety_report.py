"""What a calibration of safety found: a row for each probability and jump."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from windvane.calibration.figure import draw_safety
from windvane.calibration.rows import CONFIDENCE, NORMAL_QUANTILE
from windvane.calibration.text import interval, percent
from windvane.checks import Array, real
from windvane.errors import InvalidArgument
from windvane.plots.report import TableReport
from windvane.theory.proportion import wilson


@dataclass(frozen=True, eq=False)
class SafetyRow:
    """One contestant: the probability that was to be kept, and what became of it.

    `violations` holds the steps of each run at which what was asked for violates some constraint, truly: the
    quantity without noise. `gains` is the mean objective of each run, in its standard deviations.
    """

    safe: float
    jump: float
    violations: tuple[tuple[int, ...], ...]
    gains: Array
    steps: int

    @cached_property
    def shares(self) -> Array:
        """Of each run, the share of points that violate."""
        return np.array([len(run) / self.steps for run in self.violations])

    @cached_property
    def share(self) -> float:
        """The share of all points that violate."""
        return float(self.shares.mean())

    @cached_property
    def share_error(self) -> float:
        """Half the width of its 95 % interval; of runs, since the points of one are not independent."""
        return NORMAL_QUANTILE * float(self.shares.std(ddof=1)) / math.sqrt(len(self.shares))

    @cached_property
    def any(self) -> float:
        """The share of runs with at least one violation."""
        return float((self.shares > 0.0).mean())

    @cached_property
    def any_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of that share."""
        return wilson(int((self.shares > 0.0).sum()), len(self.shares), CONFIDENCE)

    @cached_property
    def worst(self) -> int:
        """The violations of the run that had most of them."""
        return max(len(run) for run in self.violations)

    @cached_property
    def gain(self) -> float:
        """The mean objective of what was asked for, in standard deviations above the mean of the prior."""
        return float(self.gains.mean())

    @cached_property
    def gain_error(self) -> float:
        """Half the width of its 95 % interval."""
        return NORMAL_QUANTILE * float(self.gains.std(ddof=1)) / math.sqrt(len(self.gains))


@dataclass(frozen=True, eq=False)
class SafetyCalibration(TableReport):
    """The report of `calibrate_safety`: print it, plot it, let it choose."""

    algorithm: str
    about: str
    assumed: tuple[str, ...]  # what was not told, and is a default
    rows: tuple[SafetyRow, ...]
    rate: float
    jump_at: int
    margin: float
    steps: int
    runs: int
    seed: int

    def row(self, safe: float, jump: float = 0.0) -> SafetyRow:
        """The row of a probability and a jump."""
        for row in self.rows:
            if (row.safe, row.jump) == (safe, jump):
                return row
        known = ", ".join(f"({row.safe:g}, {row.jump:g})" for row in self.rows)
        raise InvalidArgument(f"safe={safe!r}, jump={jump!r}: must be one of {known}")

    def choose(self, violations: float = 0.05, *, cautious: bool = False) -> float:
        """The lowest `safe` under which at most this share of points violates, whatever the jump.

        With `cautious`, the upper end of the interval must keep to it, not the estimate alone.
        """
        allowed = real("violations", violations, at_least=0.0, at_most=1.0)

        def share(safe: float) -> float:
            return max(row.share + cautious * row.share_error for row in self.rows if row.safe == safe)

        levels = sorted({row.safe for row in self.rows})
        for safe in levels:
            if share(safe) <= allowed:
                return safe
        best = min(levels, key=share)
        raise InvalidArgument(
            f"violations={violations!r}: no level keeps to it; the least is {percent(share(best))} of "
            f"points, with safe={best:g}. Try higher levels, or allow more"
        )

    def plot(self) -> Any:
        """A matplotlib Figure: what violates against what was allowed; `.savefig("name.png")` keeps it."""
        return draw_safety(self.rows, runs=self.runs, steps=self.steps)

    # -- as text -------------------------------------------------------------------------------------

    @property
    def _jumps(self) -> bool:
        return any(row.jump for row in self.rows)

    @property
    def headings(self) -> list[tuple[str, ...]]:
        """The columns of the table, each in two lines."""
        jump = [("", "jump")] if self._jumps else []
        return [
            *[("", "safe"), *jump, ("points that", "violate"), ("runs with", "any violation")],
            *[("worst", "run"), ("mean", "objective")],
        ]

    @property
    def cells(self) -> list[list[str]]:
        """The table's rows, as text."""
        return [
            [
                f"{row.safe:g}",
                *([f"{row.jump:g}" if row.jump else "none"] if self._jumps else []),
                f"{percent(row.share)} ± {100 * row.share_error:.1f}%",
                f"{percent(row.any)} {interval(*row.any_interval)}",
                f"{row.worst} of {row.steps}",
                f"{row.gain:.2f} ± {row.gain_error:.2f}",
            ]
            for row in self.rows
        ]

    @property
    def notes(self) -> list[str]:
        """How to read the table."""
        found = [
            f"{self.runs} runs of {self.steps} steps; 95 % intervals. safe = p allows each constraint to be "
            "violated by a share 1 - p of points. What counts is the quantity itself, without noise.",
            f"At the start, each constraint is kept by {self.margin:g} of its standard deviations or more at "
            "step 1; later it may not be.",
            "The objective is in standard deviations above the mean of its prior: what caution costs.",
        ]
        if self._jumps:
            found.append(f"A jump of size s replaces a share s of all variances at step {self.jump_at}.")
        return [*(f"Assumed: {text}." for text in self.assumed), *found]

    @property
    def title(self) -> str:
        """What was simulated, in a line."""
        return f"{self.algorithm} on {self.about}, rate {self.rate:g}"

    # -- as data ---------------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """A flat record for each row, for a CSV file or a data frame."""
        return [
            {
                "safe": row.safe,
                "jump": row.jump,
                "points_violating": row.share,
                "points_violating_error": row.share_error,
                "runs_violating": row.any,
                "runs_violating_low": row.any_interval[0],
                "runs_violating_high": row.any_interval[1],
                "worst_run": row.worst,
                "objective": row.gain,
                "objective_error": row.gain_error,
            }
            for row in self.rows
        ]

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain JSON, each run included."""
        return {
            "algorithm": self.algorithm,
            "about": self.about,
            "assumed": list(self.assumed),
            **{name: getattr(self, name) for name in ("rate", "jump_at", "margin", "steps", "runs", "seed")},
            "summary": self.records(),
            "rows": [
                {
                    "safe": row.safe,
                    "jump": row.jump,
                    "violations": [list(run) for run in row.violations],
                    "objective": row.gains.tolist(),
                }
                for row in self.rows
            ],
        }
