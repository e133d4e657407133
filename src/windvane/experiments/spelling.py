"""Options of an entry that are typed as words: `auto:blind=true`, `et-gp-ucb:trigger=exact-bound`."""

from __future__ import annotations

from typing import Any

from windvane.entries import Entry, with_parts
from windvane.errors import InvalidType

BLIND, TRIGGER = "blind", "trigger"
TOLD_NOTHING = "told nothing"


def blind(entry: Entry) -> bool:
    """Whether the algorithm is to be told nothing but the space; one's own may mean what they like by it."""
    given = entry.keywords().get(BLIND, False)
    if ":" in entry.name:
        return False
    if not isinstance(given, bool):
        raise InvalidType(f"--algorithms {entry.name}: blind={given!r}: must be true or false")
    return given


def options(entry: Entry) -> dict[str, Any]:
    """What the algorithm is made with: parts for their names, and without `blind`.

    >>> options(Entry("et-gp-ucb", (("trigger", "posterior-bound"), ("blind", True))))
    {'trigger': PosteriorBound(delta=0.1, noise_cap=None)}
    """
    given = entry.keywords()
    if ":" in entry.name:
        return given
    given.pop(BLIND, None)
    return with_parts(f"--algorithms {entry.name}: ", given)


def label(entry: Entry) -> str:
    """The name in tables: as it is typed, but what is told of the task is said in words.

    >>> label(Entry("auto", (("blind", True),))), label(Entry("et-gp-ucb", (("delta", 0.05),)))
    ('auto (told nothing)', 'et-gp-ucb:delta=0.05')
    """
    if BLIND not in entry.keywords() or ":" in entry.name:
        return entry.label
    rest = seeing(entry).label
    return f"{rest} ({TOLD_NOTHING})" if blind(entry) else rest


def seeing(entry: Entry) -> Entry:
    """The same without the word on what is told of the task; one's own may mean something else by it."""
    if ":" in entry.name:
        return entry
    return Entry(entry.name, tuple(option for option in entry.options if option[0] != BLIND))
