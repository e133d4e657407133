"""A mixture of Gaussian processes at one moment: all that an acquisition is handed.

Its mean is the weighted mean of the members' means, its variance the weighted mean of their
variances, in which a member counts only the uncertainty that lasts, see `StateSpace.lasting`.
That the members disagree is left out: it is not an uncertainty about this or that point, which asking
there would reduce, but one about time, which any observation does; counted, it is largest where values are
far from the prior mean, and keeps the search there (docs/decisions/0015). A level that is the same
everywhere is left out as well. `whole` counts everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windvane.checks import Array
from windvane.kernels import Kernel
from windvane.surrogates.cache import CandidateCache
from windvane.surrogates.factor import below
from windvane.surrogates.member import Member
from windvane.surrogates.surface import Local, Surface


class MixturePosterior:
    """The acting members of a mixture, with weights that sum to 1, at one moment."""

    def __init__(
        self,
        kernel: Kernel,
        cache: CandidateCache,
        X: Array,
        y: Array,
        acting: Sequence[tuple[float, Member]],
        now: float,
    ) -> None:
        self._kernel, self._cache, self._y, self._acting, self._now = kernel, cache, y, acting, now
        self.size = len(X)
        self.candidates = cache.points
        self.grid = cache.shape
        self.observed = X

    def on_candidates(self) -> tuple[Array, Array]:
        """Mean and variance on the candidates."""
        mean, variance = np.zeros(len(self.candidates)), np.zeros(len(self.candidates))
        for weight, member in self._acting:
            m, s = member.on_candidates(self._cache.prior, self._now)
            mean += weight * m
            variance += weight * s
        return mean, variance

    def on_observed(self) -> tuple[Array, Array]:
        """Mean and variance at the data's points, to rank them: those of the heaviest member."""
        _, member = max(self._acting, key=lambda pair: pair[0])
        mean, variance = member.on_data(self._y, self._kernel.diagonal(self.observed), self._now)
        before = np.full(member.first, -np.inf)
        return np.concatenate((before, mean)), np.concatenate((np.zeros(member.first), variance))

    def at(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance at m points."""
        weights, means, variances = self._members_at(points, lasting=True)
        return weights @ means, weights @ variances

    def whole(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance of f itself at m points, disagreement and all."""
        weights, means, variances = self._members_at(points, lasting=False)
        mean = weights @ means
        return mean, weights @ (variances + (means - mean) ** 2)

    def _members_at(self, points: Array, lasting: bool) -> tuple[Array, Array, Array]:
        """The weights of the acting members, and their means and variances at m points."""
        k = self._kernel.matrix(points, self.observed)
        prior = self._kernel.diagonal(points)
        means, variances = [], []
        for _, member in self._acting:
            own, view = k[:, member.first :], member.at(self._now)
            if lasting:
                v, known = own * view.lasting, prior * member.lasting_variance
                means.append(own @ (view.fading * member.alpha))
            else:
                v, known = own * view.fading + view.level, prior * member.variance + member.level_variance
                means.append(v @ member.alpha)
            v = v @ member.factor.W.T
            variances.append(np.maximum(known - np.vecdot(v, v), 0.0))
        return np.array([w for w, _ in self._acting]), np.array(means), np.array(variances)

    def surface(self, points: Array) -> Surface:
        """Mean and variance at m points with derivatives."""
        jet = self._kernel.jet(points, self.observed)
        prior = self._kernel.diagonal(points)
        parts = []
        for weight, member in self._acting:
            view = member.at(self._now)
            part = Surface.of(
                jet.since(member.first),
                view.lasting,
                member.factor.W,
                member.alpha,
                prior * member.lasting_variance,
                view.fading,
            )
            parts.append((weight, part))

        def blended(name: str) -> Array:
            return np.asarray(sum(weight * getattr(part, name) for weight, part in parts))

        def bend(a: Array | float, c: Array) -> Array:
            return np.asarray(sum(weight * part.bend(a, c) for weight, part in parts))

        return Surface(
            blended("mean"), blended("variance"), blended("mean_gradient"), blended("variance_gradient"), bend
        )

    def local(self, x: Array) -> Local:
        """The same at one point, in plain numbers."""
        D = self._kernel.expand(x, self.observed)
        prior = float(self._kernel.diagonal(x[None, :])[0])
        means, gram, spread = np.zeros(len(D)), np.zeros((1 + len(x), len(D))), 0.0
        for weight, member in self._acting:
            own, view = D[:, member.first :], member.at(self._now)
            means += weight * (own @ (view.fading * member.alpha))
            V = below(member.factor.W, (own * view.lasting).T)
            gram += weight * (V[:, : 1 + len(x)].T @ V)
            spread += weight * prior * member.lasting_variance
        return Local(means.tolist(), gram.tolist(), spread)
