"""The leaderboard of adaptivity: how an algorithm fares beside its best rival, world by world.

On every world the subject is compared with its best rival there, chosen in hindsight: nobody could have
known which one to take.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from windvane.checks import Array
from windvane.errors import UnknownName
from windvane.experiments.leaderboard import Leaderboard, LeaderboardLine, geometric_mean, number
from windvane.experiments.results import Group, Results
from windvane.experiments.statistic import MEDIAN, Statistic
from windvane.experiments.tables import TextTable
from windvane.replay.account import finite

CLOSE = 1.10
RESAMPLES = 4000
COVERED = (2.5, 97.5)  # per cent

Finding = Literal["yes", "no", "undecided"]


@dataclass(frozen=True)
class Duel:
    """The subject and its best rival on one task: R_T / T of both, and their ratio with its interval."""

    task: str
    regret: float
    rival: str
    rival_regret: float
    ratio: float
    low: float
    high: float

    @property
    def close(self) -> bool:
        """Within 10 % of the best rival, or better, in these runs."""
        return self.ratio <= CLOSE

    @property
    def finding(self) -> Finding:
        """Whether it is within 10 %, as far as these runs can tell: the interval may contain the bar.

        >>> ends = ((0.9, 1.1), (0.9, 1.2), (1.2, 2.0))
        >>> [Duel("jumps", 1.0, "gp-ucb", 1.0, 1.0, low, high).finding for low, high in ends]
        ['yes', 'undecided', 'no']
        """
        if self.high <= CLOSE:
            return "yes"
        return "no" if self.low > CLOSE else "undecided"

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


def duels(results: Results, subject: str, rivals: Sequence[str], statistic: Statistic = MEDIAN) -> list[Duel]:
    """The subject against the best of its rivals, task by task."""
    if not rivals:
        raise UnknownName(f"{subject}: has no rival to be compared with")
    found = []
    for task in results.columns:
        groups = results.column(task)
        values = {name: groups[name].by(statistic) for name in (subject, *rivals)}
        finished = [name for name in rivals if len(groups[name]) == len(groups[subject])]
        rival = min(finished, key=values.__getitem__)
        interval = ratio_with_interval(groups[subject], groups[rival], statistic)
        found.append(Duel(task, values[subject], rival, values[rival], *interval))
    return found


def ratio_with_interval(
    own: Group, other: Group, statistic: Statistic = MEDIAN
) -> tuple[float, float, float]:
    """The ratio of a statistic, and its 95 % interval by the bootstrap: both get the seeds that are drawn."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(own), size=(RESAMPLES, len(own)))
    ratios = _ratio(statistic.of(own.average[drawn]), statistic.of(other.average[drawn]))
    low, high = np.percentile(ratios, COVERED, method="nearest")
    return float(_ratio(statistic.of(own.average), statistic.of(other.average))), float(low), float(high)


def _ratio(value: Array, other: Array) -> Array:
    """Of no regret to no regret it is 1."""
    at_least = np.where(value <= other, 1.0, math.inf)
    return np.where(other > 0.0, value / np.where(other > 0.0, other, 1.0), at_least)


def mean_ratio(found: Sequence[Duel]) -> float:
    """The geometric mean of the ratios to the best rivals."""
    return geometric_mean([duel.ratio for duel in found])


def verdict(subject: str, found: Mapping[str, Sequence[Duel]]) -> str:
    """How often close, how sure that is, how often first; the worst, also by other statistics."""
    medians = found[MEDIAN.name]
    sure = [duel.finding for duel in medians]
    said = [
        f"`{subject}` is within 10 % of the best rival on {sum(duel.close for duel in medians)} of "
        f"{len(medians)} worlds. By the intervals this is certain on {sure.count('yes')}, refuted on "
        f"{sure.count('no')} and undecided on {sure.count('undecided')}. It is ahead of all rivals on "
        f"{sum(duel.ratio < 1.0 for duel in medians)}."
    ]
    for name, ones in found.items():
        worst = max(ones, key=lambda duel: duel.ratio)
        by = "" if name == MEDIAN.name else f"By the {name}: within 10 % on {sum(d.close for d in ones)}. "
        said.append(
            f"{by}Its worst ratio is {worst.spoken}, on {worst.task}; the geometric mean is "
            f"{number(mean_ratio(ones))}."
        )
    return " ".join(said)


def losses(found: Sequence[Duel]) -> list[Duel]:
    """Where the subject is not within 10 %, worst first."""
    return sorted((duel for duel in found if not duel.close), key=lambda duel: -duel.ratio)


def duel_table(found: Mapping[str, Sequence[Duel]]) -> TextTable:
    """One row per world, the subject's worst first, with three columns for each statistic but one."""
    header = ["world", "within 10 %"]
    for name in found:
        header += [f"by the {name} (95 %)", "best rival"]
    by_world = {name: {duel.task: duel for duel in ones} for name, ones in found.items()}
    rows = []
    for duel in sorted(found[MEDIAN.name], key=lambda duel: -duel.ratio):
        row = [duel.task, duel.finding]
        for ones in by_world.values():
            row += [ones[duel.task].spoken, ones[duel.task].rival]
        rows.append(tuple(row))
    return TextTable(tuple(header), rows)


def standings(board: Leaderboard) -> TextTable:
    """One row per algorithm, from the smallest worst ratio to the largest."""
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


def tails(boards: Mapping[str, Leaderboard]) -> TextTable:
    """The same by the other statistics, side by side, in the order of the standings by the median."""
    others = {name: board for name, board in boards.items() if name != MEDIAN.name}
    header = ["algorithm"]
    for name in others:
        header += [f"{name}: worst ratio", "where", "mean ratio", "mean rank"]
    rows = []
    for first in boards[MEDIAN.name].standings:
        row = [first.algorithm]
        for board in others.values():
            s = board.standing(first.algorithm)
            where = s.worst_task if s.worst_ratio > 1.0 else "–"
            row += [number(s.worst_ratio), where, number(s.ratio), f"{s.mean_rank:.1f}"]
        rows.append(tuple(row))
    return TextTable(tuple(header), rows)


def regrets(board: Leaderboard) -> TextTable:
    """R_T / T, tasks x algorithms; the best of a task is bold, what is of first runs only in brackets."""
    names = [standing.algorithm for standing in board.standings]
    rows = []
    for task in board.tasks:
        lines = [board.line(name, task) for name in names]
        rows.append(
            (
                task,
                *(f"**{line.regret:.3g}**" if line.ratio == 1.0 else _figure(line, board) for line in lines),
            )
        )
    return TextTable(("world", *names), rows)


def _figure(line: LeaderboardLine, board: Leaderboard) -> str:
    """The regret; in brackets if it is of the first runs only."""
    return f"({line.regret:.3g})" if line.runs < board.runs else f"{line.regret:.3g}"


def plain(duel: Duel) -> dict[str, Any]:
    """As JSON; what is infinite is null."""
    return {
        **{name: finite(value) for name, value in asdict(duel).items()},
        "close": duel.close,
        "within_10_percent": duel.finding,
    }
