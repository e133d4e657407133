"""Writes docs/reference/cli.md from the parser itself: `python docs/tools/command_line.py`.

The page is committed, so that it reads on GitHub; a test says when it is out of date.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from windvane.cli.main import parser
from windvane.cli.verbs import VerbParser

PAGE = Path(__file__).resolve().parents[1] / "reference" / "cli.md"
HEAD = """\
# Command line

Written by `python docs/tools/command_line.py` from the parser itself, not by hand.

`windvane VERB --help` says the same in a terminal. The database of `study`, `doctor`, `backup`, `serve`,
`token` and `webhook` is `--db`, else `$WINDVANE_DB`, else `windvane.db` in the folder.
"""


def verbs(top: argparse.ArgumentParser) -> Iterator[tuple[str, str, argparse.ArgumentParser]]:
    """The name, the line of help and the parser of each verb below `top`."""
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            lines = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, below in action.choices.items():
                if isinstance(below, VerbParser):
                    below.load()
                yield name, lines[name], below


def is_verb(action: argparse.Action) -> bool:
    """Whether this is where a verb's own verbs come in."""
    return isinstance(action, argparse._SubParsersAction)


def spelt(action: argparse.Action, formatter: argparse.HelpFormatter) -> str:
    """An argument as one types it: `--jobs JOBS`, `-h, --help` or NAME."""
    values = formatter._format_args(
        action, (action.dest if not action.option_strings else action.dest.upper())
    )
    names = ", ".join(action.option_strings)
    return " ".join(part for part in (names, values if action.nargs != 0 else "") if part)


def cell(text: str) -> str:
    """Text that can stand in a table: one line, no bare pipes or angle brackets."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def section(path: str, below: argparse.ArgumentParser, line: str, level: int) -> Iterator[str]:
    """The Markdown of one verb, and of those below it."""
    formatter = argparse.HelpFormatter(below.prog)
    arguments = [action for action in below._actions if action.dest != "help" and not is_verb(action)]
    yield f"{'#' * level} `{path}`"
    yield (below.description or f"{line[:1].upper()}{line[1:]}.").strip()
    if arguments:
        meanings = [formatter._expand_help(action) if action.help else "" for action in arguments]
        names = [spelt(action, formatter) for action in arguments]
        rows = [
            f"| `{cell(name)}` | {cell(meaning)} |" for name, meaning in zip(names, meanings, strict=True)
        ]
        yield "\n".join(["| argument | |", "|---|---|", *rows])
    if below.epilog:
        yield f"```text\n{below.epilog.strip()}\n```"
    for name, words, child in verbs(below):
        yield from section(f"{path} {name}", child, words, level + 1)


def page() -> str:
    """The whole page."""
    top = parser()
    rows = [f"| [`windvane {name}`](#windvane-{name}) | {cell(line)} |" for name, line, _ in verbs(top)]
    parts = [HEAD.strip(), "\n".join(["| verb | |", "|---|---|", *rows])]
    for name, line, below in verbs(top):
        parts += section(f"windvane {name}", below, line, level=2)
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
