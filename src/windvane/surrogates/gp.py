"""Exact Gaussian process regression that grows and shrinks by one observation in O(n^2).

Model: y_i = f(x_i, t_i) + w_i, f ~ GP(0, k_S k_T), w_i ~ N(0, s_i). Symbols as in docs/reference/notation.md:
K~ is the data's covariance with noise, W its inverse Cholesky factor, z = W y, alpha = K~^-1 y,
tau_i = k_T(t_i, now). The posterior on M fixed candidates is kept up to date in O(n M).

Noise that grows with age (W-GP-UCB) moves all of K~ with the clock. The factor is then made when somebody
looks, once for each moment, and is a function of the data and that moment, not of the way there.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from windvane.checks import Array, IntArray
from windvane.kernels import Kernel, Static, Temporal
from windvane.surrogates.buffers import twin
from windvane.surrogates.cache import LARGE, CandidateCache
from windvane.surrogates.factor import Factor, below
from windvane.surrogates.noise import Noise
from windvane.surrogates.surface import Local, Surface


class Projection(NamedTuple):
    """The posterior at one point before its observation, and what an append needs: v = W k."""

    v: Array
    mean: float
    variance: float  # of f, noise excluded


class Solution(NamedTuple):
    """W, z and alpha of the data, `at` a moment if their noise grows with age."""

    at: float
    factor: Factor
    z: Array
    alpha: Array


class Sketch(NamedTuple):
    """The posterior on the candidates, as of `at`: the mean, and the prior variance less the posterior's."""

    at: float
    mean: Array
    gain: Array


