"""Optuna: a study in memory, ask and tell."""

from __future__ import annotations

import optuna
from optuna.distributions import FloatDistribution

from peers import Bounds

SAMPLERS = {"gp": optuna.samplers.GPSampler, "tpe": optuna.samplers.TPESampler}


class Trials:
    """A trial for every step."""

    def __init__(self, variant: str, bounds: Bounds, seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.study = optuna.create_study(direction="maximize", sampler=SAMPLERS[variant](seed=seed))
        self.space = {f"x{i}": FloatDistribution(*side) for i, side in enumerate(bounds)}
        self.trial: optuna.Trial | None = None

    def ask(self) -> list[float]:
        self.trial = self.study.ask(self.space)
        return [self.trial.params[name] for name in self.space]

    def tell(self, x: list[float], y: float) -> None:  # noqa: ARG002 - the trial knows its point
        self.study.tell(self.trial, y)


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Trials:  # noqa: ARG001 - it is not told the steps
    return Trials(variant, bounds, seed)
