"""The paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable, spread


class Paper(NamedTuple):
    """A median of the paper with its quartiles."""

    median: float
    low: float
    high: float


def against_paper(
    results: Results,
    paper: Callable[[str, str], Paper | float],
    *,
    notes: Sequence[str] = (),
    digits: int = 3,
) -> TextTable:
    """A row an algorithm and two columns a column: the paper's median (quartiles if printed), and ours."""

    def cells(row: str, column: str) -> tuple[str, str]:
        printed = paper(row, column)
        theirs = spread(*printed, digits) if isinstance(printed, Paper) else f"{printed:.{digits}f}"
        return theirs, _ours(results[row, column], digits)

    about = f"R_T / T, median (quartiles) of {results.runs} runs; lower is better."
    return TextTable(*_pairs(results, ("{}: paper", "here"), cells), (about, *notes))


def _ours(group: Group, digits: int) -> str:
    return f"**{spread(group.median, *group.quartiles, digits)}**"


def _pairs(
    results: Results, heads: tuple[str, str], cells: Callable[[str, str], tuple[str, str]]
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a table with two columns for each column of the results."""
    header = ["algorithm", *(head.format(column) for column in results.columns for head in heads)]
    rows = [
        [row, *(text for column in results.columns for text in cells(row, column))] for row in results.rows
    ]
    return header, rows


def beats(results: Results, row: str, rivals: Sequence[str], columns: Sequence[str]) -> list[bool]:
    """Whether a row's median is below each rival's, column by column."""
    return [
        results[row, column].median < results[rival, column].median for rival in rivals for column in columns
    ]


def medians(results: Results, rows: Sequence[str], columns: Sequence[str], digits: int = 3) -> str:
    """The medians that a verdict rests on, a row after the other."""
    lines = [
        f"{row} {' / '.join(f'{results[row, column].median:.{digits}f}' for column in columns)}"
        for row in rows
    ]
    return f"{', '.join(lines)} ({'; '.join(columns)})"


def measured(results: Results, notes: Sequence[str] = (), digits: int = 3) -> TextTable:
    """Where the paper prints no figures: R_T / T and the number of resets, a row an algorithm."""

    def cells(row: str, column: str) -> tuple[str, str]:
        group = results[row, column]
        return _ours(group, digits), f"{group.resets.mean():.1f}"

    about = (
        f"Median (quartiles) of {results.runs} runs; lower is better. The paper shows curves, not figures."
    )
    table = _pairs(results, ("{}: R_T / T", "resets a run"), cells)
    return TextTable(*table, (about, *fewer(results), *notes))


def fewer(results: Results) -> list[str]:
    """A note on the rows that have fewer runs than the others, if any."""
    least = {row: min(len(group) for (r, _), group in results.items() if r == row) for row in results.rows}
    short = [f"{row} has {count}" for row, count in least.items() if count < results.runs]
    return ["Fewer runs, because each takes long: " + ", ".join(short) + "."] if short else []
