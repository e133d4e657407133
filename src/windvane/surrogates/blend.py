"""The surrogate of `auto`: a mixture that follows a dataset, in the caller's units.

It has the methods of `Surrogate`. All its hypotheses share one set of data and one cache of spatial
covariances; what differs is time. The journal of observations since the last fresh start makes a
restored surrogate equal to the original bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, array, integer, real
from windvane.codec import decode, encode
from windvane.data import Dataset, Observation, Prediction, Verdict
from windvane.errors import CorruptState
from windvane.kernels import Static
from windvane.spaces.base import Domain
from windvane.surrogates.candidates import candidate_cache
from windvane.surrogates.fit import Search, map_estimate
from windvane.surrogates.hypotheses import Hypothesis
from windvane.surrogates.member import Guess, Member
from windvane.surrogates.mixture import Mixture, reweigh
from windvane.surrogates.mixture_posterior import MixturePosterior
from windvane.surrogates.noise import Noise
from windvane.surrogates.noise_belief import NoiseBelief, Taken
from windvane.surrogates.scaling import Scaling, generalised
from windvane.surrogates.state import observation, plain

ACTING, IDLE = 0.02, 0.005  # weights from which a member keeps candidates, and below which it stops
REFRESH = 256  # observations between two fresh starts, at most
RECENT = 200  # observations that hyperparameters are fitted to
LEARNED = 10.0  # what a fitted noise is worth, in pairs of observations
TIMED = (2, 4, 8, 16)  # observations after which the length of a step is looked at
FEWEST = 10  # observations that a fit after a sudden change needs, and those that make a scale of y
FAR = 3.0  # prior standard deviations from which a value is beyond what a new function would have
SURE = 0.5  # of the prior variance: where less is left, a value beyond is no discovery
SELDOM = 0.1  # how often a sudden change leads there, beside all others
CHANGED = Hypothesis("changed", Static(), 1.0)


class Forecast(NamedTuple):
    """A prediction in the caller's units, and what each member expects, for `extend` and `follow`."""

    prediction: Prediction
    projection: list[Guess]


