"""Optuna: a study in memory, ask and tell."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import optuna
from optuna.distributions import FloatDistribution

from peers import Bounds
from windvane.constraints import Constraint

SAMPLERS = {"gp": optuna.samplers.GPSampler, "tpe": optuna.samplers.TPESampler}


class Trials:
    """A trial for every step."""

    def __init__(self, variant: str, bounds: Bounds, seed: int, **options: Any) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = SAMPLERS[variant](seed=seed, **options)
        self.study = optuna.create_study(direction="maximize", sampler=sampler)
        self.space = {f"x{i}": FloatDistribution(*side) for i, side in enumerate(bounds)}
        self.trial: optuna.Trial | None = None

    def ask(self) -> list[float]:
        self.trial = self.study.ask(self.space)
        return [self.trial.params[name] for name in self.space]

    def tell(self, x: list[float], y: float) -> None:  # noqa: ARG002 - the trial knows its point
        self.study.tell(self.trial, y)


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Trials:  # noqa: ARG001 - it is not told the steps
    return Trials(variant, bounds, seed)


class Limited(Trials):
    """With `constraints_func`, which returns by how much each quantity is beyond its limit.

    Optuna 5 warns that it will be removed for `Trial.set_constraint`, with which the same points are asked.
    """

    def __init__(
        self, variant: str, bounds: Bounds, constraints: Mapping[str, Constraint], seed: int
    ) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "`constraints_func`", FutureWarning)
            super().__init__(variant, bounds, seed, constraints_func=_excess)
        self.constraints = constraints

    def tell(self, x: list[float], y: float, **outcomes: float) -> None:
        assert self.trial is not None
        beyond = [-constraint.margin(outcomes[name]) for name, constraint in self.constraints.items()]
        self.trial.set_user_attr("excess", beyond)
        super().tell(x, y)


def _excess(trial: optuna.trial.FrozenTrial) -> Sequence[float]:
    return tuple(trial.user_attrs["excess"])
