"""The surrogate of an optimiser: a GP that follows a dataset, in the caller's units.

It is handed the dataset that the retention policy decided on and works out the cheapest way there:
append, drop, or start again. Rounding errors are measured and, when they can be, the factor is
made anew. The journal of what was done since the last fresh factorisation makes a restored
surrogate equal to the original bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, array, integer, real
from windvane.codec import component, decode, encode
from windvane.data import Dataset, Observation, Prediction
from windvane.errors import CorruptState
from windvane.kernels import Kernel, Static, Temporal
from windvane.spaces.base import Domain
from windvane.surrogates.candidates import candidate_cache
from windvane.surrogates.fit import Search, map_estimate
from windvane.surrogates.gp import GP, Projection
from windvane.surrogates.noise import Noise
from windvane.surrogates.posterior import Posterior
from windvane.surrogates.scaling import Scaling

DRIFT = 1e-9  # a factor whose measured error exceeds this is made anew
CHECK = 32  # operations between two measurements of the drift
REFRESH = 256  # drops between two fresh factorisations, at most


@component
@dataclass(frozen=True)
class Model:
    """The hyperparameters: k_S, k_T, the noise, and the scaling of y. Frozen; a fit makes a new one."""

    kernel: Kernel
    noise: Noise
    temporal: Temporal = field(default_factory=Static)
    scaling: Scaling = field(default_factory=Scaling)


class Forecast(NamedTuple):
    """A prediction in the caller's units, its log density for a value, and what an append can reuse."""

    prediction: Prediction
    projection: Projection


