"""What a table of the suite came to, and what must be said with it: runs, seeds, who was told what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windvane.experiments import adaptivity, contest, leaderboard, race, resets, spelling, suite
from windvane.experiments.adaptivity import Duel
from windvane.experiments.leaderboard import Leaderboard
from windvane.experiments.results import Group, Results
from windvane.experiments.statistic import MEDIAN, STATISTICS
from windvane.experiments.suite import Field

FEW = 20  # runs


@dataclass(frozen=True, eq=False)
class TableOutcome:
    """A table: who competed on what, the results, and what follows from them by each statistic."""

    field: Field
    seeds: range
    rate: float
    results: Results
    boards: Mapping[str, Leaderboard]
    duels: Mapping[str, Mapping[str, Sequence[Duel]]]  # by subject, then by statistic

    @property
    def board(self) -> Leaderboard:
        """By the median."""
        return self.boards[MEDIAN.name]

    @property
    def tells(self) -> bool:
        """Whether rivals were told what they asked for."""
        return self.field.table.tells

    @property
    def name(self) -> str:
        """That of the table."""
        return self.field.table.name

    @property
    def still(self) -> list[str]:
        """The worlds in which nothing changes."""
        return [label for label in self.results.columns if suite.member(label).still]

    @property
    def replaced(self) -> list[str]:
        """The worlds whose jumps leave nothing of what was."""
        return [label for label in self.results.columns if suite.member(label).replaced]


def subjects(field: Field) -> list[str]:
    """The rows of the algorithm that the suite is about."""
    return [spelling.label(entry) for entry in field.entries if entry.name == suite.SUBJECT]


def outcome(
    field: Field, results: Results, random: Mapping[str, Group], seeds: range, rate: float
) -> TableOutcome:
    """Rank by the worst ratio, by each statistic, and compare the subjects with their rivals."""
    names = subjects(field)
    rivals = [name for name in results.rows if name not in names]
    return TableOutcome(
        field,
        seeds,
        rate,
        results,
        {
            one.name: leaderboard.rank(results, random, order="worst ratio", statistic=one)
            for one in STATISTICS
        },
        {
            name: {one.name: adaptivity.duels(results, name, rivals, one) for one in STATISTICS}
            for name in names
            if rivals
        },
    )


def about(found: TableOutcome) -> list[str]:
    """How to read the figures."""
    runs, first, last = found.board.runs, found.seeds[0], found.seeds[-1]
    seeds = f"seed {first}" if first == last else f"seeds {first} to {last}"
    said = [
        f"Medians of R_T / T over {runs} run{'s' * (runs > 1)} of each algorithm on each world, {seeds}. "
        "Ratio: such a median over that of the best algorithm on the world. Algorithms are ordered by the "
        "worst of their ratios: who adapts has none that is large."
    ]
    if any(len(group) < runs for group in found.results.values()):
        said.append(
            f"A rival that had, after {race.FIRST} runs, more than {race.FAR:g} times the regret of the best "
            "rival on a world, by the median, the mean and the ninth decile alike, was not run further "
            "there. Its figures are of these first runs, and it is not a best rival."
        )
    if runs < FEW:
        said.append("So few runs show shapes; figures to quote need 40 or more.")
    return said


def fresh(found: TableOutcome) -> list[str]:
    """Whether the seeds are others than those of the design."""
    if not found.duels:
        return []
    shared = set(found.seeds) & set(suite.DESIGN_SEEDS)
    if shared:
        return [f"Of these seeds {len(shared)} were used while `auto` was designed, so `auto` is flattered."]
    return [suite.TUNING]


def told(found: TableOutcome) -> list[str]:
    """Who was told what."""
    entries, arenas = found.field.entries, found.field.arenas
    if not found.tells:
        return [
            "In the first table everyone is made with the space and nothing else: no kernel, no noise, no "
            "rate, no horizon. Kernel, noise and the unit of y are learned from what is observed; arms are "
            "arms, with nothing said of which are alike."
        ]
    learned = " and ".join(arena.label for arena in arenas if arena.learned)
    said = [
        "In the second table everyone is told the space, the kernel of the world and the variance of its "
        "noise, unless it is said below. They are the true ones, but for the noise where it is misjudged."
    ]
    if learned:
        said.append(f"On {learned} there is no true kernel, so nobody is told one, nor the noise.")
    if suite.SUBJECT in subjects(found.field):
        said.append(
            f"`{suite.SUBJECT}` is told the kernel, where the world has one. It is told neither noise, nor "
            "rate, nor horizon."
        )
    said += [
        f"{spelling.label(entry)}: the space is all it gets." for entry in entries if spelling.blind(entry)
    ]
    rated = [spelling.label(entry) for entry in entries if contest.told_rate(entry)]
    if rated:
        said.append(
            f"{', '.join(rated)}: told a rate of change, in the table of worlds. It is the true one where "
            "there is one. On jumps it is the share replaced a step, on average; on seasons that of the "
            "Markov kernel which forgets half in the same time; on rate change the first of the two; and in "
            f"brackets, where the world has none, one for all, {found.rate:g}, as in the paper."
        )
    return said


def plain(found: TableOutcome) -> dict[str, Any]:
    """As JSON."""
    rest = leaderboard.plain(found.board, [*about(found), *told(found)], "")
    del rest["command"]
    rows = resets.resetting(found.results)
    return {
        "table": found.name,
        "seeds": list(found.seeds),
        **rest,
        "by": {name: leaderboard.plain(board, [], "")["standings"] for name, board in found.boards.items()},
        "subjects": {
            subject: {name: [adaptivity.plain(duel) for duel in ones] for name, ones in by.items()}
            for subject, by in found.duels.items()
        },
        "false_resets": {
            row: {
                world: {"runs": share.total, "with_reset": share.count, "interval": list(share.interval)}
                for world in found.still
                for share in [resets.with_reset(found.results[row, world])]
            }
            for row in rows
        },
        "not_run": list(found.field.left_out),
    }
