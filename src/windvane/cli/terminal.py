"""Where the shell talks to: results go to standard output, messages and progress to standard error."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from windvane.extras import require

RECENT = 60.0  # seconds
WIDEST = 100  # characters of a line of prose


def console(*, extra: str = "demo", stderr: bool = False) -> Any:
    """A console of rich. That nobody reads on is an error like any other, and ends the verb quietly."""

    class Console(require("rich.console", extra).Console):  # type: ignore[misc]
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Console(stderr=stderr)


def bars(extra: str = "demo", period: float = RECENT) -> Any:
    """Progress bars on standard error, if that is a terminal.

    They know how long it will take from what was done in the last `period` seconds.
    """
    progress = require("rich.progress", extra)
    columns = (
        progress.TextColumn("{task.description:<16}"),
        progress.BarColumn(bar_width=None),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        progress.TextColumn("{task.fields[note]}"),
    )
    where = console(extra=extra, stderr=True)
    return progress.Progress(
        *columns, console=where, speed_estimate_period=period, disable=not where.is_terminal
    )


@contextmanager
def resumable(kept: str) -> Iterator[None]:
    """Whoever interrupts what happens inside is told what is kept, and how to go on."""
    try:
        yield
    except KeyboardInterrupt as error:
        error.add_note(kept)
        raise


def paragraphs(lines: list[str]) -> str:
    """One paragraph per line: broken between words for somebody who reads them, as they are for a program."""
    if not sys.stdout.isatty():
        return "\n".join(lines)
    width = min(shutil.get_terminal_size().columns, WIDEST)
    return "\n\n".join(textwrap.fill(line, width, break_long_words=False) for line in lines)


SPELT = {"±": "+-", "–": "-", "≤": "<=", "≥": ">=", "∞": "inf", "°": "deg", "²": "^2", "×": "x", "·": "-"}


class Spelt:
    """A stream that spells out what its encoding does not have; columns stay where they are."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write it; the answer is how many characters it had."""
        self._stream.write(spelt(text, self._stream.encoding))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write them all."""
        for line in lines:
            self.write(line)


def spelt(text: str, encoding: str) -> str:
    """With letters of this encoding alone; what takes more room takes it from a gap between columns.

    >>> print(spelt("48.85 ± 0.14   12\\n        1.5   12", "ascii"))
    48.85 +- 0.14  12
            1.5   12
    >>> print(spelt("|    ± 0.28 | Ω", "ascii"))
    |   +- 0.28 | \\u03a9
    """
    found, wider = [""], 0
    for place, letter in enumerate(text):
        if wider and letter == " " and text[place + 1 : place + 2] in (" ", "|"):
            wider -= 1
            continue
        if letter == "\n":
            wider = 0
        elif not letter.isascii():
            letter = _spelt(letter, encoding)
            wider += len(letter) - 1
            while wider and found[-2:] == [" ", " "]:
                found.pop()
                wider -= 1
        found.append(letter)
    return "".join(found)


def _spelt(letter: str, encoding: str) -> str:
    try:
        letter.encode(encoding)
    except UnicodeEncodeError:
        return SPELT.get(letter) or letter.encode("ascii", "backslashreplace").decode("ascii")
    return letter


def spell_out() -> None:
    """What a terminal cannot show is spelt out, ± as +- and letters as \\xe9, instead of ending the verb."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        encoding = getattr(stream, "encoding", None) or "utf-8"  # what has none takes every letter
        if not isinstance(stream, Spelt) and not encoding.lower().replace("-", "").startswith("utf"):
            setattr(sys, name, Spelt(stream))
