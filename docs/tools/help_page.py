"""Writes the help page of the service from docs/how-to/reading-events.md: `python docs/tools/help_page.py`.

It is part of the package, so that the question marks of the page lead somewhere in every installation; the
other pages are served where `make docs` has built them. It is committed, and a test says when it is out of
date.
"""

from __future__ import annotations

import re
from pathlib import Path

import markdown

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "docs" / "how-to" / "reading-events.md"
PAGE = ROOT / "src" / "windvane" / "service" / "dashboard" / "reading-events.html"
FRAME = """\
<!doctype html>
<!-- Written by docs/tools/help_page.py from docs/how-to/reading-events.md. -->
<html lang="en-GB">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Reading events · Windvane</title>
    <link rel="icon" href="/static/icon.svg" type="image/svg+xml">
    <link rel="stylesheet" href="/static/style.css">
    <script src="/static/theme.js"></script>
  </head>
  <body>
    <main class="manual">
<p><a href="/">All studies</a></p>
{text}
    </main>
  </body>
</html>
"""


def page() -> str:
    """The whole page. What is linked on other pages stays as words: they may not be there."""
    source = re.sub(r"\[([^\]]+)\]\((?!#)[^)]*\)", r"\1", SOURCE.read_text(encoding="utf-8"))
    source = source.replace(" (0029)", "")  # the number of a decision says nothing without it
    text = markdown.markdown(source, extensions=["tables", "fenced_code", "toc"], output_format="html")
    text = re.sub(r"\n(?=</?t[dhr]>)(?!<tr>)", "", text)  # a row of a table is a line
    text = text.replace("<table>", '<div class="wide-table" tabindex="0"><table>')
    return FRAME.format(text=text.replace("</table>", "</table></div>"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
