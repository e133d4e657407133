"""How finely values are told: counts, yes or no, and readings of few digits are rounded.

Rounding is noise, of a variance of a twelfth of a step squared. Without it the fit to many equal values ends
at the least noise and the least scale there is: all other values are outliers then, or another level, again
and again (docs/decisions/0054).
"""

from __future__ import annotations

import math

import numpy as np

from windvane.data import Dataset
from windvane.surrogates.mixture.tuning import FEWEST_TO_FIT, SAME_VALUE, TIED


def rounding_std(data: Dataset) -> float:
    """The standard deviation of what was rounded off, step / sqrt(12); 0 if values do not look rounded.

    They do where most of them are equal to others, at other places. The step is the least gap between two.

    >>> x, y = np.linspace(0, 1, 12)[:, None], np.tile([0.0, 3.0, 6.0, 0.0], 3)
    >>> rounding_std(Dataset(x, y, np.arange(12.0), np.arange(12))).__round__(3)
    0.866
    >>> rounding_std(Dataset(x, np.sqrt(np.arange(12.0)), np.arange(12.0), np.arange(12)))
    0.0
    """
    _, rows = np.unique(data.X[::-1], axis=0, return_index=True)
    places = data.y[::-1][rows]
    if len(places) < FEWEST_TO_FIT:
        return 0.0
    values = np.unique(places)
    if not 1 < len(values) <= (1.0 - TIED) * len(places):
        return 0.0
    gaps = np.diff(values)
    gaps = gaps[gaps > SAME_VALUE * np.abs(values).max()]
    return float(gaps.min()) / math.sqrt(12.0) if len(gaps) else 0.0
