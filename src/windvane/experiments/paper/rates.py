"""The within-model objective at the three rates of change that most of the paper's experiments share."""

from __future__ import annotations

from windvane.experiments.trial import Call, call

HORIZON = 400
RATES = (0.01, 0.03, 0.05)


def column(rate: float) -> str:
    """The name of a rate's column.

    >>> column(0.03)
    'eps = 0.03'
    """
    return f"eps = {rate:g}"


COLUMNS = [column(rate) for rate in RATES]


def objective(rate: float) -> Call:
    """Two-dimensional, drawn on the grid, as in Table 1."""
    return call("within-model", rate=rate, horizon=HORIZON)
