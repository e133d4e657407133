"""How much each hypothesis is believed: Bayes' rule, a fixed share that flows back, and births.

Every hypothesis is an exact GP; its one-step predictive density is its evidence. A fixed share of the
weight flows back to the prior weights at each step, so that no hypothesis ever dies. Sudden changes are
hypotheses, too: at each step a static GP is born that believes in nothing before it, and the most likely few
of these live on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.surrogates.mixture.tuning import FAR


class Reweighed(NamedTuple):
    """Weights after an observation, and the log of its predictive density under the mixture."""

    weights: Array
    log_density: float


def reweigh(weights: Array, log_densities: Array, prior: Array, share: float) -> Reweighed:
    """Bayes' rule, then the fixed share towards the prior weights of the first, permanent hypotheses.

    >>> reweigh(np.array([0.5, 0.5]), np.log([0.3, 0.1]), np.array([0.5, 0.5]), 0.0).weights
    array([0.75, 0.25])
    """
    with np.errstate(divide="ignore"):
        logs = np.log(weights) + log_densities
    top = float(logs.max())
    after = np.exp(logs - top)
    total = float(after.sum())
    after *= (1.0 - share) / total
    after[: len(prior)] += share * prior
    return Reweighed(after, top + math.log(total))


def lift_to(y: float, prior: float) -> float:
    """The variance of the level to which a sudden change may have led, if y is what came then.

    0 for what a new function of the old kind can well have. Beyond, a change of shape explains y no better
    than an outlier does, value after value; a level of that size does. A power of 4 of the prior variance,
    since a variance need not be known better, and there are then few different ones.

    >>> [lift_to(y, 1.0) for y in (2.9, 3.1, -8.0, 9.0)]
    [0.0, 16.0, 64.0, 256.0]
    """
    return 0.0 if y * y <= FAR * FAR * prior else size(y, prior)


def size(y: float, prior: float) -> float:
    """The next power of 4 of the prior variance: as large as y is far away."""
    return prior * 4.0 ** math.ceil(math.log(y * y / prior, 4.0))
