"""One hypothesis of a mixture: an exact GP with a finite state in time, and its own idea of the noise.

Symbols as in `gp`: W, z and alpha are those of its data, the observations from number `first` on. With
A, P and h of its `StateSpace`, tau_i = A(now - t_i) P h is the covariance, but for k_S, of the state at
present with observation i; at a candidate c the state has covariance k_S(c, c) P - gain(c). Mean, gain
and tau move on with A: the posterior on M candidates stays exact at O(n M) an observation.

Where each place has a part of its own, the last entries of the state are that part's: for these, k_S(x, x')
is replaced by k_S(x, x) [x = x'], which is called `same`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.data import IntArray
from windvane.kernels.base import upper_triangle
from windvane.kernels.state_space import state_space
from windvane.surrogates.buffers import twin
from windvane.surrogates.factor import Factor, below
from windvane.surrogates.mixture.hypotheses import Hypothesis
from windvane.surrogates.mixture.outliers import NoiseEstimate, Suspect, Suspects
from windvane.surrogates.mixture.tuning import CHUNK, FEWEST_TO_DROP, SLACK

EPSILON = float(np.finfo(np.float64).eps)


class View(NamedTuple):
    """The belief moved on to a moment; mean and gain are None while nobody asks for them."""

    now: float
    tau: Array  # p x n
    mean: Array | None  # p x M
    gain: Array | None  # p (p + 1) / 2 x M, the upper triangle
    fading: Array  # h' tau, n, over the entries of the state that places share
    lasting: Array  # the same for the part of f that lasts, n
    level: Array  # cov(level, y_i), n; zeros if there is no level
    own_fading: Array | None = None  # as above, over the entries that belong to one place alone
    own_lasting: Array | None = None


class Guess(NamedTuple):
    """What is expected of one observation: f ~ N(mean, variance), and v = W k for the update."""

    v: Array
    mean: float
    variance: float


class Member:
    """A hypothesis, and what it has made of the data since observation number `first`.

    Its arrays are never written to: a `copy` can be changed while the original stays as it was.
    """

    def __init__(
        self,
        hypothesis: Hypothesis,
        noise: NoiseEstimate,
        *,
        first: int = 0,
        born: int = 0,
        lead: float,
        suspects: Suspects | None = None,
    ) -> None:
        self.noise, self.suspects = noise, suspects or {}
        self.label, self.temporal, self.level = hypothesis.label, hypothesis.temporal, hypothesis.level
        self.first, self.born = first, born  # counted from 0 in the mixture's data; the step of its birth
        self.alone = hypothesis.alone
        self.shared = len(state_space(self.temporal).loading)  # of the state; the others are a place's alone
        self._in_time()
        self.loading = self.dynamics.loading
        # a signal larger than expected moves the mean, but is no reason to explore more widely
        self.lasting = self.dynamics.lasting(lead) / math.sqrt(max(self.dynamics.variance, 1.0))
        self.order = len(self.loading)
        self._rows, self._columns = upper_triangle(self.order)
        self.source = self.dynamics.stationary @ self.loading  # P h
        self.variance = self.dynamics.variance  # of f, and of the part of it that lasts
        self.lasting_variance = float(self.lasting @ self.dynamics.stationary @ self.lasting)
        own = self.lasting[self.shared :]
        self.own_lasting_variance = float(own @ self.dynamics.stationary[self.shared :, self.shared :] @ own)
        twice = np.where(self._rows == self._columns, 1.0, 2.0)
        self._form = twice * self.lasting[self._rows] * self.lasting[self._columns]  # l' gain l
        self._whole_form = twice * self.loading[self._rows] * self.loading[self._columns]
        self.noises = np.empty(0)  # of its observations, as they were taken in
        self.factor = Factor()
        self.z, self.alpha = np.empty(0), np.empty(0)
        self.level_variance = 0.0 if self._level_space is None else self._level_space.variance
        self.lift = self.level_variance if born else 0.0  # of the level that a sudden change led to
        self.turn: int | None = None  # the observation with which the level moved, if only that has changed
        none = np.empty(0)
        self._step = none  # cov(the move, y_i), n: 0 before it
        self._view = self._moved = View(-math.inf, np.empty((self.order, 0)), None, None, none, none, none)

    def _in_time(self) -> None:
        """How the state, and the level, move on: functions, which follow from the kernels."""
        self.dynamics = state_space(self.temporal)
        if self.alone is not None:
            self.dynamics = self.dynamics + state_space(self.alone)
        self._level_space = None if self.level is None else state_space(self.level)

    def __getstate__(self) -> dict[str, Any]:  # functions cannot be pickled
        return {name: value for name, value in vars(self).items() if name not in ("dynamics", "_level_space")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._in_time()

    def __len__(self) -> int:
        return self.factor.n

    def copy(self) -> Member:
        """Another one with the same past."""
        other = twin(self)
        other.factor = self.factor.copy()
        return other

    def moved(self, lift: float, turn: int, born: int) -> Member:
        """The hypothesis that only the level moves: the same past, and from observation `turn` on a level.

        Its covariance is k_S k_T + lift 1[i >= turn] 1[j >= turn]: the shape is what it was.
        """
        other = self.copy()
        other.lift, other.turn, other.born = lift, turn, born
        other.level_variance += lift
        other._step = np.zeros(len(self))
        return other

    @property
    def watched(self) -> bool:
        """Whether it keeps its posterior on the candidates."""
        return self._view.mean is not None

    # -- at a moment -------------------------------------------------------------------------------------

    def at(self, now: float) -> View:
        """The belief moved on to `now`; nothing is changed."""
        moved, view = self._moved, self._view  # another thread may look at another moment meanwhile
        if moved.now != now:
            # that of its own moment is the view itself, whoever has looked at others since: a step of no
            # length leaves all numbers as they are, but lays them out anew, and sums round otherwise then
            moved = self._moved = view if now == view.now else self._advance(view, now)
        return moved

    def _advance(self, old: View, now: float) -> View:
        if not len(self):
            return old._replace(now=now)
        A, turn = self.dynamics.step(now - old.now)
        level = old.level
        if self._level_space is not None:
            left = float(self._level_space.step(now - old.now)[0][0, 0])
            level = left * level if self.turn is None else left * (level - self._step) + self._step
        if self.order == 1 and A[0, 0] == 1.0:
            return old._replace(now=now, level=level)
        mean = None if old.mean is None else A @ old.mean
        gain = None if old.gain is None else turn @ old.gain
        return self._seen(now, A @ old.tau, mean, gain, level)

    def _seen(self, now: float, tau: Array, mean: Array | None, gain: Array | None, level: Array) -> View:
        if self.alone is None:
            return View(now, tau, mean, gain, self.loading @ tau, self.lasting @ tau, level)
        p = self.shared
        shared, own = tau[:p], tau[p:]
        return View(
            now,
            tau,
            mean,
            gain,
            self.loading[:p] @ shared,
            self.lasting[:p] @ shared,
            level,
            self.loading[p:] @ own,
            self.lasting[p:] @ own,
        )

    def faded(self, now: float) -> Array:
        """cov(f at present, f then) / k_S(x_i, x_i) at the place of each observation, n; without a level."""
        view = self.at(now)
        return view.fading if view.own_fading is None else view.fading + view.own_fading

    def guess(self, k: Array, prior: float, now: float, same: Array | None = None) -> Guess:
        """What is expected at a point with spatial covariances k, and `same`, to all data of the mixture."""
        view = self.at(now)
        known = k[self.first :] * view.fading + view.level
        if view.own_fading is not None:
            assert same is not None
            known += same[self.first :] * view.own_fading
        v = self.factor.project(known)
        before = prior * self.variance + self.level_variance
        return Guess(v, float(v @ self.z), max(before - float(v @ v), 0.0))

    def on_candidates(self, prior: Array, now: float) -> tuple[Array, Array]:
        """The mean of f, and the variance of the part of f that lasts."""
        view = self.at(now)
        assert view.mean is not None
        assert view.gain is not None
        spread = prior * self.lasting_variance - self._form @ view.gain
        return self.loading @ view.mean, np.maximum(spread, 0.0, out=spread)

    def all_on_candidates(self, prior: Array, now: float) -> tuple[Array, Array, Array | None]:
        """Mean and variance of f, a level of its own included, but for -2 cov(level, f) in the variance.

        That is the last: the weights of k_S(x_i, c) over all n data that it is the sum of; None without one.
        """
        view = self.at(now)
        assert view.mean is not None
        assert view.gain is not None
        mean, variance = self.loading @ view.mean, prior * self.variance - self._whole_form @ view.gain
        if not self.level_variance:
            return mean, variance, None
        u = self.factor.project(view.level)
        common = np.zeros(self.first + len(self))
        common[self.first :] = self.faded(now) * self.factor.back(u)
        return mean + self.level_now(now), variance + max(self.level_variance - float(u @ u), 0.0), common

    def on_data(self, y: Array, prior: Array, now: float) -> tuple[Array, Array]:
        """Mean and variance at its own observations, as of then and faded: to rank them, in O(n)."""
        s = self.noises
        mean = y[self.first :] - s * self.alpha
        variance = s - s * s * self.factor.inverse_diagonal
        share = self.faded(now) / self.variance
        k = prior[self.first :] * self.variance
        return mean * share, np.maximum(k - share * share * (k - variance), 0.0)

    # -- growing -----------------------------------------------------------------------------------------

    def weights_for(self, guess: Guess, y: float, noise: float) -> tuple[Array, float, float]:
        """Take an observation into the factor; returns w = K~^-1 k, the pivot, and the step along alpha."""
        least = len(self) * EPSILON * self.level_variance  # what rounding leaves of a level far away
        pivot = max(noise + guess.variance, least)
        w = self.factor.append(guess.v, pivot)
        root = math.sqrt(pivot)
        innovation = (y - guess.mean) / root
        step = innovation / root
        self.z = np.concatenate((self.z, (innovation,)))
        self.alpha = np.concatenate((self.alpha - w * step, (step,)))
        self.noises = np.concatenate((self.noises, (noise,)))
        return w, pivot, step

    def absorb(
        self,
        known: Array | None,
        row: Array,
        pivot: float,
        step: float,
        now: float,
        same: Array | None = None,
    ) -> None:
        """Update tau and the candidates; `known` (p x M) sums k_S over w tau, `row` is k_S(x, .).

        For the entries that belong to one place alone, both are of `same`.
        """
        view = self._moved if len(self) > 1 else self._moved._replace(now=now)
        tau = np.concatenate((view.tau, self.source[:, None]), axis=1)
        mean, gain = view.mean, view.gain
        if known is not None and mean is not None and gain is not None:
            news = known - self.source[:, None] * row
            if same is not None and self.alone is not None:
                own = slice(self.shared, None)
                news[own] = known[own] - self.source[own, None] * same
            mean = mean - news * step
            gain = gain + news[self._rows] * (news / pivot)[self._columns]
        level = np.concatenate((view.level, (self.level_variance,)))
        if self.turn is not None:
            self._step = np.concatenate((self._step, (self.lift,)))
        self._view = self._moved = self._seen(now, tau, mean, gain, level)

    # -- starting again ----------------------------------------------------------------------------------

    def rebuild(
        self,
        K: Array,
        y: Array,
        times: Array,
        now: float,
        tilt: Array | None = None,
        same: Array | None = None,
    ) -> None:
        """Factor afresh, given k_S, and `same`, among all n data of the mixture and the noises of its own.

        `tilt` is what observations have in common besides, as `starts.tilt` says.
        """
        first = self.first
        own = times[first:]
        K = K[first:, first:] * self.temporal.matrix(own, own)
        level = np.zeros(len(own))
        if self.alone is not None:
            assert same is not None
            K += same[first:, first:] * self.alone.matrix(own, own)
        if self.level is not None:
            K += self.level.matrix(own, own)
            level = self.level.cross(own, now)
        if self.turn is not None:
            since = max(self.turn - first, 0)
            K[since:, since:] += self.lift
            self._step = np.where(np.arange(len(own)) >= since, self.lift, 0.0)
            level = level + self._step
        if tilt is not None:
            K += tilt[first:, first:]
        n = len(K)
        K.reshape(-1)[:: n + 1] += self.noises
        self.factor = Factor()
        if n and not self.factor.rebuild(K):
            for i in range(n):  # the pivot never falls below the noise, nor into rounding: this cannot fail
                v = self.factor.project(K[i, :i])
                s, least = float(self.noises[i]), n * EPSILON * float(K[i, i])
                self.factor.append(v, max(s + max(float(K[i, i]) - s - float(v @ v), 0.0), least))
        self.z = self.factor.project(y[first:])
        self.alpha = self.factor.back(self.z)
        tau = self.dynamics.arriving(now - own)
        self._view = self._moved = self._seen(now, tau, None, None, level)

    def watch(self, rows: Array, same: Array | None = None) -> None:
        """Start to keep the posterior on the candidates; `rows`, and `same`, are k_S(data, candidates)."""
        view = self._view
        mean, gain = np.zeros((self.order, rows.shape[1])), np.zeros((len(self._rows), rows.shape[1]))
        for start in range(0, rows.shape[1] if len(self) else 0, CHUNK):
            some = slice(start, start + CHUNK)
            kinds = [rows[self.first :, some]] * self.shared
            if same is not None:
                kinds += [same[self.first :, some]] * (self.order - self.shared)
            V = [below(self.factor.W, tau[:, None] * own) for tau, own in zip(view.tau, kinds, strict=True)]
            for i, known in enumerate(V):
                mean[i, some] = self.z @ known
            for row, (i, j) in enumerate(zip(self._rows, self._columns, strict=True)):
                gain[row, some] = np.einsum("nm,nm->m", V[i], V[j])
        self._view = self._moved = view._replace(mean=mean, gain=gain)

    def unwatch(self) -> None:
        """Stop keeping it."""
        self._view = self._moved = self._view._replace(mean=None, gain=None)

    def outdated(self, times: Array, now: float) -> int:
        """How many of its oldest observations say nothing any more, once they are worth dropping."""
        level = 0.0 if self._level_space is None else self._level_space.reach
        reach = max(self.dynamics.reach, level)
        if math.isinf(reach) or len(self) < FEWEST_TO_DROP:
            return 0
        gone = int(np.searchsorted(times[self.first :], now - reach))
        return gone if len(self) > SLACK * (len(self) - gone) + FEWEST_TO_DROP else 0

    def forget(self, count: int) -> None:
        """Leave out its `count` oldest observations; a rebuild has to follow."""
        self.first += count
        self.noises = self.noises[count:]

    def doubt(self, step: int, suspect: Suspect | None) -> None:
        """Remember, or forget, that the observation of that step may be an outlier."""
        others = {other: known for other, known in self.suspects.items() if other != step}
        self.suspects = others if suspect is None else {**others, step: suspect}

    def level_after(self, guess: Guess, y: float, noise: float, now: float) -> tuple[float, float]:
        """What it will believe the level of a change to be once it has taken y in: mean and variance."""
        if not self.lift:
            return 0.0, 0.0
        u = self.factor.project(self.at(now).level if self.turn is None else self._step)
        common = self.lift - float(u @ guess.v)  # cov(level, f(x)) given the data
        gain = common / (guess.variance + noise)
        return float(u @ self.z) + gain * (y - guess.mean), max(self.lift - float(u @ u) - gain * common, 0.0)

    @property
    def move(self) -> float:
        """By how much it believes the level to have moved."""
        return float(self._step @ self.alpha)

    @property
    def move_spread(self) -> float:
        """The standard deviation of that."""
        u = self.factor.project(self._step)
        return math.sqrt(max(self.lift - float(u @ u), 0.0))

    def level_now(self, now: float) -> float:
        """What it believes the level to be, beside the shape."""
        return float(self.at(now).level @ self.alpha) if self.level_variance else 0.0

    def left_out(self, rows: IntArray) -> tuple[Array, Array]:
        """y_i - E[y_i | all others] and the variance of f(x_i) in that, for some of its observations."""
        precision = self.factor.inverse_diagonal[rows]
        return self.alpha[rows] / precision, self._signal(1.0 / precision, self.noises[rows])

    def innovations(self) -> tuple[Array, Array]:
        """y_i - E[y_i | before] and the variance of f(x_i) in that, for each of its observations."""
        roots = 1.0 / np.diagonal(self.factor.W)
        return self.z * roots, self._signal(roots * roots, self.noises)

    @staticmethod
    def _signal(total: Array, noises: Array) -> Array:
        """What is left of variances without the noise, where rounding leaves anything."""
        rest = total - noises
        return np.where(rest > 1e-9 * noises, rest, 0.0)
