"""What a model says about change: how much of it is left over for time, how much contexts explain."""

from __future__ import annotations

import math

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel, Stationary, Temporal
from windvane.spaces.base import Domain

LATER = 10.0  # steps after which it is asked how much of the objective is left


def kept(temporal: Temporal) -> float:
    """The correlation of f with itself ten steps later, the same contexts given.

    >>> from windvane.kernels import Markov, Static
    >>> kept(Static()), round(kept(Static(9.0) * Markov(0.01)), 3), round(kept(Markov(0.3)), 3)
    (1.0, 0.951, 0.168)
    """
    times = np.array([1.0, 1.0 + LATER])
    (one, both), (_, two) = temporal.matrix(times, times)
    return float(both) / math.sqrt(float(one) * float(two))


def reaches(kernel: Kernel, space: Domain, X: Array) -> dict[str, float]:
    """Over how many lengthscales each context has been seen; empty for a kernel that has none.

    >>> import numpy as np
    >>> from windvane.kernels import RBF
    >>> from windvane.spaces import Context, Real, Space
    >>> space = Space(gain=Real(0, 1), load=Context(0, 100))
    >>> reaches(RBF([0.3, 0.25]), space, np.array([[0.5, 0.1], [0.5, 0.6]]))
    {'load': 2.0}
    """
    if not isinstance(kernel, Stationary) or not len(X):
        return {}
    scales = kernel.lengthscale if len(kernel.lengthscale) > 1 else kernel.lengthscale * space.dim
    width = X.max(axis=0) - X.min(axis=0)
    return {
        name: max((float(width[axis]) / scales[axis] for axis in axes), default=0.0)
        for name, axes in space.axes_of_contexts.items()
    }
