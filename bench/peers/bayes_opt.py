"""bayesian-optimization: suggest and register."""

from __future__ import annotations

from bayes_opt import BayesianOptimization

from peers import Bounds

RANDOM = 5  # the default of its maximize()


class Suggestions:
    """Its own loop, taken apart."""

    def __init__(self, bounds: Bounds, seed: int) -> None:
        self.names = [f"x{i}" for i in range(len(bounds))]
        self.optimizer = BayesianOptimization(
            f=None,
            pbounds=dict(zip(self.names, bounds, strict=True)),
            random_state=seed,
            verbose=0,
            allow_duplicate_points=True,
        )
        self.optimizer.set_gp_params(alpha=1e-3)
        self.random = self.optimizer.random_sample(RANDOM)

    def ask(self) -> list[float]:
        point = self.random.pop() if self.random else self.optimizer.suggest()
        return [float(point[name]) for name in self.names]

    def tell(self, x: list[float], y: float) -> None:
        self.optimizer.register(params=dict(zip(self.names, x, strict=True)), target=y)


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Suggestions:  # noqa: ARG001 - not told the steps
    return Suggestions(bounds, seed)
