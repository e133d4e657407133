"""Regimes that were there before a sudden change: some are kept, in case one of them comes back.

A regime is kept with a few dozen observations that say most about it, and with the kernel, the noise and
the units of its time. While the data since a change are few, each of them is asked how well it would have
predicted these data, one after another, as it was or at another level; and so is a function that is new.
Bayes' rule does the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, integer, real
from windvane.codec import decode, encode
from windvane.data import Change, Dataset, IntArray
from windvane.errors import CorruptState
from windvane.kernels import Kernel
from windvane.spaces.base import Domain
from windvane.surrogates.mixture.hypotheses import CHANGED
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import NoiseEstimate, doubted, log_evidence, scattered, scatters
from windvane.surrogates.mixture.tuning import (
    ELSEWHERE,
    FEWEST_SINCE,
    FEWEST_TO_FIT,
    KEPT,
    LASTS,
    MOST_SINCE,
    RECENT,
    REGIMES,
    RETURNING,
)
from windvane.surrogates.mixture.weights import size
from windvane.surrogates.scaling import Scaling
from windvane.surrogates.state import dataset, plain


class Regime(NamedTuple):
    """What was learned while nothing changed, last from step `first` to step `last`."""

    first: int
    last: int
    data: Dataset
    kernel: Kernel
    noise_variance: float
    scaling: Scaling


class Archive(NamedTuple):
    """The regimes that may come back, the one seen last at the end.

    `since` is the step from which on data are of the present one. While it is `unknown` which one that is,
    the others are asked.
    """

    regimes: tuple[Regime, ...] = ()
    since: int = 1
    unknown: bool = False

    def closed(self, change: Change, before: Dataset, model: Mixture, member: Member) -> Archive:
        """After a change to something new: what was there before, as this member saw it, may come back."""
        if not len(before):  # a change right after another one
            return Archive(self.regimes, change.step, bool(self.regimes))
        counted = member.faded(float(before.times[-1]) / model.interval) >= LASTS * member.variance
        first = len(before) - int(counted.sum())  # of a drift, the last few
        old = before.take(slice(first, int(np.searchsorted(before.steps, change.step))))
        old = old.take(np.flatnonzero(~np.isin(old.steps, doubted(old.steps, member.suspects))))
        old = old.take(slice(-RECENT, None))
        regimes = self.regimes
        if len(old) >= FEWEST_TO_FIT:
            noise = member.noise.value
            noises = old.noises(noise, model.scaling.scale, model.kernel.diagonal(old.X))
            some = old.take(telling(model.kernel, old, noises, KEPT))
            first = max(self.since, int(old.steps[0]))
            regime = Regime(first, int(old.steps[-1]), some, model.kernel, noise, model.scaling)
            regimes = (*regimes, regime)[-REGIMES:]
        return Archive(regimes, change.step, bool(regimes))

    def reopened(self, regime: Regime, since: int) -> Archive:
        """After one of them has come back."""
        return Archive(tuple(other for other in self.regimes if other is not regime), since)

    def returns(self, model: Mixture, noise: float, data: Dataset) -> tuple[Change, ...]:
        """The regimes that may be back since the last change, given all data in use; none once it is late."""
        own = data.take(slice(int(np.searchsorted(data.steps, self.since)), None))
        if not self.unknown or not FEWEST_SINCE <= len(own) <= MOST_SINCE:
            return ()
        found, logs = [], []
        # Something new may be of any kind that is known: so soon after a change, the kernel, noise and scale
        # in force are often a poor guess, and what fits better than that need not have been there before.
        present = Regime(0, 0, own, model.kernel, noise, model.scaling)
        kinds = [kind._replace(data=own.take(slice(0))) for kind in (present, *self.regimes)]
        for kind in kinds:
            for chance, expected in _levels(kind, own, model):
                logs.append(math.log((1.0 - RETURNING) * chance / len(kinds)) + expected.log_density)
        others = len(logs)
        for regime in self.regimes:
            for chance, expected in _levels(regime, own, model):
                found.append((regime, expected))
                logs.append(math.log(RETURNING * chance / len(self.regimes)) + expected.log_density)
        weights = np.exp(np.array(logs) - max(logs))
        weights /= weights.sum()
        return tuple(
            Change(
                self.since,
                weight,
                expected.level,
                "return",
                expected.spread,
                (regime.first, regime.last),
                regime.data,
            )
            for weight, (regime, expected) in zip(weights[others:].tolist(), found, strict=True)
        )

    def plain(self) -> dict[str, Any]:
        """Plain JSON."""
        rows = [
            {
                "first": regime.first,
                "last": regime.last,
                "data": [plain(row) for row in regime.data],
                "kernel": encode(regime.kernel),
                "noise_variance": regime.noise_variance,
                "scaling": encode(regime.scaling),
            }
            for regime in self.regimes
        ]
        return {"regimes": rows, "since": self.since, "unknown": self.unknown}

    @staticmethod
    def read(saved: dict[str, Any], domain: Domain) -> Archive:
        """What `plain` wrote, checked."""
        regimes = tuple(_regime(row, domain) for row in saved["regimes"])
        if len(regimes) > REGIMES or not isinstance(saved["unknown"], bool):
            raise CorruptState("state: the regimes of before are none")
        return Archive(regimes, integer("state(since)", saved["since"], at_least=1), saved["unknown"])


def _regime(row: dict[str, Any], domain: Domain) -> Regime:
    kernel, scaling = decode(row["kernel"]), decode(row["scaling"])
    if not isinstance(kernel, Kernel) or not isinstance(scaling, Scaling):
        raise CorruptState("state: a regime of before lacks its kernel or its scaling")
    first = integer("state(first)", row["first"], at_least=1)
    last = integer("state(last)", row["last"], at_least=first)
    noise = real("state(noise_variance)", row["noise_variance"], above=0.0)
    return Regime(first, last, dataset(row["data"], domain), kernel, noise, scaling)


def telling(kernel: Kernel, data: Dataset, noises: Array | float, most: int) -> IntArray:
    """The rows that say most about f, oldest first: one after another that of the largest variance left.

    If some are noisier than others, that of which the most will be known then.

    >>> from windvane.kernels import RBF
    >>> data = Dataset(np.array([[0.1], [0.11], [0.9]]), np.zeros(3), np.arange(3.0), np.arange(3))
    >>> telling(RBF(0.2), data, np.full(3, 0.01), 2)
    array([0, 2])
    """
    n = len(data)
    if n <= most:
        return np.arange(n)
    K = kernel.matrix(data.X, data.X)
    chosen: list[int] = []
    left, columns = np.diagonal(K).copy(), np.empty((most, n))
    noises = np.broadcast_to(noises, (n,))
    alike = bool((noises == noises[0]).all())
    for count in range(most):
        gain = left
        if not alike:
            gain = np.maximum(left, 0.0) ** 2 / (np.maximum(left, 0.0) + noises)
            gain[chosen] = -math.inf
        row = int(np.argmax(gain))
        chosen.append(row)
        column = K[row] - columns[:count, row] @ columns[:count]
        columns[count] = column / math.sqrt(column[row] + noises[row])
        left -= columns[count] ** 2
        left[row] = -math.inf
    return np.sort(np.array(chosen))


class _Expected(NamedTuple):
    """How well data were expected one after another, in the caller's units; and the level they are at."""

    log_density: float
    off: float  # the mean residual of a prediction without a level of its own
    level: float = 0.0
    spread: float = 0.0

    @staticmethod
    def of(regime: Regime, own: Dataset, model: Mixture, off: float | None = None) -> _Expected:
        """By a regime that stands still; with `off`, at another level, as far away as that."""
        scaling, past = regime.scaling, regime.data
        everything = past.joined(own)
        X, y = everything.X, scaling.inward(everything.y)
        member = Member(CHANGED, NoiseEstimate.about(regime.noise_variance, model.doubt), lead=model.lead)
        if off is not None:
            member = member.moved(size(max(abs(off), 1.0), 1.0), len(past), 1)
        prior = regime.kernel.diagonal(X)
        member.noises = everything.noises(regime.noise_variance, scaling.scale, prior)
        times = np.arange(1.0, len(y) + 1.0)
        member.rebuild(regime.kernel.matrix(X, X), y, times, float(len(y)))
        residual, variance = (each[len(past) :] for each in member.innovations())
        prior = prior[len(past) :]
        extra = np.maximum(model.outlier_size * prior, residual * residual)
        usual = member.noises[len(past) :]
        logs, _ = log_evidence(residual, variance, usual, model.outliers, extra, model.plunges, prior)
        total = float(logs.sum()) - len(own) * math.log(scaling.scale)
        if own.accuracy is not None:
            total += _scattered(regime, own, model)
        if off is None:
            return _Expected(total, float(residual.mean()))
        return _Expected(total, off, scaling.scale * member.move, scaling.scale * member.move_spread)


def _scattered(regime: Regime, own: Dataset, model: Mixture) -> float:
    """How well it was expected what repeats scatter about their means, in the caller's units."""
    scale, total = regime.scaling.scale, 0.0
    noise = NoiseEstimate.about(regime.noise_variance, model.doubt)
    extra = model.outlier_size * regime.kernel.diagonal(own.X)
    for row, repeats in scatters(own.accuracy, scale):
        density, _ = scattered((noise,), repeats, model.outliers, float(extra[row]))
        total += float(density[0]) - repeats.spare * math.log(scale)
    return total


def _levels(regime: Regime, own: Dataset, model: Mixture) -> list[tuple[float, _Expected]]:
    """As the regime was, and at another level, with the chance of either."""
    same = _Expected.of(regime, own, model)
    return [(1.0 - ELSEWHERE, same), (ELSEWHERE, _Expected.of(regime, own, model, same.off))]


def found(regimes: Iterable[Regime], change: Change) -> Regime:
    """The regime that a change speaks of."""
    return next(regime for regime in regimes if regime.data is change.past)
