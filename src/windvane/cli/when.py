"""Times of a database in a shell: written as all others, and one that is none hides nothing beside it."""

from __future__ import annotations

from typing import Any

from windvane import moments


def utc(seconds: Any) -> str:
    """Seconds since 1970 as date and time; of a damaged row, that it has none.

    >>> utc(1_772_366_400.25), utc(float("inf"))
    ('2026-03-01 12:00:00 UTC', 'no date')
    """
    try:
        return moments.utc(seconds)
    except (OSError, OverflowError, TypeError, ValueError):
        return "no date"
