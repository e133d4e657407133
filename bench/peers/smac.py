"""SMAC: the facade for black boxes, which minimises."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from ConfigSpace import ConfigurationSpace
from smac import BlackBoxFacade, Scenario
from smac.runhistory.dataclasses import TrialInfo, TrialValue

from peers import Bounds


class Trials:
    """A trial for every step; the folder it insists on goes away with it."""

    def __init__(self, bounds: Bounds, steps: int, seed: int) -> None:
        self.folder = TemporaryDirectory()
        space = ConfigurationSpace({f"x{i}": side for i, side in enumerate(bounds)}, seed=seed)
        self.names = [f"x{i}" for i in range(len(bounds))]
        scenario = Scenario(space, n_trials=steps, seed=seed, output_directory=Path(self.folder.name))
        self.facade = BlackBoxFacade(scenario, never_called, overwrite=True, logging_level=False)
        self.trial: TrialInfo | None = None

    def ask(self) -> list[float]:
        self.trial = self.facade.ask()
        return [float(self.trial.config[name]) for name in self.names]

    def tell(self, x: list[float], y: float) -> None:  # noqa: ARG002 - the trial knows its point
        self.facade.tell(self.trial, TrialValue(cost=-y))


def never_called(config: object, seed: int = 0) -> float:
    """The facade wants a function, and with ask and tell does not use it."""
    raise RuntimeError(f"called with {config}, {seed}")


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Trials:  # noqa: ARG001 - there is one variant
    return Trials(bounds, steps, seed)
