"""How accurate observations are: noise that is known, and repeats at one point.

`noises` has the one formula for the noise variance of an observation, given the model's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, IntArray
from windvane.units import FARTHEST

EXACT = 1e-10  # of the prior variance: noise that is known to be less is taken to be that, or K~ is singular


class Accuracy(NamedTuple):
    """How accurate one observation is, where more is known of it than that it has the model's noise.

    `variance` is that of the noise of y, if the caller knows it. Else y is the mean of `repeats` values, each
    with the model's noise, and `scatter` is the sum of their squared distances from it: what they say about
    the noise. NaN if that is nothing. Without the value farthest off it would be less by `farthest`: one of
    the repeats may be an outlier. All in the caller's units.

    >>> Accuracy.of_repeats([1.0, 2.0, 6.0])
    (3.0, Accuracy(variance=None, repeats=3, scatter=14.0, farthest=13.5))
    """

    variance: float | None = None
    repeats: int = 1
    scatter: float = 0.0
    farthest: float = 0.0

    @staticmethod
    def of_repeats(values: Sequence[float]) -> tuple[float, Accuracy]:
        """The mean of values measured at one point and moment, and how accurate that is."""
        first = values[0]  # the mean of equal values is that value, to the last bit
        mean = first + math.fsum(value - first for value in values) / len(values)
        squares = [(value - mean) ** 2 for value in values]
        scatter, m = math.fsum(squares), len(values)
        farthest = min(max(squares) * m / (m - 1), scatter) if m > 1 else 0.0
        return mean, Accuracy(None, m, scatter, farthest)

    def noise(self, own: float, scale: float, prior: float) -> float:
        """The noise variance of the observation, in a model's units; see `Dataset.noises`."""
        if self.variance is None:
            return own / self.repeats
        return _inward_variance(self.variance, scale, EXACT * prior)

    def evidence(self, scale: float) -> tuple[int, float, float]:
        """What repeats say about the model's noise, as `Accuracies.evidence` has it."""
        if self.variance is not None or math.isnan(self.scatter):
            return 0, 0.0, 0.0
        scatter, farthest = (_inward_variance(each, scale, 0.0) for each in (self.scatter, self.farthest))
        return self.repeats - 1, scatter, farthest


class Accuracies(NamedTuple):
    """Those of n observations, as arrays; of one of which nothing is known, they are (NaN, 1, 0, 0)."""

    variance: Array
    repeats: Array
    scatter: Array
    farthest: Array

    @staticmethod
    def of(rows: Sequence[Accuracy | None]) -> Accuracies | None:
        """None if nothing is known of any."""
        if not any(rows):
            return None
        table = np.array([_PLAIN if row is None else row for row in rows], dtype=np.float64).T
        return Accuracies(*table).checked()

    def checked(self) -> Accuracies | None:
        """Read-only; None if there is nothing in it."""
        if not self.known.any() and not (self.repeats > 1.0).any():
            return None
        for each in self:
            each.setflags(write=False)
        return self

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Whether the noise variance is."""
        return ~np.isnan(self.variance)

    def evidence(self, scale: float) -> tuple[Array, Array, Array]:
        """What repeats say about the model's noise: m - 1 of m values, the sum of their squares about the
        mean, and by how much that would be less without the value farthest off.

        In the units of a model whose y is `scale` times smaller.
        """
        spare = np.where(self.known | np.isnan(self.scatter), 0.0, self.repeats - 1.0)
        scatter, farthest = (
            _inward_variance(np.where(spare > 0.0, each, 0.0), scale, 0.0)
            for each in (self.scatter, self.farthest)
        )
        return spare, scatter, farthest

    def inward(self, scale: float, prior: Array | float) -> Accuracies:
        """In the units of a model whose y is `scale` times smaller; see `Dataset.noises`."""
        variance = _inward_variance(self.variance, scale, EXACT * prior)
        scatter, farthest = (_inward_variance(each, scale, 0.0) for each in (self.scatter, self.farthest))
        return Accuracies(variance, self.repeats, scatter, farthest)

    def row(self, index: int) -> Accuracy | None:
        """That of one observation."""
        variance, repeats, scatter, farthest = (float(each[index]) for each in self)
        found = Accuracy(None if math.isnan(variance) else variance, int(repeats), scatter, farthest)
        return None if found == _NOTHING else found

    def take(self, rows: slice | IntArray) -> Accuracies | None:
        """Those of some of the observations."""
        return Accuracies(*(each[rows] for each in self)).checked()

    def noises(self, own: float, scale: float, prior: Array | float) -> Array:
        """See `Dataset.noises`."""
        known, found = self.known, own / self.repeats
        found[known] = _inward_variance(self.variance, scale, EXACT * prior)[known]
        return found


_NOTHING = Accuracy()
_PLAIN = Accuracy(math.nan)


@overload
def _inward_variance(variance: float, scale: float, least: float) -> float: ...
@overload
def _inward_variance(variance: Array, scale: float, least: Array | float) -> Array: ...
def _inward_variance(variance: float | Array, scale: float, least: float | Array) -> float | Array:
    """In a model's units; never so small, nor so large, that it could not be computed with."""
    with np.errstate(over="ignore"):
        found = np.clip(variance / scale / scale, least, FARTHEST**2)
    return found if isinstance(variance, np.ndarray) else float(found)


def joined(one: Accuracies | None, n: int, other: Accuracies | None, m: int) -> Accuracies | None:
    """The accuracies of n observations, and then of m others."""
    if one is None and other is None:
        return None
    parts = (one or _nothing(n), other or _nothing(m))
    return Accuracies(*(np.concatenate(pair) for pair in zip(*parts, strict=True))).checked()


def _nothing(n: int) -> Accuracies:
    return Accuracies(np.full(n, math.nan), np.ones(n), np.zeros(n), np.zeros(n))
