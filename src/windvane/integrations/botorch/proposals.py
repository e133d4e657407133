"""The asking half of a loop: from a model to the next point."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from botorch.acquisition import AcquisitionFunction
from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
from torch import Tensor

from windvane.acquisition import Moment
from windvane.errors import InvalidType
from windvane.integrations.botorch.acquisition import ConfidenceBound
from windvane.integrations.botorch.models import Models, entropy, seeded
from windvane.integrations.botorch.plan import LoopPlan
from windvane.integrations.botorch.points import read_point, sobol_point
from windvane.integrations.botorch.posterior import Model
from windvane.integrations.botorch.progress import LoopProgress

MakeAcquisition = Callable[[Model, Tensor, Tensor], Any]
Optimize = Callable[[Any, Tensor], Tensor]


class Proposals:
    """Points of the acquisition's choice: each a function of the plan, the model and the progress."""

    def __init__(
        self, plan: LoopPlan, models: Models, make_acquisition: MakeAcquisition | None, optimize: Optimize
    ) -> None:
        if make_acquisition is not None and not callable(make_acquisition):
            raise InvalidType(f"make_acquisition={make_acquisition!r}: must be a function of (model, X, Y)")
        if not callable(optimize):
            raise InvalidType(f"optimize={optimize!r}: must be a function of (acquisition, bounds)")
        self._plan, self._models = plan, models
        self._make_acquisition, self._optimize = make_acquisition, optimize
        self._bounds = models.tensor(np.array(plan.box.bounds).T)

    def next(self, model: Model | None, progress: LoopProgress, now: float) -> Tensor:
        """The point to evaluate; one of a Sobol sequence if there is nothing to choose by."""
        if model is None or not len(progress.data):
            seed = entropy(self._plan.seed)
            return self._models.tensor(sobol_point(self._plan.box, seed, progress.step))
        with seeded(self._plan.seed, progress.step):
            return self._largest(self._acquisition(model, progress), now)

    def best(self, model: Model, progress: LoopProgress, now: float) -> Tensor:
        """The maximiser of the posterior mean."""
        with seeded(self._plan.seed, progress.step):
            return self._largest(ConfidenceBound(model, 0.0), now)

    def _acquisition(self, model: Model, progress: LoopProgress) -> Any:
        if self._make_acquisition is None:
            moment = Moment(progress.step, progress.elapsed, self._plan.box.dim, lambda: math.nan)
            return ConfidenceBound(model, self._plan.beta.multiplier(moment) ** 2)
        made = self._make_acquisition(model, *self._models.data(progress.data))
        if not isinstance(made, AcquisitionFunction):
            raise InvalidType(f"make_acquisition: must return a BoTorch AcquisitionFunction, got {made!r}")
        return made

    def _largest(self, acquisition: Any, now: float) -> Tensor:
        dim = self._plan.box.dim
        if self._plan.time_column:
            acquisition = FixedFeatureAcquisitionFunction(acquisition, dim + 1, [dim], [now])
        found = self._optimize(acquisition, self._bounds)
        return self._models.tensor(read_point("optimize", found, self._plan.box))
