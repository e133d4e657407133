"""ln p(y | X, theta) of a Gaussian process, with the derivatives in theta that a fit needs.

With K~ = k_S k_T + noise, dK_a its derivative in the a-th entry of theta (a logarithm) and
alpha = K~^-1 y, minus the log evidence and its gradient are

    y' alpha / 2 + ln det K~ / 2 + n ln(2 pi) / 2,      (tr(K~^-1 dK_a) - alpha' dK_a alpha) / 2.

The average information A_ab = alpha' dK_a K~^-1 dK_b alpha / 2 (Gilmour, Thompson & Cullis 1995) lies
halfway between the observed and the expected one; it costs O(n^2) where each of these costs O(n^3), and
it is never indefinite.

Noise may be known of some observations: it does not move. The mean of m repeats has an m-th of the noise s;
what the repeats scatter about it, S in all, has a density of its own, in which f does not occur:

    -ln p = (m - 1) ln(2 pi s) / 2 + S / (2 s) + ln(m) / 2.

So repeats have the evidence of m observations at one point and moment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from windvane.accuracy import Accuracies
from windvane.checks import Array
from windvane.kernels import RBF, Kernel, Markov, Static, Stationary, Temporal
from windvane.late import lapack
from windvane.surrogates.factor import inverse_triangle
from windvane.surrogates.noise import Noise

NEAREST = 2.0**-53  # the distance of the largest number below 1
LEAST = 1e-12  # of y' alpha / n: values that are nothing beside the noise
Data: TypeAlias = tuple[Array, Array, Array] | tuple[Array, Array, Array, Accuracies | None]
"""X, y, times, and what is known of the noise, if anything is, in the units of y."""

LARGEST = 2**21  # numbers: beyond, distances along each coordinate are computed again every time


class Evidence:
    """Minus the log evidence of some data; of its derivatives, those at the theta that was asked for last.

    `moving` are the entries of theta that derivatives are wanted for; theta has the kernel's, then the
    temporal kernel's, then the noise. The lengthscales of each group of `alike` are equal, and move with the
    first of them. The n x n matrices are written to again and again: taking new ones
    from the operating system would cost as much as what is computed in them.
    """

    def __init__(
        self,
        kernel: Kernel,
        temporal: Temporal,
        data: Data,
        moving: set[int],
        alike: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        self.X, self.y, self.times = data[:3]
        self._known = data[3] if len(data) > 3 else None
        self._spare = self._squares = self._constant = 0.0  # of repeats: m - 1, S, and what does not move
        if self._known is not None:
            spare, squares, _ = self._known.evidence(1.0)
            self._spare, self._squares = float(spare.sum()), float(squares.sum())
            logs = self._spare * math.log(2.0 * math.pi) + float(np.log1p(spare).sum())
            self._constant = 0.5 * logs
        kernel.matrix(self.X[:1], self.X[:1])  # refuses the wrong number of lengthscales
        a, b = len(kernel.theta), len(kernel.theta) + len(temporal.theta)
        self.in_space = [entry for entry in range(a) if entry in moving]
        self.in_time = [entry - a for entry in range(a, b) if entry in moving]
        self.noise_moves = b in moving
        n = len(self.y)
        self._time = None if temporal == Static() else temporal.matrix(self.times, self.times)
        led = {entry for group in alike for entry in group[1:]}
        scales = range(len(kernel.lengthscale)) if isinstance(kernel, Stationary) else ()
        self._leaders = [entry for entry in scales if entry not in led]  # a lengthscale each
        self._columns = {entry: [entry] for entry in self._leaders}
        self._columns |= {group[0]: list(group) for group in alike}
        self._number = {entry: number for number, entry in enumerate(self._leaders)}
        self._scales = len(self._leaders)
        self._single = isinstance(kernel, Stationary) and len(kernel.lengthscale) == 1  # for all coordinates
        # whether (1 - eps)^(lag / 2) is one more factor of the same exponential
        self._merged = isinstance(kernel, RBF) and isinstance(temporal, Markov) and bool(self.in_time)
        self._gaps: Array | None = None
        distances = self._scales + self._merged
        if distances * n * n <= LARGEST:
            self._gaps = np.array([self._gap(entry) for entry in range(distances)]).reshape(-1, n, n)
        self._scratch = [np.empty((n, n)) for _ in range(4)]
        self._W, self._inverse = np.zeros((n, n), order="F"), np.empty((n, n), order="F")

    def _gap(self, entry: int) -> Array:
        """What belongs to a lengthscale, n x n: (x_ic - x_jc)^2; or |t_i - t_j|, after the last."""
        if self._gaps is not None:
            return np.asarray(self._gaps[entry])
        if entry == self._scales:
            return np.abs(self.times[:, None] - self.times)
        columns = self._columns[self._leaders[entry]]
        if len(columns) > 1:
            return self._options_apart(self.X[:, columns])
        gap = np.zeros((len(self.y), len(self.y)))
        for column in self.X.T if self._single else self.X.T[columns]:
            difference = column[:, None] - column
            difference *= difference
            gap += difference
        return gap

    @staticmethod
    def _options_apart(block: Array) -> Array:
        """The squared distances of n rows in which most numbers are 0, n x n."""
        block = block[:, (block != block[:1]).any(axis=0)]
        squares = np.vecdot(block, block)
        gap = block @ block.T
        gap *= -2.0
        gap += squares[:, None]
        gap += squares
        return np.maximum(gap, 0.0, out=gap)

    def _distances(self, kernel: Stationary, out: Array) -> Array:
        """q = sum_c gap_c / l_c^2, and -ln(1 - eps) |t - t'| if time is a part of it."""
        weights = np.asarray(kernel.lengthscale)[self._leaders] ** -2.0
        if self._merged and isinstance(self._temporal, Markov):
            weights = np.append(weights, -math.log(max(1.0 - self._temporal.rate, NEAREST)))
        if self._gaps is not None:
            np.matmul(weights, self._gaps.reshape(len(weights), -1), out=out.reshape(-1))
            return out
        out[:] = 0.0
        for entry, weight in enumerate(weights):
            out += weight * self._gap(entry)
        return out

    def at(self, kernel: Kernel, temporal: Temporal, noise: Noise) -> float:
        """Minus the log evidence there; infinite if K~ is not positive definite to rounding."""
        n, (room, faded, K, _) = len(self.y), self._scratch
        self._kernel, self._temporal = kernel, temporal
        if isinstance(kernel, Stationary):
            space = kernel.profile(self._distances(kernel, room))
        else:
            space = kernel.matrix(self.X, self.X)
        time = self._time
        if self.in_time:
            time = None if self._merged else temporal.matrix(self.times, self.times)
        self._space, self._moment = space, time
        self._covariance = space if time is None else np.multiply(space, time, out=faded)
        fresh = None if self._known is None else self._known.noises(noise.variance, 1.0, 0.0)
        self._noise, self._variances = noise, noise.variances(self.times, float(self.times[-1]), fresh)
        np.copyto(K, self._covariance)
        K.reshape(-1)[:: n + 1] += self._variances
        self._L, failed = lapack.dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
        if failed:
            return math.inf
        self._z = lapack.dtrtrs(self._L, self.y, lower=1)[0]
        half_log_determinant = float(np.log(np.diagonal(self._L)).sum())
        value = 0.5 * float(self._z @ self._z) + half_log_determinant + 0.5 * n * math.log(2.0 * math.pi)
        if self._known is None:
            return value
        s = noise.variance
        return value + 0.5 * (self._spare * math.log(s) + self._squares / s) + self._constant

    def factor(self) -> Array:
        """W = L^-1 of K~."""
        return inverse_triangle(self._L)

    def slopes(self) -> tuple[Array, Array]:
        """The gradient in the moving entries of theta, and the average information.

        The latter is scaled such that a step in the noise alone, if there is nothing but noise, ends where
        it should: with r = y' alpha / n that is ln r away, and Newton's step would be 1 - 1 / r.
        """
        W, z = inverse_triangle(self._L, out=self._W), self._z
        alpha = z @ W
        np.copyto(self._inverse, W)
        upper = lapack.dlauum(self._inverse, lower=1, overwrite_c=1)[0].T  # of K~^-1; zero below
        diagonal = np.diagonal(upper)
        traces, actions = [], []
        for derivative in self._derivatives():
            both = 2.0 * float(np.vdot(upper, derivative))
            traces.append(both - float(diagonal @ np.diagonal(derivative)))
            actions.append(derivative @ alpha)
        if self.noise_moves:
            learned = self._variances
            if self._known is not None:
                learned = np.where(self._known.known, 0.0, learned)
            traces.append(float(diagonal @ learned))
            actions.append(learned * alpha)
        U = np.array(actions).reshape(len(traces), len(alpha))
        V = U @ W.T
        scattered = self._squares / self._noise.variance  # of repeats
        r = max((float(z @ z) + scattered) / (len(z) + self._spare), LEAST)
        scale = (r - 1.0) / (r * math.log(r)) if abs(r - 1.0) > 1e-6 else 1.0
        gradient, curvature = 0.5 * (np.array(traces) - U @ alpha), (0.5 * scale) * (V @ V.T)
        if self.noise_moves and self._spare:
            gradient[-1] += 0.5 * (self._spare - scattered)
            curvature[-1, -1] += 0.5 * scale * scattered
        return gradient, curvature

    def _derivatives(self) -> Iterator[Array]:
        """dK_a for the moving entries of both kernels, n x n; each is valid until the next one."""
        if self.in_space:
            yield from self._spatial()
        if self._merged and isinstance(self._temporal, Markov):
            left = max(1.0 - self._temporal.rate, NEAREST)
            work = np.multiply(self._covariance, self._gap(self._scales), out=self._scratch[3])
            work *= -0.5 * self._temporal.rate / left
            yield work
        elif self.in_time:
            for gradient in self._temporal.theta_gradient(self.times)[self.in_time]:
                gradient *= self._space
                yield gradient

    def _spatial(self) -> Iterator[Array]:
        kernel, time, work = self._kernel, self._moment, self._scratch[3]
        if not isinstance(kernel, Stationary):
            for gradient in kernel.theta_gradient(self.X)[self.in_space]:
                yield gradient if time is None else gradient * time
            return
        if isinstance(kernel, RBF):  # 2 g' = -g
            slope, sign = self._covariance, 1.0
        else:
            slope, sign = kernel.derivatives(self._distances(kernel, np.empty_like(work)))[1], -1.0
            if time is not None:
                slope = slope * time
        for entry in self.in_space:
            if entry == len(kernel.lengthscale):  # d k / d ln v = k
                yield self._covariance
            else:  # d k / d ln l_c = -2 v g' (a_c - b_c)^2 / l_c^2
                np.multiply(slope, self._gap(self._number[entry]), out=work)
                work *= sign * kernel.lengthscale[entry] ** -2.0
                yield work
