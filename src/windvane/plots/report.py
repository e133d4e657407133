"""Reports: text, a notebook and a terminal show the same parts of one, in the same order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from windvane.plots import html


class ReportTable(NamedTuple):
    """Columns, each with a heading of two lines, and rows of text."""

    headings: Sequence[tuple[str, ...]]
    rows: Sequence[Sequence[str]]


class Report(ABC):
    """What a report consists of; its text and its HTML are made of that."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is about, in a line."""

    @property
    def warnings(self) -> list[str]:
        """What the reader must know before believing anything."""
        return []

    @property
    @abstractmethod
    def tables(self) -> list[ReportTable]:
        """What was found, narrow enough for a terminal each."""

    @property
    def findings(self) -> list[list[str]]:
        """What was found beside the tables: groups of lines."""
        return []

    @property
    @abstractmethod
    def notes(self) -> list[str]:
        """How to read the tables."""

    def __str__(self) -> str:
        groups = [*([aligned(*table)] for table in self.tables), *filter(None, self.findings)]
        parts = [line for group in groups for line in (*group, "")]
        return "\n".join([self.title, *self.warnings, "", *parts, *self.notes])

    def _repr_html_(self) -> str:
        """For notebooks."""
        head = html.paragraphs([self.title, *self.warnings])
        tables = (
            html.table(["\n".join(each).strip() for each in names], rows) for names, rows in self.tables
        )
        said = html.paragraphs([*(line for group in self.findings for line in group), *self.notes])
        return f"<div>{head}{''.join(tables)}{said}</div>"


class TableReport(Report):
    """A report of one table, which has `headings` and `cells`."""

    @property
    @abstractmethod
    def headings(self) -> list[tuple[str, ...]]:
        """The columns of the table, each in two lines."""

    @property
    @abstractmethod
    def cells(self) -> list[list[str]]:
        """The table's rows, as text."""

    @property
    def tables(self) -> list[ReportTable]:
        return [ReportTable(self.headings, self.cells)]


def aligned(headings: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """Columns under headings of several lines; the first to the left, the others to the right.

    >>> print(aligned([("", "delta"), ("runs", "with any")], [["0.01", "0.4%"], ["0.1", "12.0%"]]))
               runs
    delta  with any
    -----  --------
    0.01       0.4%
    0.1       12.0%
    """
    lines = [list(line) for line in zip(*headings, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, *rows, strict=True)]
    rule = ["-" * width for width in widths]

    def line(cells: Sequence[str]) -> str:
        first, *others = [
            f"{cell:<{width}}" if number == 0 else f"{cell:>{width}}"
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join([first, *others]).rstrip()

    return "\n".join(map(line, [*lines, rule, *rows]))
