"""W-DBO as its authors publish it, used as in their example."""

from __future__ import annotations

import gpytorch
import numpy as np
import torch
from wdbo_algo.optimizer import WDBOOptimizer

from peers import Bounds

DURATION = 4.0  # of the example, in its own unit of time


class Timed:
    """Ask at a moment, tell, and clean."""

    def __init__(self, bounds: Bounds, steps: int, seed: int) -> None:
        np.random.seed(seed)  # noqa: NPY002 - the package draws from the global generator
        torch.manual_seed(seed)
        torch.set_default_dtype(torch.float64)
        matern = gpytorch.kernels.MaternKernel
        self.bounds = np.array(bounds)
        self.optimizer = WDBOOptimizer(self.bounds, matern, matern, [2.5], [2.5])
        self.apart = DURATION / steps
        self.now = 0.0

    def ask(self) -> np.ndarray:
        return np.clip(self.optimizer.next_query(self.now), *self.bounds.T)

    def tell(self, x: np.ndarray, y: float) -> None:
        self.optimizer.tell(x, self.now, y)
        self.optimizer.clean(self.now)
        self.now += self.apart


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Timed:  # noqa: ARG001 - there is one variant
    return Timed(bounds, steps, seed)
