"""A hook of the site: formulas between dollars become MathML while the site is built.

GitHub renders $...$ by itself. Here a browser draws MathML without a script, a font or a server; what reads
pages aloud can read it too.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\(?P<open>[(\[])(?P<latex>.+?)\\[)\]]</(?P=tag)>', re.DOTALL
)


def drawn(page: str) -> str:
    """HTML with every formula that Arithmatex marked as MathML.

    >>> "<msup><mi>x</mi><mn>2</mn></msup>" in drawn(r'<span class="arithmatex">\\(x^2\\)</span>')
    True
    """

    def draw(found: re.Match[str]) -> str:
        display = "block" if found["open"] == "[" else "inline"
        formula = convert(html.unescape(found["latex"]).strip(), display=display)
        return f'<div class="formula">{formula}</div>' if display == "block" else formula

    return FORMULA.sub(draw, page)


def on_page_content(html: str, **_: Any) -> str:
    """MkDocs, once a page is rendered."""
    return drawn(html)
