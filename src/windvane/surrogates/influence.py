"""What a kernel says about contexts: whether the objective is another one where they are others."""

from __future__ import annotations

from windvane.checks import Array
from windvane.kernels import Kernel, Stationary
from windvane.spaces.base import Domain


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
