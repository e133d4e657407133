"""A hook of the site: Markdown as GitHub reads it, for a renderer that is stricter.

Python-Markdown wants an empty line before a list; GitHub lets a list begin right after a line of text.
"""

from __future__ import annotations

import re
from typing import Any

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^(?:[-*+]|1[.)]) ")
TEXT = re.compile(r"^[^\s#>|<-]")


def spaced(text: str) -> str:
    """The same text, with an empty line between a paragraph and a list that follows it.

    >>> spaced("It has:\\n- one\\n- two")
    'It has:\\n\\n- one\\n- two'
    >>> spaced("- one\\n  goes on\\n- two")
    '- one\\n  goes on\\n- two'
    """
    lines: list[str] = []
    fenced = paragraph = False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced, paragraph = not fenced, False
        elif not fenced:
            if ITEM.match(line):
                if paragraph:
                    lines.append("")
                paragraph = False
            elif not line.strip():
                paragraph = False
            elif TEXT.match(line) and (not lines or not lines[-1].strip()):
                paragraph = True  # it begins after an empty line, so it is not a list's
        lines.append(line)
    return "\n".join(lines)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """MkDocs, before a page is rendered."""
    return spaced(markdown)
