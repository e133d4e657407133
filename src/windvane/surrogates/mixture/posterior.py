"""A mixture of Gaussian processes at one moment: all that an acquisition is handed.

Its mean is the weighted mean of the members' means, its variance the weighted mean of their
variances, in which a member counts only the uncertainty that lasts, see `StateSpace.lasting`.
That members disagree is counted only between those that are seriously in dispute: asking where they
differ settles it. The disagreement of those that nobody believes is largest where values are far from
the prior mean, and counted it would keep the search there (docs/decisions/0015). A level that is the
same everywhere is left out. `whole` counts everything.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windvane.checks import Array, IntArray
from windvane.kernels import Kernel
from windvane.kernels.base import upper_triangle
from windvane.surrogates.cache import CandidateCache
from windvane.surrogates.candidates import resolves
from windvane.surrogates.factor import below
from windvane.surrogates.mixture.hypotheses import same
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.tuning import DISPUTED
from windvane.surrogates.posterior import joint_sample, mixed_score, score_above
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
        # weights of the members in dispute, 0 for the rest
        self._disputed = np.array([w if w >= DISPUTED else 0.0 for w, _ in acting])
        if np.count_nonzero(self._disputed) < 2:
            self._disputed[:] = 0.0
        # where it is in dispute whether a level has moved, levels count in what they disagree about
        self._levels = np.zeros(len(acting))
        if any(u and member.turn is not None for u, (_, member) in zip(self._disputed, acting, strict=True)):
            self._levels = np.array([member.level_now(now) for _, member in acting])
        self.size = len(X)
        self.candidates = cache.points
        self.grid = cache.shape
        self.resolved = resolves(kernel, cache.shape)
        self.observed = X

    def on_candidates(self) -> tuple[Array, Array]:
        """Mean and variance on the candidates."""
        found = [member.on_candidates(self._cache.prior, self._now) for _, member in self._acting]
        means = np.array([mean for mean, _ in found])
        weights = np.array([weight for weight, _ in self._acting])
        return weights @ means, weights @ np.array([spread for _, spread in found]) + self._between(means)

    def on_observed(self) -> tuple[Array, Array]:
        """Mean and variance at the data's points, to rank them: those of the heaviest member."""
        _, member = max(self._acting, key=lambda pair: pair[0])
        mean, variance = member.on_data(self._y, self._kernel.diagonal(self.observed), self._now)
        before = np.full(member.first, -np.inf)
        return np.concatenate((before, mean)), np.concatenate((np.zeros(member.first), variance))

    def at(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance at m points."""
        weights, means, variances = self._members_at(points, lasting=True)
        return weights @ means, weights @ variances + self._between(means)

    def _between(self, means: Array) -> Array | float:
        """The variance of the disputed members' means around their own mean; one row per member."""
        total = float(self._disputed.sum())
        if not total:
            return 0.0
        off = means + self._levels[:, None]
        off -= self._disputed @ off / total
        return np.asarray(self._disputed @ (off * off))

    def whole(self, points: Array) -> tuple[Array, Array]:
        """Mean and variance of f itself at m points, disagreement and all."""
        weights, means, variances = self._members_at(points, lasting=False)
        mean = weights @ means
        return mean, weights @ (variances + (means - mean) ** 2)

    def scores(self, points: Array, level: float) -> Array:
        """z at m points: f is at least `level` with probability Phi(z)."""
        weights, means, variances = self._members_at(points, lasting=False)
        return mixed_score(weights, score_above(means, variances, level))

    def scores_on_candidates(self, level: float) -> Array:
        """The same on the candidates: O(n M) where a member has a level, else O(M)."""
        found = []
        for _, member in self._acting:
            mean, variance, common = member.all_on_candidates(self._cache.prior, self._now)
            if common is not None:
                variance = variance - 2.0 * self._cache.contract(common)
            found.append(score_above(mean, variance, level))
        return mixed_score(np.array([weight for weight, _ in self._acting]), np.array(found))

    def mean(self, points: Array) -> Array:
        """The mean alone at m points: O(m n)."""
        k = self._kernel.matrix(points, self.observed)
        weights, own = np.zeros(self.size), np.zeros(self.size)
        for weight, member in self._acting:
            view = member.at(self._now)
            weights[member.first :] += weight * view.fading * member.alpha
            if view.own_fading is not None:
                own[member.first :] += weight * view.own_fading * member.alpha
        mean = k @ weights
        return np.asarray(mean + same(self._kernel, points, self.observed) @ own if own.any() else mean)

    def prior(self, points: Array) -> Array:
        """The variance at m points before any observation."""
        known = sum(weight * member.lasting_variance for weight, member in self._acting)
        return self._kernel.diagonal(points) * known

    def covariance(self, points: Array) -> Array:
        """The joint covariance of m points, m x m: of the members, and between those in dispute."""
        found = [self._member_on(member, points) for _, member in self._acting]
        result = np.zeros((len(points), len(points)))
        for (weight, _), (_, own) in zip(self._acting, found, strict=True):
            result += weight * own
        total = float(self._disputed.sum())
        if total:
            means = np.array([mean for mean, _ in found])
            off = means + self._levels[:, None]
            off -= self._disputed @ off / total
            result += (off.T * self._disputed) @ off
        return result

    def draw(self, points: Array, rng: np.random.Generator) -> Array:
        """One joint sample of f at m points: of a member drawn by its weight."""
        weights = np.array([weight for weight, _ in self._acting])
        chosen = int(rng.choice(len(weights), p=weights / weights.sum()))
        return joint_sample(*self._member_on(self._acting[chosen][1], points), rng)

    def _member_on(self, member: Member, points: Array) -> tuple[Array, Array]:
        """A member's mean at m points, and the joint covariance of the part of f that lasts."""
        own, view = self._kernel.matrix(points, self.observed[member.first :]), member.at(self._now)
        known = self._kernel.matrix(points, points) * (member.lasting_variance - member.own_lasting_variance)
        mean, v = own @ (view.fading * member.alpha), own * view.lasting
        if view.own_fading is not None and view.own_lasting is not None:
            alone = same(self._kernel, points, self.observed[member.first :])
            mean, v = mean + alone @ (view.own_fading * member.alpha), v + alone * view.own_lasting
            known += same(self._kernel, points, points) * member.own_lasting_variance
        v = v @ member.factor.W.T
        return mean, known - v @ v.T

    def _members_at(self, points: Array, lasting: bool) -> tuple[Array, Array, Array]:
        """The weights of the acting members, and their means and variances at m points."""
        k = self._kernel.matrix(points, self.observed)
        prior = self._kernel.diagonal(points)
        means, variances = [], []
        equal: Array | None = None
        for _, member in self._acting:
            own, view = k[:, member.first :], member.at(self._now)
            if lasting:
                v, known = own * view.lasting, prior * member.lasting_variance
                mean = own @ (view.fading * member.alpha)
            else:
                v, known = own * view.fading + view.level, prior * member.variance + member.level_variance
                mean = v @ member.alpha
            if view.own_fading is not None and view.own_lasting is not None:
                equal = same(self._kernel, points, self.observed) if equal is None else equal
                alone = equal[:, member.first :]
                mean = mean + alone @ (view.own_fading * member.alpha)
                v = v + alone * (view.own_lasting if lasting else view.own_fading)
            means.append(mean)
            v = v @ member.factor.W.T
            variances.append(np.maximum(known - np.vecdot(v, v), 0.0))
        return np.array([w for w, _ in self._acting]), np.array(means), np.array(variances)

    def surface(self, points: Array, axes: IntArray | None = None) -> Surface:
        """Mean and variance at m points with derivatives, in these coordinates if any are named."""
        kernel, observed = self._kernel, self.observed
        jet = kernel.jet(points, observed) if axes is None else kernel.jet_along(points, observed, axes)
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

        variance, slope = blended("variance"), blended("variance_gradient")
        disputes = [
            (u, part._replace(mean=part.mean + level))
            for u, level, (_, part) in zip(self._disputed, self._levels, parts, strict=True)
            if u
        ]
        total = float(self._disputed.sum())
        if disputes:
            centre = sum(u * part.mean for u, part in disputes) / total
            tilt = sum(u * part.mean_gradient for u, part in disputes) / total
            for u, part in disputes:
                off = part.mean - centre
                variance += u * off * off
                slope += 2.0 * u * off[:, None] * part.mean_gradient

        def bend(a: Array | float, c: Array) -> Array:
            bent = np.asarray(sum(weight * part.bend(a, c) for weight, part in parts))
            for u, part in disputes:
                turn = part.mean_gradient - tilt
                bent += u * part.bend(2.0 * c * (part.mean - centre), np.zeros_like(c))
                bent += (2.0 * u * c)[:, None, None] * turn[:, :, None] * turn[:, None, :]
            return bent

        return Surface(blended("mean"), variance, blended("mean_gradient"), slope, bend)

    def local(self, x: Array, axes: IntArray | None = None) -> Local:
        """The same at one point, in plain numbers."""
        kernel, observed = self._kernel, self.observed
        D = kernel.expand(x, observed) if axes is None else kernel.expand_along(x, observed, axes)
        prior = float(kernel.diagonal(x[None, :])[0])
        d = len(x) if axes is None else len(axes)
        found, gram, spread = [], np.zeros((1 + d, len(D))), 0.0
        for weight, member in self._acting:
            own, view = D[:, member.first :], member.at(self._now)
            found.append(own @ (view.fading * member.alpha))
            V = below(member.factor.W, (own * view.lasting).T)
            gram += weight * (V[:, : 1 + d].T @ V)
            spread += weight * prior * member.lasting_variance
        means = np.array(found)
        total = float(self._disputed.sum())
        if total:  # -2 gram has the variance's derivatives: take off half of those of the disagreement
            i, j = upper_triangle(d)
            off = means - self._disputed @ means / total
            off[:, 0] += self._levels - self._disputed @ self._levels / total
            u = self._disputed * off[:, 0]
            gram[0, 0] -= u @ off[:, 0]
            gram[0, 1:] -= u @ means[:, 1:]
            gram[0, 1 + d :] -= self._disputed @ (off[:, 1 + i] * off[:, 1 + j])
        weights = np.array([weight for weight, _ in self._acting])
        return Local((weights @ means).tolist(), gram.tolist(), spread)
