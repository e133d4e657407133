"""Observation noise: constant, or growing with the age of an observation (W-GP-UCB)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component

# An observation with a million million times the noise carries no information in double precision.
LARGEST_FACTOR = 1e12


@component
@dataclass(frozen=True)
class Noise:
    """The variance of y - f. With `forgetting` g < 1, an observation of age a has variance g^-a times that.

    Weighted regression with weights g^-s (W-GP-UCB) is the same model; in this form nothing overflows.

    >>> Noise(0.02).variances(np.array([1.0, 2.0]), now=3.0)
    array([0.02, 0.02])
    >>> Noise(0.02, forgetting=0.5).variances(np.array([1.0, 2.0]), now=3.0)
    array([0.08, 0.04])
    """

    variance: float
    forgetting: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", real("noise_variance", self.variance, above=0.0))
        object.__setattr__(self, "forgetting", real("forgetting", self.forgetting, above=0.0, at_most=1.0))

    @property
    def ages(self) -> bool:
        """Whether the noise of an observation changes with time."""
        return self.forgetting < 1.0

    def variances(self, times: Array, now: float, fresh: Array | None = None) -> Array:
        """The noise variance of observations made at `times`, as seen at `now`.

        `fresh` are those that they had when they were made, if not all have the same.
        """
        if not self.ages:
            return np.full(len(times), self.variance) if fresh is None else fresh
        exponent = np.minimum((now - times) * -math.log(self.forgetting), math.log(LARGEST_FACTOR))
        return np.asarray((self.variance if fresh is None else fresh) * np.exp(exponent))
