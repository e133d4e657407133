"""Short tables for the shell: columns in line, nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime


def lines(headings: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> str:
    """Rows under their headings, or what is said when there are none.

    >>> print(lines(("id", "label"), [("1", "press"), ("12", "page")], "none"))
    id  label
    1   press
    12  page
    """
    if not rows:
        return empty
    table = [tuple(headings), *map(tuple, rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )


def moment(seconds: float) -> str:
    """A time, as the clock on the wall had it."""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M")
