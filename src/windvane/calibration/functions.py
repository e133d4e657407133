"""Functions drawn from a Gaussian process, exactly, in any space: only where they are looked at."""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel
from windvane.surrogates.factor import Factor

NEW = 1e3  # how far the clock moves where nothing is left of what was
DETERMINED = 1e-10  # share of the prior variance below which the values seen so far settle the next one


class Covariance(Protocol):
    """What a sample is drawn from: a kernel is one."""

    def diagonal(self, X: Array) -> Array:
        """The prior variances, n."""

    def matrix(self, X: Array, Z: Array) -> Array:
        """The covariances, n x m."""


class Drifting:
    """A kernel in space, on points with one more coordinate: what the clock says.

    >>> from windvane.kernels import RBF
    >>> Drifting(RBF(0.2)).matrix(np.array([[0.5, 0.0]]), np.array([[0.5, 0.0], [0.5, np.log(2.0)]]))
    array([[1. , 0.5]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def diagonal(self, X: Array) -> Array:
        """The prior variances, n."""
        return self._kernel.diagonal(X[:, :-1])

    def matrix(self, X: Array, Z: Array) -> Array:
        """The covariances, n x m."""
        return self._kernel.matrix(X[:, :-1], Z[:, :-1]) * np.exp(-np.abs(X[:, None, -1] - Z[None, :, -1]))


def moved(share: float) -> float:
    """How far the clock moves where this share of the variance is replaced, at once or in a step of drift."""
    return NEW if share >= 1.0 else -0.5 * math.log1p(-share)


class Sample:
    """One sample of GP(0, k), drawn point by point: f(x) given every value seen before.

    With K = L L' the values are f = L z for independent standard normal z, so each new value is a row of
    the Cholesky factor times z. The law is exact for every kernel, every space and every way of
    choosing points, even one that looks at the values; a new point costs O(n^2).

    >>> from windvane.kernels import RBF
    >>> sample = Sample(RBF(0.2))
    >>> here, there = np.array([0.3]), np.array([0.9])
    >>> first, other = sample.value(here, 1.0), sample.value(there, -0.5)
    >>> first, abs(sample.value(here, 2.0) - first) < 1e-6  # known already: the draw is not used
    (1.0, True)
    """

    def __init__(self, kernel: Covariance) -> None:
        self.kernel = kernel
        self._factor = Factor()
        self._points: list[Array] = []
        self._draws: list[float] = []

    def value(self, x: Array, draw: float) -> float:
        """f(x) at an encoded point; `draw` is a standard normal draw of its own for every call."""
        prior = float(self.kernel.diagonal(x[None, :])[0])
        if self._points:
            v = self._factor.project(self.kernel.matrix(np.array(self._points), x[None, :])[:, 0])
        else:
            v = np.empty(0)
        mean, variance = float(v @ np.array(self._draws)), prior - float(v @ v)
        if variance <= DETERMINED * prior:
            return mean
        self._factor.append(v, variance)
        self._points.append(x)
        self._draws.append(draw)
        return mean + math.sqrt(variance) * draw


class Objective:
    """A sample f that drifts at `rate`, until `jump` replaces a share s of it: sqrt(1 - s) f + sqrt(s) g.

    This is one step of the Markov chain of Assumption 2 at eps = s: the prior stays the same, and the
    new function has the correlation sqrt(1 - s) with the old one. At a rate of 0 it stands still; else
    each look at it is a step of drift after the one before.

    >>> from windvane.kernels import RBF
    >>> objective, x = Objective(RBF(0.2)), np.array([0.3])
    >>> before = objective.value(x, (2.0, 0.0))
    >>> objective.jump(1.0)
    >>> before, objective.value(x, (0.0, -1.0))
    (2.0, -1.0)
    >>> drifting = Objective(RBF(0.2), rate=0.75)
    >>> drifting.value(x, (2.0, 0.0)), round(drifting.value(x, (0.0, 0.0)), 9)
    (2.0, 1.0)
    """

    def __init__(self, kernel: Kernel, rate: float = 0.0) -> None:
        law: Covariance = kernel if rate == 0.0 else Drifting(kernel)
        self._old, self._new = Sample(law), Sample(law)
        self._rate, self._clock = rate, 0.0
        self._share = 0.0

    def jump(self, share: float) -> None:
        """From now on, this share of the variance is another function's."""
        self._share = share

    def value(self, x: Array, draws: tuple[float, float]) -> float:
        """The objective at an encoded point, from two standard normal draws."""
        if self._rate > 0.0:
            x = np.append(x, self._clock)
            self._clock += moved(self._rate)
        old = self._old.value(x, draws[0]) if self._share < 1.0 else 0.0
        new = self._new.value(x, draws[1]) if self._share > 0.0 else 0.0
        return math.sqrt(1.0 - self._share) * old + math.sqrt(self._share) * new
