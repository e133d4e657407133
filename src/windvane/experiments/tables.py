"""A table that can be read as text, as Markdown and as HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TextTable:
    """Cells are text already; the first column is left-aligned, the others right-aligned.

    >>> print(TextTable(("algorithm", "here"), (("GP-UCB", "1.06"),), notes=("50 runs",)).markdown())
    | algorithm | here |
    |:--|--:|
    | GP-UCB | 1.06 |
    <BLANKLINE>
    50 runs
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default=())

    def markdown(self) -> str:
        """GitHub's table, with the notes below."""
        lines = [line(self.header), "|:--|" + "--:|" * (len(self.header) - 1)]
        lines += [line(row) for row in self.rows]
        return "\n".join(lines) + "".join(f"\n\n{note}" for note in self.notes)

    def html(self) -> str:
        """A table element and a paragraph a note."""

        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{_bold(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(cells, "td") for cells in self.rows)
        notes = "".join(f"<p class='note'>{_bold(note)}</p>" for note in self.notes)
        return f"<table><thead>{row(self.header, 'th')}</thead><tbody>{body}</tbody></table>{notes}"


def line(cells: Sequence[str]) -> str:
    """A row of GitHub's table.

    >>> line(("|x|", "1"))
    '| \\\\|x\\\\| | 1 |'
    """
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _bold(text: str) -> str:
    """Escaped, with **bold** of Markdown."""
    parts = html.escape(text).split("**")
    return "".join(f"<b>{part}</b>" if number % 2 else part for number, part in enumerate(parts))


def spread(median: float, low: float, high: float, digits: int = 3) -> str:
    """A median with its quartiles.

    >>> spread(0.686, 0.639, 0.738)
    '0.686 (0.639–0.738)'
    """
    return f"{median:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"
