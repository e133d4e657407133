"""The paper's figures beside ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from windvane.checks import Array
from windvane.experiments.claims import Check, lower, mean_and_error, ratios
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable, spread


class Paper(NamedTuple):
    """A median of the paper with its quartiles."""

    median: float
    low: float
    high: float


def against_paper(
    results: Results,
    paper: Callable[[str, str], Paper | float | None],
    *,
    notes: Sequence[str] = (),
    digits: int = 3,
) -> TextTable:
    """A row an algorithm and two columns a column: the paper's median (quartiles if printed), and ours."""

    def cells(row: str, column: str) -> tuple[str, str]:
        printed = paper(row, column)
        return _printed(printed, digits), _ours(results[row, column], digits)

    about = f"R_T / T, median (quartiles) of {results.runs} runs; lower is better."
    return TextTable(*_pairs(results, ("{}: paper", "here"), cells), (about, *notes))


def _printed(figure: Paper | float | None, digits: int) -> str:
    if figure is None:
        return "–"
    return spread(*figure, digits) if isinstance(figure, Paper) else f"{figure:.{digits}f}"


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


def beats(results: Results, row: str, rivals: Sequence[str], columns: Sequence[str]) -> list[Check]:
    """Whether a row's regret is below each rival's on the same seeds, column by column."""
    return [lower(results[row, column], results[rival, column]) for rival in rivals for column in columns]


def against(results: Results, row: str, rivals: Sequence[str], columns: Sequence[str]) -> str:
    """By how much a row's regret differs from each rival's on the same seeds, with standard errors."""
    lines = [
        f"{rival} {' / '.join(percent(ratios(results[row, c], results[rival, c])) for c in columns)}"
        for rival in rivals
    ]
    return f"{row} against {', '.join(lines)} ({'; '.join(columns)})"


def extremes(results: Results, row: str, rival: str, columns: Sequence[str]) -> str:
    """The same, of many columns those with the least and the most of it."""
    found = {column: ratios(results[row, column], results[rival, column]) for column in columns}
    ordered = sorted(columns, key=lambda column: float(found[column].mean()))
    ends = " to ".join(f"{percent(found[column])} ({column})" for column in (ordered[0], ordered[-1]))
    return f"{row} against {rival}, of {len(columns)} cases: {ends}"


def percent(logarithms: Array) -> str:
    """The mean of logarithms of ratios, as a change in per cent, and its standard error.

    >>> import numpy as np
    >>> percent(np.log([0.5, 0.5, 0.5])), percent(np.log([0.5]))
    ('-50 ± 0 %', '-50 %')
    """
    middle, error = mean_and_error(logarithms)
    ratio = math.exp(middle)
    if not math.isfinite(error):
        return f"{100.0 * (ratio - 1.0):+.0f} %"
    return f"{100.0 * (ratio - 1.0):+.0f} ± {100.0 * ratio * error:.0f} %"


def medians(results: Results, rows: Sequence[str], columns: Sequence[str], digits: int = 3) -> str:
    """The medians that a verdict rests on, a row after the other."""
    lines = [
        f"{row} {' / '.join(f'{results[row, column].median:.{digits}f}' for column in columns)}"
        for row in rows
    ]
    return f"{', '.join(lines)} ({'; '.join(columns)})"


def measured(results: Results, notes: Sequence[str] = (), digits: int = 3) -> TextTable:
    """Where the paper prints no figures: R_T / T and the number of resets, one row per algorithm."""

    def cells(row: str, column: str) -> tuple[str, str]:
        group = results[row, column]
        return _ours(group, digits), f"{group.resets.mean():.1f}"

    about = (
        f"Median (quartiles) of {results.runs} runs; lower is better. The paper shows curves, not figures."
    )
    table = _pairs(results, ("{}: R_T / T", "resets per run"), cells)
    return TextTable(*table, (about, *notes))
