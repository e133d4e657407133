"""From the caller's units to a model's, where values are of about size 1 and squares must stay finite."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

FARTHEST = 1e50  # in units of the model: beyond, values are alike; fits take fourth powers


def inward(y: Array, offset: float, scale: float) -> Array:
    """(y - offset) / scale; what is farther off than `FARTHEST` is taken to be just that far.

    >>> inward(np.array([1e-300, 1.0]), 0.0, 1e-300)
    array([1.e+00, 1.e+50])
    """
    with np.errstate(over="ignore"):
        return np.clip((y - offset) / scale, -FARTHEST, FARTHEST)


def inward_one(y: float, offset: float, scale: float) -> float:
    """The same for one number, of which there is one at each step.

    >>> inward_one(12.0, 10.0, 2.0), inward_one(-1.0, 0.0, 1e-300)
    (1.0, -1e+50)
    """
    return min(max((y - offset) / scale, -FARTHEST), FARTHEST)
