"""The synthetic experiments of Deng et al. (2022), as in the paper's appendix on variational budgets.

Known is the skeleton: one dimension, T = 500, SE kernel with lengthscale 0.2, (a) jumps at t = 100 and
t = 200, (b) a slow drift. The functions themselves are in a supplement that was not available to us. These
are stand-ins of the usual kind in this field: f = sum_i eta_i k(., x_i), which lies in the kernel's RKHS,
with random eta_i and x_i.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer, one_of, real
from windvane.kernels import RBF
from windvane.spaces import Box
from windvane.tasks.base import Optimum, index_of

KINDS = ("abrupt", "slow")
JUMPS = (100, 200)  # the first steps of the second and of the third function
CENTRES = 10  # of each function
NODES = 400  # grid points a lengthscale: a peak is less than 1e-5 of the range above its grid point
NEAR = 1e-3  # grid peaks this close to the best one, as a share of the range, are polished too
NEWTON = 8  # steps; they converge quadratically from a grid point
BLOCK = 500  # rows at a time, so that long horizons need little memory


class Deng:
    """A one-dimensional objective that jumps twice ("abrupt") or drifts ("slow"); a stand-in, see `source`.

    Abrupt: three independent functions, one after the other. Slow: f_t = cos(a) f + sin(a) g for two of
    them, a growing steadily from 0 to pi/2 over the horizon. Each function is scaled so that half its range,
    (max - min) / 2, is `magnitude`, and turned over if its valley is deeper than its peak is high. So with
    magnitude 1 the worst arm costs 2 a step, and the best value is at least 1.
    Half-way through the drift both figures differ a little.

    The noise variance is 0.1 as in the paper's text (Deng et al. used 1; the paper's table says 0.01 and 1).
    `variation` is the budget B_T and `bound` the RKHS norm B that W-, SW-, BR- and IGP-UCB ask for.

    >>> task = Deng("abrupt", seed=1)
    >>> task.optimum(99) == task.optimum(1), task.optimum(100) == task.optimum(1)
    (True, False)
    >>> 0.0 < Deng("slow", seed=1).variation < task.variation
    True
    """

    source = "stand-in: the functions of Deng et al. (2022) were not available"

    def __init__(
        self,
        kind: str,
        *,
        seed: int = 0,
        horizon: int = 500,
        lengthscale: float = 0.2,
        noise_variance: float = 0.1,
        magnitude: float = 1.0,
    ) -> None:
        self.kind = one_of("kind", kind, KINDS)
        self.name = f"deng-{self.kind}"
        self.seed = integer("seed", seed, at_least=0)
        self.horizon = integer("horizon", horizon, at_least=1)
        self.lengthscale = real("lengthscale", lengthscale, at_least=0.01, at_most=1.0)
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self.magnitude = real("magnitude", magnitude, above=0.0)
        self.kernel = RBF(self.lengthscale)
        self.space = Box([(0.0, 1.0)])
        self._optima: dict[tuple[float, ...], Optimum] = {}

    @cached_property
    def _mixture(self) -> Array:
        """Row t - 1 holds the shares of the functions in f_t, T x r."""
        steps = np.arange(self.horizon)
        if self.kind == "abrupt":
            return np.eye(len(JUMPS) + 1)[np.searchsorted(JUMPS, steps + 1, side="right")]
        angle = 0.5 * math.pi * steps / max(self.horizon - 1, 1)
        return np.stack((np.cos(angle), np.sin(angle)), axis=1)

    @cached_property
    def _centres(self) -> Array:
        """x_i of each function, r x CENTRES."""
        return np.random.default_rng((self.seed, 3)).random((self._mixture.shape[1], CENTRES))

    @cached_property
    def _weights(self) -> Array:
        """eta_i of each function, r x CENTRES, scaled to the magnitude."""
        weights = np.random.default_rng((self.seed, 4)).standard_normal(self._centres.shape)
        for centres, row in zip(self._centres, weights, strict=True):
            heights = self._sum(self._grid, centres, row)[0]
            peak, valley = self._peak(heights, centres, row)[1], -self._peak(-heights, centres, -row)[1]
            row *= math.copysign(2.0 * self.magnitude / (peak - valley), peak + valley)
        return weights

    @cached_property
    def _tables(self) -> Array:
        """Each function on the grid, r x nodes."""
        pairs = zip(self._centres, self._weights, strict=True)
        return np.array([self._sum(self._grid, centres, weights)[0] for centres, weights in pairs])

    @cached_property
    def _grid(self) -> Array:
        return np.linspace(0.0, 1.0, max(2000, math.ceil(NODES / self.lengthscale)) + 1)

    def _sum(self, x: Array, centres: Array, weights: Array) -> tuple[Array, Array, Array]:
        """sum_i eta_i k(x, x_i) and its first two derivatives, at n points."""
        gap = (x[:, None] - centres) / self.lengthscale
        terms = weights * np.exp(-0.5 * gap * gap)
        slope, bend = -(terms * gap).sum(axis=1), (terms * (gap * gap - 1.0)).sum(axis=1)
        return terms.sum(axis=1), slope / self.lengthscale, bend / self.lengthscale**2

    def _peak(self, heights: Array, centres: Array, weights: Array) -> tuple[float, float]:
        """Where the sum is largest, and its value: from its heights on the grid, then by Newton's method."""
        grid, step = self._grid, self._grid[1]
        lowest, highest = float(heights.min()), float(heights.max())
        padded = np.concatenate(([-math.inf], heights, [-math.inf]))
        summit = (heights >= padded[:-2]) & (heights >= padded[2:])
        nodes = grid[summit & (heights >= highest - NEAR * (highest - lowest))]
        x = nodes.copy()
        for _ in range(NEWTON):
            _, slope, bend = self._sum(x, centres, weights)
            move = np.divide(-slope, bend, out=np.sign(slope) * step, where=bend < 0.0)
            x = np.clip(x + move, np.maximum(nodes - step, 0.0), np.minimum(nodes + step, 1.0))
        x = np.concatenate((x, nodes))
        found = self._sum(x, centres, weights)[0]
        best = int(found.argmax())
        return float(x[best]), float(found[best])

    def _moment(self, t: int) -> tuple[Array, Array]:
        """The centres and weights of f_t."""
        shares = self._mixture[index_of(t, self.horizon)]
        used = shares != 0.0
        return self._centres[used].ravel(), (shares[used, None] * self._weights[used]).ravel()

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        return float(self._sum(self.space.encode(x), *self._moment(t))[0][0])

    def optimum(self, t: int) -> Optimum:
        """The maximum of f_t, to rounding."""
        shares = self._mixture[index_of(t, self.horizon)]
        key = tuple(shares.tolist())
        if key not in self._optima:
            x, height = self._peak(shares @ self._tables, *self._moment(t))
            self._optima[key] = Optimum(height, np.array([x]))
        best = self._optima[key]
        return Optimum(float(best), best.x.copy())

    @cached_property
    def variation(self) -> float:
        """B_T = sum_{t<T} max_x |f_{t+1}(x) - f_t(x)|, on a grid of at least 2001 points."""
        changes = np.diff(self._mixture, axis=0)
        changes = changes[changes.any(axis=1)]
        blocks = (changes[i : i + BLOCK] @ self._tables for i in range(0, len(changes), BLOCK))
        return float(sum(np.abs(block).max(axis=1).sum() for block in blocks))

    @cached_property
    def bound(self) -> float:
        """B = max_t ||f_t||, the norm in the RKHS of the kernel."""
        flat = self._centres.reshape(-1, 1)
        r, n = self._centres.shape
        gram = self.kernel.matrix(flat, flat).reshape(r, n, r, n)
        inner = np.einsum("ai,aibj,bj->ab", self._weights, gram, self._weights)
        squares = np.einsum("ta,ab,tb->t", self._mixture, inner, self._mixture)
        return math.sqrt(float(squares.max()))
