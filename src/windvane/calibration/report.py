"""What a calibration found: one row per contestant, as numbers, as a table, and as a choice."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.calibration.figure import draw
from windvane.calibration.rows import CalibrationRow, Delay
from windvane.calibration.text import interval, percent, steps
from windvane.checks import real
from windvane.errors import InvalidArgument
from windvane.plots.report import TableReport


@dataclass(frozen=True, eq=False)
class Calibration(TableReport):
    """The report of `calibrate`: print it, plot it, let it choose.

    >>> import windvane as wv
    >>> prior = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}
    >>> report = wv.calibrate("et-gp-ucb", wv.Box([(0, 1)]), **prior, deltas=[0.1], steps=6, runs=2)
    >>> report.rows[0].label, report.rest, len(report.records())
    ('0.1', 3, 3)
    """

    algorithm: str
    about: str
    kind: str  # of the choice: "delta" or "trigger"
    rows: tuple[CalibrationRow, ...]
    jumps: tuple[float, ...]
    steps: int
    jump_at: int
    runs: int
    seed: int

    @property
    def rest(self) -> int:
        """The observations of a run from the jump on."""
        return self.steps - self.jump_at + 1

    def label(self, choice: Any) -> str:
        """The name in the table of a delta or trigger."""
        return next(row.label for row in self.rows if row.choice == choice)

    def choose(self, false_alarms: float = 0.05, *, jump: float | None = None, cautious: bool = False) -> Any:
        """The delta, or trigger, that notices jumps soonest within an allowance of false alarms.

        `false_alarms` is the share of static runs that may have one. Of those that keep to it, the one
        with the least mean delay is chosen: after the jump of this size, or else averaged over all
        sizes. Where that is equal, fewer false alarms count. With `cautious`, the upper end of the
        interval must keep to the allowance, not the estimate alone; this takes more runs.
        """
        allowed = real("false_alarms", false_alarms, at_least=0.0, at_most=1.0)
        sizes = self.jumps if jump is None else (jump,)

        def share(row: CalibrationRow) -> float:
            return row.false_alarms_interval[1] if cautious else row.false_alarms

        def cost(row: CalibrationRow) -> tuple[float, float]:
            return float(np.mean([row.delay(size).mean for size in sizes])), row.false_alarms

        ranked = sorted(self.rows, key=cost)
        for row in ranked:
            if share(row) <= allowed:
                return row.choice
        best = min(self.rows, key=share)
        least = f"{percent(share(best))}{' (upper end of the interval)' if cautious else ''}"
        remedy = "smaller deltas" if self.kind == "delta" else "stricter triggers"
        raise InvalidArgument(
            f"false_alarms={false_alarms!r}: no {self.kind} keeps to it; the least is {least} of runs, with "
            f"{best.label}. Try {remedy}, fewer steps{', more runs' if cautious else ''}, or allow more"
        )

    def plot(self) -> Any:
        """A matplotlib Figure: false alarms and delays side by side; `.savefig("name.png")` keeps it."""
        return draw(self.rows, kind=self.kind, steps=self.steps)

    # -- as text -------------------------------------------------------------------------------------

    @property
    def headings(self) -> list[tuple[str, ...]]:
        """The columns of the table, each in two lines."""
        jumps = [(f"jump {jump:g}", "delay, noticed") for jump in self.jumps]
        return [("", self.kind), ("false alarms", "runs with any"), ("", "number per run"), *jumps]

    @property
    def cells(self) -> list[list[str]]:
        """The table's rows, as text."""
        return [
            [
                row.label,
                f"{percent(row.false_alarms)} {interval(*row.false_alarms_interval)}",
                f"{row.alarms_per_run:.2f} ± {row.alarms_per_run_error:.2f}",
                *(_delay_text(row.delay(jump), self.rest) for jump in self.jumps),
            ]
            for row in self.rows
        ]

    @property
    def notes(self) -> list[str]:
        """How to read the table."""
        return [
            f"False alarms: in {self.steps} steps while nothing changes; 95 % intervals of {self.runs} runs.",
            f"Delay: observations from a jump at step {self.jump_at} to the reset, median (quartiles); "
            "and the share of runs in which it came.",
            "A jump of size s replaces a share s of the function's variance; 1 is an entirely new function.",
        ]

    @property
    def title(self) -> str:
        """What was simulated, in a line."""
        return f"{self.algorithm} on {self.about}"

    # -- as data ---------------------------------------------------------------------------------------

    def records(self) -> list[dict[str, Any]]:
        """A flat record for each contestant and jump, for a CSV file or a data frame."""
        found = []
        for row in self.rows:
            low, high = row.false_alarms_interval
            for jump in self.jumps:
                delay = row.delay(jump)
                found.append(
                    {
                        self.kind: row.choice if self.kind == "delta" else row.label,
                        "false_alarms": row.false_alarms,
                        "false_alarms_low": low,
                        "false_alarms_high": high,
                        "alarms_per_run": row.alarms_per_run,
                        "jump": jump,
                        "delay_median": _finite(delay.median),
                        "delay_lower_quartile": _finite(delay.low),
                        "delay_upper_quartile": _finite(delay.high),
                        "delay_mean_in_run": delay.mean,
                        "noticed": delay.noticed,
                    }
                )
        return found

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain JSON, each run included; a delay of None was not noticed."""
        return {
            "algorithm": self.algorithm,
            "about": self.about,
            "steps": self.steps,
            "jump_at": self.jump_at,
            "jumps": list(self.jumps),
            "runs": self.runs,
            "seed": self.seed,
            "summary": self.records(),
            "rows": [
                {
                    self.kind: row.choice if self.kind == "delta" else row.label,
                    "alarms": [list(run) for run in row.alarms],
                    "delays": [[_finite(value) for value in run] for run in row.delays.tolist()],
                }
                for row in self.rows
            ],
        }


def _finite(value: float) -> int | None:
    return int(value) if math.isfinite(value) else None


def _delay_text(delay: Delay, rest: int) -> str:
    text = steps(delay.median, rest)
    if math.isfinite(delay.low):
        text += f" ({steps(delay.low, rest)}–{steps(delay.high, rest)})"
    return f"{text}, {delay.noticed:.0%}"
