"""The within-model objective from random Fourier features, for any dimension (Appendix A.1)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.kernels import RBF
from windvane.spaces import Box
from windvane.tasks.base import Optimum, index_of
from windvane.tasks.markov import chain
from windvane.tasks.tracking import summits

FEATURES = 1028  # M of the paper
WIDEST = 100  # dimensions: the search for the optimum has a d x d Hessian for each of hundreds of points


class WithinModelFeatures:
    """A sample path of the Markov chain of Assumption 2 in [0, 1]^d from M random Fourier features.

    f_t(x) = sqrt(2 / M) sum_m w_{t,m} cos(theta_m' x + tau_m), where theta_m ~ N(0, I / l^2), the
    spectral density of the SE kernel, and tau_m ~ U(0, 2 pi) are shared over time and the weights
    follow the chain. For a given theta and tau the covariance is the kernel's up to O(1 / sqrt(M)).

    `optimum` comes from a search over all steps at once (see `tracking`), on first use. Beyond a few
    dimensions nothing can prove a maximum global, so its accuracy was measured, against a search with
    about 25 times the candidates and 10 times the starts, for l = 0.2, rate = 0.03 and T = 400. The gap
    is what the larger search found on top; a maximum at d = 8 is about 5.9.

        d              2      4      6      8
        seeds          3      3      2      4
        within 1e-3    100 %  100 %  100 %  87 %  (72 to 95 %) of the steps
        mean gap       0      0      0      0.03  (0.007 to 0.08)
        seconds        0.5    1      2      2.3   of one core

    With a rate of 1 no step helps with another: 63 % and 0.09 at d = 8, still 100 % at d = 6 (T = 40,
    one seed each). Where the search falls short, the regret of a point may come out below 0.

    >>> task = WithinModelFeatures(dim=3, horizon=5, seed=1)
    >>> task.optimum(3) >= task.value([0.2, 0.4, 0.9], 3)
    True
    """

    name = "within-model"

    def __init__(
        self,
        *,
        rate: float = 0.03,
        horizon: int = 400,
        seed: int = 0,
        lengthscale: float = 0.2,
        noise_variance: float = 0.02,
        dim: int = 2,
        features: int = FEATURES,
    ) -> None:
        self.rate = real("rate", rate, at_least=0.0, at_most=1.0)
        self.horizon = integer("horizon", horizon, at_least=1)
        self.seed = integer("seed", seed, at_least=0)
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self._lengthscale = real("lengthscale", lengthscale, above=0.0)
        self.kernel = RBF(self._lengthscale)
        self.space = Box([(0.0, 1.0)] * integer("dim", dim, at_least=1, at_most=WIDEST))
        self._count = integer("features", features, at_least=1)

    @cached_property
    def _drawn(self) -> tuple[Array, Array, Array]:
        """theta (M x d), tau (M) and sqrt(2 / M) w_t for t = 1 .. T (T x M)."""
        rng = np.random.default_rng((self.seed, 1))
        theta = rng.standard_normal((self._count, self.space.dim)) / self._lengthscale
        tau = rng.uniform(0.0, 2.0 * math.pi, self._count)
        fresh = rng.standard_normal((self.horizon, self._count))  # last: a longer horizon only adds steps
        weights = chain(fresh, np.full(self.horizon, self.rate))
        weights *= math.sqrt(2.0 / self._count)
        return theta, tau, weights

    def value(self, x: Any, t: int) -> float:
        """f_t(x)."""
        return self._value(self.space.encode(x), index_of(t, self.horizon))

    def _value(self, unit: Array, index: int) -> float:
        theta, tau, weights = self._drawn
        phase = theta @ unit
        phase += tau
        return float(np.cos(phase, out=phase) @ weights[index])

    def optimum(self, t: int) -> Optimum:
        """The best value found, and where."""
        return self._optima[index_of(t, self.horizon)]

    @cached_property
    def _optima(self) -> list[Optimum]:
        points = summits(*self._drawn, self._lengthscale)
        points.setflags(write=False)
        return [Optimum(self._value(x, index), x) for index, x in enumerate(points)]
