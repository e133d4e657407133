"""Writes the table in docs/reference/algorithms.md: `python docs/tools/options.py`.

The page is committed, so that it reads on GitHub; a test says when it is out of date.
"""

from __future__ import annotations

import re
from pathlib import Path

from windvane.cli.option_table import OptionRow, option_rows

PAGE = Path(__file__).resolve().parents[1] / "reference" / "algorithms.md"
TABLE = re.compile(r"(?<=<!-- options: begin -->\n\n).*?(?=\n\n<!-- options: end -->)", re.DOTALL)


def cell(text: str) -> str:
    """Text that can stand in a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def line(row: OptionRow) -> str:
    """An option as a line of the table."""
    allowed = f"{row.allowed}; not with {row.excludes}" if row.excludes else row.allowed
    shown = (row.purpose, allowed, row.default, row.taken_by)
    return f"| `{row.name}` | {' | '.join(map(cell, shown))} |"


def table() -> str:
    """Every option."""
    head = ["| option | what it is for | allowed | default | taken by |", "|---|---|---|---|---|"]
    return "\n".join([*head, *map(line, option_rows())])


def page(text: str) -> str:
    """The page with the table as it should be."""
    return TABLE.sub(lambda _: table(), text)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
