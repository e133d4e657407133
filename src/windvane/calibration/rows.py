"""One contestant of a calibration: its false alarms and its delays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument
from windvane.theory.proportion import wilson

CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959964  # of the normal distribution, for that confidence


class Delay(NamedTuple):
    """How long a jump went unnoticed, in observations; infinite where the run ended before the reset."""

    median: float
    low: float  # the lower quartile
    high: float  # the upper one
    noticed: float  # the share of runs in which it was noticed at all
    mean: float  # with the length of the rest of the run where it was not


@dataclass(frozen=True, eq=False)
class CalibrationRow:
    """One contestant: a delta, or a trigger.

    `alarms` holds the steps of the false alarms of each run. `delays` is runs x jumps: the observations
    from the jump on up to and with the one that made the reset, 1 being the best possible.
    """

    choice: Any
    label: str
    alarms: tuple[tuple[int, ...], ...]
    delays: Array
    jumps: tuple[float, ...]
    rest: int

    @cached_property
    def false_alarms(self) -> float:
        """The share of runs with at least one false alarm."""
        return float(np.mean([len(run) > 0 for run in self.alarms]))

    @cached_property
    def false_alarms_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of that share."""
        count = sum(len(run) > 0 for run in self.alarms)
        return wilson(count, len(self.alarms), CONFIDENCE)

    @cached_property
    def alarms_per_run(self) -> float:
        """The mean number of false alarms in a run."""
        return float(np.mean([len(run) for run in self.alarms]))

    @cached_property
    def alarms_per_run_error(self) -> float:
        """Half the width of its 95 % interval."""
        spread = float(np.std([len(run) for run in self.alarms], ddof=1))
        return NORMAL_QUANTILE * spread / math.sqrt(len(self.alarms))

    def delay(self, jump: float) -> Delay:
        """The delay after a jump of this size."""
        if jump not in self.jumps:
            known = ", ".join(f"{size:g}" for size in self.jumps)
            raise InvalidArgument(f"jump={jump!r}: must be one of the simulated jumps, {known}")
        values = self.delays[:, self.jumps.index(jump)]
        low, median, high = np.quantile(values, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
        seen = float(np.isfinite(values).mean())
        return Delay(median, low, high, seen, float(np.minimum(values, self.rest).mean()))


def delays_of(found: Sequence[Sequence[int | None]]) -> Array:
    """Delays as numbers: infinite where there was no reset."""
    return np.array([[math.inf if value is None else value for value in run] for run in found], dtype=float)
