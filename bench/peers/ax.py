"""Ax: its client, which chooses the models by itself."""

from __future__ import annotations

import logging

import torch
from ax.api.client import Client
from ax.api.configs import RangeParameterConfig

from peers import Bounds


class Trials:
    """A trial for every step."""

    def __init__(self, bounds: Bounds, seed: int) -> None:
        logging.disable(logging.INFO)
        torch.manual_seed(seed)
        self.client = Client(random_seed=seed)
        self.client.configure_experiment(
            parameters=[
                RangeParameterConfig(name=f"x{i}", parameter_type="float", bounds=side)
                for i, side in enumerate(bounds)
            ]
        )
        self.client.configure_optimization(objective="y")
        self.trial = 0

    def ask(self) -> list[float]:
        ((self.trial, point),) = self.client.get_next_trials(max_trials=1).items()
        return list(point.values())

    def tell(self, x: list[float], y: float) -> None:  # noqa: ARG002 - the trial knows its point
        self.client.complete_trial(trial_index=self.trial, raw_data={"y": y})


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Trials:  # noqa: ARG001 - it is not told the steps
    return Trials(bounds, seed)
