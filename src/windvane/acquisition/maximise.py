"""The maximiser of mu + c sigma over a domain.

The cached candidates find the basins, a batched Newton ascent polishes the best few. A finite
domain whose points are all candidates is searched exactly; a mixed one with few discrete
configurations climbs from the best start of each. Ties, and the plateau that an empty data set
leaves, are broken by the seeded generator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windvane.acquisition.ascent import Summits, ascend
from windvane.acquisition.base import Choice, Posterior
from windvane.acquisition.climb import climb
from windvane.acquisition.starts import best_of, grid_peaks, scattered_starts
from windvane.checks import Array
from windvane.data import IntArray
from windvane.spaces.base import Domain

FLAT = 1e-7  # a plateau, relative to the scale of the scores
TIE = 1e-9  # relative to the scale of the scores
TOLERANCE = 1e-5  # the gain, relative to the same scale, below which a climb ends
PLATEAU = 64  # candidates within a tie: too many to be separate summits
GRID_STARTS = 4
WORTH = (
    0.01,
    0.01,
    0.1,
)  # peaks of a 1-, 2-, 3-d grid this far below the best, relative to the scale, cannot win
DISCRETE_STARTS = 10
BATCHED_STEPS = 4  # of all starts together; then the best few go on one by one
FINALISTS = 2
ALL_STEPS = 30  # for starts of different discrete configurations, none of which is left behind
CONFIGURATIONS = 64


def maximise(
    posterior: Posterior,
    domain: Domain,
    multiplier: float,
    generator: Callable[[], np.random.Generator],
) -> Choice:
    """The point of the domain with the highest mu + c sigma."""
    if posterior.size == 0:
        return Choice(domain.sample(generator(), 1)[0], float("nan"))
    candidates = posterior.candidates
    mean, variance = posterior.on_candidates()
    np.sqrt(variance, out=variance)
    variance *= multiplier
    mean += variance
    scores = mean
    top = float(scores.max())
    scale = max(abs(top), abs(float(scores.min())), 1e-12)
    if domain.size is not None and domain.size == len(candidates):
        return _tied(candidates, scores, top - TIE * scale, generator)
    worth = WORTH[-1] if posterior.grid is None else WORTH[len(posterior.grid) - 1]
    near = np.flatnonzero(scores >= top - worth * scale)
    if len(near) >= PLATEAU:
        tied = near[scores[near] >= top - FLAT * scale]
        if len(tied) >= PLATEAU:
            pick = tied[int(generator().integers(len(tied)))]
            return Choice(candidates[pick], float(scores[pick]))
    starts = _starts(posterior, domain, scores, multiplier, near)
    summits = _climb(posterior, domain, starts, multiplier, scale)
    if domain.size is not None or not domain.continuous:
        summits = _step_discrete(posterior, domain, summits, multiplier, scale)
    best = float(summits.values.max())
    return _tied(summits.points, summits.values, best - TIE * scale, generator)


def _tied(points: Array, values: Array, least: float, generator: Callable[[], np.random.Generator]) -> Choice:
    rows = np.flatnonzero(values >= least)
    row = rows[0] if len(rows) == 1 else rows[int(generator().integers(len(rows)))]
    return Choice(points[row], float(values[row]))


def _starts(posterior: Posterior, domain: Domain, scores: Array, multiplier: float, near: IntArray) -> Array:
    candidates = posterior.candidates
    if not domain.continuous:
        return _configuration_starts(domain, candidates, scores)
    if posterior.grid is None:
        return scattered_starts(posterior, scores, multiplier)
    return candidates[best_of(scores, grid_peaks(scores, posterior.grid, near), GRID_STARTS)]


def _configuration_starts(domain: Domain, candidates: Array, scores: Array) -> Array:
    """The best candidate of every discrete configuration, or of the best ones if there are too many."""
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(candidates[order][:, ~domain.free], axis=0, return_index=True)
    first = np.sort(first)
    if domain.configurations(CONFIGURATIONS) is None:
        first = first[:DISCRETE_STARTS]
    return candidates[order[first]]


def _climb(posterior: Posterior, domain: Domain, starts: Array, multiplier: float, scale: float) -> Summits:
    if not domain.free_axes:
        mean, variance = posterior.at(starts)
        return Summits(starts, mean + multiplier * np.sqrt(variance))
    tolerance = TOLERANCE * scale
    radius = 0.05
    if posterior.grid is None:
        field = ascend(
            posterior.surface,
            starts,
            multiplier,
            free=domain.free,
            radius=0.3,
            iterations=BATCHED_STEPS if domain.continuous else ALL_STEPS,
            tolerance=tolerance,
            narrowing=domain.continuous,  # every discrete configuration is followed to its end
        )
        leaders = best_of(field.values, np.arange(len(starts)), FINALISTS)
        starts, radius = field.points[leaders], 0.3
    return climb(
        posterior.local,
        starts,
        multiplier,
        free=domain.free_axes,
        radius=radius,
        iterations=12,
        tolerance=tolerance,
    )


def _step_discrete(
    posterior: Posterior, domain: Domain, summits: Summits, multiplier: float, scale: float
) -> Summits:
    """From the best summit, change one discrete parameter at a time for as long as that goes up."""
    best = int(np.argmax(summits.values))
    point, value = summits.points[best], float(summits.values[best])
    while True:
        nearby = domain.neighbours(point)
        if not len(nearby):
            break
        mean, variance = posterior.at(nearby)
        scores = mean + multiplier * np.sqrt(variance)
        rows = best_of(scores, np.arange(len(scores)), DISCRETE_STARTS)
        reached = _climb(posterior, domain, nearby[rows], multiplier, scale)
        winner = int(np.argmax(reached.values))
        if reached.values[winner] <= value + 1e-12 * scale:
            break
        point, value = reached.points[winner], float(reached.values[winner])
    points = np.concatenate((summits.points, point[None]))
    return Summits(points, np.concatenate((summits.values, (value,))))
