"""Functions whose highest point is known, moved, mirrored and replaced as time goes by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, integer, real
from windvane.spaces import Box
from windvane.spaces.sobol import sobol
from windvane.tasks.base import Optimum, index_of

PROBES = 1024  # points at which the spread of a function is measured
NOISE = 0.01  # of that spread: the standard deviation of the noise unless stated


class Shape(NamedTuple):
    """A function of points in R^d (the last axis), and a point where it is largest.

    Coordinates are such that the unit cube is the box of a task. If a task moves the shape, the peak must be
    the largest value of all of R^d; if it only mirrors it, of the cube.
    """

    function: Callable[[Array], Array]
    peak: Array


@final
class Transformed:
    """At step t one of the shapes, mirrored and moved: f_t(u) = g(c + s_t (u - c) - m_t), c the centre.

    `which` has the number of the shape at each step, `signs` has s_t (T x d, 1 or -1) and `moves` has m_t
    (T x d, in units of the cube); left out, it is the first shape, as it is. The noise variance is, unless
    given, that of a standard deviation of one per cent of what f_1 spreads over the box.

    >>> bell = Shape(lambda z: np.exp(-np.sum((z - 0.3) ** 2, axis=-1)), np.array([0.3]))
    >>> task = Transformed("bell", Box([(0, 10)]), [bell], horizon=2, moves=np.array([[0.0], [0.2]]))
    >>> [(round(task.optimum(t), 3), task.optimum(t).x.round(3)) for t in (1, 2)]
    [(1.0, array([3.])), (1.0, array([5.]))]
    """

    kernel = None

    def __init__(
        self,
        name: str,
        space: Box,
        shapes: Sequence[Shape],
        *,
        horizon: int,
        which: npt.NDArray[np.intp] | None = None,
        signs: Array | None = None,
        moves: Array | None = None,
        noise_variance: float | None = None,
    ) -> None:
        self.name = name
        self.space = space
        self.horizon = integer("horizon", horizon, at_least=1)
        self._shapes = tuple(shapes)
        still = np.zeros((self.horizon, space.dim))
        self._which = np.zeros(self.horizon, dtype=np.intp) if which is None else which
        self._signs = still + 1.0 if signs is None else signs
        self._moves = still if moves is None else moves
        self.spread = float(self._cube(sobol(space.dim, PROBES), 0).std())
        self.noise_variance = (
            (NOISE * self.spread) ** 2
            if noise_variance is None
            else real("noise_variance", noise_variance, above=0.0)
        )

    @property
    def steps(self) -> tuple[int, ...]:
        """The first step of each shape, and after each mirroring."""
        changed = np.diff(self._which) != 0
        changed |= (np.diff(self._signs, axis=0) != 0.0).any(axis=1)
        return tuple((np.flatnonzero(changed) + 2).tolist())

    def _cube(self, unit: Array, index: int) -> Array:
        """f_t at points of the unit cube."""
        place = 0.5 + self._signs[index] * (unit - 0.5) - self._moves[index]
        shape: Shape = self._shapes[self._which[index]]
        return shape.function(place)

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        return float(self._cube(self.space.encode(x), index_of(t, self.horizon)))

    def optimum(self, t: int) -> Optimum:
        """The value of the shape at its peak, wherever that is at step t."""
        index = index_of(t, self.horizon)
        function, peak = self._shapes[self._which[index]]
        place = 0.5 + self._signs[index] * (peak + self._moves[index] - 0.5)
        return Optimum(float(function(peak)), self.space.decode(place))
