"""Numbers of calibrations as plain text."""

from __future__ import annotations

import math


def percent(share: float) -> str:
    """A share with as many digits as matter.

    >>> percent(0.004), percent(0.25), percent(0.0)
    ('0.4%', '25.0%', '0.0%')
    """
    return f"{share:.1%}"


def interval(low: float, high: float) -> str:
    """An interval of shares.

    >>> interval(0.0, 0.0188)
    '(0.0–1.9%)'
    """
    return f"({100.0 * low:.1f}–{high:.1%})"


def steps(delay: float, rest: int) -> str:
    """A delay, or that it is longer than the run.

    >>> steps(3.0, 100), steps(math.inf, 100)
    ('3', '>100')
    """
    return f"{delay:.0f}" if math.isfinite(delay) else f">{rest}"
