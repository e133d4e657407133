"""Tables for the shell: in lines of plain text, or drawn on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from windvane.extras import require

EXTRA = "demo"


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


def draw(
    console: Any,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    title: str = "",
    words: Collection[int] = (0,),
    unbroken: Collection[int] = (0,),
    bold: Callable[[int, int], bool] = lambda _row, _column: False,
    narrowest: int = 0,
    frame: bool = True,
) -> None:
    """A table on a console of rich, for which nothing in a cell is markup.

    The columns of `words` are set to the left, all others to the right; those that are `unbroken` are not
    folded into lines. `bold` says which cells are; `narrowest` is the least width of a column of figures.
    """
    text = require("rich.text", EXTRA).Text
    plain = {} if frame else {"box": None, "padding": (0, 2, 0, 0)}
    table = require("rich.table", EXTRA).Table(title=title or None, title_justify="left", **plain)
    for column, heading in enumerate(headings):
        left = column in words
        table.add_column(
            text(heading),
            justify="left" if left else "right",
            no_wrap=column in unbroken,
            overflow="fold",
            min_width=None if left or not narrowest else narrowest,
        )
    for number, row in enumerate(rows):
        cells = enumerate(row)
        table.add_row(*(text(cell, style="bold" if bold(number, column) else "") for column, cell in cells))
    console.print(table)
