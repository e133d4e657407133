"""The reset windows of Fig. 2: from R-GP-UCB's period to no restriction at all.

How the paper places them is not said. Here both ends move away from R-GP-UCB's N in proportion, so
that W = N_high - N_low = s (T - 1) for a share s from 0 (always at N) to 1 (any time).
"""

from __future__ import annotations

from windvane.experiments.trial import Call, call
from windvane.theory import reset_time

RATES = (0.03, 0.1)
HORIZON = 200
Window = tuple[int, int]


def period(rate: float) -> int:
    """N of R-GP-UCB."""
    return reset_time(rate, HORIZON)


def window(rate: float, share: float) -> Window:
    """(N_low, N_high).

    >>> window(0.03, 0.0), window(0.03, 0.5), window(0.03, 1.0)
    ((29, 29), (15, 114), (1, 200))
    """
    n = period(rate)
    return round(n - share * (n - 1)), round(n + share * (HORIZON - n))


def objective(rate: float) -> Call:
    """The task: within the model, 200 steps."""
    return call("within-model", rate=rate, horizon=HORIZON)
