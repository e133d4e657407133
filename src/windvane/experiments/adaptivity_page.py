"""The page of the leaderboard of adaptivity, with its losses, its seeds and what everyone was told."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from windvane.entries import Entry
from windvane.errors import StorageFailure
from windvane.experiments import adaptivity, contest, figures, heatmap, leaderboard, spelling, suite
from windvane.experiments.adaptivity import Duel
from windvane.experiments.contest import Arena
from windvane.experiments.leaderboard import Leaderboard
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable
from windvane.files import whole, write_text

TITLE = "Adaptivity"
FEW = 10  # runs


@dataclass(frozen=True, eq=False)
class Terms:
    """Who competed on what, on which seeds, and by which command."""

    entries: Sequence[Entry]
    arenas: Sequence[Arena]
    seeds: range
    left_out: Sequence[str]
    rate: float
    command: str


@dataclass(frozen=True, eq=False)
class Outcome:
    """Everything the page is written from."""

    terms: Terms
    board: Leaderboard
    duels: Mapping[str, Sequence[Duel]]  # by subject


def outcome(results: Results, random: Mapping[str, Group], terms: Terms) -> Outcome:
    """Rank by the worst ratio, and compare the subject with its rivals."""
    subjects = [spelling.label(entry) for entry in terms.entries if entry.name == suite.SUBJECT]
    rivals = [name for name in results.rows if name not in subjects]
    return Outcome(
        terms,
        leaderboard.rank(results, random, order="worst ratio"),
        {name: adaptivity.duels(results, name, rivals) for name in subjects if rivals},
    )


def about(found: Outcome) -> list[str]:
    """How to read the figures."""
    runs = found.board.runs
    said = [
        f"Medians of R_T / T over {runs} run{'s' * (runs > 1)} of each algorithm on each task, "
        f"{_seeds(found)}. Ratio: such a median over that of the best algorithm on the task. Algorithms "
        "are ordered by the worst of their ratios: who adapts has none that is large."
    ]
    if runs < FEW:
        said.append("So few runs show shapes; figures to quote need 20 or more.")
    return said


def _seeds(found: Outcome) -> str:
    first, last = found.terms.seeds[0], found.terms.seeds[-1]
    return f"seed {first}" if first == last else f"seeds {first} to {last}"


def told(found: Outcome) -> list[str]:
    """Who was told what."""
    entries, arenas = found.terms.entries, found.terms.arenas
    learned = " and ".join(arena.label for arena in arenas if arena.learned)
    said = [
        "Everyone is told the space, the kernel of the task and the variance of its noise, unless it is said "
        "below. They are the true ones, but for the noise on the tasks where it is misjudged. On "
        f"{learned} there is no true kernel, so nobody is told one, nor the noise: they are learned.",
    ]
    if any(entry.name == suite.SUBJECT for entry in entries):
        said.append(
            f"`{suite.SUBJECT}` is told the kernel, where the task has one. It is told neither noise, nor "
            "rate, nor horizon."
        )
    said += [
        f"{spelling.label(entry)}: the space is all it gets." for entry in entries if spelling.blind(entry)
    ]
    rated = [spelling.label(entry) for entry in entries if contest.told_rate(entry)]
    if rated:
        said.append(
            f"{', '.join(rated)}: told a rate of change, in the table of tasks. It is the true one where "
            "there is one. On jumps it is the share replaced a step, on average; on seasons that of the "
            "Markov kernel which forgets half in the same time; on rate change the first of the two; and in "
            f"brackets, where the task has none, one for all, {found.terms.rate:g}, as in the paper."
        )
    return said


def page(found: Outcome, picture: str) -> str:
    """Markdown; `picture` is the heat map as seen from the page."""
    said = about(found)
    parts = [
        f"# {TITLE}",
        f"Written by `{found.terms.command}` (Windvane {version('windvane')}), not by hand.",
        "Every algorithm on every task of the standard suite: nothing changes, slow and fast drift, drift "
        "that changes its pace, seasons, jumps, outliers, noise that was misjudged, and the tasks of the "
        "literature. Nobody knows beforehand which of them a real system will be.",
        *said,
        *_fresh(found),
        adaptivity.standings(found.board).markdown(),
        "Within 10 %: tasks whose ratio is at most 1.10. Mean ratio: the geometric mean.",
        f"![Ratios to the best, tasks by algorithms]({picture})",
        *(text for subject in found.duels for text in _subject(subject, found.duels[subject])),
        "## Regrets",
        "Medians of R_T / T; the best of a task is bold. Ratios of very small regrets say little: where "
        "the best is near 0, look here.",
        adaptivity.regrets(found.board).markdown(),
        "## Tasks",
        _left_aligned(tasks(found)),
        "## What each was told",
        "\n".join(f"- {line}" for line in told(found)),
        "## Left out",
        "\n".join(f"- {line}" for line in (*found.terms.left_out, *suite.LEFT_OUT, *_flat(found))),
    ]
    return "\n\n".join(parts) + "\n"


def _fresh(found: Outcome) -> list[str]:
    """Whether the seeds are others than those of the design."""
    if not found.duels:
        return []
    shared = set(found.terms.seeds) & set(suite.DESIGN_SEEDS)
    if shared:
        return [f"Of these seeds {len(shared)} were used while `auto` was designed, so `auto` is flattered."]
    return [suite.TUNING]


def _flat(found: Outcome) -> list[str]:
    return [f"{task}: random search has no regret there." for task in found.board.left_out]


def _subject(subject: str, found: Sequence[Duel]) -> list[str]:
    parts = [
        f"## {subject}",
        adaptivity.verdict(subject, found),
        "The best rival of a task is chosen in hindsight, on the same runs, which favours it. Intervals: "
        "95 %, by the bootstrap over seeds, the same ones for both.",
    ]
    for heading, rows in (
        ("Not within 10 %:", adaptivity.losses(found)),
        ("Within 10 %, or ahead:", [duel for duel in found if duel.close]),
    ):
        shown = adaptivity.duel_table(subject, rows).markdown() if rows else "None."
        parts += [heading, shown]
    return parts


def tasks(found: Outcome) -> TextTable:
    """What each task is, and which are stand-ins."""
    rows = []
    for arena in found.terms.arenas:
        one = suite.member(arena.label)
        rate = f"({found.terms.rate:g})" if arena.rate is None else f"{arena.rate:.3g}"
        kind = f" ({arena.stand_in})" if arena.stand_in else ""
        rows.append((arena.label, str(arena.task.horizon), rate, f"{one.about}{kind}", f"`{one.text}`"))
    return TextTable(("task", "T", "rate", "what changes", "as an entry of `windvane bench --tasks`"), rows)


def _left_aligned(table: TextTable) -> str:
    """A table of words."""
    head, _, *rows = table.markdown().split("\n")
    return "\n".join((head, "|" + ":--|" * len(table.header), *rows))


def plain(found: Outcome) -> dict[str, Any]:
    """As JSON."""
    return {
        **leaderboard.plain(found.board, [*about(found), *told(found)], found.terms.command),
        "seeds": list(found.terms.seeds),
        "subjects": {name: [adaptivity.plain(duel) for duel in found.duels[name]] for name in found.duels},
        "not_run": list(found.terms.left_out),
    }


def write(found: Outcome, folder: Path, markdown: Path | None) -> None:
    """leaderboard.md, leaderboard.csv and the figure; the page once more for the documentation."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        picture, _ = figures.save(heatmap.figure(found.board, bold=tuple(found.duels)), folder)
        write_text(folder / "leaderboard.md", page(found, picture.name))
        with whole(folder / "leaderboard.csv") as draft:
            leaderboard.write_csv(found.board, draft)
        if markdown is not None:
            copy = markdown.parent / "images" / f"{markdown.stem}.png"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, copy)
            write_text(markdown, page(found, f"images/{copy.name}"))
    except OSError as error:
        raise StorageFailure(
            f"{error.filename or folder}: {error.strerror or error}; finished runs are kept, "
            "free some space or choose another place, then run again"
        ) from error
