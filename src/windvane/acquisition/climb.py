"""Newton ascent of a single point, in plain numbers.

The last leg: one or two points that a grid or a batched ascent has brought near the summit, a
handful of steps, vectors of length d. There NumPy's cost is a call, not an element; see
docs/decisions/0003-two-newton-ascents.md for the measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from windvane.acquisition.ascent import SHORTEST, Summits
from windvane.acquisition.ascent import uphill as uphill_together
from windvane.acquisition.base import PointDerivatives
from windvane.acquisition.utility import Matrix, Utility, Vector, derivatives_at
from windvane.checks import Array, IntArray
from windvane.spaces.region import Bounds

HOPE = 2.0  # how many promised gains a climb may be behind the best one before it is given up
BY_HAND = 3  # dimensions up to which plain numbers solve a system sooner than NumPy
LEAST_PIVOT = 1e-10  # of a Hessian that counts as definite
SHORT = 0.01  # a step of at most this length, in a climb that has converged, is taken unseen


def climb(
    local_at: Callable[[Array], PointDerivatives],
    starts: Array,
    utility: Utility,
    *,
    bounds: Bounds,
    radius: float,
    iterations: int,
    tolerance: float,
    ceilings: Array | None = None,
) -> Summits:
    """Climb the utility from each start until the promised gain is below the tolerance.

    The best start comes first; another is given up as soon as it does not promise to catch up. `ceilings`
    are heights that the climbs cannot exceed: one that cannot reach the best is not begun.
    """
    points: list[Vector] = []
    values: list[float] = []
    for row, start in enumerate(starts):
        best = max(values, default=-math.inf)
        if ceilings is not None and ceilings[row] < best:
            continue
        at, inner, begin = local_at, bounds.along, start
        if bounds.axes is not None:
            at, begin = _within(local_at, start, bounds.axes), start[bounds.axes]
        point, value = _climb_one(at, begin.tolist(), utility, inner, radius, iterations, tolerance, best)
        points.append(point if bounds.axes is None else _placed(start, bounds.axes, point).tolist())
        values.append(value)
    return Summits(np.array(points), np.array(values))


def _within(
    local_at: Callable[[Array], PointDerivatives], start: Array, axes: IntArray
) -> Callable[[Array], PointDerivatives]:
    """The posterior as a function of these coordinates; the others stay what they are."""
    return lambda inner: local_at(_placed(start, axes, inner))


def _placed(start: Array, axes: IntArray, inner: Array | Vector) -> Array:
    """A point with these coordinates replaced."""
    point = start.copy()
    point[axes] = inner
    return point


def _climb_one(
    local_at: Callable[[Array], PointDerivatives],
    x: Vector,
    utility: Utility,
    bounds: Bounds,
    radius: float,
    iterations: int,
    tolerance: float,
    best: float,
) -> tuple[Vector, float]:
    lower, upper, _ = bounds.walls
    value, gradient, hessian = derivatives_at(utility, local_at(np.array(x)))
    for _ in range(iterations):
        step, cut = _step(x, gradient, hessian, bounds, radius)
        promise = sum(p * g for p, g in zip(step, gradient, strict=True))
        trial = [min(max(a + p, low), high) for a, p, low, high in zip(x, step, lower, upper, strict=True)]
        if promise <= tolerance and not (cut and radius > SHORTEST):
            if sum(p * p for p in step) <= SHORT * SHORT:  # so close that Newton's last step needs no check
                return trial, value + 0.5 * promise
            break
        if value + HOPE * promise < best:
            break
        height, new_gradient, new_hessian = derivatives_at(utility, local_at(np.array(trial)))
        if height > value:
            x, value, gradient, hessian = trial, height, new_gradient, new_hessian
            radius *= 2.0
        else:
            radius = 0.25 * math.sqrt(sum(p * p for p in step))
    return x, value


def _step(x: Vector, gradient: Vector, hessian: Matrix, bounds: Bounds, radius: float) -> tuple[Vector, bool]:
    """A Newton step within the radius and the box, and whether the radius cut it.

    Coordinates that push against a wall, or would cross one, are taken there and held; the others
    then move as if those were constants.
    """
    lower, upper, free = bounds.walls
    inner = [
        a
        for a in free
        if not (x[a] <= lower[a] and gradient[a] <= 0.0) and not (x[a] >= upper[a] and gradient[a] >= 0.0)
    ]
    step = [0.0] * len(x)
    cut = _solve_for(inner, step, gradient, hessian, radius)
    crossing = [a for a in inner if not lower[a] <= x[a] + step[a] <= upper[a]]
    if crossing:
        inner = [a for a in inner if a not in crossing]
        for a in crossing:
            step[a] = (upper[a] if step[a] > 0.0 else lower[a]) - x[a]
        bent = [gradient[a] + sum(hessian[a][b] * step[b] for b in crossing) for a in range(len(x))]
        cut = _solve_for(inner, step, bent, hessian, radius)
        for a in inner:
            step[a] = min(max(x[a] + step[a], lower[a]), upper[a]) - x[a]
    return step, cut


def _solve_for(inner: list[int], step: Vector, gradient: Vector, hessian: Matrix, radius: float) -> bool:
    """Fill in the step of the inner coordinates; True if the radius cut it."""
    if not inner:
        return False
    found = uphill([[hessian[a][b] for b in inner] for a in inner], [gradient[a] for a in inner])
    length = math.sqrt(sum(p * p for p in found))
    shrink = min(1.0, radius / length) if length > 0.0 else 1.0
    for a, p in zip(inner, found, strict=True):
        step[a] = shrink * p
    return shrink < 1.0


def uphill(hessian: Matrix, gradient: Vector) -> Vector:
    """Solve (shift I - H) p = g with the least Gershgorin shift, none if -H is positive definite already.

    In more than a few dimensions |H|^-1 g as in `ascent`: there the arithmetic costs more than the call.
    """
    if len(gradient) == 2:  # by far the most frequent, and Cramer's rule has no loops
        (a, b), (_, c) = hessian
        if a < -LEAST_PIVOT and b * b / a - c > LEAST_PIVOT:
            determinant = a * c - b * b
            return [
                (b * gradient[1] - c * gradient[0]) / determinant,
                (b * gradient[0] - a * gradient[1]) / determinant,
            ]
    if len(gradient) > BY_HAND:
        return uphill_together(np.array([hessian]), np.array([gradient]))[0].tolist()  # type: ignore[no-any-return]
    factor = _cholesky([[-h for h in row] for row in hessian])
    if factor is None:
        d = len(gradient)
        shift = max(sum(abs(hessian[a][b]) for b in range(d) if b != a) + hessian[a][a] for a in range(d))
        shift = 1.1 * max(shift, 0.0) + 1e-8
        factor = _cholesky([[(shift if a == b else 0.0) - hessian[a][b] for b in range(d)] for a in range(d)])
        if factor is None:  # a Hessian that is not finite: go along the gradient
            return gradient
    return _solve(factor, gradient)


def _cholesky(matrix: Matrix) -> Matrix | None:
    """The lower factor, or None if the matrix is not positive definite."""
    d = len(matrix)
    L = [[0.0] * d for _ in range(d)]
    for i in range(d):
        for j in range(i + 1):
            rest = matrix[i][j] - sum(L[i][k] * L[j][k] for k in range(j))
            if i == j:
                if not rest > LEAST_PIVOT:
                    return None
                L[i][i] = math.sqrt(rest)
            else:
                L[i][j] = rest / L[j][j]
    return L


def _solve(L: Matrix, b: Vector) -> Vector:
    """L L' p = b."""
    d = len(b)
    v = [0.0] * d
    for i in range(d):
        v[i] = (b[i] - sum(L[i][k] * v[k] for k in range(i))) / L[i][i]
    for i in reversed(range(d)):
        v[i] = (v[i] - sum(L[k][i] * v[k] for k in range(i + 1, d))) / L[i][i]
    return v
