"""Exact Gaussian process regression that grows and shrinks by one observation in O(n^2).

Model: y_i = f(x_i, t_i) + w_i, f ~ GP(0, k_S k_T), w_i ~ N(0, s_i). Symbols as in docs/reference/notation.md:
K~ is the data's covariance with noise, W its inverse Cholesky factor, z = W y, alpha = K~^-1 y,
tau_i = k_T(t_i, now). The posterior on M fixed candidates is kept up to date in O(n M).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel, Static, Temporal
from windvane.surrogates.cache import CandidateCache
from windvane.surrogates.factor import Factor
from windvane.surrogates.noise import Noise
from windvane.surrogates.surface import Local, Surface

LOG_2PI = math.log(2.0 * math.pi)


class Projection(NamedTuple):
    """The posterior at one point before its observation, and what an append needs: v = W k."""

    v: Array
    mean: float
    variance: float  # of f, noise excluded


class GP:
    """The data in use, their factor, and the posterior at any time that is not before the last datum.

    >>> from windvane.kernels import RBF
    >>> gp = GP(RBF(0.2), Noise(0.01), dim=1)
    >>> gp.append(np.array([0.5]), 1.0, time=1.0)
    >>> mean, variance = gp.at(np.array([[0.5], [0.7]]), now=2.0)
    >>> mean.round(3), variance.round(3)
    (array([0.99 , 0.601]), array([0.01 , 0.636]))
    """

    def __init__(
        self,
        kernel: Kernel,
        noise: Noise,
        dim: int,
        temporal: Temporal | None = None,
        cache: CandidateCache | None = None,
    ) -> None:
        self.kernel, self.noise, self.temporal = kernel, noise, temporal or Static()
        self._timeless = self.temporal == Static()
        self._signal = kernel.signal
        self._moves = self.temporal.decay(0.0, 1.0) is not None
        self._factor = Factor()
        self._X, self._y, self._times = np.empty((32, dim)), np.empty(32), np.empty(32)
        self._z, self._alpha = np.empty(0), np.empty(0)
        self._cache = cache
        self._mean = np.zeros(0 if cache is None else len(cache.points))  # on the candidates at _cached_at
        self._gain = np.zeros_like(self._mean)  # prior variance - posterior variance, likewise
        self._cached_at = -math.inf
        self._cache_valid = True
        self._noise_at = -math.inf
        self._faded: tuple[float, Array, Array] | None = None

    # -- the data ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return self._factor.n

    @property
    def X(self) -> Array:
        """The data's points, n x d."""
        return self._X[: self._factor.n]

    @property
    def y(self) -> Array:
        """The data's values, n."""
        return self._y[: self._factor.n]

    @property
    def times(self) -> Array:
        """The data's times, n."""
        return self._times[: self._factor.n]

    @property
    def candidates(self) -> Array:
        """The M fixed points, M x d."""
        return np.empty((0, self._X.shape[1])) if self._cache is None else self._cache.points

    @property
    def grid(self) -> tuple[int, ...] | None:
        """The candidates' shape if they are a tensor grid."""
        return None if self._cache is None else self._cache.shape

    # -- the posterior -------------------------------------------------------------------------

    def project(self, x: Array, now: float) -> Projection:
        """The posterior of f(x, now)."""
        self._age(now)
        k = self.kernel.matrix(x[None, :], self.X)[0]
        if not self._timeless:
            k *= self._fading(now)
        v = self._factor.project(k)
        prior = float(self._prior(x[None, :], now)[0])
        return Projection(v, float(v @ self._z), max(prior - float(v @ v), 0.0))

    def at(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and variance of f at m points."""
        self._age(now)
        k = self.kernel.matrix(points, self.X)
        if not self._timeless:
            k *= self._fading(now)
        v = k @ self._factor.W.T
        prior = self._prior(points, now)
        return v @ self._z, np.maximum(prior - np.vecdot(v, v), 0.0)

    def mean_at(self, points: Array, now: float) -> Array:
        """The mean of f alone at m points: O(m n)."""
        self._age(now)
        weights = self._alpha if self._timeless else self._alpha * self._fading(now)
        return np.asarray(self.kernel.matrix(points, self.X) @ weights)

    def prior_at(self, points: Array, now: float) -> Array:
        """The variance of f at m points before any observation."""
        return np.array(np.broadcast_to(self._prior(points, now), (len(points),)))

    def covariance(self, points: Array, now: float) -> Array:
        """The joint covariance of f at m points, m x m."""
        self._age(now)
        k = self.kernel.matrix(points, self.X)
        if not self._timeless:
            k *= self._fading(now)
        v = k @ self._factor.W.T
        return self.kernel.matrix(points, points) * self.temporal.variance(now) - v @ v.T

    def on_candidates(self, now: float) -> tuple[Array, Array]:
        """Mean and variance of f on the candidates: O(M), nothing is solved."""
        assert self._cache is not None
        self._age(now)
        decay = 1.0 if now == self._cached_at or not len(self) else self.temporal.decay(self._cached_at, now)
        if decay is None or not self._cache_valid:
            self._refresh_cache(now)
            decay = 1.0
        prior = self._cache.prior
        if not self._timeless:
            prior = prior * self.temporal.variance(now)
        if decay == 1.0:
            return self._mean.copy(), np.maximum(prior - self._gain, 0.0)
        return self._mean * decay, np.maximum(prior - self._gain * (decay * decay), 0.0)

    def surface(self, points: Array, now: float) -> Surface:
        """Mean and variance with first and second derivatives at m points."""
        self._age(now)
        jet = self.kernel.jet(points, self.X)
        tau = None if self._timeless else self._fading(now)
        prior = self._prior(points, now)
        return Surface.of(jet, tau, self._factor.W, self._alpha, prior)

    def local(self, x: Array, now: float) -> Local:
        """The surface at one point in plain numbers."""
        self._age(now)
        D = self.kernel.expand(x, self.X)
        if not self._timeless:
            D *= self._fading(now)
        return Local.of(D, self._factor.W, self._alpha, float(self._prior(x[None, :], now)[0]), len(x))

    def on_data(self, now: float) -> tuple[Array, Array]:
        """Mean and variance at the data's own points in O(n), to rank them.

        Exact for a static model: mean = y - s alpha and variance = s - s^2 diag(K~^-1). Otherwise
        that is the posterior at the time of each datum, faded to the present.
        """
        s = self.noise.variances(self.times, now)
        mean = self.y - s * self._alpha
        variance = s - s * s * self._factor.inverse_diagonal
        if self._timeless:
            return mean, np.maximum(variance, 0.0)
        prior = self.kernel.diagonal(self.X)
        then = np.array([self.temporal.variance(float(t)) for t in self.times])
        share = self._fading(now) / then
        return mean * share, np.maximum(
            prior * self.temporal.variance(now) - share * share * (prior * then - variance), 0.0
        )

    def log_evidence(self) -> float:
        """ln p(y | X, theta)."""
        n = len(self)
        return -0.5 * (float(self._z @ self._z) + self._factor.log_determinant + n * LOG_2PI)

    def information_gain(self) -> float:
        """1/2 ln det(I + K / s) of the data in use."""
        if not len(self):
            return 0.0
        now = float(self.times[-1])  # as of the last observation, whatever time was looked at since
        self._age(now)
        noise = self.noise.variances(self.times, now)
        return 0.5 * (self._factor.log_determinant - float(np.log(noise).sum()))

    # -- growing and shrinking -------------------------------------------------------------------

    def append(self, x: Array, y: float, time: float, projection: Projection | None = None) -> None:
        """Add an observation, O(n^2 + n M); O(n^3) if noise grows with age."""
        n = len(self)
        if (
            self.noise.ages
        ):  # always factored afresh: it depends on the data and the time, not on the way there
            self.replace(
                np.concatenate((self.X, x[None, :])),
                np.concatenate((self.y, (y,))),
                np.concatenate((self.times, (time,))),
            )
            return
        found = projection or self.project(x, time)
        pivot = self.noise.variance + found.variance  # never below the noise, whatever the rounding
        w = self._factor.append(found.v, pivot)
        if n == len(self._y):
            self._grow()
        self._X[n], self._y[n], self._times[n] = x, y, time
        root = math.sqrt(pivot)
        innovation = (y - found.mean) / root
        step = innovation / root
        z, alpha = np.empty(n + 1), np.empty(n + 1)
        z[:n], z[n] = self._z, innovation
        w_step = w * step
        np.subtract(self._alpha, w_step, out=alpha[:n])
        alpha[n] = step
        self._z, self._alpha = z, alpha
        if self._cache is not None:
            self._cache_append(x, time, w, pivot, step)

    def drop(self, j: int) -> None:
        """Remove the j-th oldest observation, O(n^2 + n M); O(n^3) if noise grows with age."""
        n = len(self)
        if self.noise.ages:
            rest = np.flatnonzero(np.arange(n) != j)
            self.replace(self.X[rest], self.y[rest], self.times[rest])
            return
        column = self._factor.drop(j)
        pivot, weight = float(column[j]), float(self._alpha[j])
        if self._cache is not None:
            self._cache_valid &= self._moves
            if self._cache_valid:
                tau = 1.0 if self._timeless else self.temporal.cross(self._times[:n], self._cached_at)
                lost = self._cache.contract(column * tau)
                self._mean -= lost * (weight / pivot)
                lost *= lost
                self._gain -= lost / pivot
            self._cache.remove(j)
        for buffer in (self._X, self._y, self._times):
            buffer[j : n - 1] = buffer[j + 1 : n]
        self._z = self._factor.project(self.y)
        self._alpha = self._factor.back(self._z)

    def replace(self, X: Array, y: Array, times: Array) -> None:
        """Start again from these observations, in one factorisation."""
        n = len(y)
        while n > len(self._y):
            self._grow()
        self._X[:n], self._y[:n], self._times[:n] = X, y, times
        if self._cache is not None:
            self._cache = self._cache.fresh(self.kernel)
            for x in X:
                self._cache.add(x)
        self._refactor(n, float(times[-1]) if n else -math.inf)

    def drift(self, j: int) -> float:
        """How far the factor has drifted: max |K~^-1 K~ e_j - e_j|, measured on one column in O(n^2)."""
        k = self.kernel.matrix(self.X[j : j + 1], self.X)[0]
        if not self._timeless:
            k *= self.temporal.matrix(self.times[j : j + 1], self.times)[0]
        now = self._noise_at if self.noise.ages else 0.0
        k[j] += self.noise.variances(self.times[j : j + 1], now)[0]
        unit = self._factor.back(self._factor.project(k))
        unit[j] -= 1.0
        return float(np.abs(unit).max())

    def refresh(self) -> None:
        """Factor the data in use from scratch: rounding errors collected so far are gone."""
        self.replace(self.X.copy(), self.y.copy(), self.times.copy())

    def _prior(self, points: Array, now: float) -> Array:
        """k(x, x) k_T(now, now); one number, repeated, for every kernel but the empirical one."""
        variance = self.temporal.variance(now)
        if self._signal is None:
            return self.kernel.diagonal(points) * variance
        return np.array((self._signal * variance,))

    # -- inside ------------------------------------------------------------------------------------

    def _fading(self, now: float) -> Array:
        """k_T(t_i, now), remembered: a climb asks for it often. alpha is a new array after every change."""
        if self._faded is None or self._faded[0] != now or self._faded[1] is not self._alpha:
            self._faded = now, self._alpha, self.temporal.cross(self.times, now)
        return self._faded[2]

    def _covariance(self, n: int, now: float) -> Array:
        K = self.kernel.matrix(self._X[:n], self._X[:n])
        if not self._timeless:
            K *= self.temporal.matrix(self._times[:n], self._times[:n])
        K.reshape(-1)[:: n + 1] += self.noise.variances(self._times[:n], now)
        return K

    def _refactor(self, n: int, now: float) -> None:
        self._factor.clear()
        if n and not self._factor.rebuild(self._covariance(n, now)):
            self._sequential(n, now)
        self._noise_at = now
        self._z = self._factor.project(self.y)
        self._alpha = self._factor.back(self._z)
        if self._cache is not None:
            self._cache_valid = False
            if not n:
                self._mean, self._gain = np.zeros_like(self._mean), np.zeros_like(self._gain)
                self._cache_valid = True
            else:
                self._refresh_cache(now)

    def _sequential(self, n: int, now: float) -> None:
        """One row after another; the pivot never falls below the noise, so this cannot fail."""
        K = self._covariance(n, now)
        noise = self.noise.variances(self._times[:n], now)
        for i in range(n):
            v = self._factor.project(K[i, :i])
            self._factor.append(v, float(noise[i] + max(K[i, i] - noise[i] - v @ v, 0.0)))

    def _age(self, now: float) -> None:
        """Observations whose noise grows with age need a new factor at a new time."""
        if self.noise.ages and now != self._noise_at and len(self):
            self._refactor(len(self), now)

    def _refresh_cache(self, now: float) -> None:
        assert self._cache is not None
        rows = self._cache.rows()
        if not self._timeless:
            rows = rows * self.temporal.cross(self.times, now)[:, None]
        self._mean = self._alpha @ rows
        v = self._factor.W @ rows
        self._gain = np.einsum("nm,nm->m", v, v)
        self._cached_at = now
        self._cache_valid = True

    def _cache_append(self, x: Array, time: float, w: Array, pivot: float, step: float) -> None:
        assert self._cache is not None
        n = len(w)
        decay = self.temporal.decay(self._cached_at, time) if n else 1.0
        valid = self._cache_valid and self._moves
        if valid and n:
            tau = w if self._timeless else w * self.temporal.cross(self._times[:n], time)
            known = self._cache.contract(tau)
        cross = self._cache.add(x)
        self._cached_at = time
        self._cache_valid = valid
        if not valid:
            return
        if not self._timeless:
            cross = cross * self.temporal.variance(time)
            if n and decay is not None and decay != 1.0:
                self._mean *= decay
                self._gain *= decay * decay
        if n:
            known -= cross
            self._mean -= known * step
            known *= known
            known *= 1.0 / pivot
            self._gain += known
        else:
            self._mean += cross * step
            self._gain += cross * cross / pivot

    def _grow(self) -> None:
        self._X, self._y, self._times = (
            np.concatenate((buffer, np.empty_like(buffer))) for buffer in (self._X, self._y, self._times)
        )
