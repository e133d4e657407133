"""The page of the leaderboard of adaptivity: both tables first, then world by world, losses included."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from windvane.experiments import adaptivity, leaderboard, resets, suite
from windvane.experiments.outcome import TableOutcome, about, fresh, plain, told
from windvane.experiments.stamp import stamp
from windvane.experiments.statistic import MEDIAN
from windvane.experiments.store import KEPT
from windvane.experiments.tables import TextTable
from windvane.files import write_csv, write_text, writing
from windvane.plots import leaderboard as heat_map
from windvane.plots import style

TITLE = "Adaptivity"
HEADINGS = {False: "Told nothing", True: "Rivals are told kernel, noise and rate"}
CHOSEN = (
    "The best rival of a world is chosen in hindsight, on the same runs, which favours it. Intervals: 95 %, "
    "by the bootstrap over seeds, the same ones for both. Where 1.10 lies within the interval of the median, "
    "these runs cannot tell: undecided. Worst first."
)


def page(found: Sequence[TableOutcome], command: str, pictures: Mapping[str, str]) -> str:
    """Markdown; `pictures` has the heat map of each table, as seen from the page."""
    parts = [
        f"# {TITLE}",
        f"Written by `{command}`, not by hand. {stamp()}",
        "Every algorithm on every world of the standard suite: nothing changes, slow and fast drift, drift "
        "that changes its pace, seasons, jumps, regimes that return, outliers, heavy tails, odd units, and "
        "the tasks of the literature. Nobody knows beforehand which of them a real system will be.",
        *about(found[0]),
        *fresh(found[0]),
    ]
    for one in found:
        parts += _summary(one, pictures[one.name])
    for one in found:
        for subject, by in one.duels.items():
            parts += [f"## {_beside(subject, one)}", CHOSEN, _words(adaptivity.duel_table(by))]
    for one in found:
        if not one.tells:
            parts += _resets(one)
    for one in found:
        parts += _regrets(one)
    parts += [
        "## Worlds",
        _words(worlds(found)),
        "## What each was told",
        "\n".join(f"- {line}" for one in found for line in told(one)),
        "## Left out",
        "\n".join(f"- {line}" for line in _left_out(found)),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(found: TableOutcome, picture: str) -> list[str]:
    """A table, the same by mean and ninth decile, what it says of the subjects, and the heat map."""
    heading = HEADINGS[found.tells]
    lead = (
        "The same worlds as in earlier versions of this page. Rivals are told what they ask for; `auto` "
        "appears twice, told nothing and told the kernel."
        if found.tells
        else "Everyone is made with the space alone: this is what `wv.make(space)` meets."
    )
    return [
        f"## {heading}",
        *([lead] if found.duels or not found.tells else []),
        adaptivity.standings(found.board).markdown(),
        "Within 10 %: worlds whose ratio is at most 1.10. Mean ratio: the geometric mean. A user has one "
        "run, so the same by the mean over the runs and by their ninth decile, one run in ten being worse:",
        adaptivity.tails(found.boards).markdown(),
        *(adaptivity.verdict(subject, by) for subject, by in found.duels.items()),
        f"![Ratios to the best, worlds by algorithms: {heading.lower()}]({picture})",
    ]


def _beside(subject: str, found: TableOutcome) -> str:
    """The heading of a comparison, world by world."""
    return f"{subject}, beside rivals that are told" if found.tells else f"{subject}, told nothing"


def _resets(found: TableOutcome) -> list[str]:
    """False resets where nothing changes, and the delay where everything does."""
    rows = resets.resetting(found.results)
    subjects = [name for name in found.duels if name not in rows]
    rows = [*subjects, *rows]
    never = [name for name in found.results.rows if name not in rows]
    others = f" The others, {', '.join(never)}, never reset." if never else ""
    parts = []
    if rows and found.still:
        parts += [
            "## False resets",
            f"Runs with a reset in their first {resets.STEPS} steps, on the worlds in which nothing changes: "
            f"every one of them is false. In brackets Wilson's interval, 95 %.{others}",
            resets.false_resets(found.results, found.still, rows).markdown(),
        ]
    if rows and found.replaced:
        parts += [
            "## Delays",
            "Observations from a jump that leaves nothing of the function up to and with the one that made "
            "the reset; 1 is the best possible. Noticed: before the next jump, or the end. An algorithm that "
            "resets all the time notices everything, so read it beside the false resets.",
            resets.delay_table(found.results, found.replaced, rows).markdown(),
        ]
    return parts


def _regrets(found: TableOutcome) -> list[str]:
    return [
        "## Regrets" if not found.tells else "## Regrets where rivals are told",
        "Medians of R_T / T; the best of a world is bold, in brackets is what is of the first runs only. "
        "Ratios of very small regrets say little: where the best is near 0, look here.",
        adaptivity.regrets(found.board).markdown(),
    ]


def worlds(found: Sequence[TableOutcome]) -> TextTable:
    """What each world is, which are stand-ins, and the rate that is told in the second table."""
    rows = {}
    for one in found:
        for arena in one.field.arenas:
            member = suite.member(arena.label)
            rate = f"({one.rate:g})" if arena.rate is None else f"{arena.rate:.3g}"
            kind = f" ({arena.stand_in})" if arena.stand_in else ""
            rows[arena.label] = (
                arena.label,
                str(arena.task.horizon),
                rate if one.tells else "–",
                f"{member.about}{kind}",
                f"`{member.text}`",
            )
    header = ("world", "T", "rate told", "what changes", "as an entry of `windvane bench --tasks`")
    return TextTable(header, list(rows.values()))


def _words(table: TextTable) -> str:
    """A table of words, left-aligned."""
    head, _, *rows = table.markdown().split("\n")
    return "\n".join((head, "|" + ":--|" * len(table.header), *rows))


def _left_out(found: Sequence[TableOutcome]) -> list[str]:
    lines = [line for one in found for line in one.field.left_out]
    lines += [f"{task}: random search has no regret there." for one in found for task in one.board.left_out]
    return list(dict.fromkeys((*lines, *suite.LEFT_OUT)))


def as_json(found: Sequence[TableOutcome], command: str) -> dict[str, Any]:
    """Everything, by the name of the table."""
    return {"command": command, "tables": {one.name: plain(one) for one in found}}


def write(found: Sequence[TableOutcome], folder: Path, markdown: Path | None, command: str) -> None:
    """leaderboard.md; a figure and a .csv of each table; the page once more for the documentation."""
    with writing(folder, KEPT, inside=True):
        folder.mkdir(parents=True, exist_ok=True)
        drawn = {}
        for one in found:
            figure = heat_map(one.board, bold=tuple(one.duels))
            drawn[one.name], _ = style.save(figure, folder, one.name)
            write_csv(folder / f"{one.name}.csv", _csv_rows(one))
        names = {name: picture.name for name, picture in drawn.items()}
        write_text(folder / "leaderboard.md", page(found, command, names))
        if markdown is not None:
            images = markdown.parent / "images"
            images.mkdir(parents=True, exist_ok=True)
            copies = {name: images / f"{markdown.stem}-{name}.png" for name in drawn}
            for name, copy in copies.items():
                shutil.copyfile(drawn[name], copy)
            seen = {name: f"images/{copy.name}" for name, copy in copies.items()}
            write_text(markdown, page(found, command, seen))


def _csv_rows(found: TableOutcome) -> Iterator[list[Any]]:
    """The leaderboards by each statistic, below one another."""
    for name, board in found.boards.items():
        header, *rows = leaderboard.csv_rows(board)
        if name == MEDIAN.name:
            yield ["statistic", *header]
        yield from ([name, *row] for row in rows)
