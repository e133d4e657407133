"""Shapes: functions of points in R^d whose highest point is known exactly, in units of the unit cube.

Branin (1972), "Widely convergent method for finding multiple solutions of simultaneous nonlinear equations";
Dixon and Szego (1978), "The global optimization problem: an introduction", for Hartmann's with d = 3; Levy
and Montalvo (1985), "The tunneling algorithm for the global minimization of functions". Those that are to be
minimised are turned over. The largest value of Branin's, of Levy's, of bells and of `lopsided` is that of all
of R^d, so it stays what it is wherever they are moved, for as long as the peak is in the box.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from windvane.checks import Array
from windvane.tasks.standard import ALPHA, climb
from windvane.tasks.transformed import Shape

BRANIN = ((-5.0, 10.0), (0.0, 15.0))  # the usual boxes
LEVY = (-10.0, 10.0)

# Hartmann's function with d = 3; alpha as with d = 6.
A = np.array([[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]])
P = 1e-4 * np.array(
    [
        [3689.0, 1170.0, 2673.0],
        [4699.0, 4387.0, 7470.0],
        [1091.0, 8732.0, 5547.0],
        [381.0, 5743.0, 8828.0],
    ]
)


def branin() -> Shape:
    """-[(y - b x^2 + c x - 6)^2 + 10 (1 - 1 / (8 pi)) cos x + 10], b = 5.1 / (4 pi^2), c = 5 / pi.

    The square is at least 0 and the cosine at least -1: the maximum, -10 / (8 pi), is where both are, as at
    x = pi, y = 2.275.

    >>> round(float(branin().function(branin().peak)), 6)
    -0.397887
    """
    low = np.array([lo for lo, _ in BRANIN])
    width = np.array([hi - lo for lo, hi in BRANIN])
    b, c = 5.1 / (4.0 * math.pi**2), 5.0 / math.pi
    factor = 10.0 * (1.0 - 1.0 / (8.0 * math.pi))

    def function(z: Array) -> Array:
        x, y = z[..., 0] * width[0] + low[0], z[..., 1] * width[1] + low[1]
        return -np.asarray((y - (b * x - c) * x - 6.0) ** 2 + factor * np.cos(x) + 10.0)

    return Shape(function, (np.array([math.pi, 2.275]) - low) / width)


@cache
def hartmann3() -> Shape:
    """sum_i alpha_i exp(-sum_j A_ij (z_j - P_ij)^2).

    >>> shape = hartmann3()
    >>> round(float(shape.function(shape.peak)), 5), shape.peak.round(4)
    (3.86278, array([0.1146, 0.5556, 0.8525]))
    """

    def function(z: Array) -> Array:
        return np.asarray(np.exp(-np.sum(A * (z[..., None, :] - P) ** 2, axis=-1)) @ ALPHA)

    peak = max((climb(centre, A, P) for centre in P), key=lambda z: float(function(z)))
    peak.setflags(write=False)
    return Shape(function, peak)


def levy(dim: int) -> Shape:
    """-[sin^2(pi w_1) + sum_{j<d} (w_j-1)^2 (1 + 10 sin^2(pi w_j + 1)) + (w_d-1)^2 (1 + sin^2(2 pi w_d))].

    With w = 1 + (x - 1) / 4. Nothing is below 0 within the brackets, and all of it is 0 at x = 1.

    >>> float(levy(4).function(levy(4).peak))
    0.0
    """
    low, high = LEVY

    def function(z: Array) -> Array:
        away = (z * (high - low) + (low - 1.0)) / 4.0  # w - 1; sines of w are those of w - 1, but for a sign
        first = np.sin(math.pi * away[..., 0]) ** 2
        middle = away[..., :-1] ** 2 * (1.0 + 10.0 * np.sin(math.pi * away[..., :-1] + 1.0) ** 2)
        last = away[..., -1] ** 2 * (1.0 + np.sin(2.0 * math.pi * away[..., -1]) ** 2)
        return 0.0 - np.asarray(first + middle.sum(axis=-1) + last)

    return Shape(function, np.full(dim, (1.0 - low) / (high - low)))


def bells(heights: Array, centres: Array, roots: Array) -> Shape:
    """The highest of m bells h_i exp(-|L_i (z - c_i)|^2 / 2), h_i > 0: it peaks with the highest bell.

    `heights` is m, `centres` m x d, `roots` m x d x d: the matrices L_i.

    >>> shape = bells(np.array([1.0, 2.0]), np.array([[0.2], [0.7]]), np.full((2, 1, 1), 10.0))
    >>> shape.peak, float(shape.function(shape.peak))
    (array([0.7]), 2.0)
    """

    def function(z: Array) -> Array:
        scaled = (roots @ (z[..., None, :] - centres)[..., None])[..., 0]
        return np.asarray((heights * np.exp(-0.5 * np.vecdot(scaled, scaled))).max(axis=-1))

    return Shape(function, centres[int(heights.argmax())])


def lopsided(centre: Array, matrix: Array, lean: float) -> Shape:
    """-sum_j (exp(a q_j) - a q_j - 1) with q = M (z - c): steep on one side, gentle on the other, 0 at c.

    exp(q) >= 1 + q with equality at 0 only, so for a regular M and a != 0 nothing is higher than c.

    >>> shape = lopsided(np.array([0.5]), np.array([[4.0]]), lean=0.7)
    >>> [round(float(shape.function(np.array([z]))), 2) for z in (0.1, 0.5, 0.9)]
    [-0.45, 0.0, -0.94]
    """

    def function(z: Array) -> Array:
        q = lean * ((z - centre) @ matrix.T)
        return 0.0 - np.asarray(np.sum(np.expm1(q) - q, axis=-1))

    return Shape(function, centre)
