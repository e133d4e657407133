"""The Markov chain of Assumption 2: f_1 = g_1, f_t = sqrt(1 - eps) f_{t-1} + sqrt(eps) g_t."""

from __future__ import annotations

import numpy as np

from windvane.checks import Array


def chain(fresh: Array, rates: Array) -> Array:
    """f_1 .. f_T from independent draws g_1 .. g_T (the first axis); rates[t] is eps of the step into row t.

    The first rate is not used. Independent normals of variance 1 stay of variance 1 (Remark 1).

    >>> chain(np.array([3.0, 4.0, 5.0]), np.array([0.5, 0.0, 1.0]))
    array([3., 3., 5.])
    """
    stay, move = np.sqrt(1.0 - rates).tolist(), np.sqrt(rates).tolist()
    path = np.empty_like(fresh)
    path[0] = fresh[0]
    for t in range(1, len(fresh)):
        path[t] = stay[t] * path[t - 1] + move[t] * fresh[t]
    return path
