"""The highest value of a bilinear interpolant on a grid of the unit square, where others stay at least zero.

In a cell of the grid all functions have the form a + b x + c y + d x y. Such a function has no maximum
inside the cell unless it is flat, so under limits the maximum is at a corner, where a limit cuts an edge,
where two limits cut each other, or where the value is stationary along a limit. Each of these is a root of a
polynomial of degree one or two: the optimum is exact up to rounding, whatever the grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument

INSIDE = 1e-10  # margin that is kept, so that rounding does not carry the optimum beyond a limit
EDGES = 1e-12  # how far a root may be outside of its cell, by rounding


def highest(values: Array, margins: Sequence[Array]) -> tuple[float, float, float]:
    """The largest value where all margins are at least zero, and its place: (f, u, v). Fields are n x n.

    >>> axis = np.linspace(0.0, 1.0, 5)
    >>> u, v = np.meshgrid(axis, axis, indexing="ij")
    >>> best, *place = highest(u + v, [0.6 - u, 0.9 - v])
    >>> round(best, 6), np.round(place, 6).tolist()
    (1.5, [0.6, 0.9])
    """
    inner = [margin - INSIDE for margin in margins]
    met = np.all([margin >= 0.0 for margin in inner], axis=0)
    corner = np.where(met, values, -np.inf)
    row, column = np.unravel_index(int(corner.argmax()), corner.shape)
    step = 1.0 / (len(values) - 1)
    best = (float(corner[row, column]), float(row * step), float(column * step))

    # Only cells where a limit passes, whose corners allow for more than has been found, can have more.
    f, *g = (_corners(field) for field in (values, *inner))
    open_ = np.all([cell.max(axis=0) >= 0.0 for cell in g], axis=0) & (f.max(axis=0) > best[0])
    open_ &= np.any([cell.min(axis=0) < 0.0 for cell in g], axis=0)
    rows, columns = np.nonzero(open_)
    if len(rows):
        target, *limits = (_coefficients(cell[:, rows, columns]) for cell in (f, *g))
        x, y = _places(target, limits)  # candidates x cells
        allowed = np.all([_at(limit, x, y) >= -0.5 * INSIDE for limit in limits], axis=0)
        found = np.where(allowed, _at(target, x, y), -np.inf)
        which, cell = np.unravel_index(int(found.argmax()), found.shape)
        if found[which, cell] > best[0]:
            u, v = (rows[cell] + x[which, cell]) * step, (columns[cell] + y[which, cell]) * step
            best = (float(found[which, cell]), min(float(u), 1.0), min(float(v), 1.0))
    if best[0] == -np.inf:
        raise InvalidArgument("no point of the square is within all limits")
    return best


def _corners(field: Array) -> Array:
    """The values at (0, 0), (1, 0), (0, 1) and (1, 1) of each cell, 4 x (side - 1) x (side - 1)."""
    return np.stack([field[:-1, :-1], field[1:, :-1], field[:-1, 1:], field[1:, 1:]])


def _coefficients(corners: Array) -> Array:
    """(a, b, c, d) of a + b x + c y + d x y, 4 x cells."""
    a, right, up, far = corners
    return np.stack([a, right - a, up - a, far - right - up + a])


def _at(f: Array, x: Array, y: Array) -> Array:
    a, b, c, d = f
    return np.asarray(a + b * x + (c + d * x) * y)


def _places(f: Array, limits: Sequence[Array]) -> tuple[Array, Array]:
    """Everywhere in the cells where the maximum can be, candidates x cells; NaN where there is none."""
    x: list[Array] = []
    y: list[Array] = []
    for g in limits:
        a, b, c, d = g
        for side in (0.0, 1.0):
            fixed = np.full_like(a, side)
            x += [fixed, _quotient(-(a + c * side), b + d * side)]
            y += [_quotient(-(a + b * side), c + d * side), fixed]
        for root in _stationary(f, g):
            x.append(root)
            y.append(_quotient(-(a + b * root), c + d * root))
        for root in _stationary(f[[0, 2, 1, 3]], g[[0, 2, 1, 3]]):  # x and y exchanged, where c + d x is 0
            x.append(_quotient(-(a + c * root), b + d * root))
            y.append(root)
    for pair in combinations(limits, 2):
        for root in _crossings(*pair):
            for a, b, c, d in pair:  # one of them may leave y open at this x
                x.append(root)
                y.append(_quotient(-(a + b * root), c + d * root))
    xs, ys = np.stack(x), np.stack(y)
    with np.errstate(invalid="ignore"):
        inside = (np.abs(xs - 0.5) <= 0.5 + EDGES) & (np.abs(ys - 0.5) <= 0.5 + EDGES)
    xs, ys = np.where(inside, xs, np.nan), np.where(inside, ys, np.nan)
    return np.clip(xs, 0.0, 1.0), np.clip(ys, 0.0, 1.0)


def _stationary(f: Array, g: Array) -> tuple[Array, Array]:
    """The x at which f is stationary along g = 0.

    There y = -(a + b x) / (c + d x), and f = p + q x - (r + s x)(a + b x) / (c + d x) with f = (p, q, r, s);
    the numerator of its derivative is q (c + d x)^2 - (s (a + b x) + b (r + s x))(c + d x) + d (r + s x)(a +
    b x).
    """
    _, q, r, s = f
    a, b, c, d = g
    shared = q * d - s * b
    return _roots(d * shared, 2.0 * c * shared, q * c**2 - (s * a + b * r) * c + d * r * a)


def _crossings(g: Array, h: Array) -> tuple[Array, Array]:
    """The x at which both are zero: (a + b x)(c' + d' x) = (a' + b' x)(c + d x)."""
    a, b, c, d = g
    p, q, r, s = h
    return _roots(b * s - q * d, a * s + b * r - p * d - q * c, a * r - p * c)


def _roots(second: Array, linear: Array, constant: Array) -> tuple[Array, Array]:
    """Both roots of second x^2 + linear x + constant, without cancellation; NaN where there are none."""
    with np.errstate(invalid="ignore"):
        root = np.sqrt(linear**2 - 4.0 * second * constant)
    half = -0.5 * (linear + np.copysign(root, linear))
    return _quotient(half, second), _quotient(constant, half)


def _quotient(above: Array, below: Array) -> Array:
    """NaN in place of infinities, which would raise warnings later on."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = above / below
    return np.where(np.isfinite(ratio), ratio, np.nan)
