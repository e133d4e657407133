"""BoTorch: the loop of its front page, a model fitted afresh at every step."""

from __future__ import annotations

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from peers import Bounds

RANDOM = 10


class Loop:
    """Fit, build the acquisition function, maximise it."""

    def __init__(self, variant: str, bounds: Bounds, seed: int) -> None:
        torch.manual_seed(seed)
        self.variant = variant
        self.bounds = torch.tensor(bounds, dtype=torch.double).T
        self.X: list[np.ndarray] = []
        self.y: list[float] = []

    def ask(self) -> np.ndarray:
        low, high = self.bounds
        if len(self.y) < RANDOM:
            return (low + (high - low) * torch.rand(len(low), dtype=torch.double)).numpy()
        X, y = torch.tensor(np.array(self.X)), torch.tensor(self.y, dtype=torch.double)[:, None]
        model = SingleTaskGP(
            X,
            y,
            input_transform=Normalize(d=len(low), bounds=self.bounds),
            outcome_transform=Standardize(m=1),
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        if self.variant == "ucb":
            acquisition = UpperConfidenceBound(model, beta=0.1)
        else:
            acquisition = LogExpectedImprovement(model, best_f=y.max())
        found, _ = optimize_acqf(acquisition, bounds=self.bounds, q=1, num_restarts=5, raw_samples=20)
        return found[0].numpy()

    def tell(self, x: np.ndarray, y: float) -> None:
        self.X.append(x)
        self.y.append(y)


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Loop:  # noqa: ARG001 - it is not told the steps
    return Loop(variant, bounds, seed)
