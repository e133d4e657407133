"""What is made of the runs of a cell: half of them are better, all of them together, one in ten is worse.

A user has one run. The median says what to expect of it, the mean what it costs on average, and the ninth
decile how bad it gets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from windvane.checks import Array


@dataclass(frozen=True)
class Statistic:
    """A name, and a function of the runs: the last axis of an array.

    >>> [float(one.of(np.arange(11.0))) for one in STATISTICS]
    [5.0, 5.0, 9.0]
    """

    name: str
    of: Callable[[Array], Array]


MEDIAN = Statistic("median", lambda runs: np.asarray(np.median(runs, axis=-1)))
MEAN = Statistic("mean", lambda runs: np.asarray(np.mean(runs, axis=-1)))
NINTH_DECILE = Statistic("ninth decile", lambda runs: np.asarray(np.percentile(runs, 90.0, axis=-1)))
STATISTICS = (MEDIAN, MEAN, NINTH_DECILE)
