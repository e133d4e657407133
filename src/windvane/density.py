"""The log density of a normal distribution: for one number, and for many."""

from __future__ import annotations

import math
import sys

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TINY = 1e-300  # of a variance: the square of values below 1e-160 is zero in double precision
LOG_2PI = math.log(2.0 * math.pi)


def normal_log_density(off: float, variance: float) -> float:
    """ln N(off; 0, variance); finite, however far off and however small the variance.

    >>> round(normal_log_density(0.0, 1.0), 6), normal_log_density(1e100, 1e-250)
    (-0.918939, -1.797...e+308)
    """
    total = max(variance, TINY)
    ratio = off / math.sqrt(total)
    return max(-0.5 * (LOG_2PI + math.log(total)) - 0.5 * ratio * ratio, -sys.float_info.max)


def normal_log_densities(off: Array, variance: Array) -> Array:
    """The same for numbers of ordinary size, entry by entry.

    >>> normal_log_densities(np.array([0.0, 1.0]), np.array([1.0, 1.0])).round(4)
    array([-0.9189, -1.4189])
    """
    return np.asarray(-0.5 * (LOG_2PI + np.log(variance) + off * off / variance))
