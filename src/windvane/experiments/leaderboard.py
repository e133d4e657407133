"""A leaderboard of normalised dynamic regret: algorithms x tasks -> scores, ranks, files.

The score of a run is R_T / T over that of random search: its median over the same seeds of the same task.
0 is the optimum at every step, 1 is random search, whatever the unit of the task.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from windvane.errors import InvalidArgument
from windvane.experiments.results import Group, Results
from windvane.experiments.statistic import MEDIAN, Statistic
from windvane.experiments.store import KEPT
from windvane.experiments.tables import TextTable, spread
from windvane.files import write_csv, write_text, writing
from windvane.late import stats
from windvane.plots import style
from windvane.replay.account import finite

Order = Literal["mean rank", "worst ratio"]
COLUMNS = (4, 3, 5)  # panels in a row of the figure: the first that leaves the fewest places empty
TICKS = (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class LeaderboardLine:
    """One algorithm on one task; medians with quartiles, R_T / T as it is and as a score.

    In a leaderboard by another statistic, that one stands in the place of the median.
    """

    task: str
    algorithm: str
    runs: int
    regret: float
    regret_low: float
    regret_high: float
    score: float
    score_low: float
    score_high: float
    rank: float  # 1 is best; equals share the mean of their ranks
    ratio: float  # to the best algorithm on this task
    violations: float | None = None  # the share of steps beyond a limit, on tasks that have limits


@dataclass(frozen=True)
class Standing:
    """One algorithm over all tasks."""

    position: int
    algorithm: str
    mean_rank: float
    ratio: float  # geometric mean of the ratios to the best
    worst_ratio: float
    worst_task: str


@dataclass(frozen=True)
class Leaderboard:
    """Standings from first to last, and the lines they rest on, task by task and best first."""

    standings: tuple[Standing, ...]
    lines: tuple[LeaderboardLine, ...]
    yardsticks: Mapping[str, float]  # R_T / T of random search, by task
    left_out: tuple[str, ...] = ()  # tasks on which random search has no regret

    @property
    def tasks(self) -> list[str]:
        """In the order in which they were given."""
        return list(self.yardsticks)

    def on(self, task: str) -> list[LeaderboardLine]:
        """The lines of a task, best first."""
        return [line for line in self.lines if line.task == task]

    def line(self, algorithm: str, task: str) -> LeaderboardLine:
        """The line of an algorithm on a task."""
        return next(line for line in self.on(task) if line.algorithm == algorithm)

    def standing(self, algorithm: str) -> Standing:
        """The standing of an algorithm."""
        return next(standing for standing in self.standings if standing.algorithm == algorithm)

    @property
    def runs(self) -> int:
        """Of each algorithm on each task; fewer for those that were out of the race."""
        return max(line.runs for line in self.lines)


def rank(
    results: Results, random: Mapping[str, Group], order: Order = "mean rank", statistic: Statistic = MEDIAN
) -> Leaderboard:
    """The leaderboard of results (row: algorithm, column: task); `random` has random search by task.

    Algorithms are ordered by their mean rank, or by the worst of their ratios to the best; equals by the
    geometric mean of these ratios. Runs are compared by their median, or by another statistic.
    """
    lines: list[LeaderboardLine] = []
    yardsticks: dict[str, float] = {}
    left_out = []
    for task in results.columns:
        unit = random[task].by(statistic)
        if unit > 0.0:
            yardsticks[task] = unit
            lines += _lines(task, results.column(task), unit, statistic)
        else:
            left_out.append(task)
    if not lines:
        raise InvalidArgument(
            f"{', '.join(left_out)}: random search has no regret there, so there is nothing to compare"
        )
    return Leaderboard(_standings(results.rows, lines, order), tuple(lines), yardsticks, tuple(left_out))


def _lines(
    task: str, groups: Mapping[str, Group], unit: float, statistic: Statistic
) -> list[LeaderboardLine]:
    values = {algorithm: group.by(statistic) for algorithm, group in groups.items()}
    most = max(map(len, groups.values()))
    best = min(values[algorithm] for algorithm, group in groups.items() if len(group) == most)
    ranks = stats.rankdata(list(values.values()), method="average")
    found = [
        LeaderboardLine(
            task,
            algorithm,
            len(group),
            *(values[algorithm], *group.quartiles),
            *(values[algorithm] / unit, group.quartiles[0] / unit, group.quartiles[1] / unit),
            float(place),
            _ratio(values[algorithm], best),
            group.violations,
        )
        for (algorithm, group), place in zip(groups.items(), ranks, strict=True)
    ]
    return sorted(found, key=lambda line: line.rank)


def _ratio(value: float, best: float) -> float:
    if value == best:
        return 1.0
    return value / best if best > 0.0 else math.inf


def geometric_mean(ratios: Sequence[float]) -> float:
    """That of ratios to the best, of which some may be infinite."""
    return math.inf if math.inf in ratios else float(stats.gmean(ratios))


def _standings(
    algorithms: Sequence[str], lines: Sequence[LeaderboardLine], order: Order
) -> tuple[Standing, ...]:
    summary = []
    for algorithm in algorithms:
        own = [line for line in lines if line.algorithm == algorithm]
        ratios = [line.ratio for line in own]
        worst = max(own, key=lambda line: line.ratio)
        mean = geometric_mean(ratios)
        summary.append(
            Standing(0, algorithm, float(np.mean([line.rank for line in own])), mean, worst.ratio, worst.task)
        )

    def merit(standing: Standing) -> tuple[float, float]:
        first = standing.mean_rank if order == "mean rank" else standing.worst_ratio
        return first, standing.ratio

    summary.sort(key=merit)
    return tuple(
        replace(standing, position=1 + sum(merit(other) < merit(standing) for other in summary))
        for standing in summary
    )


# -- what people read ----------------------------------------------------------------------------------


def about(board: Leaderboard) -> list[str]:
    """How to read the figures."""
    said = [
        "Score: dynamic regret R_T / T over that of random search on the same task and seeds; 0 is the "
        f"optimum at every step, 1 is random search. Medians of {board.runs} run{'s' * (board.runs > 1)}; "
        "lower is better. Ratio: to the best algorithm on the task, overall the geometric mean."
    ]
    if board.runs < 10:
        said.append("So few runs show shapes; figures to quote need 20 or more.")
    if any(line.violations is not None for line in board.lines):
        said.append(
            "Beyond limits, on tasks with constraints: the mean share of steps at which a limit was broken. "
            "Regret is to the best within the limits; a step beyond them counts as no better than that."
        )
    said += [f"Left out, because random search has no regret there: {task}." for task in board.left_out]
    return said


def overall(board: Leaderboard) -> TextTable:
    """One row an algorithm."""
    rows = [
        (
            s.algorithm,
            str(s.position),
            f"{s.mean_rank:.2f}",
            number(s.ratio),
            number(s.worst_ratio),
            s.worst_task if s.worst_ratio > 1.0 else "–",
        )
        for s in board.standings
    ]
    return TextTable(("algorithm", "place", "mean rank", "ratio to best", "worst ratio", "where"), rows)


def by_task(board: Leaderboard, task: str) -> TextTable:
    """One row an algorithm, best first."""
    limited = any(line.violations is not None for line in board.on(task))
    rows = [
        (
            line.algorithm,
            spread(line.score, line.score_low, line.score_high),
            f"{line.rank:g}",
            number(line.ratio),
            f"{line.regret:.4g}",
            *((beyond(line),) if limited else ()),
        )
        for line in board.on(task)
    ]
    header = ("algorithm", "score (quartiles)", "rank", "ratio to best", "R_T / T")
    return TextTable((*header, "beyond limits") if limited else header, rows)


def beyond(line: LeaderboardLine) -> str:
    """The share of steps beyond a limit, in per cent; nothing where there is no limit."""
    return "" if line.violations is None else f"{100.0 * line.violations:.1f} %"


def number(value: float) -> str:
    """Two digits after the point; infinity is said as such.

    >>> number(1.2345), number(math.inf)
    ('1.23', '∞')
    """
    return "∞" if math.isinf(value) else f"{value:.2f}"


def markdown(board: Leaderboard, notes: Sequence[str], command: str) -> str:
    """The whole leaderboard."""
    parts = ["# Leaderboard", f"`{command}`", overall(board).markdown(), *about(board), *notes]
    for task in board.tasks:
        parts += [
            f"## {task}",
            by_task(board, task).markdown(),
            f"Random search: R_T / T = {board.yardsticks[task]:.4g}.",
        ]
    return "\n\n".join(parts) + "\n"


def plain(board: Leaderboard, notes: Sequence[str], command: str) -> dict[str, Any]:
    """As JSON; an infinite ratio is null."""
    return {
        "command": command,
        "runs": board.runs,
        "standings": [_finite(asdict(standing)) for standing in board.standings],
        "tasks": [
            {
                "task": task,
                "random": board.yardsticks[task],
                "algorithms": [
                    {key: value for key, value in _finite(asdict(line)).items() if key != "task"}
                    for line in board.on(task)
                ],
            }
            for task in board.tasks
        ],
        "left_out": list(board.left_out),
        "notes": list(notes),
    }


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    return {name: finite(value) for name, value in record.items()}


def csv_rows(board: Leaderboard) -> list[list[Any]]:
    """The names of the columns, then a row per algorithm and task; overall figures in the last columns."""
    overall_of = {standing.algorithm: asdict(standing) for standing in board.standings}
    extra = ("position", "mean_rank", "ratio", "worst_ratio")
    return [
        [*asdict(board.lines[0]), *(f"overall_{name}" for name in extra)],
        *(
            [*asdict(line).values(), *(overall_of[line.algorithm][name] for name in extra)]
            for line in board.lines
        ),
    ]


def figure(board: Leaderboard) -> Any:
    """The overall ratios, then one panel per task: medians and quartiles, algorithms from best to worst."""
    names = [standing.algorithm for standing in board.standings]
    panels = 1 + len(board.tasks)
    columns = min((min(c, panels) for c in COLUMNS), key=lambda c: -panels % c)
    rows = math.ceil(panels / columns)
    width = 1.6 + 0.065 * max(map(len, names)) + 2.5 * columns
    page, axes = style.sheet(rows, columns, (width, rows * (0.95 + 0.24 * len(names)) + 0.2), sharey=True)
    flat = list(axes.flat)
    for panel in flat[panels:]:
        panel.set_axis_off()
    for panel in flat[:panels]:
        panel.grid(axis="x", lw=0.4, alpha=0.4)
        panel.tick_params(axis="y", length=0)
        panel.margins(y=0.5 / len(names))
    places = range(len(names))
    _overall_panel(flat[0], board)
    for panel, task in zip(flat[1:], board.tasks, strict=False):
        lines = [board.line(name, task) for name in names]
        panel.axvline(1.0, color=style.GREY, lw=0.9, ls=":")
        for place, line in zip(places, lines, strict=True):
            shade = style.colour(line.algorithm)
            panel.plot((line.score_low, line.score_high), (place, place), color=shade, lw=2.6, alpha=0.45)
            panel.plot(
                line.score, place, "o", ms=6.5, color=shade, mec="black", mew=0.9 * (line.ratio == 1.0)
            )
        panel.set_xlim(0.0, 1.06 * max(1.0, *(line.score_high for line in lines)))
        panel.set_title(task.replace(":", "\n", 1), loc="left", fontsize=9.5)
    for panel in flat[max(0, panels - columns) : panels]:
        panel.set_xlabel("score (1 = random search)", fontsize=9)
    flat[0].set_xlabel("ratio to the best", fontsize=9)
    for row in axes:
        row[0].set_yticks(list(places), names, fontsize=9)
    flat[0].invert_yaxis()
    return page


def _overall_panel(panel: Any, board: Leaderboard) -> None:
    top = max([s.worst_ratio for s in board.standings if math.isfinite(s.worst_ratio)], default=2.0)
    for place, s in enumerate(board.standings):
        shade = style.colour(s.algorithm)
        if math.isfinite(s.ratio):
            panel.plot((s.ratio, s.worst_ratio), (place, place), color=shade, lw=1.0, alpha=0.8)
            panel.plot(s.worst_ratio, place, "|", ms=8, mew=1.6, color=shade)
            panel.plot(s.ratio, place, "o", ms=6.5, color=shade)
    panel.set_xscale("log")
    ticks = [tick for tick in TICKS if tick <= max(top, 1.2)]
    panel.set_xticks([], minor=True)
    panel.set_xticks(ticks if top < 4.0 else [1, *ticks[3:]], labels=None)
    panel.xaxis.set_major_formatter("{x:g}")
    panel.set_xlim(max(top, 1.2) ** -0.05, max(top, 1.2) ** 1.06)
    panel.set_title("overall\nmean (dot) and worst (bar)", loc="left", fontsize=9.5)


def write(board: Leaderboard, folder: Path, notes: Sequence[str], command: str) -> None:
    """leaderboard.md, leaderboard.csv, figure.png and figure.pdf."""
    with writing(folder, KEPT, inside=True):
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / "leaderboard.md", markdown(board, notes, command))
        write_csv(folder / "leaderboard.csv", csv_rows(board))
        style.save(figure(board), folder)
