"""Models of the data in use: the user's function, and hyperparameters that stay once they are learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from botorch.models.gpytorch import GPyTorchModel
from botorch.models.model import Model as BoTorchModel
from botorch.models.model import ModelList
from gpytorch.likelihoods import FixedNoiseGaussianLikelihood
from torch import Tensor

from windvane.data import Dataset
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.botorch.plan import DTYPES, LoopPlan
from windvane.integrations.botorch.posterior import Model, moments

STREAM = 1_000_033  # so that a task or an optimiser with the same seed draws other numbers
MakeModel = Callable[[Tensor, Tensor], Model]


def entropy(*numbers: int) -> int:
    """A seed from a few numbers."""
    return int(np.random.SeedSequence((STREAM, *numbers)).generate_state(1)[0])


@contextmanager
def seeded(*numbers: int) -> Iterator[None]:
    """Torch draws from a generator of our own, and the caller's is as it was.

    >>> with seeded(1, 2):
    ...     one = torch.rand(1)
    >>> with seeded(1, 2):
    ...     same = torch.rand(1)
    >>> bool(one == same)
    True
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(entropy(*numbers))
        yield


class Models:
    """Builds models: each a function of the plan and of the observations, so that it can be built again."""

    def __init__(self, make_model: MakeModel, plan: LoopPlan, device: torch.device) -> None:
        self._make, self._plan = make_model, plan
        self._dtype, self._device = DTYPES[plan.dtype], device
        self._base: tuple[tuple[int, ...], Model] | None = (
            None  # the steps it has learned from, and the model
        )

    def tensor(self, values: Any) -> Tensor:
        """A tensor of the loop's own precision, where the bounds are."""
        return torch.tensor(np.asarray(values), dtype=self._dtype, device=self._device)

    def inputs(self, points: Any, times: Any) -> Tensor:
        """What the model calls X: n x d, with the time as one more column if the plan says so."""
        X = self.tensor(points)
        if not self._plan.time_column:
            return X
        stamps = self.tensor(np.broadcast_to(np.asarray(times, dtype=np.float64), (len(X),)))
        return torch.cat((X, stamps[:, None]), dim=1)

    def data(self, data: Dataset) -> tuple[Tensor, Tensor]:
        """X and Y of the observations; Y is n x 1, and the larger the better."""
        return self.inputs(data.X, data.times), self.tensor(data.y)[:, None]

    def build(self, data: Dataset) -> Model | None:
        """The user's model of these observations; None if they are fewer than it needs."""
        if len(data) < self._plan.initial:
            return None
        with seeded(self._plan.seed, int(data.steps[-1]) if len(data) else 0):
            model = self._make(*self.data(data))
            if isinstance(model, ModelList) and len(model.models) == 1:
                model = model.models[0]  # a list conditions each of its models in a way of its own
            if not hasattr(model, "posterior"):
                raise InvalidType(f"make_model: must return a BoTorch model, with a posterior; got {model!r}")
            if self._plan.learning and self._plan.freeze:
                _check_conditions(model)
            return self._settled(model)

    def build_frozen(self, data: Dataset, learned: int) -> Model:
        """What was learned from the observations up to step `learned`, conditioned on those after it."""
        first = data.take(np.flatnonzero(data.steps <= learned))
        later = data.take(np.flatnonzero(data.steps > learned))
        key = tuple(int(step) for step in first.steps)
        if self._base is None or self._base[0] != key:
            self._base = (key, self.build(first))
        base = self._base[1]
        if not len(later):
            return base
        with seeded(self._plan.seed, int(data.steps[-1])):
            return self._settled(_conditioned(base, *self.data(later)))

    def _settled(self, model: Model) -> Model:
        """Asked once, at the centre: GPyTorch fills its caches, and answers do not depend on their order."""
        centre = np.mean(self._plan.box.bounds, axis=1)
        with torch.no_grad():
            moments(model.posterior(self.inputs(centre[None], 1.0)))
        return model


def _conditioned(model: Model, X: Tensor, Y: Tensor) -> Model:
    options = {}
    if isinstance(getattr(model, "likelihood", None), FixedNoiseGaussianLikelihood):
        options["noise"] = torch.full_like(Y, float(model.likelihood.noise.mean()))  # in the model's units
    with torch.no_grad():
        return model.condition_on_observations(X, Y, **options)


def _check_conditions(model: Model) -> None:
    """Whether observations can be added to a model without fitting it again."""
    method = getattr(type(model), "condition_on_observations", None)
    exact = not isinstance(model, GPyTorchModel) or hasattr(model, "get_fantasy_model")
    if method is None or method is BoTorchModel.condition_on_observations or not exact:
        raise InvalidArgument(
            f"freeze=True: {type(model).__name__} has no condition_on_observations, so that what it learned "
            "cannot be kept while observations are added; freeze=False makes it anew at every step"
        )
