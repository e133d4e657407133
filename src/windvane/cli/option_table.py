"""The options of the algorithms as people read them, for the shell and for the reference."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from windvane.algorithms import ALGORITHMS
from windvane.options.declared import OPTIONS, Option


class OptionRow(NamedTuple):
    """An option, in the words of all algorithms that mean the same by it."""

    name: str
    purpose: str
    allowed: str
    default: str
    excludes: str
    taken_by: str

    def facts(self) -> Iterator[tuple[str, str]]:
        """What is to be said beside its purpose, each with a label."""
        yield "allowed", self.allowed
        yield "default", self.default
        if self.excludes:
            yield "not with", self.excludes
        if self.taken_by:
            yield "taken by", self.taken_by


def option_rows() -> list[OptionRow]:
    """Every option, in the order of the table; twice if it means one thing here and another there."""
    found = []
    for name in OPTIONS:
        meanings: dict[tuple[str, str], dict[str, Option]] = {}
        for algorithm, entry in ALGORITHMS.items():
            if name in entry.options:
                about = entry.options[name]
                meanings.setdefault((about.purpose, about.allowed), {})[algorithm] = about
        found += [_row(name, each) for each in meanings.values()]
    return found


def rows_of(algorithm: str) -> list[OptionRow]:
    """The options of one algorithm, as it takes them."""
    options = ALGORITHMS[algorithm].options
    return [_row(name, {algorithm: about})._replace(taken_by="") for name, about in options.items()]


def _row(name: str, taken: dict[str, Option]) -> OptionRow:
    about = next(iter(taken.values()))
    excludes = ", ".join(f"{other}=" for other, _ in about.excludes)
    return OptionRow(name, about.purpose, about.allowed, _defaults(taken), excludes, _names(taken))


def _defaults(taken: dict[str, Option]) -> str:
    """The usual default first, then where there is another."""
    groups: dict[str, list[str]] = {}
    for algorithm, about in taken.items():
        groups.setdefault(about.default_text, []).append(algorithm)
    usual, *others = sorted(groups, key=lambda text: -len(groups[text]))
    return "; ".join([usual, *(f"in {_names(groups[text])}: {text}" for text in others)])


def _names(taken: Iterable[str]) -> str:
    """Names, or if it is shorter: all of them but a few."""
    names = list(taken)
    rest = [name for name in ALGORITHMS if name not in names]
    if not rest:
        return "all"
    return f"all but {', '.join(rest)}" if len(rest) < len(names) / 2 else ", ".join(names)


def lines(rows: Iterable[OptionRow], width: int) -> Iterator[str]:
    """Rows as text that is at most `width` wide."""
    rows = list(rows)
    left = max(len(row.name) for row in rows) + 4
    for row in rows:
        yield from wrapped(f"  {row.name}", row.purpose, left, width)
        for label, fact in row.facts():
            yield from wrapped(f"{'':{left}}{label}", fact, left + 10, width)


def wrapped(head: str, text: str, left: int, width: int) -> list[str]:
    """A text beside its head, in a column that begins at `left`."""
    return textwrap.wrap(
        text,
        max(width, left + 30),
        initial_indent=f"{head:<{left}}",
        subsequent_indent=" " * left,
        break_long_words=False,
        break_on_hyphens=False,
    )
