"""A floor beneath what matters: looked at before each fit.

The least noise that a fit takes is a share of the scale of y. With a few values of -1e6 among the first, it
is larger than all differences between the others: the model cannot tell these apart, and searches at random
or stays where it is. How much worse than all others such values are is of no interest, so they count as a
floor, some times as far below the best as the good ones reach: as a cliff of a depth that a model can see
beside all else (docs/decisions/0054).
"""

from __future__ import annotations

import numpy as np

from windvane.checks import Array
from windvane.data import Dataset, IntArray
from windvane.surrogates.mixture.tuning import (
    ALIKE,
    BEST,
    DEPTH,
    FEWEST_TO_FIT,
    ONE_DEPTH,
    ONE_PLACE,
    PLACES,
    SAME_VALUE,
)


def floor_beneath(data: Dataset, least: float, before: float | None = None) -> float | None:
    """What to take for the values below it; None if the good ones can be told apart without that.

    `least` is the standard deviation of the least noise there may be, in the units of y. The floor of
    `before` stays while data are few, while nothing is below it, and while all above it looks the same
    without it.

    >>> x, y = np.linspace(0, 1, 12)[:, None], np.r_[np.full(4, -1e6), np.arange(8.0)]
    >>> data = Dataset(x, y, np.arange(12.0), np.arange(12))
    >>> floor_beneath(data, 5e3), floor_beneath(data, 5.0)
    (-63.0, None)
    """
    if len(data) < FEWEST_TO_FIT or (before is not None and not (data.y < before).any()):
        return before
    if data.accuracy is not None and bool(data.accuracy.known.any()):
        return None  # noise that was told is not a share of the scale
    places = data.y[_newest(data.X)]
    top = float(places.max())
    alike = places[places >= top - ALIKE * least]
    reach = top - float(alike.min())
    differ = reach > SAME_VALUE * float(np.abs(alike).max())
    if differ and len(alike) >= max(PLACES, BEST * len(places)):
        floor = top - DEPTH * reach
        below = data.y[data.y < floor]
        # a cliff has one depth; values at every depth are a slope, and the scale is theirs
        one_depth = len(below) and float(np.ptp(below)) <= ONE_DEPTH * (top - float(below.max()))
        return floor if one_depth else None
    # a search that is at one place again and again has no others to tell apart
    above = data.y[data.y >= before] if before is not None else alike[:0]
    return before if len(above) and float(np.ptp(above)) <= ALIKE * least else None


def _newest(X: Array) -> IntArray:
    """The newest observation of each place: a search comes back to where values are high."""
    left, found, near = np.arange(len(X)), list[int](), ONE_PLACE**2 * X.shape[1]
    while len(left):
        found.append(int(left[-1]))
        gaps = X[left] - X[left[-1]]
        left = left[np.vecdot(gaps, gaps) > near]
    return np.array(found[::-1], np.intp)
