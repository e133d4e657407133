"""The maximiser of a utility over a region; it knows no utility by name.

Candidates find the basins, Newton ascents polish the best few. A small finite region is searched exactly;
where choices and short integers are few, the best start of each combination is climbed from; integers with
many levels are climbed along and then rounded. The best observed points are among the starts whenever they
are above all candidates, so that the result is never below one of them. Every loop has a bound. Ties, and
the plateau that an empty data set leaves, are broken by the seeded generator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from windvane.acquisition.ascent import Summits, ascend, leading, stride
from windvane.acquisition.base import Derivatives, PosteriorView, Proposal
from windvane.acquisition.climb import climb
from windvane.acquisition.slide import slide
from windvane.acquisition.starts import best_of, grid_peaks, is_peak, scattered_starts
from windvane.acquisition.utility import SMALLEST_VARIANCE, Utility
from windvane.checks import Array
from windvane.errors import InvalidArgument
from windvane.spaces.base import first_of_each
from windvane.spaces.region import Bounds, Region

FLAT = 1e-7  # a plateau, relative to the scale of the scores
TIE = 1e-9  # relative to the scale of the scores
TOLERANCE = 1e-5  # the gain, relative to the same scale, below which a climb ends
PLATEAU = 64  # candidates within a tie: too many to be separate summits
GRID_STARTS = 4
# peaks of a 1-, 2-, 3-d grid this far below the best, relative to the scale, cannot win
WORTH = (0.01, 0.01, 0.1)
# how much of a linear utility a climb from a 1-, 2-, 3-d grid gains at most: twice the most in 3,000 climbs
GAIN = (0.001, 0.005, 0.3)
SEEN = 8  # observed points that are considered as starts
CELL = 1.5  # steps of a grid: a peak closer to a higher observed point is on the same hill
DISCRETE_STARTS = 10
FIELDS = (6,)  # starts that go on after each step along the gradient; the last of them to Newton steps
BATCHED_STEPS = 2  # of all starts together; then the best goes on alone
FINALISTS = 1
ALL_STEPS = 30  # for starts of different discrete configurations, none of which is left behind
CONFIGURATIONS = 64  # up to here, each combination of choices and short integers is climbed from
POOL = 512  # candidates of a region that is not the whole space
FEWER = 256  # of one under a context, in up to three dimensions: nothing about it was computed before
FRESH = 256  # random points beside the candidates of a large finite space: what no candidate covers
ROUNDS = 16  # changes of one discrete parameter after another
PATHS = 3  # summits from which such changes start
AROUND_BALLS = (6, 24)  # ascents along what is left out, and rounds of each: many summits are beside a ball
ALONG_EDGES = (2, 6)  # the same along the edge of a condition, which is not known exactly
WITHIN_CELL = (13, 7, 5)  # points along an axis, within a step of a 1-, 2-, 3-d grid, where a hill is cut off
CHUNK = 1024  # points evaluated at a time

Generator = Callable[[], np.random.Generator]


class Pool(NamedTuple):
    """Points that cover a region, their utilities, their shape if they are a grid, and the scale of it all.

    A grid is always whole: outside of the region utilities are -inf, and in `uncut` what they are there.
    """

    points: Array
    scores: Array
    grid: tuple[int, ...] | None
    scale: float
    uncut: Array | None = None


def maximise(posterior: PosteriorView, region: Region, utility: Utility, generator: Generator) -> Proposal:
    """The point of the region with the highest utility."""
    if posterior.size == 0:
        return Proposal(region.sample(generator(), 1)[0], float("nan"))
    points, scores, grid, scale, uncut = _pool(posterior, region, utility, generator)
    top = float(scores.max())
    if _exhaustive(region, points):
        return _tied(points, scores, top - TIE * scale, generator)
    worth = WORTH[-1] if grid is None else WORTH[len(grid) - 1]
    near = np.flatnonzero(scores >= top - worth * scale)
    seen, highest = points[:0], -np.inf
    if grid is None or not posterior.resolved:
        seen, highest = _observed(posterior, region, utility)
    if len(near) >= PLATEAU and highest <= top + FLAT * scale:
        tied = near[scores[near] >= top - FLAT * scale]
        if len(tied) >= PLATEAU:
            pick = tied[int(generator().integers(len(tied)))]
            return Proposal(points[pick], float(scores[pick]))
    search = RegionSearch(posterior, region, utility, scale)
    fine = grid is not None and highest <= top + worth * scale  # no summit hides between its points
    if grid is not None and fine:
        peaks = best_of(scores, grid_peaks(scores, grid, near), GRID_STARTS)
        gain = GAIN[len(grid) - 1] * scale if utility.linear else np.inf
        hills = peaks if uncut is None else np.array([row for row in peaks if is_peak(uncut, grid, row)], int)
        starts, ceilings = points[hills], scores[hills] + gain
        if highest > top:
            apart = np.abs(starts - seen[0]).max(axis=1) > CELL / (grid[0] - 1)
            starts = np.concatenate((seen[:1], starts[apart]))
            ceilings = np.concatenate(((np.inf,), ceilings[apart]))
        summits = search.polished(starts, region.climbed, ceilings)
        if uncut is not None:
            summits = search.kept_inside(summits, Summits(points[peaks], scores[peaks]), grid)
    else:
        covered = np.isfinite(scores)
        summits = search.summits(search.starts(points[covered], scores[covered], seen))
    if not len(summits.values):  # at an edge, where what is looked at once more may be beyond it by a hair
        return _tied(points, scores, top, generator)
    best = float(summits.values.max())
    return _tied(summits.points, summits.values, best - TIE * scale, generator)


def utility_of(posterior: PosteriorView, utility: Utility, points: Array) -> Array:
    """The utility at m points, a part of them at a time."""
    values = np.empty(len(points))
    for start in range(0, len(points), CHUNK):
        mean, variance = posterior.at(points[start : start + CHUNK])
        values[start : start + CHUNK] = utility.value(mean, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE)))
    return values


def _pool(posterior: PosteriorView, region: Region, utility: Utility, generator: Generator) -> Pool:
    """Points that cover the region."""

    def pool(points: Array, scores: Array, grid: tuple[int, ...] | None = None) -> Pool:
        return Pool(points, scores, grid, utility.scale(scores))

    if not region.whole and region.space.enumerated and len(posterior.candidates) == region.space.size:
        return pool(*_of_list(posterior, region, utility))
    if not region.whole:
        if region.listed is None and region.conditions and region.bounded_as_space:
            inside = region.contains(posterior.candidates)
            points, scores = posterior.candidates, _on_candidates(posterior, utility)
            seeds = points[:0] if region.seeds is None else region.seeds[region.contains(region.seeds)]
            if posterior.grid is not None and not len(seeds) and inside.any():
                scale, cut = utility.scale(scores[inside]), np.where(inside, scores, -np.inf)
                return Pool(points, cut, posterior.grid, scale, scores)
            points, scores = points[inside], scores[inside]
            if len(seeds):
                points = np.concatenate((points, seeds))
                scores = np.concatenate((scores, utility_of(posterior, utility, seeds)))
            if len(points):
                return pool(points, scores)
        few = region.held and np.count_nonzero(region.climbed.free) <= 3 and not region.mixed
        points = region.candidates(FEWER if few else POOL) if region.listed is None else region.listed
        if region.seeds is not None:
            points = np.concatenate((points, region.seeds[region.contains(region.seeds)]))
        if not len(points):
            points = region.sample(generator(), FRESH)
        return pool(points, utility_of(posterior, utility, points))
    scores = _on_candidates(posterior, utility)
    points = posterior.candidates
    size = region.space.size
    if size is None or size == len(points):
        return pool(points, scores, posterior.grid)
    fresh = region.sample(generator(), FRESH)
    scores = np.concatenate((scores, utility_of(posterior, utility, fresh)))
    return pool(np.concatenate((points, fresh)), scores)


def _on_candidates(posterior: PosteriorView, utility: Utility) -> Array:
    """The utility on the candidates that the posterior keeps."""
    mean, variance = posterior.on_candidates()
    np.maximum(variance, SMALLEST_VARIANCE, out=variance)
    return np.asarray(utility.value(mean, np.sqrt(variance, out=variance)))


def _of_list(posterior: PosteriorView, region: Region, utility: Utility) -> tuple[Array, Array]:
    """The best points of a list, on all of which the posterior is known, and their utilities.

    Conditions take longer to look at, so they are asked of the best ones first, until one fulfils them.
    """
    inside = np.flatnonzero(region.unconditional.contains(posterior.candidates))
    if not len(inside):
        raise InvalidArgument("region: none of the points that are allowed is left")
    points, scores = posterior.candidates[inside], _on_candidates(posterior, utility)[inside]
    if not region.conditions:
        return points, scores
    order, step = np.argsort(-scores, kind="stable"), CHUNK // 4
    tie, found = 2.0 * TIE * utility.scale(scores), np.empty(0, dtype=np.intp)
    for start in range(0, len(order), step):
        some = order[start : start + step]
        if len(found) and scores[some[0]] < scores[found[0]] - tie:
            break
        found = np.concatenate((found, some[region.fulfils(points[some])]))
    if not len(found):
        points = region.witnessed()
        return points, utility_of(posterior, utility, points)
    return points[found], scores[found]


def _exhaustive(region: Region, points: Array) -> bool:
    if region.whole:
        return region.space.size is not None and region.space.size == len(points)
    return region.space.enumerated or region.listed is not None


def _observed(posterior: PosteriorView, region: Region, utility: Utility) -> tuple[Array, float]:
    """The best observed points, moved into the region, best first, and the utility of the first."""
    mean, variance = posterior.on_observed()
    known = np.isfinite(mean)  # what came before a change says nothing
    ranks = np.full(len(mean), -np.inf)
    ranks[known] = utility.value(mean[known], np.sqrt(np.maximum(variance[known], SMALLEST_VARIANCE)))
    points = posterior.observed
    if region.held:
        return _moved(posterior, region, utility)
    if not region.whole:
        points = region.clear(points)
        inside = region.contains(points)
        points, ranks = points[inside], ranks[inside]
    rows = best_of(ranks, np.arange(len(ranks)), SEEN)
    return points[rows], float(ranks[rows[0]]) if len(rows) else -np.inf


def _moved(posterior: PosteriorView, region: Region, utility: Utility) -> tuple[Array, float]:
    """The same under the context of the region: what was good under another may be bad here."""
    points = region.clear(posterior.observed)
    points = points[region.contains(points)]
    if not len(points):
        return points, -np.inf
    means = posterior.mean(points)
    points = points[best_of(means, np.arange(len(means)), SEEN)]
    values = utility_of(posterior, utility, points)
    order = np.argsort(-values, kind="stable")
    return points[order], float(values[order[0]])


def _tied(points: Array, values: Array, least: float, generator: Generator) -> Proposal:
    rows = np.flatnonzero(values >= least)
    row = rows[0] if len(rows) == 1 else rows[int(generator().integers(len(rows)))]
    return Proposal(points[row], float(values[row]))


@cache
def _within_cell(grid: tuple[int, ...]) -> Array:
    """Steps to points of the cells around a point of a grid over the unit cube."""
    line = np.linspace(-1.0, 1.0, WITHIN_CELL[len(grid) - 1])
    return np.array(list(product(line, repeat=len(grid)))) / (np.array(grid) - 1.0)


class RegionSearch:
    """One search: the posterior, the region, the utility and the scale of its values."""

    def __init__(self, posterior: PosteriorView, region: Region, utility: Utility, scale: float) -> None:
        self._posterior, self._region, self._utility, self._scale = posterior, region, utility, scale

    def starts(self, points: Array, scores: Array, seen: Array) -> Array:
        """Where to climb from: the basins, and the best observed points."""
        if not self._region.mixed:
            bases = seen if len(seen) else points[best_of(scores, np.arange(len(scores)), 1)]
            return scattered_starts(self._posterior, self._region, self._utility, points, scores, bases)
        order = np.argsort(-scores, kind="stable")
        first = first_of_each(points[order][:, self._region.coarse])  # the best of every combination
        if len(first) > CONFIGURATIONS:
            first = first[:DISCRETE_STARTS]
        return np.concatenate((points[order[first]], seen[:PATHS]))

    def summits(self, starts: Array) -> Summits:
        """Climb from the starts, round what was climbed along, and change discrete parameters."""
        region = self._region
        found = self._climb(starts, region.climbed, every=region.mixed)
        if region.space.continuous:
            return found
        leaders = best_of(found.values, np.arange(len(found.values)), DISCRETE_STARTS)
        rounded = region.nearest(np.concatenate((found.points[leaders], starts)))
        if region.pierced:
            inside = rounded[region.contains(rounded)]
            rounded = inside if len(inside) else starts  # these were, when they were looked at
        values = utility_of(self._posterior, self._utility, rounded)
        rows = best_of(values, np.arange(len(values)), PATHS)
        found = self.polished(rounded[rows], region.continuous)
        if region.pierced:
            found = self._kept_clear(found, rounded[rows])
        return self._step_discrete(Summits(rounded, values), found)

    def _climb(self, starts: Array, bounds: Bounds, *, every: bool = False) -> Summits:
        """Newton ascents of all starts together, of `every` one to its end; then of the best alone."""
        utility = self._utility
        if not bounds.moves:
            return Summits(starts, self._values(starts))
        surface, leading_starts = self._surface(bounds), starts
        for count in () if every else FIELDS:
            if len(leading_starts) > count:
                field = stride(surface, self._values, leading_starts, utility, bounds=bounds)
                leading_starts = field.points[leading(field.points, field.values, count)]
        field = ascend(
            surface,
            self._values,
            leading_starts,
            utility,
            bounds=bounds,
            radius=0.3,
            iterations=ALL_STEPS if every else BATCHED_STEPS,
            tolerance=TOLERANCE * self._scale,
            narrowing=not every,  # every discrete configuration is followed to its end
        )
        leaders = best_of(field.values, np.arange(len(field.values)), FINALISTS)
        found = self.polished(field.points[leaders], bounds, radius=0.3)
        if self._region.pierced:
            return self._kept_clear(found, np.concatenate((starts, field.points)))
        return found

    def polished(
        self, starts: Array, bounds: Bounds, ceilings: Array | None = None, radius: float = 0.05
    ) -> Summits:
        """Newton ascents of starts that are near their summits, one after the other."""
        if not bounds.moves:
            return Summits(starts, self._values(starts))
        posterior, axes = self._posterior, bounds.axes
        return climb(
            posterior.local if axes is None else lambda x: posterior.local(x, axes),
            starts,
            self._utility,
            bounds=bounds,
            radius=radius,
            iterations=12,
            tolerance=TOLERANCE * self._scale,
            ceilings=ceilings,
        )

    def kept_inside(self, found: Summits, peaks: Summits, grid: tuple[int, ...]) -> Summits:
        """The summits inside the region, and the peaks of the part of a grid that is, best first.

        Where the best of them is cut off by the edge of a condition, points of the cells around it are looked
        at too. Once: what is allowed there is interpolated between points of a grid that is no finer.
        """
        region = self._region
        inside = region.contains(found.points) if len(found.points) else np.empty(0, dtype=np.bool_)
        points = np.concatenate((found.points[inside].reshape(-1, region.space.dim), peaks.points))
        values = np.concatenate((found.values[inside], peaks.values))
        if peaks.values[0] >= values.max():
            around = region.nearest(peaks.points[0] + _within_cell(grid))
            around = around[region.contains(around)]
            points = np.concatenate((points, around))
            values = np.concatenate((values, self._values(around)))
        return Summits(points, values)

    def _surface(self, bounds: Bounds) -> Callable[[Array], Derivatives]:
        """The posterior with the derivatives that a climb between these bounds needs."""
        posterior, axes = self._posterior, bounds.axes
        return posterior.surface if axes is None else lambda points: posterior.surface(points, axes)

    def _values(self, points: Array) -> Array:
        return utility_of(self._posterior, self._utility, points)

    def _kept_clear(self, found: Summits, starts: Array) -> Summits:
        """The summits outside of the balls that are left out; the others slide along their surfaces."""
        region, utility = self._region, self._utility
        rounded = region.nearest(found.points)
        inside = region.contains(rounded) & (rounded == found.points).all(axis=1)
        if inside.all() and not len(region.excluded):
            return found
        begin = region.clear(np.concatenate((found.points[~inside], starts)))
        begin = begin[region.contains(begin)]
        effort = ALONG_EDGES if region.conditions else AROUND_BALLS
        slid = slide(self._posterior, region, utility, begin, *effort)
        return Summits(
            np.concatenate((found.points[inside], slid.points)),
            np.concatenate((found.values[inside], slid.values)),
        )

    def _step_discrete(self, rounded: Summits, found: Summits) -> Summits:
        """From each of the best summits, change one discrete parameter at a time while that goes up."""
        ends_x, ends = [rounded.points, found.points], [rounded.values, found.values]
        visited: set[bytes] = set()
        left = ROUNDS
        for start in best_of(found.values, np.arange(len(found.values)), PATHS):
            point, value = found.points[start], float(found.values[start])
            while left:
                left -= 1
                nearby = self._region.neighbours(point)
                if not len(nearby):
                    break
                scores = utility_of(self._posterior, self._utility, nearby)
                rows = best_of(scores, np.arange(len(scores)), PATHS)
                reached = self._climb(nearby[rows], self._region.continuous)
                if not len(reached.values):
                    break
                winner = int(np.argmax(reached.values))
                if reached.values[winner] <= value + 1e-12 * self._scale:
                    break
                point, value = reached.points[winner], float(reached.values[winner])
                key = point.tobytes()
                if key in visited:  # another path has been here
                    break
                visited.add(key)
            ends_x.append(point[None])
            ends.append(np.array([value]))
        return Summits(np.concatenate(ends_x), np.concatenate(ends))
