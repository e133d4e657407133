"""What a surrogate is: a model of the objective and the data it has seen, as a value.

`follow`, `restart`, `learn` and `centre` return another surrogate and leave this one as it is, to the last
bit, so that whoever fails on the way to the next one still has this one.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from windvane.accuracy import Accuracy
from windvane.checks import Array
from windvane.data import Change, Dataset, Observation, Opinion, Prediction
from windvane.surrogates.fit import Search


class Forecast(NamedTuple):
    """What is expected at a point before y is seen, in the caller's units, and what `weigh` can reuse."""

    prediction: Prediction
    projection: Any


class Surrogate(Protocol):
    """A belief about the objective in time; `y` is to be maximised, in the caller's units.

    Points are encoded, times on the model's axis. Hyperparameters are in `model`, observations in `data`.
    """

    @property
    def data(self) -> Dataset:
        """The observations in use."""
        ...

    @property
    def model(self) -> Any:
        """The hyperparameters in force, frozen; `model.surrogate(domain)` has seen nothing."""
        ...

    def forecast(self, x: Array, now: float, accuracy: Accuracy | None = None) -> Forecast:
        """What is expected at x, before y is seen; `accuracy` is what is known of its noise."""
        ...

    def weigh(self, new: Observation, forecast: Forecast) -> Opinion:
        """What to make of an observation that was forecast: nothing is changed."""
        ...

    def follow(self, data: Dataset, opinion: Opinion | None = None) -> Surrogate:
        """The surrogate of the old data less some, plus possibly the newest, about which the opinion is."""
        ...

    def restart(
        self, data: Dataset, opinion: Opinion | None = None, change: Change | None = None
    ) -> Surrogate:
        """The surrogate of these data after a reset: all else is believed to be out of date.

        `change` is what is believed to have happened, if anything is; the data are as it leaves them.
        """
        ...

    def learn(self, search: Search, rescale: bool, seed: int) -> Surrogate:
        """With hyperparameters, and the scaling of y if asked to, fitted to the data in use."""
        ...

    def reconsider(
        self, new: Observation, opinion: Opinion, search: Search, rescale: bool, seed: int
    ) -> Surrogate:
        """Before data are dropped: with other hyperparameters, if these explain the observation."""
        ...

    def centre(self, y: Array) -> Surrogate:
        """With the offset and scale of these values, before there is enough to learn from."""
        ...

    def posterior(self, now: float) -> Any:
        """The belief about f at `now`, in the model's units: what an acquisition is handed."""
        ...

    def predict(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and standard deviation of f at m points."""
        ...

    def scores(self, points: Array, now: float, level: float) -> Array:
        """z at m points: f is at least `level`, in the caller's units, with probability Phi(z).

        Unlike the probability, z can be interpolated, and tells far from farther.
        """
        ...

    def score_of(self, forecast: Forecast, level: float) -> float:
        """z at the point of a forecast, which has done the work."""
        ...

    def scores_on_candidates(self, now: float, level: float) -> Array:
        """The same on the candidates of its posterior, as those hypotheses see it that are acted upon."""
        ...

    def insight(self, points: Array, others: Array, now: float) -> Array:
        """Which share of the variance of f at k others an observation at each of m points resolves: m x k."""
        ...

    def alone(self, data: Dataset, observation: Observation) -> Prediction:
        """What the model in force, given `data` and nothing else, expects where an observation was made."""
        ...

    def carried(self, times: Array, now: float) -> Array:
        """How much of what was true at these times is believed to hold now, from 0 to 1."""
        ...

    def beliefs(self) -> dict[str, float]:
        """The weights of the hypotheses that it chooses between, by name, if there are any."""
        ...

    def stillness(self) -> float:
        """How much of the objective is believed to be the same ten steps later, contexts given: 0 to 1."""
        ...

    def information_gain(self) -> float:
        """1/2 ln det(I + K / s) of the data in use."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain JSON from which the surrogate is restored bit for bit."""
        ...
