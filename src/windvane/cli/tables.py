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
    folded into lines, and all others between words, as long as there is room for each word. `bold` says
    which cells are; `narrowest` is the least width of a column of figures.
    """
    text = require("rich.text", EXTRA).Text
    plain: dict[str, Any] = {} if frame else {"box": None, "padding": (0, 2, 0, 0)}
    columns = list(zip(headings, *rows, strict=True))
    widths: Sequence[int | None] = [None] * len(columns)
    if frame:
        for padding in (1, 0):
            room = console.width - len(columns) * (1 + 2 * padding) - 1
            found = _widths(columns, room, unbroken)
            if found is not None:
                widths, plain["padding"] = found, (0, padding)
                break
    table = require("rich.table", EXTRA).Table(title=title or None, title_justify="left", **plain)
    for column, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        left = column in words
        table.add_column(
            text(heading),
            justify="left" if left else "right",
            no_wrap=column in unbroken,
            overflow="fold",
            width=None if width is None else max(width, 0 if left else narrowest),
            min_width=None if left or not narrowest else narrowest,
        )
    for number, row in enumerate(rows):
        cells = enumerate(row)
        table.add_row(*(text(cell, style="bold" if bold(number, column) else "") for column, cell in cells))
    console.print(table)


def _widths(columns: Sequence[Sequence[str]], room: int, unbroken: Collection[int]) -> list[int] | None:
    """Of each column, so that no word is broken; None if there is no room for that.

    >>> _widths([("algorithm", "a b"), ("and did", "100 % of 12")], 16, (0,))
    [9, 7]
    """
    cell_len = require("rich.cells", EXTRA).cell_len
    found, least = [], []
    for place, column in enumerate(columns):
        lines = [line for cell in column for line in cell.splitlines()]
        words = lines if place in unbroken else [word for line in lines for word in line.split()]
        found.append(max(map(cell_len, lines), default=0))
        least.append(max(map(cell_len, words), default=0))
    if sum(least) > room:
        return None
    while sum(found) > room:
        wide = [place for place, width in enumerate(found) if width > least[place]]
        found[max(wide, key=found.__getitem__)] -= 1
    return found