class Blend:
    """A `Mixture` and the data it has seen."""

    def __init__(self, domain: Domain, model: Mixture) -> None:
        self.domain = domain
        self.outlier = 0.0  # the probability that the last observation is one
        self.log_density = 0.0  # of the last observation, one step ahead, in the caller's units
        self._restart(model, Dataset.empty(domain.dim), None)

    # -- fresh starts --------------------------------------------------------------------------------

    def _restart(
        self,
        model: Mixture,
        data: Dataset,
        noise: NoiseBelief | None,
        shares: Array | None = None,
        runs: Sequence[tuple[float, Member]] = (),
    ) -> None:
        """The permanent hypotheses, all of them given these data at once, and weighed by them.

        `shares` are the probabilities that an observation is an outlier, as found before; `runs` the
        sudden changes that are to be kept, with their weights.
        """
        belief = noise or NoiseBelief.about(model.noise_variance, model.doubt)
        members = [self._member(model, number, belief, 0, 0) for number in range(len(model.hypotheses))]
        outliers = np.zeros(len(data)) if shares is None else shares
        extra = model.outlier_size * model.kernel.diagonal(data.X)
        noises = 1.0 / ((1.0 - outliers) / belief.value + outliers / (belief.value + extra))
        members += [
            self._member(model, len(members), belief, run.first, run.born, run.lift) for _, run in runs
        ]
        for member in members:
            member.noises = noises[member.first :]
        self._begin(model, data, members, None, outliers, [weight for weight, _ in runs])

    def _begin(
        self,
        model: Mixture,
        data: Dataset,
        members: list[Member],
        weights: Array | None,
        shares: Array,
        runs: Sequence[float] = (),
    ) -> None:
        """Factor everything afresh: the journal starts here.

        Without weights, the data give them, but for those of sudden changes, `runs`.
        """
        self.model, self.data, self.members = model, data, members
        self._base, self._shares = data, shares
        self._journal: list[Observation] = []
        self._y = model.scaling.inward(data.y)
        self._cache = candidate_cache(self.domain, model.kernel)
        for x in data.X:
            self._cache.add(x)
        self._times = data.times / model.interval
        self._now = float(self._times[-1]) if len(data) else -math.inf
        K = model.kernel.matrix(data.X, data.X)
        for member in members:
            member.rebuild(K, self._y, self._times, self._now)
        if weights is None:
            weights = np.concatenate((self._weighed() * (1.0 - sum(runs)), runs))
        self.weights = weights
        self._start = self._snapshot()
        self._settle()

    def _member(
        self, model: Mixture, number: int, noise: NoiseBelief, first: int, born: int, lift: float = 0.0
    ) -> Member:
        """A permanent hypothesis by its number, or a sudden change if there is none of that number.

        `lift` is the variance of the level that the objective jumped to, beside its new shape.
        """
        known = number < len(model.hypotheses)
        hypothesis = model.hypotheses[number] if known else CHANGED
        if lift:
            hypothesis = replace(CHANGED, level=Static(lift))
        return Member(hypothesis, noise, first=first, born=born, lead=model.lead)

    def _weighed(self) -> Array:
        """The weights that the one-step predictions of all data give the permanent hypotheses."""
        logs = np.empty((len(self.data), self.permanent))
        for number, member in enumerate(self.members[: self.permanent]):
            off, variance = member.innovations()
            logs[:, number] = -0.5 * (np.log(2.0 * np.pi * variance) + off * off / variance)
        weights = self.model.prior
        for row in logs:
            weights = reweigh(weights, row, self.model.prior, self.model.share).weights
        return weights

    # -- what it believes ----------------------------------------------------------------------------

    @property
    def permanent(self) -> int:
        """How many members are permanent; those after them are sudden changes."""
        return len(self.model.hypotheses)

    def beliefs(self) -> dict[str, float]:
        """The weight of each hypothesis; a sudden change is named by the step at which it happened."""
        found = {}
        for member, weight in zip(self.members, self.weights.tolist(), strict=True):
            found[f"changed at {member.born}" if member.born else member.label] = weight
        return found

    @property
    def noise_variance(self) -> float:
        """The mixture's, in the model's units."""
        return float(sum(w * m.noise.value for w, m in zip(self.weights, self.members, strict=True)))

    def _acting(self) -> list[tuple[float, Member]]:
        weights = self.weights[[member.watched for member in self.members]]
        total = float(weights.sum())
        watched = [member for member in self.members if member.watched]
        return [(w / total, member) for w, member in zip(weights.tolist(), watched, strict=True)]

    def posterior(self, now: float) -> MixturePosterior:
        """The belief about f at `now`, in the model's units."""
        return self._moment(self._acting(), now)

    def _moment(self, members: Sequence[tuple[float, Member]], now: float) -> MixturePosterior:
        moment = now / self.model.interval
        return MixturePosterior(self.model.kernel, self._cache, self.data.X, self._y, members, moment)

    def information_gain(self) -> float:
        """That of the heaviest hypothesis."""
        member = self.members[int(np.argmax(self.weights))]
        return 0.5 * (member.factor.log_determinant - float(np.log(member.noises).sum()))

    def forecast(self, x: Array, now: float) -> Forecast:
        """What is expected at x, before y is seen."""
        kernel, scaling = self.model.kernel, self.model.scaling
        k = kernel.matrix(x[None, :], self.data.X)[0]
        prior = float(kernel.diagonal(x[None, :])[0])
        guesses = [member.guess(k, prior, now / self.model.interval) for member in self.members]
        means = np.array([guess.mean for guess in guesses])
        mean = float(self.weights @ means)
        within = float(self.weights @ np.array([guess.variance for guess in guesses]))
        variance = within + float(self.weights @ (means - mean) ** 2)
        unit = scaling.scale
        return Forecast(
            Prediction(
                scaling.offset + unit * mean, unit * math.sqrt(variance), unit * unit * self.noise_variance
            ),
            guesses,
        )

    def predict(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and standard deviation of f at m points, in the caller's units."""
        everyone = list(zip(self.weights.tolist(), self.members, strict=True))
        mean, variance = self._moment(everyone, now).whole(points)
        scaling = self.model.scaling
        return scaling.offset + scaling.scale * mean, scaling.scale * np.sqrt(variance)

    def verdict(self) -> Verdict:
        """Whether a sudden change is believed: the weight of all that say so, against what it takes."""
        runs, limit = self.weights[self.permanent :], self.model.believed
        belief = float(runs.sum())
        if belief <= limit:
            return Verdict(False, belief, limit)
        run = self._changed()
        others = sorted(self.beliefs().items(), key=lambda pair: -pair[1])[1:3]
        rest = "; ".join(f"{label}: {weight:.2g}" for label, weight in others)
        later = "" if float(runs.max()) > limit else " or later"
        away = abs(run.level_mean()) * self.model.scaling.scale
        level = f", to a level {away:.3g} away," if run.lift else ""
        reason = f"a sudden change at step {run.born}{later}{level} is believed with {belief:.3g} ({rest})"
        return Verdict(True, belief, limit, reason)

    def _changed(self) -> Member:
        """The latest sudden change such that one then or later is believed: what was before it is stale."""
        belief = 0.0
        for member, weight in zip(reversed(self.members), reversed(self.weights.tolist()), strict=True):
            belief += weight
            if belief > self.model.believed:
                return member
        raise AssertionError("the weights sum to 1")

    def since_change(self) -> Dataset:
        """The data since the sudden change that is believed in."""
        return self.data.take(slice(self._changed().first, None))

    # -- following the data --------------------------------------------------------------------------

    def extend(self, data: Dataset, guesses: list[Guess] | None = None) -> None:
        """Take over the old dataset plus one new observation, the last row."""
        self._observe(data[-1], guesses)
        self.data = data
        self._settle()
        if len(data) in TIMED:
            self._find_interval()
        if len(self._journal) >= REFRESH:
            self._begin(self.model, self.data, self.members, self.weights, self._shares)

    def follow(self, data: Dataset, guesses: list[Guess] | None = None) -> None:
        """Take over the old dataset less some observations, plus possibly a new one, the last row."""
        if len(data) and (not len(self.data) or data.steps[-1] != self.data.steps[-1]):
            self._observe(data[-1], guesses)
            self.data += data[-1]
        kept = np.flatnonzero(np.isin(self.data.steps, data.steps))
        if len(kept) == len(self.data):
            self._settle()
            return
        members, weights = [], []
        for number, (member, weight) in enumerate(zip(self.members, self.weights.tolist(), strict=True)):
            own = kept[kept >= member.first]
            if number >= self.permanent and not len(own):
                continue
            member.noises = member.noises[own - member.first]
            member.first = int(np.searchsorted(kept, member.first))
            members.append(member)
            weights.append(weight)
        total = np.array(weights)
        self._begin(self.model, self.data.take(kept), members, total / total.sum(), self._shares[kept])

    def restart(self, data: Dataset) -> None:
        """Begin again with these data: all else is believed to be from before a sudden change."""
        noise = NoiseBelief.about(self.noise_variance, self.model.doubt)
        run, scaling = self._changed(), self.model.scaling
        if run.lift:  # a jump to another level: values are to be expected around that one from now on
            scaling = replace(scaling, offset=scaling.offset + scaling.scale * run.level_mean())
        model = replace(self.model, scaling=scaling)
        self._restart(model, data, noise, self._shares[len(self._shares) - len(data) :])

    def _observe(self, new: Observation, guesses: list[Guess] | None) -> None:
        model, n = self.model, len(self.data)
        y = (new.y - model.scaling.offset) / model.scaling.scale
        if guesses is None:
            guesses = self.forecast(new.x, new.time).projection
        prior = float(model.kernel.diagonal(new.x[None, :])[0])
        weights = self.weights
        if n and model.hazard:
            lift = lift_to(y, prior) if n >= FEWEST and self._sure(guesses, prior) else 0.0
            newborn = self._member(model, self.permanent, self._pooled(), n, new.step, lift)
            newborn.watch(np.empty((0, len(self._cache.points))))
            self.members.append(newborn)
            guesses = [*guesses, Guess(np.empty(0), 0.0, prior + lift)]
            hazard = model.hazard * (SELDOM if lift else 1.0)
            weights = np.concatenate((weights * (1.0 - hazard), (hazard,)))
        # of an outlier so gross that it has no size, every hypothesis is to think the same
        extra = max(model.outlier_size * prior, (y - self._expected(guesses)) ** 2)
        takes = [
            member.noise.take(y - guess.mean, guess.variance, model.outliers, extra)
            for member, guess in zip(self.members, guesses, strict=True)
        ]
        densities = np.array([taken.log_density for taken in takes])
        update = reweigh(weights, densities, model.prior, model.share)
        self.log_density = update.log_density - math.log(model.scaling.scale)
        self.outlier = min(float(update.weights @ np.array([taken.outlier for taken in takes])), 1.0)
        self._shares = np.concatenate((self._shares, (self.outlier,)))
        self.weights = update.weights
        self._absorb(new, y, guesses, takes)
        self._y = np.concatenate((self._y, (y,)))
        self._now = new.time / model.interval
        self._times = np.concatenate((self._times, (self._now,)))
        self._journal.append(new)
        if len(self.members) > self.permanent + model.runs:
            least = self.permanent + int(np.argmin(self.weights[self.permanent :]))
            del self.members[least]
            rest = np.delete(self.weights, least)
            self.weights = rest / rest.sum()

    def _find_interval(self) -> None:
        """How long a step is, from the first observations: the hypotheses about time are in steps.

        The upper quartile: readings taken together are one step, and a pause now and then is none.
        """
        intervals = np.diff(self.data.times)
        intervals = intervals[intervals > 0.0]
        if len(intervals):
            usual = float(np.quantile(intervals, 0.75))
            if not 0.5 < usual / self.model.interval < 2.0:
                self._restart(replace(self.model, interval=usual), self.data, None, self._shares)

    def _absorb(self, new: Observation, y: float, guesses: list[Guess], takes: list[Taken]) -> None:
        """All members take the observation in; their sums over the data are one matrix product."""
        n, now = len(self.data), new.time / self.model.interval
        rows, found = [], []
        for member, guess, taken in zip(self.members, guesses, takes, strict=True):
            member.noise = taken.after
            tau = member.at(now).tau
            w, pivot, step = member.weights_for(guess, y, taken.noise)
            if member.watched:
                sums = np.zeros((member.order, n))
                sums[:, member.first :] = tau * w
                rows.append(sums)
            found.append((pivot, step))
        known = self._cache.contract_many(np.concatenate(rows)) if n else None
        row = self._cache.add(new.x)
        place = 0
        for member, (pivot, step) in zip(self.members, found, strict=True):
            own = None
            if member.watched:
                own = (
                    np.zeros((member.order, len(row)))
                    if known is None
                    else known[place : place + member.order]
                )
                place += member.order
            member.absorb(own, row, pivot, step, now)

    def _sure(self, guesses: list[Guess], prior: float) -> bool:
        """Whether something was known there: what a new place has to offer may be beyond all seen before."""
        within = sum(w * guess.variance for w, guess in zip(self.weights.tolist(), guesses, strict=True))
        return bool(within < SURE * prior)

    def _expected(self, guesses: list[Guess]) -> float:
        """The mixture's mean; a newborn, which knows nothing, is left out."""
        return float(sum(w * guess.mean for w, guess in zip(self.weights.tolist(), guesses, strict=False)))

    def _pooled(self) -> NoiseBelief:
        """The mixture's idea of the noise, for a newborn."""
        a = sum(w * m.noise.a for w, m in zip(self.weights.tolist(), self.members, strict=True))
        b = sum(w * m.noise.b for w, m in zip(self.weights.tolist(), self.members, strict=True))
        return NoiseBelief(a, b)

    def _settle(self) -> None:
        """Members that matter keep their posterior on the candidates, and only those; old data go."""
        K: Array | None = None
        rows: Array | None = None
        heaviest = int(np.argmax(self.weights))
        for number, (member, weight) in enumerate(zip(self.members, self.weights.tolist(), strict=True)):
            gone = member.outdated(self._times, self._now)
            if gone:
                member.forget(gone)
                if K is None:
                    K = self.model.kernel.matrix(self.data.X, self.data.X)
                member.rebuild(K, self._y, self._times, self._now)
            if member.watched:
                if weight < IDLE and number != heaviest:
                    member.unwatch()
            elif weight >= ACTING or number == heaviest:
                rows = self._cache.rows() if rows is None else rows
                member.watch(rows)

    # -- learning ------------------------------------------------------------------------------------

    def learn(self, search: Search, rescale: bool, seed: int) -> None:
        """Fit kernel and noise under the heaviest hypothesis, then weigh all of them again.

        With `rescale`, y is scaled as the kernel in force says before, and as the new one does after.
        """
        member = self.members[int(np.argmax(self.weights))]
        shares = self._shares
        if rescale and len(shares) < FEWEST:
            shares = np.zeros(len(shares))  # found on a scale that was a mere guess
        rows = np.flatnonzero(shares <= 0.5)
        recent = self.data.take(rows[rows >= member.first][-RECENT:])
        if member.first and len(recent) < FEWEST:
            return  # so soon after a change, the kernel of before is the better guess
        model = self.model
        noise = Noise(self.noise_variance)
        scaling, temporal = model.scaling, member.temporal
        if rescale:
            # A signal larger than thought is for a scale that was told. Where it is found out, the hypothesis
            # would shrink the scale to a third, confirm itself, and explore a third as widely ever after.
            temporal = Static(1.0 / member.variance) * temporal
            scaling = generalised(recent, model.kernel, temporal, noise.variance, model.interval)
        data = (recent.X, scaling.inward(recent.y), recent.times / model.interval)
        found = map_estimate(model.kernel, temporal, noise, data, search.under(temporal), seed)
        if rescale:
            scaling = generalised(recent, found.kernel, temporal, found.noise.variance, model.interval)
        model = replace(model, kernel=found.kernel, noise_variance=found.noise.variance, scaling=scaling)
        worth = min(model.doubt + 0.5 * len(recent), LEARNED)
        belief = NoiseBelief.about(found.noise.variance, worth)
        runs = list(zip(self.weights.tolist(), self.members, strict=True))[self.permanent :]
        self._restart(model, self.data, belief, shares, runs)

    def centre(self) -> None:
        """Take the offset and scale of y from the data in use, before there is enough to learn from."""
        self._restart(replace(self.model, scaling=Scaling.of(self.data.y)), self.data, None, self._shares)

    # -- state ---------------------------------------------------------------------------------------

    def _snapshot(self) -> dict[str, Any]:
        """What a fresh start begins with, beside model and data."""
        members = [
            [member.first, member.born, member.noise.a, member.noise.b, member.noises.tolist(), member.lift]
            for member in self.members
        ]
        return {
            "members": members,
            "weights": self.weights.tolist(),
            "outliers": self._shares.tolist(),
        }

    def state(self) -> dict[str, Any]:
        """Plain JSON: the model, the last fresh start, and the observations since."""
        return {
            "model": encode(self.model),
            "base": [plain(row) for row in self._base],
            "start": self._start,
            "journal": [plain(row) for row in self._journal],
        }

    @staticmethod
    def restore(domain: Domain, state: dict[str, Any]) -> Blend:
        """The surrogate that wrote the state, bit for bit."""
        model = decode(state["model"])
        if not isinstance(model, Mixture):
            raise CorruptState("state: the surrogate's mixture is missing")
        blend = Blend(domain, model)
        base = Dataset.empty(domain.dim)
        for row in state["base"]:
            base += observation(row, domain)
        weights = array("state(weights)", state["start"]["weights"], (None,))
        shares = np.empty(0)
        if len(base):
            shares = array("state(outliers)", state["start"]["outliers"], (len(base),))
        members = [
            blend._remember(number, row, len(base)) for number, row in enumerate(state["start"]["members"])
        ]
        proper = (weights >= 0.0).all() and abs(float(weights.sum()) - 1.0) < 1e-6
        if not blend.permanent <= len(members) == len(weights) or not proper:
            raise CorruptState("state: the hypotheses and their weights do not fit each other")
        if not ((shares >= 0.0) & (shares <= 1.0)).all():
            raise CorruptState("state: the probability of an outlier is not between 0 and 1")
        blend._begin(model, base, members, weights, shares)
        for row in state["journal"]:
            new = observation(row, domain)
            blend._observe(new, None)
            blend.data += new
            blend._settle()
        return blend

    def _remember(self, number: int, row: Any, size: int) -> Member:
        """A member as `_snapshot` wrote it."""
        first, born, a, b, noises, *rest = row
        lift = real("state(lift)", rest[0], at_least=0.0) if rest else 0.0  # states before 0.2 have none
        belief = NoiseBelief(real("state(a)", a, above=0.0), real("state(b)", b, above=0.0))
        count = integer("state(first)", first, at_least=0, at_most=size)
        birth = integer("state(born)", born, at_least=0)
        member = self._member(self.model, number, belief, count, birth, lift)
        member.noises = array("state(noises)", noises, (size - count,)) if size > count else np.empty(0)
        if not (member.noises > 0.0).all():
            raise CorruptState("state: a noise variance is not positive")
        return member


def lift_to(y: float, prior: float) -> float:
    """The variance of the level to which a sudden change may have led, if y is what came then.

    0 for what a new function of the old kind can well have. Beyond, a change of shape explains y no better
    than an outlier does, value after value; a level of that size does. A power of 4 of the prior variance,
    since a variance need not be known better, and there are then few different ones.

    >>> [lift_to(y, 1.0) for y in (2.9, 3.1, -8.0, 9.0)]
    [0.0, 16.0, 64.0, 256.0]
    """
    ratio = y * y / prior
    return 0.0 if ratio <= FAR * FAR else prior * 4.0 ** math.ceil(math.log(ratio, 4.0))