class Surrogate:
    """A `Model` and the data it has seen."""

    def __init__(self, domain: Domain, model: Model) -> None:
        self.domain = domain
        self._begin(model, Dataset.empty(domain.dim))

    def _begin(self, model: Model, data: Dataset) -> None:
        """A fresh factorisation of `data`: the journal starts here."""
        self.model = model
        self._gp = GP(
            model.kernel,
            model.noise,
            self.domain.dim,
            model.temporal,
            candidate_cache(self.domain, model.kernel),
        )
        self._fresh(data)

    def _fresh(self, data: Dataset) -> None:
        self.data = self._base = data
        self._journal: list[Observation | int] = []  # an appended observation, or the step of a dropped one
        self._drops = self._operations = 0
        self._allowed = DRIFT
        self._gp.replace(data.X, self.model.scaling.inward(data.y), data.times)

    # -- what it believes ----------------------------------------------------------------------------

    def posterior(self, now: float) -> Posterior:
        """The belief about f at `now`, in the model's units."""
        return Posterior(self._gp, now)

    def information_gain(self) -> float:
        """1/2 ln det(I + K / s) of the data in use."""
        return self._gp.information_gain()

    def log_evidence(self) -> float:
        """ln p(y | X, theta) of the data in use, in the model's units."""
        return self._gp.log_evidence()

    def forecast(self, x: Array, now: float) -> Forecast:
        """What is expected at x, before y is seen."""
        found = self._gp.project(x, now)
        offset, scale = self.model.scaling.offset, self.model.scaling.scale
        return Forecast(
            Prediction(
                offset + scale * found.mean,
                scale * math.sqrt(found.variance),
                scale * scale * self.model.noise.variance,
            ),
            found,
        )

    def predict(self, points: Array, now: float) -> tuple[Array, Array]:
        """Mean and standard deviation of f at m points, in the caller's units."""
        mean, variance = self._gp.at(points, now)
        scaling = self.model.scaling
        return scaling.offset + scaling.scale * mean, scaling.scale * np.sqrt(variance)

    # -- following the data ----------------------------------------------------------------------------

    def extend(self, data: Dataset, projection: Projection | None = None) -> None:
        """Take over the old dataset plus one new observation, the last row."""
        self._append(data[-1], projection)
        self.data = data
        self._settle()

    def follow(self, data: Dataset, projection: Projection | None = None) -> None:
        """Take over any dataset: the old one less some observations, plus a new one, or quite another."""
        old, new = self.data.steps, data.steps
        added = data.take(np.flatnonzero(~np.isin(new, old)))
        gone = old[~np.isin(old, new)]
        if len(gone) > max(2, len(new) // 8) or len(added) > 1 or (len(added) and added.steps[0] != new[-1]):
            self._fresh(data)
            return
        if len(added):
            self._append(added[0], projection)
            self.data += added[0]
        for step in gone:
            self._drop(int(step))
        self.data = data
        self._settle()

    def _append(self, new: Observation, projection: Projection | None) -> None:
        y = (new.y - self.model.scaling.offset) / self.model.scaling.scale
        self._gp.append(new.x, y, new.time, projection)
        self._journal.append(new)
        self._operations += 1

    def _drop(self, step: int) -> None:
        row = int(np.searchsorted(self.data.steps, step))
        self._gp.drop(row)
        self.data = self.data.take(np.flatnonzero(self.data.steps != step))
        self._journal.append(step)
        self._operations += 1
        self._drops += 1

    def _settle(self) -> None:
        """Make the factor anew if its error is measurable, or if the journal has grown long."""
        if self._drops >= REFRESH:
            self._fresh(self.data)
        elif self._operations % CHECK == 0 and len(self.data):
            drift = self._gp.drift(self._operations // CHECK % len(self.data))
            if drift > self._allowed:
                self._fresh(self.data)
                # an ill-conditioned matrix has some error even when fresh: do not chase it
                self._allowed = max(DRIFT, 10.0 * self._gp.drift(0))

    # -- learning ----------------------------------------------------------------------------------------

    def learn(self, search: Search, rescale: bool, seed: int) -> None:
        """Fit the hyperparameters to the data in use, and the scaling if asked to."""
        scaling = Scaling.of(self.data.y) if rescale else self.model.scaling
        data = (self.data.X, scaling.inward(self.data.y), self.data.times)
        found = map_estimate(self.model.kernel, self.model.temporal, self.model.noise, data, search, seed)
        self._begin(Model(found.kernel, found.noise, found.temporal, scaling), self.data)

    def centre(self) -> None:
        """Take the offset and scale of y from the data in use, before there is enough to learn from."""
        self._begin(replace(self.model, scaling=Scaling.of(self.data.y)), self.data)

    # -- state -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON: the model, the last fresh dataset, and what was done since."""
        journal = [entry if isinstance(entry, int) else plain(entry) for entry in self._journal]
        base = [plain(row) for row in self._base]
        return {"model": encode(self.model), "base": base, "journal": journal, "allowed": self._allowed}

    @staticmethod
    def restore(domain: Domain, state: dict[str, Any]) -> Surrogate:
        """The surrogate that wrote the state, bit for bit."""
        model = decode(state["model"])
        if not isinstance(model, Model):
            raise CorruptState("state: the surrogate's model is missing")
        surrogate = Surrogate(domain, model)
        base = Dataset.empty(domain.dim)
        for row in state["base"]:
            base += observation(row, domain)
        surrogate._fresh(base)
        surrogate._allowed = real("state(allowed)", state["allowed"], at_least=DRIFT)
        for entry in state["journal"]:
            if isinstance(entry, int):
                if entry not in surrogate.data.steps:
                    raise CorruptState(f"state: observation {entry} is dropped but was never there")
                surrogate._drop(entry)
            else:
                new = observation(entry, domain)
                surrogate._append(new, None)
                surrogate.data += new
        return surrogate


def plain(row: Observation) -> list[Any]:
    """An observation for JSON."""
    return [row.x.tolist(), row.y, row.time, row.step]


def observation(row: Any, domain: Domain) -> Observation:
    """An observation from JSON."""
    x, y, time, step = row
    return Observation(
        feasible("state(x)", x, domain),
        real("state(y)", y),
        real("state(time)", time),
        integer("state(step)", step, at_least=1),
    )


def feasible(name: str, x: Any, domain: Domain) -> Array:
    """An encoded point that the domain could have encoded."""
    point = array(name, x, (domain.dim,)) if domain.dim else np.empty(0)
    if not np.allclose(domain.snap(point[None, :])[0], point, rtol=0.0, atol=1e-9):
        raise CorruptState(f"{name}: {x!r} is not a point of this space")
    return point
