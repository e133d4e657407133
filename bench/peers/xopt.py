"""Xopt: the generator for objectives that depend on time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import torch
from xopt.generators.bayesian import TDUpperConfidenceBoundGenerator, time_dependent
from xopt.vocs import VOCS

from peers import Bounds

RANDOM = 2  # as in its example
SECONDS_A_STEP = 1.0


class Clock:
    """In place of the module `time`: a step of the task is a second, and computing takes none."""

    def __init__(self) -> None:
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Generator:
    """It predicts for a moment slightly ahead, and waits for it; then the value is observed."""

    def __init__(self, bounds: Bounds, seed: int) -> None:
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.clock = time_dependent.time = Clock()
        self.bounds = np.array(bounds)
        self.names = [f"x{i}" for i in range(len(bounds))]
        vocs = VOCS(
            variables={name: list(side) for name, side in zip(self.names, bounds, strict=True)},
            objectives={"y": "MAXIMIZE"},
        )
        self.generator = TDUpperConfidenceBoundGenerator(vocs=vocs)
        self.told = 0

    def ask(self) -> list[float]:
        self.clock.now = SECONDS_A_STEP * (self.told + 1)
        if self.told < RANDOM:
            return self.rng.uniform(*self.bounds.T).tolist()
        (point,) = self.generator.generate(1)
        return [float(point[name]) for name in self.names]

    def tell(self, x: list[float], y: float) -> None:
        row = {**dict(zip(self.names, x, strict=True)), "y": y, "time": self.clock.now}
        self.generator.add_data(pd.DataFrame([row]))
        self.told += 1


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Generator:  # noqa: ARG001 - not told the steps
    return Generator(bounds, seed)
