"""The default acquisition, for any model with a posterior, and how any acquisition is maximised."""

from __future__ import annotations

import math
from typing import Any

from botorch.acquisition import AcquisitionFunction
from botorch.optim import optimize_acqf
from botorch.utils.transforms import t_batch_mode_transform
from torch import Tensor

from windvane.checks import real
from windvane.integrations.botorch.posterior import Model, moments

RESTARTS, RAW_SAMPLES = 8, 256


class ConfidenceBound(AcquisitionFunction):  # type: ignore[misc]
    """mean + sqrt(beta) std, Alg. 1, line 5: for Gaussian, fully Bayesian and ensemble posteriors alike.

    It needs no best value so far, which on an objective that changes is out of date.

    >>> import torch
    >>> from botorch.models import SingleTaskGP
    >>> model = SingleTaskGP(torch.rand(5, 2).double(), torch.rand(5, 1).double())
    >>> ConfidenceBound(model, beta=2.0)(torch.rand(7, 1, 2).double()).shape
    torch.Size([7])
    """

    def __init__(self, model: Model, beta: float) -> None:
        super().__init__(model=model)
        self.multiplier = math.sqrt(real("beta", beta, at_least=0.0))

    @t_batch_mode_transform(expected_q=1)  # type: ignore[untyped-decorator]
    def forward(self, X: Tensor) -> Tensor:
        """The bound at each of b x 1 x d points."""
        mean, variance = moments(self.model.posterior(X))
        # away from zero, where the root has no derivative
        bound: Tensor = mean + self.multiplier * variance.clamp_min(1e-12).sqrt()
        return bound[..., 0, 0]


def maximize(acquisition: Any, bounds: Tensor) -> Tensor:
    """The point, 1 x d, at which an acquisition is largest: 8 ascents from the best of 256 points."""
    found, _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
    return found.clamp(bounds[0], bounds[1])
