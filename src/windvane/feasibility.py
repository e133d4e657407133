"""Where the constraints hold, as is believed now, and what may be asked for because of that.

P_c(x) = T_n(z) is the probability that constraint c holds at x, under the belief of its own loop, which is z
standard deviations on the right side. T_n is Student's distribution: if the unit of what is limited was
learned, then from the n values in use; if it was told, n is infinite. Soft: points are asked for where all
hold with probability `LIKELY`, or, where that is nowhere, where it is highest. Safe: only where each holds
with the probability that was asked for, and after beliefs that were wrong with more (`more_cautious`); where
that is nowhere, the last setting measured to be safe, or a start, while that is believed of it at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import final

import numpy as np

from windvane.acquisition.base import PosteriorView
from windvane.checks import Array, IntArray
from windvane.composition import Constraints, Watched
from windvane.late import special
from windvane.progress import Progress
from windvane.spaces import Region
from windvane.spaces.base import BoolArray, Domain
from windvane.surrogates import Surrogate
from windvane.surrogates.base import Forecast

LIKELY = 0.5  # the probability that all constraints hold, of a point that is asked for: docs/decisions/0039
FEW = 48  # safe candidates: where there are fewer, points around what is known to be safe are looked at,
AROUND = 128  # so many of them,
RADII = 0.02, 0.4  # at distances between these, of the range times sqrt(d)
FIRST_STEPS = 0.04, 0.2  # the same while nothing was ever measured to be safe: docs/decisions/0039
HOPELESS = 0.05  # odds below which the limits are looked for elsewhere than around what was measured
SPREAD = 256  # points that are looked at where no candidates are kept
KNOWN = 8  # measured points around which to look
OPTIMISM = 2.0  # standard deviations by which a place beyond the edge may be better than its mean
BEYOND = 64  # places beyond the edge, and those at it next to them, for which it is decided whether it pays
PAYBACK = 10.0  # steps for which a better place that is found will pay: docs/decisions/0039
DOUBTED = 0.25  # odds below which a setting that was measured to be safe is left: docs/decisions/0039
ALTERNATIVES = 32  # points that are looked at exactly before it is held that nothing is safe
STEP = 1.0  # standard deviations: docs/decisions/0039
MOST_CAUTIOUS = 8.0
AWAY = 0.05  # of the range: how far to keep from a value beyond a limit that is not believed
SAME = 1e-9  # of the range: two settings that are one
FAR = np.geomspace(8.0, 1e3, 64)
TABULATED = np.concatenate((-FAR[::-1], np.linspace(-7.95, 7.95, 319), FAR))  # z for which T_n is computed


def score(one: Watched, loop: Surrogate, points: Array, now: float) -> Array:
    """z of a constraint at m points, exactly."""
    if not len(points):
        return np.empty(0)
    return loop.scores(points, now, one.constraint.sign * one.constraint.limit)


def chance(one: Watched, loop: Surrogate, z: Array | float) -> Array:
    """T_n(z): the probability that a constraint holds where it is so far on the right side."""
    if not one.composition.rescale:
        return np.asarray(special.ndtr(z))
    return np.asarray(special.stdtr(max(len(loop.data), 1), z))


def likely(one: Watched, loop: Surrogate, z: Array) -> Array:
    """The same to four digits, for many points: interpolated between a few."""
    if not one.composition.rescale:
        return np.asarray(special.ndtr(z))
    return np.interp(z, TABULATED, _tabulated(max(len(loop.data), 1)))


@lru_cache(maxsize=16)
def _tabulated(n: int) -> Array:
    return np.asarray(special.stdtr(n, TABULATED))


Chance = Callable[[Watched, Surrogate, Array], Array]


@final
@dataclass(frozen=True, eq=False)
class Survey:
    """Points that were looked at, k x d, and the probability of each constraint there, c x k.

    The last ones, from number `near` on, are around what is known to be safe.
    """

    points: Array
    chances: Array
    near: int


@final
class Feasibility:
    """The constraints at one moment."""

    def __init__(
        self, space: Domain, constraints: Constraints, progress: Progress, now: float, seed: tuple[int, ...]
    ) -> None:
        self.space, self.constraints, self.now, self._seed = space, constraints, now, seed
        self._progress = progress
        self._expected: tuple[bytes, list[Forecast]] | None = None
        self._surveyed: tuple[Region, Array, Survey] | None = None
        self._loops = [
            (one.constraint.sign * one.constraint.limit, loop.surrogate)
            for one, loop in zip(constraints.each, progress.constraints, strict=True)
        ]

    # -- probabilities ---------------------------------------------------------------------------------

    def believed(self, points: Array) -> Array:
        """P_c at m points, c x m."""
        pairs = zip(self.constraints.each, self._loops, self._all_exact(points), strict=True)
        return np.array([chance(one, loop, z) for one, (_, loop), z in pairs])

    def chances(self, points: Array) -> Array:
        """The same with caution: what decides about what is allowed."""
        return self._chances(self._all_exact(points))

    def _all_exact(self, points: Array) -> Array:
        return np.array([self._exact(number, points) for number in range(len(self._loops))])

    def quick(self, points: Array, grid: tuple[int, ...] | None = None) -> Array:
        """That, from what is kept on candidates wherever that will do: to look at many points.

        `grid` is their shape, if they are all points of a regular grid.
        """
        scores = np.array([self._scores(number, points, grid) for number in range(len(self._loops))])
        return self._chances(scores, likely)

    def _chances(self, scores: Array, chance: Chance = chance) -> Array:
        rows = zip(self.constraints.each, self._progress.constraints, scores, strict=True)
        return np.array([chance(one, loop.surrogate, z - max(loop.caution, 0.0)) for one, loop, z in rows])

    @cached_property
    def _tables(self) -> list[tuple[Array, tuple[int, ...] | None, Array]]:
        """For each constraint the candidates, their shape if they are a grid, and z there."""
        found = []
        for level, loop in self._loops:
            posterior = loop.posterior(self.now)
            scores = np.empty(0)
            if len(posterior.candidates):
                scores = loop.scores_on_candidates(self.now, level)
            found.append((posterior.candidates, posterior.grid, scores))
        return found

    def _scores(self, number: int, points: Array, grid: tuple[int, ...] | None) -> Array:
        candidates, shape, scores = self._tables[number]
        m = len(candidates)
        if shape is not None:
            values = scores.reshape(shape)
            return interpolated(values, points) if grid is None else on_grid(values, grid).ravel()
        if 0 < m <= len(points) and np.array_equal(points[:m], candidates):
            return np.concatenate((scores, self._exact(number, points[m:])))
        return self._exact(number, points)

    def _exact(self, number: int, points: Array) -> Array:
        return score(self.constraints.each[number], self._loops[number][1], points, self.now)

    def risk(self, chances: Array) -> Array:
        """What is to be small: the probability that some constraint is broken; safe: that the worst is."""
        if self.constraints.safe is None:
            return np.asarray(1.0 - chances.prod(axis=0))
        return np.asarray(1.0 - chances.min(axis=0))

    @property
    def allowed(self) -> float:
        """The most that the risk may be."""
        return 1.0 - (LIKELY if self.constraints.safe is None else self.constraints.safe)

    # -- what may be asked for -------------------------------------------------------------------------

    def survey(self, region: Region, posterior: PosteriorView) -> Survey:
        """Points of a region that cover it, and where little of it is safe, points around what is."""
        last = self._surveyed  # the next ask looks where the tell before it has looked for a safe place
        if last is None or last[0] is not region or last[1] is not posterior.candidates:
            self._surveyed = last = (region, posterior.candidates, self._survey(region, posterior))
        return last[2]

    def _survey(self, region: Region, posterior: PosteriorView) -> Survey:
        points, grid = posterior.candidates, posterior.grid
        if region.listed is not None:
            points, grid = region.listed, None
        elif not len(points) or not region.bounded_as_space:
            points, grid = region.candidates(SPREAD), None
        found = Survey(points, self.quick(points, grid), len(points))
        if self.constraints.safe is None:
            return found
        safe = np.flatnonzero(self.risk(found.chances) <= self.allowed)
        if len(safe) >= FEW:
            return found
        # a mixture's kept candidates leave out what few believe in, which may be what decides
        found.chances[:, safe] = self._chances(self._all_exact(points[safe]), likely)
        if region.listed is not None:
            return found
        near = self._around(region)
        if not len(near):
            return found
        chances = np.concatenate((found.chances, self.chances(near)), axis=1)
        return Survey(np.concatenate((points, near)), chances, len(points))

    def _around(self, region: Region) -> Array:
        """Points at many distances around settings that are safe, as far as is known; these come first."""
        known = region.nearest(self.refuges(region))
        known = known[self.risk(self.chances(known)) <= self.allowed]
        if not len(known):
            return known
        points = np.concatenate((known, self._cloud(region, known)))
        return points[region.contains(points)]

    def _cloud(self, region: Region, known: Array, radii: tuple[float, float] = RADII) -> Array:
        """Points at many distances around others."""
        rng, d = np.random.default_rng(self._seed), self.space.dim
        away = rng.standard_normal((AROUND, d))
        away /= np.sqrt(np.vecdot(away, away))[:, None] + 1e-300
        low, high = np.log(np.array(radii) * np.sqrt(self.space.parameter_count))
        far = np.exp(rng.uniform(low, high, AROUND))
        return region.nearest(known[rng.integers(len(known), size=AROUND)] + far[:, None] * away)

    def refuges(self, region: Region) -> Array:
        """Settings that are known to be safe, or were: the last one, the starts, the safest measured ones."""
        found = (
            [region.nearest(self._progress.last_safe[None])] if self._progress.last_safe is not None else []
        )
        found.append(self.starts(region))
        measured = [loop.data.X for _, loop in self._loops if len(loop.data)]
        if measured:
            points = region.nearest(np.unique(measured[0][-4 * FEW :], axis=0))
            order = np.argsort(self.risk(self.quick(points)), kind="stable")
            found.append(points[order[:KNOWN]])
        return np.concatenate(found)

    def starts(self, region: Region) -> Array:
        """The settings that are safe to begin with, under the context of the region."""
        return region.nearest(np.array(self.constraints.start).reshape(-1, self.space.dim))

    def narrowed(self, region: Region, survey: Survey) -> Region | None:
        """The part of a region that may be asked for; None if none of it is safe."""
        risks = self.risk(survey.chances)
        inside = region.contains(survey.points)
        if not inside.any():
            return None if self.constraints.safe is not None else region
        points, risks = survey.points[inside], risks[inside]
        if self.constraints.safe is not None and not (risks <= self.allowed).any():
            return None
        known = (survey.points, risks) if inside.all() else None
        safe_near = inside & (np.arange(len(inside)) >= survey.near)
        return region.where(
            lambda some: self.risk(self.quick(some)),
            self.allowed,
            tried=(points, risks),
            known=known,
            seeds=survey.points[safe_near] if safe_near.any() else None,
        )

    def allows(self, point: Array) -> bool:
        """Whether a point may be asked for, exactly."""
        pairs = zip(self._loops, self.forecasts(point, self.now), strict=True)
        scores = np.array([[loop.score_of(forecast, level)] for (level, loop), forecast in pairs])
        return bool(self.risk(self._chances(scores))[0] <= self.allowed + 1e-12)

    def forecasts(self, point: Array, now: float) -> list[Forecast]:
        """What is expected of each constraint at a point; that last asked about is told about next."""
        key = point.tobytes()
        if now != self.now:
            return [loop.forecast(point, now) for _, loop in self._loops]
        if self._expected is None or self._expected[0] != key:
            self._expected = key, [loop.forecast(point, now) for _, loop in self._loops]
        return self._expected[1]

    def best_allowed(
        self, survey: Survey, region: Region, posterior: PosteriorView, optimism: float = OPTIMISM
    ) -> Array | None:
        """The point with the highest bound that is allowed exactly, where a quick look was too kind."""
        rows = np.flatnonzero((self.risk(survey.chances) <= self.allowed) & region.contains(survey.points))
        if not len(rows):
            return None
        mean, variance = posterior.at(survey.points[rows])
        rows = rows[np.argsort(-(mean + optimism * np.sqrt(np.maximum(variance, 0.0))), kind="stable")]
        safest = rows[np.argsort(self.risk(survey.chances[:, rows]), kind="stable")][:KNOWN]
        points = survey.points[np.concatenate((rows[:ALTERNATIVES], safest))]
        safe = self.risk(self.chances(points)) <= self.allowed
        return np.asarray(points[np.flatnonzero(safe)[0]]) if safe.any() else None

    def retreat(self, region: Region, home: Region | None = None) -> Array:
        """What to ask for where nothing is safe: the last setting measured to be safe, else a start.

        Unless it was measured since that it is not, or is believed not to be, or is not in `home`, which is
        all that may be asked for, also what fails or is being evaluated: then, of all places of the region,
        where the constraints hold most probably; while nothing was ever measured to be safe, of those near
        what was measured. What failed is tried again when all others have failed too.
        """
        home = region if home is None else home
        last, broken = self._progress.last_safe, self._progress.broken
        evaluations, listed = self._progress.evaluations, region.listed
        failed = () if evaluations is None else tuple(evaluations.latest)
        wanted = []
        for setting in (*(() if last is None else (last,)), *np.array(self.constraints.start)):
            point = home.nearest(setting[None])
            if not self._among(setting, broken) and (listed is None or home.contains(point)[0]):
                wanted.append(point[0])
        if wanted:
            held = 1.0 - self.risk(self.believed(np.array(wanted)))
            wanted = [point for point, odds in zip(wanted, held, strict=True) if odds >= DOUBTED]
        if wanted:
            working = [point for point in wanted if not self._among(point, failed)]
            return np.asarray((working or wanted[len(failed) % len(wanted) :])[0])
        walked = self._walked(region, (*broken, *failed)) if last is None and listed is None else None
        if walked is not None:
            return walked
        points = listed
        if points is None:
            known = np.concatenate((self.refuges(region), region.nearest(self._rows(broken))))
            if not len(known) and self._progress.last_point is not None:  # nothing is known of any limit
                return np.asarray(region.nearest(self._progress.last_point[None])[0])
            points = np.concatenate((known, self._cloud(region, known), region.candidates(SPREAD)))
        left = points[[not self._among(point, (*broken, *failed)) for point in points]]
        points = left if len(left) else points
        return np.asarray(points[int(np.argmin(self.risk(self.believed(points))))])

    def _walked(self, region: Region, tried: Sequence[Array]) -> Array | None:
        """A step away from settings that are all beyond a limit: to where it holds most probably near them.

        Far away the odds are even, here they are not: but by how much a limit is broken is known here, and a
        step says in which direction it is less. None if there is no hope near them.
        """
        if self.constraints.safe is None or not self._progress.broken:
            return None
        points = self._cloud(region, region.nearest(self._rows(self._progress.broken)), FIRST_STEPS)
        points = points[region.contains(points)]
        points = points[[not self._among(point, tried) for point in points]]
        if not len(points):
            return None
        risks = self.risk(self.believed(points))
        least = int(np.argmin(risks))
        return np.asarray(points[least]) if risks[least] <= 1.0 - HOPELESS else None

    def _rows(self, points: Sequence[Array]) -> Array:
        return np.array(points).reshape(-1, self.space.dim)

    def _among(self, point: Array, others: Sequence[Array]) -> bool:
        """Whether a setting is one of others, under whatever context."""
        return any(bool((np.abs(point - other)[self._chosen] <= SAME).all()) for other in others)

    @cached_property
    def _chosen(self) -> BoolArray:
        """The coordinates that are chosen: all but contexts."""
        flags = np.ones(self.space.dim, dtype=np.bool_)
        flags[list(self.space.context_axes)] = False
        return flags

    def broken(self, point: Array) -> bool:
        """Whether something was beyond its limit at a setting, and nothing within its own since."""
        return self._among(point, self._progress.broken)

    def clear(self, region: Region) -> Region:
        """A region without the surroundings of what was beyond a limit; soft, where that is not believed.

        A value that no hypothesis expects may be taken for an outlier. Until something is measured to be
        within the limits, it is kept away from all the same.
        """
        if not self._progress.broken:
            return region
        away = region.nearest(np.array(self._progress.broken))
        if self.constraints.safe is None:
            away = away[self.risk(self.chances(away)) <= self.allowed]
        if not len(away):
            return region
        rest = region.without(away, AWAY if region.continuous.moves else SAME)
        if region.listed is not None:
            return rest if rest.contains(region.listed).any() else region
        return rest if len(rest.candidates(FEW)) else region

    def start(self, region: Region, number: int) -> Array | None:
        """The start of that number, if there is one and it is in the region, under the context of now."""
        if self.constraints.safe is None or number >= len(self.constraints.start):
            return None
        setting = np.array(self.constraints.start[number])
        point = region.nearest(setting[None])
        there = (np.abs(point[0] - setting)[self._chosen] <= SAME).all()
        return np.asarray(point[0]) if there and region.contains(point)[0] else None

    # -- the edge --------------------------------------------------------------------------------------

    def explored(self, survey: Survey, region: Region, posterior: PosteriorView) -> Array | None:
        """A safe point at which it pays to find out what is safe beyond; None if that is nowhere.

        A place z beyond the edge may be better than the best safe one by U(z) - V, if it is allowed, which it
        is with probability P(z). An evaluation at e resolves a share of what is not known about that. What
        it costs is how far e is believed to be below the best.
        """
        safe = self.constraints.safe
        if posterior.size == 0:
            return None
        inside = region.contains(survey.points)
        points, chances = survey.points[inside], survey.chances[:, inside]
        risks = self.risk(chances)
        within = np.flatnonzero(risks <= self.allowed)
        if not len(within) or len(within) == len(points):
            return None
        mean, variance = self._objective(survey, inside, posterior)
        best = float(mean[within].max())
        hope = mean + OPTIMISM * np.sqrt(np.maximum(variance, 0.0)) - best
        promise = chances.prod(axis=0) * hope
        if safe is None:
            most = int(np.argmax(promise))
            return np.asarray(points[most]) if risks[most] > self.allowed else None
        promise[within] = 0.0
        beyond = np.argsort(-promise, kind="stable")[:BEYOND]
        beyond = beyond[promise[beyond] > 0.0]
        if not len(beyond):
            return None
        gap = ((points[within][:, None, :] - points[beyond]) ** 2).sum(axis=2)
        edge = within[np.unique(gap.argmin(axis=0))]
        share = np.ones((len(edge), len(beyond)))
        for number, (_, loop) in enumerate(self._loops):
            blocked = chances[number, beyond] < safe
            told = loop.insight(points[edge], points[beyond], self.now)
            share *= np.where(blocked, told, 1.0)
        gain = PAYBACK * (share * promise[beyond]).max(axis=1) - np.maximum(best - mean[edge], 0.0)
        chosen = int(np.argmax(gain))
        return np.asarray(points[edge[chosen]]) if gain[chosen] > 0.0 else None

    @staticmethod
    def _objective(survey: Survey, inside: BoolArray, posterior: PosteriorView) -> tuple[Array, Array]:
        """Mean and variance of the objective at the points of a survey that are in a region."""
        kept = posterior.candidates
        m = len(kept)
        if 0 < m <= len(survey.points) and np.array_equal(survey.points[:m], kept):
            mean, variance = posterior.on_candidates()
            rest = survey.points[m:]
            if len(rest):
                more = posterior.at(rest)
                mean, variance = np.concatenate((mean, more[0])), np.concatenate((variance, more[1]))
            return mean[inside], variance[inside]
        return posterior.at(survey.points[inside])


def claimed(one: Watched, loop: Progress, z: float, safe: float | None) -> bool:
    """Whether a constraint was believed to hold as surely as it takes to be safe; not so of a retreat."""
    return safe is not None and bool(chance(one, loop.surrogate, z - max(loop.caution, 0.0)) >= safe - 1e-12)


def more_cautious(caution: float, wrong: bool, safe: float | None) -> float:
    """By how many standard deviations more than P_c >= p says, after one more value of a constraint.

    A value beyond the limit where the belief had called it safe raises it by `STEP` p, any other value lowers
    it by `STEP` (1 - p): if beliefs are too sure of themselves, whatever the reason, it settles where a share
    of 1 - p is wrong (as in adaptive conformal inference, Gibbs & Candes 2021). At a retreat nothing was
    claimed, so nothing can be wrong. Below 0 it is credit, for one value at most: what is beyond as seldom as
    it may be changes nothing.

    >>> more_cautious(0.0, True, 0.95), round(more_cautious(0.95, False, 0.95), 2)
    (0.95, 0.9)
    >>> more_cautious(-1.0, False, 0.95), round(more_cautious(-1.0, True, 0.95), 2)
    (-1.0, -0.05)
    """
    if safe is None:
        return 0.0
    return min(max(caution + STEP * (float(wrong) - (1.0 - safe)), -STEP), MOST_CAUTIOUS)


def interpolated(values: Array, points: Array) -> Array:
    """Between the values of a regular grid over the unit cube: multilinear.

    >>> interpolated(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([1.5, 2. ])
    """
    sides = np.array(values.shape)
    place = np.clip(points, 0.0, 1.0) * (sides - 1)
    low = np.minimum(place.astype(np.intp), sides - 2)
    share = place - low
    total = np.zeros(len(points))
    for corner in product((0, 1), repeat=len(sides)):
        step = np.array(corner)
        weight = np.where(step, share, 1.0 - share).prod(axis=1)
        total += weight * values[tuple((low + step).T)]
    return total


def on_grid(values: Array, grid: tuple[int, ...]) -> Array:
    """Between the values of a regular grid over the unit cube, at the points of another one: multilinear.

    >>> on_grid(np.array([[0.0, 1.0], [2.0, 3.0]]), (3, 2))
    array([[0., 1.],
           [1., 2.],
           [2., 3.]])
    """
    if values.shape == grid:
        return values
    for axis, (given, wanted) in enumerate(zip(values.shape, grid, strict=True)):
        low, share = _between(given, wanted)
        along = share.reshape([-1 if each == axis else 1 for each in range(len(grid))])
        values = (1.0 - along) * values.take(low, axis) + along * values.take(low + 1, axis)
    return values


@lru_cache(maxsize=64)
def _between(given: int, wanted: int) -> tuple[IntArray, Array]:
    """Of the points of one axis, the number of the one of another that is below, and how far beyond it."""
    place = np.linspace(0.0, given - 1.0, wanted)
    low = np.minimum(place.astype(np.intp), given - 2)
    return low, place - low
