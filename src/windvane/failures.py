"""Where evaluations fail: a probability, learned from those that failed and those that gave a value.

Every evaluation counts at x as much as it is similar to x and still true:

    P(x) = (s p + sum_i w_i(x) failed_i) / (s + sum_i w_i(x)),   w_i(x) = k(x, x_i) 2^(-age_i / h) r_i,

the posterior mean of a Beta prior with mean p and the weight of s evaluations. How far similarity k reaches,
and after how many evaluations h one counts half, is not known: P is the average over a few answers, each
weighed by how well it predicted every outcome from those before it. r_i is what the surrogate believes to be
left today of what was true then. Where nothing is asked for any more nothing new is learned, so that it is
age alone that opens a place again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from windvane.checks import Array, IntArray, array, integers
from windvane.data import Dataset
from windvane.errors import CorruptState
from windvane.kernels import Kernel
from windvane.spaces.base import BoolArray, Domain

LEVEL = 0.15  # a point with a larger probability of failure is not asked for; see docs/decisions/0036
PRIOR = 0.05  # p, the probability of failure where nothing is known
STRENGTH = 0.5  # s, in evaluations
POWERS = (0.25, 1.0, 4.0)  # of the surrogate's correlation: twice its lengthscale, the same, half of it
REACHES = (0.32, 0.16, 0.08, 0.04)  # of a squared exponential, in units of the range times sqrt(d)
HALF_LIVES = (16.0, 64.0, 256.0)  # h, in evaluations
MOST = 256  # evaluations that are remembered, the newest
AT_ONCE = 4096  # points at a time
NEGLIGIBLE = 1e-3  # answers with a smaller weight are left out


class Evaluation(NamedTuple):
    """One evaluation, in encoded coordinates and on the model's axis of time."""

    x: Array
    failed: bool
    time: float
    step: int  # of the observation that it was, or would have been


@final
@dataclass(frozen=True, eq=False)
class Evaluations:
    """Evaluations that failed and that gave a value, oldest first; empty until one has failed."""

    X: Array  # n x d
    failed: BoolArray
    times: Array
    steps: IntArray

    def __post_init__(self) -> None:
        for each in (self.X, self.failed, self.times, self.steps):
            each.setflags(write=False)

    @staticmethod
    def empty(dim: int) -> Evaluations:
        """Before the first failure."""
        return Evaluations(
            np.empty((0, dim)), np.empty(0, dtype=np.bool_), np.empty(0), np.empty(0, dtype=np.int64)
        )

    @staticmethod
    def of(data: Dataset) -> Evaluations:
        """The observations in use: all of them gave a value."""
        last = slice(max(len(data) - MOST, 0), None)
        good = np.zeros(len(data), dtype=np.bool_)
        return Evaluations(data.X[last].copy(), good[last], data.times[last].copy(), data.steps[last].copy())

    def __len__(self) -> int:
        return len(self.failed)

    def __add__(self, new: Evaluation) -> Evaluations:
        kept = slice(max(len(self) + 1 - MOST, 0), None)
        return Evaluations(
            np.concatenate((self.X, new.x[None]))[kept],
            np.append(self.failed, new.failed)[kept],
            np.append(self.times, new.time)[kept],
            np.append(self.steps, new.step)[kept],
        )

    def since(self, step: int) -> Evaluations:
        """Those from a step on; none of them if none of those failed: then there is nothing to learn."""
        late = self.steps >= step
        if not (self.failed & late).any():
            return Evaluations.empty(self.X.shape[1])
        return Evaluations(self.X[late], self.failed[late], self.times[late], self.steps[late])

    @property
    def in_a_row(self) -> int:
        """How many failed since the last value."""
        return len(self) - int(np.flatnonzero(~self.failed)[-1] + 1 if (~self.failed).any() else 0)

    @property
    def latest(self) -> Array:
        """The points that failed since the last value, k x d, oldest first."""
        return self.X[len(self) - self.in_a_row :]

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "X": self.X.tolist(),
            "failed": self.failed.astype(int).tolist(),
            "times": self.times.tolist(),
            "steps": self.steps.tolist(),
        }

    @staticmethod
    def read(state: Mapping[str, Any], space: Domain) -> Evaluations:
        """What `state` wrote."""
        X = (
            array("state(failures)", state["X"], ("n", space.dim))
            if space.dim
            else np.array(state["X"], float)
        )
        failed = integers("state(failures: failed)", state["failed"], (len(X),))
        if len(X) > MOST or not np.isin(failed, (0, 1)).all() or not failed.any():
            raise CorruptState("state: the failures are not what was written")
        times = array("state(failures: times)", state["times"], (len(X),))
        steps = integers("state(failures: steps)", state["steps"], (len(X),))
        if not np.allclose(space.snap(X), X, rtol=0.0, atol=1e-9):
            raise CorruptState("state: a point that failed is not a point of the space")
        return Evaluations(X, failed.astype(np.bool_), times, steps)


