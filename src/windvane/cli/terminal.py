"""Where the shell talks to: results go to standard output, messages and progress to standard error."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


def counted(number: int, what: str) -> str:
    """A number of things."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def paragraphs(lines: list[str]) -> str:
    """One paragraph per line: broken between words for somebody who reads them, as they are for a program."""
    if not sys.stdout.isatty():
        return "\n".join(lines)
    width = min(shutil.get_terminal_size().columns, WIDEST)
    return "\n\n".join(textwrap.fill(line, width, break_long_words=False) for line in lines)


def spell_out() -> None:
    """Letters that a terminal cannot show are spelt out, as \\xb1, instead of ending the verb."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):
            if not (stream.encoding or "").lower().replace("-", "").startswith("utf"):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
