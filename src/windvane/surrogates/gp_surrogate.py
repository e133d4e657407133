"""A Gaussian process that follows a dataset, in the caller's units.

It is handed the dataset that the retention policy decided on and works out the cheapest way there:
append, drop, or start again. Rounding errors are measured and, when they can be, the factor is
made anew. The journal of what was done since the last fresh factorisation makes a restored
surrogate equal to the original bit for bit. Where noise grows with age there is no journal: the factor
is then a function of the data.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from windvane.accuracy import Accuracy
from windvane.checks import Array, integer, real
from windvane.codec import encode
from windvane.data import Change, Dataset, Observation, Opinion, Prediction
from windvane.errors import CorruptState
from windvane.spaces.base import Domain
from windvane.surrogates.base import Forecast
from windvane.surrogates.buffers import twin
from windvane.surrogates.candidates import candidate_cache
from windvane.surrogates.fit import Search, fit_data, map_estimate, representative
from windvane.surrogates.gp import GP, Projection
from windvane.surrogates.influence import kept
from windvane.surrogates.posterior import Posterior, resolved, score_above
from windvane.surrogates.state import dataset, observation, plain

if TYPE_CHECKING:
    from windvane.surrogates.model import Model

DRIFT = 1e-9  # a factor whose measured error exceeds this is made anew
CHECK = 32  # operations between two measurements of the drift
REFRESH = 256  # drops between two fresh factorisations, at most
THOROUGH = 0.1  # new observations, as a part of those in use, between two fits from all starts


class GPSurrogate:
    """A `Model` and the data it has seen: a value, see `surrogates.base`.

    >>> from windvane.kernels import RBF
    >>> from windvane.spaces import Box
    >>> from windvane.surrogates import Model, Noise
    >>> before = Model(RBF(0.2), Noise(0.01)).surrogate(Box([(0, 1)]))
    >>> after = before.follow(before.data + Observation(np.array([0.5]), 1.0, 1.0, 1))
    >>> len(before.data), len(after.data)
    (0, 1)
    """

    def __init__(self, domain: Domain, model: Model, data: Dataset | None = None) -> None:
        self.domain, self.model = domain, model
        self._searched = 0  # the step after which all starts of a fit were tried last
        self._start(Dataset.empty(domain.dim) if data is None else data)

    def _start(self, data: Dataset) -> None:
        """A fresh factorisation of `data`: the journal starts here."""
        model, cache = self.model, candidate_cache(self.domain, self.model.kernel, len(data))
        self._gp = GP(model.kernel, model.noise, self.domain.dim, model.temporal, cache)
        self.data = self._base = data
        self._journal: tuple[
            Observation | int, ...
        ] = ()  # what was appended, or the step of what was dropped
        self._drops = self._operations = 0
        self._allowed = DRIFT
        self._gp.replace(data.X, model.scaling.inward(data.y), data.times, model.noises(data))

    def _copy(self) -> GPSurrogate:
        """What the successor is made of: it may be changed, and this one does not notice."""
        other = twin(self)
        other._gp = self._gp.copy()
        return other

    # -- what it believes ----------------------------------------------------------------------------

    def posterior(self, now: float) -> Posterior:
        """The belief about f at `now`, in the model's units."""
        return Posterior(self._gp, now)

    def carried(self, times: Array, now: float) -> Array:
        """The correlation of f then and f now."""
        return self.model.temporal.correlation(times, now)

    def beliefs(self) -> dict[str, float]:
        """There is one hypothesis, and it is not in doubt."""
        return {}

    def stillness(self) -> float:
        """As its kernel says."""
        return kept(self.model.temporal)

    def information_gain(self) -> float:
        """1/2 ln det(I + K / s) of the data in use."""
        return self._gp.information_gain()

    def forecast(self, x: Array, now: float, accuracy: Accuracy | None = None) -> Forecast:
        """What is expected at x, before y is seen."""
        found = self._gp.project(x, now)
        return Forecast(self._prediction(found, x, accuracy), found)

    def weigh(self, new: Observation, forecast: Forecast) -> Opinion:
        """How likely the observation was; `follow` reuses the projection."""
        return Opinion(forecast.prediction.log_density(new.y), update=forecast.projection)

    def predict(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and standard deviation of f at m points, in the caller's units."""
        mean, variance = self._gp.at(points, now)
        scaling = self.model.scaling
        return scaling.offset + scaling.scale * mean, scaling.scale * np.sqrt(variance)

    def scores(self, points: Array, now: float, level: float) -> Array:
        """z at m points: f is at least `level`, in the caller's units, with probability Phi(z)."""
        return score_above(*self._gp.at(points, now), self.model.scaling.inward(level))

    def score_of(self, forecast: Forecast, level: float) -> float:
        """z at the point of a forecast."""
        found, inward = forecast.projection, self.model.scaling.inward(level)
        return float(score_above(np.array(found.mean), np.array(found.variance), inward))

    def scores_on_candidates(self, now: float, level: float) -> Array:
        """The same on the candidates."""
        return score_above(*self._gp.on_candidates(now), self.model.scaling.inward(level))

    def insight(self, points: Array, others: Array, now: float) -> Array:
        """Which share of the variance of f at k others one observation at each of m points resolves."""
        return resolved(self.posterior(now), points, others, self.model.noise_variance)

    def alone(self, data: Dataset, observation: Observation) -> Prediction:
        """What the model in force, given `data` and nothing else, expects where an observation was made."""
        model = self.model
        gp = GP(model.kernel, model.noise, self.domain.dim, model.temporal)
        gp.replace(data.X, model.scaling.inward(data.y), data.times, model.noises(data))
        found = gp.project(observation.x, observation.time)
        return self._prediction(found, observation.x, observation.accuracy)

    def _prediction(self, found: Projection, x: Array, accuracy: Accuracy | None) -> Prediction:
        offset, scale = self.model.scaling.offset, self.model.scaling.scale
        return Prediction(
            offset + scale * found.mean,
            scale * math.sqrt(found.variance),
            scale * scale * self.model.noise_of(x, accuracy),
        )

    # -- following the data ----------------------------------------------------------------------------

    def follow(self, data: Dataset, opinion: Opinion | None = None) -> GPSurrogate:
        """The surrogate of any data: the old ones less some, plus a new one, or quite others."""
        old, new = self.data.steps, data.steps
        projection: Projection | None = None if opinion is None else opinion.update
        following = self._copy()
        if len(new) == len(old) + 1 and new[:-1].tobytes() == old.tobytes():
            following._append(data[-1], projection)
        else:
            added = np.flatnonzero(~np.isin(new, old))
            gone = old[~np.isin(old, new)]
            newest = not len(added) or (len(added) == 1 and added[0] == len(new) - 1)
            if not newest or len(gone) > max(2, len(new) // 8):
                following._start(data)
                return following
            if len(added):
                following._append(data[-1], projection)
                following.data = self.data + data[-1]
            for step in gone:
                following._drop(int(step))
        following.data = data
        following._settle()
        return following

    def restart(
        self,
        data: Dataset,
        opinion: Opinion | None = None,
        change: Change | None = None,  # noqa: ARG002
    ) -> GPSurrogate:
        """The surrogate of these data after a reset: a single model has nothing else to forget."""
        return self.follow(data, opinion)

    def _append(self, new: Observation, projection: Projection | None) -> None:
        y = self.model.scaling.inward(new.y)
        self._gp.append(new.x, y, new.time, projection, self.model.noise_of(new.x, new.accuracy))
        self._journal = (*self._journal, new)
        self._operations += 1

    def _drop(self, step: int) -> None:
        self._gp.drop(int(np.searchsorted(self.data.steps, step)))
        self.data = self.data.take(np.flatnonzero(self.data.steps != step))
        self._journal = (*self._journal, step)
        self._operations += 1
        self._drops += 1

    def _settle(self) -> None:
        """Make the factor anew if its error is measurable, or if the journal has grown long."""
        if self.model.noise.ages:  # it is made anew for every moment
            self._base, self._journal = self.data, ()
        elif self._drops >= REFRESH:
            self._start(self.data)
        elif self._operations % CHECK == 0 and len(self.data):
            drift = self._gp.drift(self._operations // CHECK % len(self.data))
            if drift > self._allowed:
                self._start(self.data)
                # an ill-conditioned matrix has some error even when fresh: do not chase it
                self._allowed = max(DRIFT, 10.0 * self._gp.drift(0))

    # -- learning ----------------------------------------------------------------------------------------

    def learn(self, search: Search, rescale: bool, seed: int) -> GPSurrogate:
        """With hyperparameters, and the scaling of y if asked to, fitted to the data in use.

        Of more than `fit.MOST` data, to those that `fit.representative` chooses. All starts of the search
        are tried once there are a tenth more data than when they were tried last; until then only the
        one where the hyperparameters stand.
        """
        model, latest = self.model, int(self.data.steps[-1])
        scaling = model.scaling
        if rescale:
            scaling = scaling.of_values(self.data.y, self.data.accuracy)
        some = self.data.take(representative(len(self.data)))
        data = fit_data(some, scaling, model.kernel)
        thorough = latest - self._searched >= THOROUGH * len(self.data)
        chosen = search if thorough else replace(search, starts=1)
        found = map_estimate(model.kernel, model.temporal, model.noise, data, chosen, seed)
        learned = self._remodelled(
            replace(model, kernel=found.kernel, noise=found.noise, temporal=found.temporal, scaling=scaling)
        )
        if thorough:
            learned._searched = latest
        return learned

    def reconsider(
        self, new: Observation, opinion: Opinion, search: Search, rescale: bool, seed: int
    ) -> GPSurrogate:
        """Itself: a trigger looks for what a fit would explain away (Section 6.3)."""
        del new, opinion, search, rescale, seed
        return self

    def centre(self, y: Array) -> GPSurrogate:
        """With the offset and scale of these values, before there is enough to learn from."""
        return self._remodelled(replace(self.model, scaling=self.model.scaling.of_values(y)))

    def _remodelled(self, model: Model) -> GPSurrogate:
        other = GPSurrogate(self.domain, model, self.data)
        other._searched = self._searched
        return other

    # -- state -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON: the model, the last fresh dataset, and what was done since."""
        journal = [entry if isinstance(entry, int) else plain(entry) for entry in self._journal]
        base = [plain(row) for row in self._base]
        state = {"model": encode(self.model), "base": base, "journal": journal, "allowed": self._allowed}
        if self._searched:  # else left out, as in the states of versions that always tried all starts
            state["searched"] = self._searched
        return state

    @staticmethod
    def restore(domain: Domain, model: Model, state: dict[str, Any]) -> GPSurrogate:
        """The surrogate that wrote the state, bit for bit."""
        surrogate = GPSurrogate(domain, model, dataset(state["base"], domain))
        surrogate._allowed = real("state(allowed)", state["allowed"], at_least=DRIFT)
        surrogate._searched = integer("state(searched)", state.get("searched", 0), at_least=0)
        for entry in state["journal"]:
            if isinstance(entry, int):
                if entry not in surrogate.data.steps:
                    raise CorruptState(f"state: observation {entry} is dropped but was never there")
                surrogate._drop(entry)
            else:
                new = observation(entry, domain)
                surrogate._append(new, None)
                surrogate.data += new
        if model.noise.ages:  # older states have a journal all the same
            surrogate._settle()
        return surrogate
