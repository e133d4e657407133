"""Sentences in the steps that count now: tells may be taken back, and perhaps nobody has told a time."""

from __future__ import annotations

import re

TIME = r"(?:time [-+.e\d]+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)"  # as `moments.time_text` writes it


def in_steps(text: str, earlier: int = 0, *, times: bool = False) -> str:
    """A sentence whose steps are now so many `earlier`; without its `times` if nobody told any.

    >>> in_steps("a change at time 85 (step 81), the regime of time 5 to time 10 (steps 5 to 10)", 2)
    'a change at step 79, the regime of steps 3 to 8'
    >>> in_steps("a change at time 40.5 (step 81)", 2, times=True)
    'a change at time 40.5 (step 79)'
    """
    if not times:
        text = re.sub(rf"{TIME}(?: to {TIME})? \((steps? \d+(?: to \d+)?)\)", r"\1", text)

    def count(found: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda step: str(max(1, int(step[0]) - earlier)), found[0])

    return re.sub(r"\bsteps? \d+(?: to \d+)?\b", count, text)
