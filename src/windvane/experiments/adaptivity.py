"""The leaderboard of adaptivity: how an algorithm that is told little fares beside rivals that are told more.

On every task the subject is compared with its best rival there, chosen in hindsight: nobody could have
known which one to take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.errors import UnknownName
from windvane.experiments.leaderboard import Leaderboard, number
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable

CLOSE = 1.10
RESAMPLES = 4000
COVERED = (2.5, 97.5)  # per cent


@dataclass(frozen=True)
class Duel:
    """The subject and its best rival on one task: medians of R_T / T, and their ratio with its interval."""

    task: str
    regret: float
    rival: str
    rival_regret: float
    ratio: float
    low: float
    high: float

    @property
    def close(self) -> bool:
        """Within 10 % of the best rival, or better."""
        return self.ratio <= CLOSE

    @property
    def spoken(self) -> str:
        """The ratio with its interval; with a third digit where two would hide that it is not close.

        >>> Duel("jumps", 0.112, "gp-ucb", 0.1, 1.12, 1.02, 1.2).spoken
        '1.12 (1.02 to 1.20)'
        >>> Duel("jumps", 0.1103, "gp-ucb", 0.1, 1.103, 1.02, 1.2).spoken
        '1.103 (1.02 to 1.20)'
        """
        hidden = not self.close and number(self.ratio) == number(CLOSE)
        ratio = f"{self.ratio:.3f}" if hidden else number(self.ratio)
        return f"{ratio} ({number(self.low)} to {number(self.high)})"


def duels(results: Results, subject: str, rivals: Sequence[str]) -> list[Duel]:
    """The subject against the best of its rivals, task by task."""
    if not rivals:
        raise UnknownName(f"{subject}: has no rival to be compared with")
    found = []
    for task in results.columns:
        groups = results.column(task)
        rival = min(rivals, key=lambda name: groups[name].median)
        own, other = groups[subject], groups[rival]
        found.append(Duel(task, own.median, rival, other.median, *ratio_with_interval(own, other)))
    return found


def ratio_with_interval(own: Group, other: Group) -> tuple[float, float, float]:
    """The ratio of the medians, and its 95 % interval by the bootstrap: both get the seeds that are drawn."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(own), size=(RESAMPLES, len(own)))
    medians = np.median(own.average[drawn], axis=1), np.median(other.average[drawn], axis=1)
    ratios = [_ratio(float(a), float(b)) for a, b in zip(*medians, strict=True)]
    low, high = np.percentile(ratios, COVERED, method="nearest")
    return _ratio(own.median, other.median), float(low), float(high)


def _ratio(value: float, other: float) -> float:
    if other > 0.0:
        return value / other
    return 1.0 if value <= other else math.inf


def verdict(subject: str, found: Sequence[Duel]) -> str:
    """Two sentences: how often close, how often first, and the worst."""
    first = [duel.task for duel in found if duel.ratio < 1.0]
    worst = max(found, key=lambda duel: duel.ratio)
    ahead = f"It is ahead of all rivals on {len(first)}" + (f" ({'; '.join(first)})." if first else ".")
    return (
        f"`{subject}` is within 10 % of the best rival on {sum(duel.close for duel in found)} of "
        f"{len(found)} tasks. {ahead} Its worst ratio is {worst.spoken}, on {worst.task}."
    )


def losses(found: Sequence[Duel]) -> list[Duel]:
    """Where the subject is not within 10 %, worst first."""
    return sorted((duel for duel in found if not duel.close), key=lambda duel: -duel.ratio)


def duel_table(subject: str, found: Sequence[Duel]) -> TextTable:
    """One row a task, the subject's worst first."""
    rows = [
        (duel.task, duel.spoken, f"{duel.regret:.3g}", f"{duel.rival_regret:.3g}", duel.rival)
        for duel in sorted(found, key=lambda duel: -duel.ratio)
    ]
    return TextTable(
        ("task", "ratio (95 % interval)", f"R_T / T of {subject}", "of the best rival", "which"), rows
    )


def standings(board: Leaderboard) -> TextTable:
    """One row an algorithm, from the smallest worst ratio to the largest."""
    tasks = board.tasks
    rows = [
        (
            s.algorithm,
            number(s.worst_ratio),
            s.worst_task if s.worst_ratio > 1.0 else "–",
            f"{sum(board.line(s.algorithm, task).ratio <= CLOSE for task in tasks)} of {len(tasks)}",
            number(s.ratio),
            f"{s.mean_rank:.1f}",
        )
        for s in board.standings
    ]
    return TextTable(("algorithm", "worst ratio", "where", "within 10 %", "mean ratio", "mean rank"), rows)


def regrets(board: Leaderboard) -> TextTable:
    """R_T / T, tasks x algorithms; the best of a task is bold."""
    names = [standing.algorithm for standing in board.standings]
    rows = []
    for task in board.tasks:
        lines = [board.line(name, task) for name in names]
        rows.append(
            (
                task,
                *(f"**{line.regret:.3g}**" if line.ratio == 1.0 else f"{line.regret:.3g}" for line in lines),
            )
        )
    return TextTable(("task", *names), rows)


def plain(duel: Duel) -> dict[str, Any]:
    """As JSON; what is infinite is null."""
    numbers = {"ratio": duel.ratio, "low": duel.low, "high": duel.high}
    return {
        "task": duel.task,
        "regret": duel.regret,
        "rival": duel.rival,
        "rival_regret": duel.rival_regret,
        **{name: value if math.isfinite(value) else None for name, value in numbers.items()},
        "close": duel.close,
    }
