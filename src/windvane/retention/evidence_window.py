"""A sliding window whose length the data choose, by how well each length would have predicted."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from windvane import checks
from windvane.checks import Array
from windvane.codec import component
from windvane.data import Dataset
from windvane.density import normal_log_densities
from windvane.errors import InvalidArgument, InvalidType, NumericalFailure
from windvane.late import lapack, linalg
from windvane.retention.base import Belief, Memory

LADDER = (8, 12, 18, 27, 41, 61, 91, 137)  # each half as long again


@component
@dataclass(frozen=True)
class EvidenceWindow:
    """Keeps the longest of the last W observations, W in `windows`, that is still plausible.

    Every observation is predicted from the W before it, for each W. The evidence of W is the sum of
    the log densities, discounted by `forgetting` a step, so that it is about the last
    1 / (1 - forgetting) observations. A window is plausible if its evidence is within `margin` of the
    best. What leaves the window is gone: a longer one then starts with the same data and the same
    evidence, and grows by one per step. So a change cuts the window short, and quiet lets it grow.

    >>> from windvane.data import Observation
    >>> from windvane.kernels import RBF
    >>> model, limit = Belief(RBF(0.2), noise_variance=0.01), EvidenceWindow()
    >>> data, memory, sizes = Dataset.empty(1), limit.start(), []
    >>> for step in range(1, 61):
    ...     y = 0.0 if step <= 40 else 1.0  # a jump
    ...     new = Observation(np.array([0.5]), y, float(step), step)
    ...     data, memory = limit.apply(data + new, model, memory)
    ...     sizes.append(len(data))
    >>> sizes[39:45], sizes[-1]
    ([40, 12, 8, 9, 8, 9], 19)
    """

    windows: tuple[int, ...] = LADDER
    forgetting: float = 0.95
    margin: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "windows", ladder("windows", self.windows))
        object.__setattr__(
            self, "forgetting", checks.real("forgetting", self.forgetting, above=0.0, at_most=1.0)
        )
        object.__setattr__(self, "margin", checks.real("margin", self.margin, at_least=0.0))

    def start(self) -> Memory:
        """Nothing speaks for one window or another."""
        return (0.0,) * len(self.windows)

    def apply(self, data: Dataset, belief: Belief, memory: Memory) -> tuple[Dataset, Memory]:
        """Weigh the windows by the newest observation, then keep the longest plausible one."""
        evidence = np.array(memory)
        if len(data) > 1:
            lengths = np.minimum(self.windows, len(data) - 1)
            evidence = self.forgetting * evidence + log_densities(data, belief)[lengths - 1]
            evidence -= evidence.max()  # only differences matter
        chosen = int(np.flatnonzero(evidence >= evidence.max() - self.margin)[-1])
        if len(data) > self.windows[chosen]:
            data = data.take(slice(-self.windows[chosen], None))
            evidence[chosen + 1 :] = evidence[chosen]
        return data, tuple(evidence.tolist())


def ladder(name: str, value: object) -> tuple[int, ...]:
    """Lengths of windows, shortest first."""
    if not isinstance(value, list | tuple) or not len(value):
        raise InvalidType(f"{name}={value!r}: must be a list of lengths such as (8, 16, 32)")
    lengths = tuple(checks.integer(name, each, at_least=1) for each in value)
    if any(shorter >= longer for shorter, longer in pairwise(lengths)):
        raise InvalidArgument(f"{name}={value!r}: must grow from one length to the next")
    return lengths


def log_densities(data: Dataset, belief: Belief) -> Array:
    """ln p of the newest observation, predicted from the last 1, 2, ..., n - 1 before it.

    With the newest first, the Cholesky factor of a longer window contains that of a shorter one: one
    factorisation predicts from all of them, by sums that run along v = L^-1 k and z = L^-1 y.
    """
    newest_first = data.take(slice(None, None, -1))
    y = belief.inward(newest_first.y)
    K = belief.covariance(newest_first)
    factor, info = lapack.dpotrf(K[1:, 1:], lower=1)
    if info != 0:
        raise NumericalFailure("window: the covariance is not positive definite; raise noise_variance")
    v, z = linalg.solve_triangular(factor, np.stack((K[0, 1:], y[1:]), axis=1), lower=True).T
    noise = float(belief.noises(newest_first.take(slice(1)))[0])
    variance = np.maximum(K[0, 0] - np.cumsum(v * v), noise)
    gap = y[0] - np.cumsum(v * z)
    return normal_log_densities(gap, variance)
