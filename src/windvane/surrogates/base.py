"""What a surrogate is: a model and the data it has seen, as a value."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from windvane.checks import Array
from windvane.data import Dataset, Observation, Opinion, Prediction
from windvane.surrogates.fit import Search


class Forecast(NamedTuple):
    """A prediction in the caller's units, and what the surrogate can use again when it is told."""

    prediction: Prediction
    projection: Any


class Surrogate(Protocol):
    """A model and the data it has seen.

    A value: `follow`, `restart`, `learn` and `centre` give another one, and nothing that this one reads is
    changed. So a step that fails half way leaves nothing behind.
    """

    @property
    def data(self) -> Dataset:
        """The observations in use."""
        ...

    @property
    def model(self) -> Any:
        """The hyperparameters in force."""
        ...

    def forecast(self, x: Array, now: float) -> Forecast:
        """What is expected at x, before y is seen."""
        ...

    def weigh(self, new: Observation, forecast: Forecast) -> Opinion:
        """What it makes of an observation; pure."""
        ...

    def follow(self, data: Dataset, opinion: Opinion | None = None) -> Surrogate:
        """With the old dataset less some observations, plus possibly the newest."""
        ...

    def restart(self, data: Dataset, opinion: Opinion | None = None) -> Surrogate:
        """After a reset: with these data, and nothing else."""
        ...

    def alone(self, data: Dataset, observation: Observation) -> Prediction:
        """What would be expected of an observation if `data` were all there is."""
        ...

    def learn(self, search: Search, rescale: bool, seed: int) -> Surrogate:
        """With hyperparameters fitted to the data in use, and the scaling of y if asked to."""
        ...

    def centre(self, y: Array) -> Surrogate:
        """With the offset and scale of these values, before there is enough to learn from."""
        ...

    def posterior(self, now: float) -> Any:
        """The belief about f at `now`: all that an acquisition is handed."""
        ...

    def predict(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and standard deviation of f at m points, in the caller's units."""
        ...

    def information_gain(self) -> float:
        """1/2 ln det(I + K / s) of the data in use."""
        ...

    def beliefs(self) -> dict[str, float]:
        """The weights of the hypotheses it chooses between, by name, if there are any."""
        ...

    def state(self) -> dict[str, Any]:
        """Plain JSON."""
        ...
