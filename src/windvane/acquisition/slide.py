"""Ascent in a region with points left out: along the surfaces of the balls around them.

Each round tries steps of many lengths along the gradient and along Newton's direction, moves those that
end in a ball to its surface, and takes the best: what a projection does to a step needs no derivative.
"""

from __future__ import annotations

import numpy as np

from windvane.acquisition.ascent import Summits, spread, uphill
from windvane.acquisition.base import PosteriorView
from windvane.acquisition.starts import spread_out
from windvane.acquisition.utility import SMALLEST_VARIANCE, Utility, gradient_and_hessian, utility_at
from windvane.checks import Array
from windvane.spaces.region import Region

LENGTHS = 4.0 ** -np.arange(8.0)  # of a step, in units of the reach
REACH = 0.3  # of the first round
SHORTEST = 1e-5  # a reach at which a slide has arrived
APART = 0.02  # starts closer to a better one are left out


def slide(
    posterior: PosteriorView, region: Region, utility: Utility, starts: Array, most: int, rounds: int
) -> Summits:
    """The ends of slides from the best starts, at most so many; all starts lie in the region."""
    if not len(starts):
        return Summits(starts, np.empty(0))
    mean, variance = posterior.at(starts)
    values = utility.value(mean, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE)))
    rows = spread_out(starts, values, most, APART)
    ends = [_slide_one(posterior, region, utility, starts[row], float(values[row]), rounds) for row in rows]
    return Summits(np.array([x for x, _ in ends]), np.array([value for _, value in ends]))


def _slide_one(
    posterior: PosteriorView, region: Region, utility: Utility, x: Array, value: float, rounds: int
) -> tuple[Array, float]:
    reach = REACH
    for _ in range(rounds if region.climbed.moves else 0):
        bounds = region.climbed
        axes = () if bounds.axes is None else (bounds.axes,)
        surface = posterior.surface(x[None], *axes)
        gradient, hessian = gradient_and_hessian(surface, *utility_at(utility, surface))
        free = bounds.along.free
        gradient = np.where(free, gradient, 0.0)
        hessian[0][~free] = hessian[0][:, ~free] = 0.0
        newton = spread(np.where(free, uphill(hessian, gradient), 0.0), bounds)
        gradient = spread(gradient, bounds)
        trials = [x + LENGTHS[:, None] * reach * _unit(gradient[0]), x + LENGTHS[:, None] * newton[0]]
        pool = region.clear(np.concatenate(trials))
        pool = pool[region.contains(pool)]
        if not len(pool):
            break
        mean, variance = posterior.at(pool)
        heights = utility.value(mean, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE)))
        best = int(np.argmax(heights))
        if heights[best] > value:
            reach = min(max(4.0 * float(np.linalg.norm(pool[best] - x)), SHORTEST), REACH)
            x, value = pool[best], float(heights[best])
        elif reach <= SHORTEST:
            break
        else:
            reach /= 64.0
    return x, value


def _unit(step: Array) -> Array:
    return np.asarray(step / max(float(np.linalg.norm(step)), 1e-300))
