"""Outliers that agree are none: looked at before each fit.

One at a time, an outlier is always the better explanation of what is far off where little is known; of five
in a row it is not (docs/decisions/0054).
"""

from __future__ import annotations

import numpy as np

from windvane.data import Dataset, IntArray
from windvane.surrogates.mixture.tuning import AGREE, IN_A_ROW

NONE = np.empty(0, np.intp)


def agreeing(data: Dataset, doubted: IntArray, expected: float) -> IntArray:
    """The latest rows of data, if there are several that are all doubted and yet alike; else none.

    `expected` is what a value would be if nothing were known.

    >>> data = Dataset(np.zeros((8, 1)), np.r_[0.0, 1.0, 9.0, np.full(5, 25.0)], np.arange(8.0), np.arange(8))
    >>> agreeing(data, np.arange(3, 8), 0.5), len(agreeing(data, np.arange(4, 8), 0.5))
    (array([3, 4, 5, 6, 7]), 0)
    """
    usual = np.flatnonzero(~np.isin(data.steps, doubted))
    first = int(usual[-1]) + 1 if len(usual) else 0
    y = data.y[first:]
    if len(y) < IN_A_ROW:
        return NONE
    latest = y[-IN_A_ROW:]
    if float(np.ptp(latest)) > AGREE * abs(float(latest.mean()) - expected):
        return NONE
    return np.arange(first, len(data))
