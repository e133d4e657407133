"""An extension of griffe: the doctests of docstrings as blocks of code with their output."""

from __future__ import annotations

import doctest
import re
from typing import Any

from griffe import Docstring, Extension, Object

_PARSER = doctest.DocTestParser()
_DIRECTIVE = re.compile(r"  # doctest: .*$", re.MULTILINE)


def fenced(text: str) -> str:
    """Runs of examples, with the results they promise, between fences; the rest of the text as it is."""
    pieces: list[str] = []
    session: list[str] = []

    def close() -> None:
        if session:
            pieces.append("\n```pycon\n" + "".join(session) + "```\n")
            session.clear()

    for part in _PARSER.parse(text):
        if isinstance(part, str):
            if part.strip():
                close()
                pieces.append(part)
            continue
        first, *rest = _DIRECTIVE.sub("", part.source).splitlines()
        session.append(f">>> {first}\n" + "".join(f"... {line}".rstrip() + "\n" for line in rest) + part.want)
    close()
    return "".join(pieces)


class Doctests(Extension):
    """Rewrites each docstring before it is rendered."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Griffe, once it has read a module, class, function or attribute."""
        if obj.docstring is not None and ">>>" in obj.docstring.value:
            old = obj.docstring
            obj.docstring = Docstring(
                fenced(old.value),
                lineno=old.lineno,
                endlineno=old.endlineno,
                parent=old.parent,
                parser=old.parser,
            )