class _Family(NamedTuple):
    """The widest of several similarities; each of the others is the one before it to the fourth power."""

    widest: Callable[[Array, Array], Array]
    rungs: int

    def matrices(self, A: Array, B: Array) -> Iterator[Array]:
        """From the widest to the narrowest."""
        alike = self.widest(A, B)
        for number in range(self.rungs):
            if number:
                alike = alike * alike
                alike *= alike
            yield alike


@final
class FailureProbability:
    """P(x), as of now: a function of m x d points.

    `carried` is how much of what was true at the time of each evaluation the surrogate believes to hold now.

    >>> from windvane.kernels import RBF
    >>> from windvane.spaces import Box
    >>> box = Box([(0, 1)])
    >>> seen = Evaluations.empty(1) + Evaluation(np.array([0.8]), True, 1.0, 1)
    >>> chance = FailureProbability(seen, RBF(0.2), box, np.ones(1))
    >>> chance(np.array([[0.8], [0.1]])).round(2)
    array([0.68, 0.11])
    """

    def __init__(self, evaluations: Evaluations, kernel: Kernel, space: Domain, carried: Array) -> None:
        self._evaluations = evaluations
        self._families = _families(kernel, space)
        self._beliefs = _beliefs(evaluations, self._families)
        age = np.arange(len(evaluations) - 1.0, -1.0, -1.0)
        self._fading = 0.5 ** (age[:, None] / np.array(HALF_LIVES)) * carried[:, None]

    def __call__(self, points: Array) -> Array:
        return np.concatenate(
            [self._part(points[start : start + AT_ONCE]) for start in range(0, len(points), AT_ONCE)]
        )

    def _part(self, points: Array) -> Array:
        total, row = np.zeros(len(points)), 0
        failed = self._evaluations.failed[:, None]
        for family in self._families:
            for alike in family.matrices(points, self._evaluations.X):
                beliefs = self._beliefs[row]
                row += 1
                held = beliefs > 0.0
                if held.any():
                    fading = self._fading[:, held]
                    total += _mean(alike @ (fading * failed), alike @ fading) @ beliefs[held]
        return total


def _mean(failed: Array, all_of_them: Array) -> Array:
    """The posterior mean of the probability, from sums of weights."""
    return np.asarray((STRENGTH * PRIOR + failed) / (STRENGTH + all_of_them))


def _families(kernel: Kernel, space: Domain) -> tuple[_Family, ...]:
    """By the surrogate's kernel, and in the coordinates: things need not fail where the objective varies."""

    def correlation(A: Array, B: Array) -> Array:
        scale = np.sqrt(np.outer(kernel.diagonal(A), kernel.diagonal(B)))
        return np.asarray(np.clip(kernel.matrix(A, B) / scale, 0.0, 1.0) ** POWERS[0])

    def nearness(A: Array, B: Array) -> Array:
        a, b = A / reach, B / reach
        squared = np.vecdot(a, a)[:, None] + np.vecdot(b, b) - 2.0 * (a @ b.T)
        return np.asarray(np.exp(-0.5 * np.maximum(squared, 0.0)))

    reach = REACHES[0] * np.sqrt(space.parameter_count)
    return _Family(correlation, len(POWERS)), _Family(nearness, len(REACHES))


def _beliefs(evaluations: Evaluations, families: tuple[_Family, ...]) -> Array:
    """How much each similarity (a row) with each half-life (a column) is believed; they sum to 1."""
    order, failed = np.arange(len(evaluations)), evaluations.failed
    age = np.subtract.outer(order, order) - 1.0  # of evaluation j when evaluation i came, from 0
    weights = [np.where(age >= 0.0, 0.5 ** (np.maximum(age, 0.0) / life), 0.0) for life in HALF_LIVES]
    found = []
    for family in families:
        for alike in family.matrices(evaluations.X, evaluations.X):
            for weight in weights:
                past = alike * weight
                chance = _mean(past @ failed, past.sum(axis=1))
                found.append(float(np.log(np.where(failed, chance, 1.0 - chance)).sum()))
    likelihood = np.array(found).reshape(-1, len(weights))
    beliefs = np.exp(likelihood - likelihood.max())
    beliefs[beliefs < NEGLIGIBLE * beliefs.sum()] = 0.0
    return np.asarray(beliefs / beliefs.sum())
