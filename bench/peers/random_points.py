"""Points drawn uniformly: what costs nothing and learns nothing."""

from __future__ import annotations

import numpy as np

from peers import Bounds


class Uniform:
    """It does not listen."""

    def __init__(self, bounds: Bounds, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.sides = np.array(bounds).T

    def ask(self) -> np.ndarray:
        return self.rng.uniform(*self.sides)

    def tell(self, x: np.ndarray, y: float) -> None: ...


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Uniform:  # noqa: ARG001 - there is one variant
    return Uniform(bounds, seed)
