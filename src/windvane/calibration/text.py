"""Numbers and tables as plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence


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


def aligned(headings: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    """Columns under headings of several lines; the first to the left, the others to the right.

    >>> print(aligned([("", "delta"), ("runs", "with any")], [["0.01", "0.4%"], ["0.1", "12.0%"]]))
               runs
    delta  with any
    -----  --------
    0.01       0.4%
    0.1       12.0%
    """
    lines = [list(line) for line in zip(*headings, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, *rows, strict=True)]
    rule = ["-" * width for width in widths]

    def line(cells: Sequence[str]) -> str:
        first, *others = [
            f"{cell:<{width}}" if number == 0 else f"{cell:>{width}}"
            for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join([first, *others]).rstrip()

    return "\n".join(map(line, [*lines, rule, *rows]))