class GP:
    """The data in use, their factor, and the posterior at any time that is not before the last datum.

    Whoever wants to keep what it is now appends to a `copy` of it.

    >>> from windvane.kernels import RBF
    >>> gp = GP(RBF(0.2), Noise(0.01), dim=1)
    >>> gp.append(np.array([0.5]), 1.0, time=1.0)
    >>> mean, variance = gp.at(np.array([[0.5], [0.7]]), now=2.0)
    >>> mean.round(3), variance.round(3)
    (array([0.99 , 0.601]), array([0.01 , 0.636]))
    """

    X: Array  # the data's points, n x d; like y and times a new array after every change
    y: Array
    times: Array
    noises: Array  # their noise variances when they were made
    _solution: Solution | None  # None until somebody looks
    _sketch: Sketch | None
    _information: float | None

    def __init__(
        self,
        kernel: Kernel,
        noise: Noise,
        dim: int,
        temporal: Temporal | None = None,
        cache: CandidateCache | None = None,
    ) -> None:
        self.kernel, self.noise, self.temporal = kernel, noise, temporal or Static()
        self._timeless, self._ages = self.temporal == Static(), noise.ages
        self._signal = kernel.signal
        # whether the posterior on the candidates moves on with the clock, else it is made anew
        self._moves = self.temporal.decay(0.0, 1.0) is not None and not self._ages
        self._cache = cache
        self._faded: tuple[float, Array, Array] | None = None
        self.replace(np.empty((0, dim)), np.empty(0), np.empty(0))

    def copy(self) -> GP:
        """The same GP, O(1); neither of the two notices what becomes of the other."""
        other = twin(self)
        if self._cache is not None:
            other._cache = self._cache.copy()
        return other

    # -- the data ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.y)

    @property
    def candidates(self) -> Array:
        """The M fixed points, M x d."""
        return np.empty((0, self.X.shape[1])) if self._cache is None else self._cache.points

    @property
    def grid(self) -> tuple[int, ...] | None:
        """The candidates' shape if they are a tensor grid."""
        return None if self._cache is None else self._cache.shape

    # -- the posterior -------------------------------------------------------------------------

    def project(self, x: Array, now: float) -> Projection:
        """The posterior of f(x, now)."""
        fading = None if self._timeless else self._fading(now)
        return self._projected(self._solved(now), x, self.X, fading, now)

    def at(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and variance of f at m points."""
        solution = self._solved(now)
        k = self.kernel.matrix(points, self.X)
        if not self._timeless:
            k *= self._fading(now)
        v = k @ solution.factor.W.T
        prior = self._prior(points, now)
        return v @ solution.z, np.maximum(prior - np.vecdot(v, v), 0.0)

    def mean_at(self, points: Array, now: float) -> Array:
        """The mean of f alone at m points: O(m n)."""
        alpha = self._solved(now).alpha
        weights = alpha if self._timeless else alpha * self._fading(now)
        return np.asarray(self.kernel.matrix(points, self.X) @ weights)

    def prior_at(self, points: Array, now: float) -> Array:
        """The variance of f at m points before any observation."""
        return np.array(np.broadcast_to(self._prior(points, now), (len(points),)))

    def covariance(self, points: Array, now: float) -> Array:
        """The joint covariance of f at m points, m x m."""
        k = self.kernel.matrix(points, self.X)
        if not self._timeless:
            k *= self._fading(now)
        v = k @ self._solved(now).factor.W.T
        return self.kernel.matrix(points, points) * self.temporal.variance(now) - v @ v.T

    def on_candidates(self, now: float) -> tuple[Array, Array]:
        """Mean and variance of f on the candidates: O(M), nothing is solved."""
        assert self._cache is not None
        sketch = self._sketch
        decay = None
        if sketch is not None:
            decay = 1.0 if now == sketch.at or not len(self) else self.temporal.decay(sketch.at, now)
        if sketch is None or decay is None or (self._ages and now != sketch.at):
            sketch = self._sketch = self._sketched(now)
            decay = 1.0
        prior = self._cache.prior
        if not self._timeless:
            prior = prior * self.temporal.variance(now)
        if decay == 1.0:
            return sketch.mean.copy(), np.maximum(prior - sketch.gain, 0.0)
        return sketch.mean * decay, np.maximum(prior - sketch.gain * (decay * decay), 0.0)

    def surface(self, points: Array, now: float, axes: IntArray | None = None) -> Surface:
        """Mean and variance with first and second derivatives at m points, in all coordinates or some."""
        solution = self._solved(now)
        jet = self.kernel.jet(points, self.X) if axes is None else self.kernel.jet_along(points, self.X, axes)
        tau = None if self._timeless else self._fading(now)
        prior = self._prior(points, now)
        return Surface.of(jet, tau, solution.factor.W, solution.alpha, prior)

    def local(self, x: Array, now: float, axes: IntArray | None = None) -> Local:
        """The surface at one point in plain numbers."""
        solution = self._solved(now)
        D = self.kernel.expand(x, self.X) if axes is None else self.kernel.expand_along(x, self.X, axes)
        if not self._timeless:
            D *= self._fading(now)
        prior = float(self._prior(x[None, :], now)[0])
        dim = len(x) if axes is None else len(axes)
        return Local.of(D, solution.factor.W, solution.alpha, prior, dim)

    def on_data(self, now: float) -> tuple[Array, Array]:
        """Mean and variance at the data's own points in O(n), to rank them.

        Exact for a static model: mean = y - s alpha and variance = s - s^2 diag(K~^-1). Otherwise
        that is the posterior at the time of each datum, faded to the present.
        """
        solution = self._solved(now)
        s = self.noise.variances(self.times, now, self.noises)
        mean = self.y - s * solution.alpha
        variance = s - s * s * solution.factor.inverse_diagonal
        if self._timeless:
            return mean, np.maximum(variance, 0.0)
        prior = self.kernel.diagonal(self.X)
        then = np.array([self.temporal.variance(float(t)) for t in self.times])
        share = self._fading(now) / then
        return mean * share, np.maximum(
            prior * self.temporal.variance(now) - share * share * (prior * then - variance), 0.0
        )

    def information_gain(self) -> float:
        """1/2 ln det(I + K / s) of the data in use, as of the last of them."""
        if not len(self):
            return 0.0
        if self._information is None:
            now = float(self.times[-1])
            noise = self.noise.variances(self.times, now, self.noises)
            determinant = self._solved(now).factor.log_determinant
            self._information = 0.5 * (determinant - float(np.log(noise).sum()))
        return self._information

    def drift(self, j: int) -> float:
        """How far the factor has drifted: max |K~^-1 K~ e_j - e_j|, measured on one column in O(n^2)."""
        now = float(self.times[-1])
        factor = self._solved(now).factor
        k = self.kernel.matrix(self.X[j : j + 1], self.X)[0]
        if not self._timeless:
            k *= self.temporal.matrix(self.times[j : j + 1], self.times)[0]
        k[j] += self.noise.variances(self.times[j : j + 1], now, self.noises[j : j + 1])[0]
        unit = factor.back(factor.project(k))
        unit[j] -= 1.0
        return float(np.abs(unit).max())

    # -- growing and shrinking -------------------------------------------------------------------

    def append(
        self,
        x: Array,
        y: float,
        time: float,
        projection: Projection | None = None,
        noise: float | None = None,
    ) -> None:
        """Add an observation, O(n^2 + n M), or O(1) while nobody has looked if noise grows with age.

        `noise` is its noise variance, if not the model's.
        """
        solution, sketch, times = self._solution, self._sketch, self.times
        unseen = solution is None or (self._ages and solution.at != time)
        found = None if unseen else projection or self.project(x, time)
        self._information = None
        self.X = np.concatenate((self.X, x[None, :]))
        self.y = np.concatenate((self.y, (y,)))
        self.times = np.concatenate((times, (time,)))
        variance = self.noise.variance if noise is None else noise
        self.noises = np.concatenate((self.noises, (variance,)))
        self._solution, self._sketch = None, None
        if solution is None or found is None:
            return
        pivot = variance + found.variance  # never below the noise, whatever the rounding
        self._solution, w, step = self._appended(solution, found, y, pivot)
        if self._ages:
            self.information_gain()  # while the factor as of now is at hand
        elif self._cache is not None:
            self._sketch = self._sketch_appended(sketch, x, times, time, w, pivot, step)

    def drop(self, j: int) -> None:
        """Remove the j-th oldest observation, O(n^2 + n M)."""
        solution, sketch, times = self._solution, self._sketch, self.times
        rest = np.flatnonzero(np.arange(len(self)) != j)
        self.X, self.y, self.times = self.X[rest], self.y[rest], times[rest]
        self.noises = self.noises[rest]
        self._solution, self._sketch, self._information = None, None, None
        if solution is None or self._ages:
            return
        factor = solution.factor.copy()
        column = factor.drop(j)
        pivot, weight = float(column[j]), float(solution.alpha[j])
        z = factor.project(self.y)
        self._solution = Solution(solution.at, factor, z, factor.back(z))
        if self._cache is None:
            return
        if sketch is not None and self._moves:
            tau = 1.0 if self._timeless else self.temporal.cross(times, sketch.at)
            lost = self._cache.contract(column * tau)
            mean = sketch.mean - lost * (weight / pivot)
            lost *= lost
            self._sketch = Sketch(sketch.at, mean, sketch.gain - lost / pivot)
        self._cache.remove(j)

    def replace(self, X: Array, y: Array, times: Array, noises: Array | None = None) -> None:
        """Start again from these observations, in one factorisation; their noises are the model's if None."""
        self.X, self.y, self.times = X, y, times
        self.noises = np.full(len(y), self.noise.variance) if noises is None else noises
        self._solution, self._sketch, self._information = None, None, None
        if self._ages:
            return
        now = float(times[-1]) if len(y) else -math.inf
        self._solution = self._solve(now)
        if self._cache is None:
            return
        self._cache = self._cache.emptied()
        self._cache.add_many(X)
        if self._moves:
            self._sketch = self._sketched(now)

    # -- inside ------------------------------------------------------------------------------------

    def _prior(self, points: Array, now: float) -> Array:
        """k(x, x) k_T(now, now); one number, repeated, for every kernel but the empirical one."""
        variance = self.temporal.variance(now)
        if self._signal is None:
            return self.kernel.diagonal(points) * variance
        return np.array((self._signal * variance,))

    def _fading(self, now: float) -> Array:
        """k_T(t_i, now), remembered: a climb asks for it often. `times` is a new array after every change."""
        faded = self._faded  # another thread may look at another moment meanwhile
        if faded is None or faded[0] != now or faded[1] is not self.times:
            faded = self._faded = now, self.times, self.temporal.cross(self.times, now)
        return faded[2]

    def _solved(self, now: float) -> Solution:
        """The solution as of `now`."""
        solution = self._solution
        if solution is None or (self._ages and solution.at != now):
            solution = self._solution = self._solve(now)
        return solution

    def _solve(self, now: float) -> Solution:
        """From the data alone; those of the very moment are appended, as they were when they came."""
        n = len(self)
        if self._ages:
            n = int(np.searchsorted(self.times, now))
        solution = self._factored(n, now)
        for i in range(n, len(self)):
            fading = None if self._timeless else self.temporal.cross(self.times[:i], now)
            found = self._projected(solution, self.X[i], self.X[:i], fading, now)
            pivot = float(self.noises[i]) + found.variance
            solution, _, _ = self._appended(solution, found, float(self.y[i]), pivot)
        return solution

    def _factored(self, n: int, now: float) -> Solution:
        """The first n observations in one factorisation."""
        X, times = self.X[:n], self.times[:n]
        K, noises = self.kernel.matrix(X, X), self.noise.variances(times, now, self.noises[:n])
        if not self._timeless:
            K *= self.temporal.matrix(times, times)
        K.reshape(-1)[:: n + 1] += noises
        factor = Factor.of(K, noises)
        z = factor.project(self.y[:n])
        return Solution(now, factor, z, factor.back(z))

    def _projected(
        self, solution: Solution, x: Array, X: Array, fading: Array | None, now: float
    ) -> Projection:
        """The posterior of f(x, now) from the observations at X, which the solution is of."""
        k = self.kernel.matrix(x[None, :], X)[0]
        if fading is not None:
            k *= fading
        v = solution.factor.project(k)
        prior = float(self._prior(x[None, :], now)[0])
        return Projection(v, float(v @ solution.z), max(prior - float(v @ v), 0.0))

    @staticmethod
    def _appended(
        solution: Solution, found: Projection, y: float, pivot: float
    ) -> tuple[Solution, Array, float]:
        """The solution with one observation more, w = K~^-1 k, and the step along alpha."""
        n, factor = solution.factor.n, solution.factor.copy()
        w = factor.append(found.v, pivot)
        root = math.sqrt(pivot)
        innovation = (y - found.mean) / root
        step = innovation / root
        z, alpha = np.empty(n + 1), np.empty(n + 1)
        z[:n], z[n] = solution.z, innovation
        np.subtract(solution.alpha, w * step, out=alpha[:n])
        alpha[n] = step
        return Solution(solution.at, factor, z, alpha), w, step

    def _sketched(self, now: float) -> Sketch:
        """From the data alone."""
        assert self._cache is not None
        if not len(self):
            none = np.zeros(len(self._cache.points))
            return Sketch(now, none, none)
        solution, cache = self._solved(now), self._cache
        if self._ages:  # of all data together: one by one, they would differ in the last bit
            cache = cache.emptied()
            cache.add_many(self.X)
        fading = None if self._timeless else self.temporal.cross(self.times, now)[:, None]
        every, parts = cache.rows(), []
        for start in range(0, max(every.shape[1], 1), LARGE):
            rows = every[:, start : start + LARGE]
            if fading is not None:
                rows = rows * fading
            v = below(solution.factor.W, rows)
            parts.append((solution.alpha @ rows, np.einsum("nm,nm->m", v, v)))
        if len(parts) == 1:
            return Sketch(now, *parts[0])
        mean, gain = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Sketch(now, mean, gain)

    def _sketch_appended(
        self, old: Sketch | None, x: Array, times: Array, time: float, w: Array, pivot: float, step: float
    ) -> Sketch | None:
        """The posterior on the candidates after an observation at x; `times` are those before it."""
        assert self._cache is not None
        if old is None or not self._moves:
            self._cache.add(x)
            return None
        if not len(times):
            cross = self._cache.add(x)
            if not self._timeless:
                cross = cross * self.temporal.variance(time)
            return Sketch(time, cross * step, cross * cross / pivot)
        news = self._cache.contract(w if self._timeless else w * self.temporal.cross(times, time))
        cross = self._cache.add(x)
        mean, gain = old.mean, old.gain
        if not self._timeless:
            cross = cross * self.temporal.variance(time)
            decay = self.temporal.decay(old.at, time)
            if decay is not None and decay != 1.0:
                mean = mean * decay
                gain = gain * (decay * decay)
        news -= cross
        mean = mean - news * step
        news *= news
        news *= 1.0 / pivot
        return Sketch(time, mean, np.add(gain, news, out=news))
