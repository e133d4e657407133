"""The surrogate of `auto`: a mixture that follows a dataset, in the caller's units.

All its hypotheses share one set of data and one cache of spatial covariances; what differs is time. It is
a value: `follow`, `restart` and `learn` give another one, and nothing that this one reads is changed. The
journal of observations since the last fresh start makes a restored surrogate equal to the original bit for
bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from windvane.accuracy import Accuracy
from windvane.checks import Array
from windvane.data import Change, Dataset, Observation, Opinion, Prediction
from windvane.hypothesis_names import CHANGED, MOVED
from windvane.spaces.base import Domain
from windvane.surrogates.base import Forecast
from windvane.surrogates.buffers import twin
from windvane.surrogates.candidates import candidate_cache
from windvane.surrogates.fit import Search, log_prior
from windvane.surrogates.influence import kept
from windvane.surrogates.mixture import learning, regimes, saved, starts
from windvane.surrogates.mixture.agreement import agreeing
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import NoiseEstimate, Precise, Suspects, doubted, suspicion
from windvane.surrogates.mixture.posterior import MixturePosterior
from windvane.surrogates.mixture.regimes import Archive
from windvane.surrogates.mixture.tuning import (
    ACTING,
    BELIEVED,
    FEWEST_TO_FIT,
    IDLE,
    LEVEL_BESIDE,
    MOST_WORK,
    REFRESH,
    REVIEWS,
    TIMED,
)
from windvane.surrogates.mixture.update import Update, born, weigh
from windvane.surrogates.noise import Noise
from windvane.surrogates.posterior import mixed_score, resolved, score_above

NOTHING = Archive()
NOWHERE = np.empty(0, np.intp)


class MixtureSurrogate:
    """A `Mixture` and the data it has seen."""

    def __init__(
        self,
        domain: Domain,
        model: Mixture,
        data: Dataset,
        members: list[Member],
        weights: Array,
        archive: Archive = NOTHING,
    ) -> None:
        """Members that have been given their data, with their weights: the journal starts here.

        The permanent hypotheses come first, then the sudden changes, oldest first.
        """
        self.domain, self.model, self.data, self.archive = domain, model, data, archive
        self.members, self.weights = members, weights
        self._base = data
        self._start = saved.snapshot(members, weights)
        self._journal: tuple[Observation, ...] = ()
        self._y = model.scaling.inward(data.y)
        self._times = data.times / model.interval
        self._cache = candidate_cache(domain, model.kernel)
        self._cache.add_many(data.X)
        # which candidate each observation was made at, -1 for none; only where a hypothesis asks for it
        self._numbers = _numbers(self._cache.points) if model.local else {}
        self._places = np.array([self._place(x) for x in data.X], np.intp) if model.local else NOWHERE
        self._settle()

    def _place(self, x: Array) -> int:
        return self._numbers.get((x + 0.0).tobytes(), -1)

    @staticmethod
    def empty(domain: Domain, model: Mixture) -> MixtureSurrogate:
        """One that has seen nothing."""
        noise = NoiseEstimate.about(model.noise_variance, model.doubt)
        members = starts.permanent(model, noise)
        return MixtureSurrogate(domain, model, Dataset.empty(domain.dim), members, model.prior)

    # -- fresh starts --------------------------------------------------------------------------------------

    def _afresh(
        self,
        model: Mixture,
        data: Dataset,
        members: list[Member],
        *,
        review: bool = False,
        archive: Archive | None = None,
    ) -> MixtureSurrogate:
        """Members, the permanent ones first, given these data at once and weighed by them."""
        starts.quieten(model, data, members)
        starts.factor(model, data, members)
        for _ in range(REVIEWS if review else 0):
            found = starts.review(model, data, members)
            starts.factor(model, data, found.changed)
            if not found.again:
                break
        if review:
            starts.own_noise(model, data, members)
        weights = starts.weigh(model, data, members).weights
        kept = self.archive if archive is None else archive
        return MixtureSurrogate(self.domain, model, data, members, weights, kept)

    # -- what it believes -------------------------------------------------------------------------------

    @property
    def permanent(self) -> int:
        """How many members are permanent; those after them are sudden changes."""
        return len(self.model.permanent)

    def beliefs(self) -> dict[str, float]:
        """The weight of each hypothesis; a sudden change is named by the step at which it happened."""
        return _named(self.members, self.weights)

    def stillness(self) -> float:
        """What the hypotheses say together about the shape; a sudden change leaves nothing."""
        some = slice(self.permanent)
        return float(self.weights[some] @ np.array([kept(member.temporal) for member in self.members[some]]))

    def carried(self, times: Array, now: float) -> Array:
        """The correlation of f then and f now, on average over the hypotheses; 0 across a sudden change."""
        total, moment = np.zeros(len(times)), now / self.model.interval
        for weight, member in zip(self.weights.tolist(), self.members, strict=True):
            left = member.temporal.correlation(times / self.model.interval, moment)
            if member.first and member.first < len(self.data):  # what came before it says nothing
                left = np.where(times < self.data.times[member.first], 0.0, left)
            total += weight * left
        return np.clip(total, 0.0, 1.0)

    @property
    def noise_variance(self) -> float:
        """The mixture's, in the model's units."""
        return float(sum(w * m.noise.value for w, m in zip(self.weights, self.members, strict=True)))

    @property
    def heaviest(self) -> Member:
        """The member that is believed most."""
        return self.members[int(np.argmax(self.weights))]

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
        member = self.heaviest
        return 0.5 * (member.factor.log_determinant - float(np.log(member.noises).sum()))

    def predict(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and standard deviation of f at m points, in the caller's units."""
        everyone = list(zip(self.weights.tolist(), self.members, strict=True))
        mean, variance = self._moment(everyone, now).whole(points)
        scaling = self.model.scaling
        return scaling.offset + scaling.scale * mean, scaling.scale * np.sqrt(variance)

    def scores(self, points: Array, now: float, level: float) -> Array:
        """z at m points: f is at least `level`, in the caller's units, with probability Phi(z).

        That of all members that anybody believes in, each by its weight.
        """
        some = np.flatnonzero(self.weights >= BELIEVED)
        total = float(self.weights[some].sum())
        members = [(float(self.weights[i]) / total, self.members[i]) for i in some.tolist()]
        return self._moment(members, now).scores(points, self.model.scaling.inward(level))

    def score_of(self, forecast: Forecast, level: float) -> float:
        """z at the point of a forecast."""
        some = np.flatnonzero(self.weights >= BELIEVED).tolist()
        found = np.array([forecast.projection[i][1:] for i in some])  # mean and variance
        scores = score_above(found[:, :1], found[:, 1:], self.model.scaling.inward(level))
        return float(mixed_score(self.weights[some] / self.weights[some].sum(), scores)[0])

    def scores_on_candidates(self, now: float, level: float) -> Array:
        """z on the candidates, by the members that keep a posterior there."""
        return self.posterior(now).scores_on_candidates(self.model.scaling.inward(level))

    def insight(self, points: Array, others: Array, now: float) -> Array:
        """Which share of the variance of f at others an observation resolves, as the heaviest member says."""
        moment = self._moment([(1.0, self.heaviest)], now)
        return resolved(moment, points, others, self.heaviest.noise.value)

    # -- an observation, before it is taken in ----------------------------------------------------------

    def forecast(self, x: Array, now: float, accuracy: Accuracy | None = None) -> Forecast:
        """What is expected at x, before y is seen."""
        kernel, scaling = self.model.kernel, self.model.scaling
        k = kernel.matrix(x[None, :], self.data.X)[0]
        prior = float(kernel.diagonal(x[None, :])[0])
        same = starts.own(self.model, x[None, :], self.data.X)
        alone = None if same is None else same[0]
        guesses = [member.guess(k, prior, now / self.model.interval, alone) for member in self.members]
        means = np.array([guess.mean for guess in guesses])
        mean = float(self.weights @ means)
        within = float(self.weights @ np.array([guess.variance for guess in guesses]))
        variance = within + float(self.weights @ (means - mean) ** 2)
        unit, noise = scaling.scale, self.noise_variance
        if accuracy is not None:
            noise = accuracy.noise(noise, unit, prior)
        return Forecast(
            Prediction(scaling.offset + unit * mean, unit * math.sqrt(variance), unit * unit * noise), guesses
        )

    def alone(self, data: Dataset, observation: Observation) -> Prediction:
        """What would be expected of an observation if `data` were all there is."""
        noise = NoiseEstimate.about(self.noise_variance, self.model.doubt)
        fresh = self._afresh(self.model, data, starts.permanent(self.model, noise))
        return fresh.forecast(observation.x, observation.time, observation.accuracy).prediction

    def weigh(self, new: Observation, forecast: Forecast) -> Opinion:
        """What it makes of an observation; nothing is changed."""
        model, count, guesses = self.model, len(self.data), forecast.projection
        y, prior = model.scaling.inward(new.y), float(model.kernel.diagonal(new.x[None, :])[0])
        known = (model, self.members, self.weights, guesses, y, prior)
        precise = Precise.of(new.accuracy, model.scaling.scale, prior)
        births = [
            birth
            for birth in born(*known, new.step, count, precise)
            if birth.member.turn is None or y > birth.guess.mean or self._counts_near(new.x)
        ]
        for birth in births:
            if not len(birth.member):
                birth.member.watch(np.empty((0, len(self._cache.points))))
        update, log_density, outlier = weigh(*known, births, new.step, precise)
        return Opinion(
            log_density - math.log(model.scaling.scale),
            outlier,
            self._changes(update, y, new.time / model.interval) + self._returns(new),
            _named(update.members, update.weights),
            update,
        )

    def _counts_near(self, x: Array) -> bool:
        """Whether a value that counts was measured nearby: where none was, f may fall, its level may not."""
        if not self.model.plunges:
            return True
        heaviest = self.members[int(np.argmax(self.weights[: self.permanent]))]
        counts = ~np.isin(self.data.steps, doubted(self.data.steps, heaviest.suspects))
        gaps = self.data.X[counts] - x
        return bool((np.vecdot(gaps, gaps) <= LEVEL_BESIDE**2 * len(x)).any())

    def _changes(self, update: Update, y: float, now: float) -> tuple[Change, ...]:
        """The sudden changes that are held possible, in the caller's units."""
        rows = list(zip(update.members, update.guesses, update.taken.noise, update.weights, strict=True))
        scale, found = self.model.scaling.scale, []
        for member, guess, noise, weight in rows[self.permanent :]:
            level, variance = member.level_after(guess, y, float(noise), now)
            kind = "new" if member.turn is None else "level"
            found.append(Change(member.born, float(weight), scale * level, kind, scale * math.sqrt(variance)))
        return tuple(found)

    def _returns(self, new: Observation) -> tuple[Change, ...]:
        """The regimes of before that may be back, once this observation counts."""
        if not self.archive.unknown:
            return ()
        return self.archive.returns(self.model, self.noise_variance, self.data + new)

    # -- following the data -----------------------------------------------------------------------------

    def follow(self, data: Dataset, opinion: Opinion | None = None) -> MixtureSurrogate:
        """With the old dataset less some observations, plus possibly a new one, the last row."""
        after = self
        if len(data) and (not len(self.data) or data.steps[-1] != self.data.steps[-1]):
            new = data[-1]
            if opinion is None:
                opinion = self.weigh(new, self.forecast(new.x, new.time))
            after = self._with(new, opinion.update)
            if new.step in TIMED:
                after = after._timed()
        if len(data) < len(after.data):
            return after._without(np.flatnonzero(np.isin(after.data.steps, data.steps)))
        if len(after._journal) >= REFRESH:
            members = [member.copy() for member in after.members]
            starts.factor(after.model, after.data, members)
            return MixtureSurrogate(
                after.domain, after.model, after.data, members, after.weights, after.archive
            )
        return after

    def restart(
        self, data: Dataset, opinion: Opinion | None = None, change: Change | None = None
    ) -> MixtureSurrogate:
        """Begin again with these data: all else is believed to be from before a change.

        If they are what came since a sudden change that is held possible, its view of them is taken over.
        """
        if opinion is not None and change is not None and change.kind == "level":
            return self._levelled(data, opinion.update, change)
        if change is not None and change.kind == "return":
            return self._returned(data, change)
        update: Update | None = None if opinion is None else opinion.update
        members, weights = self.members, self.weights
        if update is not None:
            members, weights = update.members, update.weights
        estimates = [member.noise for member in members] if update is None else update.taken.after
        noise = float(weights @ np.array([estimate.value for estimate in estimates]))
        model, suspects = self.model, None
        first = int(data.steps[0]) if len(data) else 0
        for each in () if opinion is None else opinion.changes:
            if each.step == first and each.kind == "new":
                assert update is not None
                number = next(i for i, each in enumerate(members) if each.born == first and each.turn is None)
                run = members[number]
                suspects = self._suspects(run, number, update, int(data.steps[-1]))
                if run.lift:  # to another level: values are to be expected around that one from now on
                    model = replace(model, scaling=model.scaling.raised(each.level))
        estimate = NoiseEstimate.about(noise, model.doubt)
        archive = self.archive
        if change is not None:
            heaviest = self.members[int(np.argmax(self.weights[: self.permanent]))]
            archive = archive.closed(change, self.data, self.model, heaviest)
        model = replace(model, moves=())
        return self._afresh(model, data, starts.permanent(model, estimate, suspects), archive=archive)

    def _returned(self, data: Dataset, change: Change) -> MixtureSurrogate:
        """Go on with these data, of a regime of before among others: kernel, noise and units are its own."""
        regime = regimes.found(self.archive.regimes, change)
        scaling = regime.scaling.raised(change.level)
        moves = ((change.step, change.spread),) if change.level else ()
        model = replace(self.model, kernel=regime.kernel, scaling=scaling, moves=moves)
        noise = NoiseEstimate.about(regime.noise_variance, model.doubt)
        archive = self.archive.reopened(regime, change.step)
        return self._afresh(model, data, starts.permanent(model, noise), archive=archive)

    def _levelled(self, data: Dataset, update: Update, change: Change) -> MixtureSurrogate:
        """Go on with these data, of which those before the change have been raised to the new level.

        What is expected where nothing was measured moves with them. That everything is new stays possible.
        """
        model, newest = self.model, int(data.steps[-1])
        number = next(
            i for i, each in enumerate(update.members) if each.born == change.step and each.turn is not None
        )
        noise = update.taken.after[number]
        oldest = int(data.steps[0])
        moves = (*(move for move in model.moves if move[0] > oldest), (change.step, change.spread))
        model = replace(model, scaling=model.scaling.raised(change.level), moves=moves)
        suspects = self._suspects(update.members[number], number, update, newest)
        members = starts.permanent(model, noise, suspects)
        for i in range(self.permanent, len(update.members)):
            run, first = update.members[i], int(np.searchsorted(data.steps, update.members[i].born))
            if run.turn is None and first < len(data):
                known = self._suspects(run, i, update, newest)
                members.append(starts.run(model, update.taken.after[i], first, run.born, run.lift, known))
        return self._afresh(model, data, members)

    def _suspects(self, run: Member, number: int, update: Update, newest: int) -> Suspects:
        """What a member takes for outliers once it has seen the newest observation."""
        share = float(update.taken.share[number])
        doubted = suspicion(share, update.extra, self.model.scaling.scale)
        return run.suspects if doubted is None else {**run.suspects, newest: doubted}

    def _with(self, new: Observation, update: Update) -> MixtureSurrogate:
        """All members take the observation in; their sums over the data are one matrix product."""
        model, n = self.model, len(self.data)
        now, y = new.time / model.interval, model.scaling.inward(new.y)
        after = twin(self)
        after.weights = update.weights
        after.members = members = [member.copy() for member in update.members]
        after._cache = self._cache.copy()
        rows, found = [], []
        rows_of: dict[int, Array] = {}
        place = self._place(new.x) if model.local else -1
        for number, (member, guess) in enumerate(zip(members, update.guesses, strict=True)):
            share, noise = float(update.taken.share[number]), float(update.taken.noise[number])
            member.noise = update.taken.after[number]
            suspect = suspicion(share, update.extra, model.scaling.scale)
            if suspect is not None:
                member.doubt(new.step, suspect)
            tau = member.at(now).tau
            w, pivot, step = member.weights_for(guess, y, noise)
            if member.watched:
                sums = np.zeros((member.order, n))
                sums[:, member.first :] = tau * w
                rows.append(sums)
                rows_of[number] = sums
            found.append((pivot, step))
        known = after._cache.contract_many(np.concatenate(rows)) if n else None
        row = after._cache.add(new.x)
        same = None
        if model.local:
            same = np.zeros(len(row))
            if place >= 0:
                same[place] = after._cache.prior[place]
            after._places = np.concatenate((self._places, (place,)))
        begin = 0
        for number, (member, (pivot, step)) in enumerate(zip(members, found, strict=True)):
            own = None
            if member.watched:
                own = (
                    np.zeros((member.order, len(row)))
                    if known is None
                    else known[begin : begin + member.order]
                )
                if known is not None and member.alone is not None:
                    own = own.copy()
                    own[member.shared :] = self._at_places(rows_of[number][member.shared :])
                begin += member.order
            member.absorb(own, row, pivot, step, now, same)
        after.data = self.data + new
        after._y = np.concatenate((self._y, (y,)))
        after._times = np.concatenate((self._times, (now,)))
        after._journal = (*self._journal, new)
        after._settle()
        return after

    def _without(self, kept: Any) -> MixtureSurrogate:
        """Only the observations of these rows; who has none left goes, unless permanent."""
        members, weights = [], []
        for number, (member, weight) in enumerate(zip(self.members, self.weights.tolist(), strict=True)):
            own = kept[kept >= member.first]
            if number >= self.permanent and not len(own):
                continue
            left = member.copy()
            left.noises = member.noises[own - member.first]
            left.first = int(np.searchsorted(kept, member.first))
            left.turn = None if member.turn is None else int(np.searchsorted(kept, member.turn))
            members.append(left)
            weights.append(weight)
        data = self.data.take(kept)
        starts.factor(self.model, data, members)
        total = np.array(weights)
        return MixtureSurrogate(self.domain, self.model, data, members, total / total.sum(), self.archive)

    def _timed(self) -> MixtureSurrogate:
        """How long a step is, from the first observations: the hypotheses about time are in steps.

        The upper quartile: readings taken together are one step, and a pause now and then is none.
        """
        steps = np.diff(self.data.steps)
        intervals = np.diff(self.data.times) / steps
        intervals = intervals[intervals > 0.0]
        usual = float(np.quantile(intervals, 0.75)) if len(intervals) else self.model.interval
        if 0.5 < usual / self.model.interval < 2.0:
            return self
        noise = NoiseEstimate.about(self.model.noise_variance, self.model.doubt)
        model = replace(self.model, interval=usual)
        return self._afresh(model, self.data, self._permanent(model, noise))

    def _settle(self) -> None:
        """Members that matter keep their posterior on the candidates, and only those; old data go.

        Where many begin to matter at once, the lighter ones wait for the next step: nobody waits for them.
        """
        K: Array | None = None
        now = float(self._times[-1]) if len(self.data) else -math.inf
        heaviest = int(np.argmax(self.weights))
        for number, (member, weight) in enumerate(zip(self.members, self.weights.tolist(), strict=True)):
            gone = member.outdated(self._times, now)
            if gone:
                member.forget(gone)
                if K is None:
                    K = self.model.kernel.matrix(self.data.X, self.data.X)
                same = starts.own(self.model, self.data.X, self.data.X)
                member.rebuild(K, self._y, self._times, now, starts.tilt(self.model, self.data), same)
            if member.watched and weight < IDLE and number != heaviest:
                member.unwatch()
        rows: Array | None = None
        spent = 0.0
        for number in np.argsort(-self.weights, kind="stable").tolist():
            member = self.members[number]
            if self.weights[number] < ACTING and number != heaviest:
                break
            if not member.watched and spent < MOST_WORK:
                rows = self._cache.rows() if rows is None else rows
                member.watch(rows, self._same_rows() if member.alone is not None else None)
                spent += member.order * len(member) ** 2 * len(self._cache.points)

    def _same_rows(self) -> Array:
        """k_S(x_i, c) where candidate c is the place of observation i, else 0, n x M."""
        found = np.zeros((len(self.data), len(self._cache.points)))
        met = np.flatnonzero(self._places >= 0)
        found[met, self._places[met]] = self._cache.prior[self._places[met]]
        return found

    def _at_places(self, sums: Array) -> Array:
        """The sums over the data of `_same_rows`, for each row of weights: q x M."""
        met, M = self._places >= 0, len(self._cache.points)
        places = self._places[met]
        found = [np.bincount(places, weights=each, minlength=M) for each in sums[:, met]]
        return np.array(found) * self._cache.prior

    # -- learning ---------------------------------------------------------------------------------------

    def learn(self, search: Search, rescale: bool, seed: int) -> MixtureSurrogate:
        """Fit kernel and noise under the heaviest hypothesis, look for a season, and weigh all again."""
        seen = self._seen_clearly() if search.learn and rescale and self.model.plunges else self
        learned = seen._learned(search, rescale, seed)
        return self if learned is seen else learned

    def _learned(self, search: Search, rescale: bool, seed: int) -> MixtureSurrogate:
        model, member = self.model, self.heaviest
        a, b = (self.weights @ np.array([each.noise for each in self.members])).tolist()
        noise = NoiseEstimate(a, b)
        if search.learn:
            found = learning.fitted(model, self.data, member, self.noise_variance, search, rescale, seed)
            if found is None:
                return self
            model, noise = found
        if model.seeks:
            others = self.weights[: len(model.hypotheses)]
            model, louder = learning.with_season(model, self.data, member, others, noise)
            if "noise" in search.learn:  # else no fit would find out that it is not so loud
                noise = louder
        if model is self.model:
            return twin(self)  # it has looked: the next time it is due is counted from here
        return self._fitted(model, noise, rescale)

    def _seen_clearly(self) -> MixtureSurrogate:
        """The same, but that outliers that agree are none.

        A fit has to follow: it gives all observations the noise that they have then.
        """
        steps = self.data.steps
        known = doubted(steps, self.heaviest.suspects)
        trusted = agreeing(self.data, known, self.model.scaling.offset)
        if not len(trusted):
            return self
        after = twin(self)
        after.members = [member.copy() for member in self.members]
        for member in after.members:
            for step in steps[trusted].tolist():
                member.doubt(step, None)
        return after

    def _fitted(self, model: Mixture, noise: NoiseEstimate, rescale: bool) -> MixtureSurrogate:
        """With another kernel, noise, season and scale of y, everybody weighed again."""
        trusted = not rescale or len(self.data) >= FEWEST_TO_FIT
        members = self._permanent(model, noise, trusted)
        for old in self.members[self.permanent :]:
            suspects = old.suspects if trusted else None
            labels = [hypothesis.label for hypothesis in model.permanent]
            if old.turn is None:
                run = starts.run(model, noise, old.first, old.born, old.lift, suspects)
            elif old.label not in labels:  # of a season that is believed no longer
                continue
            else:
                parent = labels.index(old.label)
                lift = old.lift * (self.model.scaling.scale / model.scaling.scale) ** 2
                run = starts.moved(model, noise, parent, old.first, old.turn, old.born, lift, suspects)
            members.append(run)
        return self._afresh(model, self.data, members, review=rescale and trusted)

    def reconsider(
        self, new: Observation, opinion: Opinion, search: Search, rescale: bool, seed: int
    ) -> MixtureSurrogate:
        """Before anything is forgotten: hyperparameters under which nothing has changed, if these explain the
        data, the newest included, better than those in force do with a change.
        """
        if not search.learn:
            return self
        likely = int(np.argmax(self.weights[: self.permanent]))
        member = self.members[likely].copy()
        since = min((change.step for change in opinion.changes), default=new.step)
        member.suspects = {step: one for step, one in member.suspects.items() if step < since}
        found = learning.fitted(
            self.model, self.data + new, member, member.noise.value, search, rescale, seed
        )
        if found is None:
            return self
        other = self._fitted(*found, rescale)
        again = other.weigh(new, other.forecast(new.x, new.time))
        under = search.under(member.temporal)
        own = self._log_evidence(under, new, opinion)
        return other if other._log_evidence(under, new, again) > own else self

    def _log_evidence(self, search: Search, new: Observation, opinion: Opinion) -> float:
        """The log density of the data and a new one, in the caller's units, and of the hyperparameters."""
        model, data = self.model, self.data
        evidence = starts.weigh(model, data, self.members).log_density
        prior = log_prior(model.kernel, Noise(model.noise_variance), search)
        unit = math.log(model.scaling.scale)
        total = evidence - len(data) * unit + prior + opinion.log_density
        if data.accuracy is not None or new.accuracy is not None:
            more = (data + new).accuracy
            assert more is not None
            total += opinion.update.scatter - float(more.evidence(1.0)[0].sum()) * unit
        return total

    def _permanent(self, model: Mixture, noise: NoiseEstimate, trusted: bool = True) -> list[Member]:
        """The permanent hypotheses anew, each with its own memory of outliers, unless that is not trusted."""
        members = starts.permanent(model, noise)
        before = self.members[: self.permanent]
        for number, member in enumerate(members if trusted else ()):
            # a season that is new thinks as whoever is believed
            member.suspects = (before[number] if number < len(before) else self.heaviest).suspects
        return members

    def centre(self, y: Array) -> MixtureSurrogate:
        """Take the offset and scale from these values, before there is enough to learn from."""
        model = replace(self.model, scaling=self.model.scaling.of_values(y))
        noise = NoiseEstimate.about(model.noise_variance, model.doubt)
        return self._afresh(model, self.data, starts.permanent(model, noise))

    # -- state ------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON: the model, the last fresh start, and the observations since."""
        found = saved.state(self.model, self._base, self._start, self._journal)
        return found if self.archive == NOTHING else {**found, "archive": self.archive.plain()}

    @staticmethod
    def restore(domain: Domain, model: Mixture, state: dict[str, Any]) -> MixtureSurrogate:
        """The surrogate that wrote the state, bit for bit."""
        found = saved.read(domain, model, state)
        starts.factor(model, found.base, found.members)
        archive = Archive.read(state["archive"], domain) if "archive" in state else NOTHING
        after = MixtureSurrogate(domain, model, found.base, found.members, found.weights, archive)
        for new in found.journal:
            after = after._with(new, after.weigh(new, after.forecast(new.x, new.time)).update)
        return after


def _numbers(points: Array) -> dict[bytes, int]:
    """The number of each candidate, by its coordinates."""
    return {(point + 0.0).tobytes(): number for number, point in enumerate(points)}


def _named(members: Sequence[Member], weights: Array) -> dict[str, float]:
    names = (
        member.label
        if not member.born
        else f"{CHANGED}{member.born}"
        if member.turn is None
        else f"{MOVED}{member.born}"
        for member in members
    )
    return dict(zip(names, weights.tolist(), strict=True))
