"""scikit-optimize: its Optimizer, which minimises."""

from __future__ import annotations

from skopt import Optimizer

from peers import Bounds


class Negated:
    """What is to be maximised, for one that minimises."""

    def __init__(self, bounds: Bounds, seed: int) -> None:
        self.optimizer = Optimizer(list(bounds), random_state=seed)

    def ask(self) -> list[float]:
        return list(self.optimizer.ask())

    def tell(self, x: list[float], y: float) -> None:
        self.optimizer.tell(x, -y)


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Negated:  # noqa: ARG001 - it is not told the steps
    return Negated(bounds, seed)
