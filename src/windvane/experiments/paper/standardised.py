"""Values standardised at every step, given the data in use: what the paper does on standard benchmarks.

Windvane standardises whenever hyperparameters are learned, and while it monitors it leaves the units alone,
so that a trigger compares like with like. Appendix A.4 standardises at each time step, so here that is put on
top of any algorithm that has a single GP.
"""

from __future__ import annotations

from typing import Any

from windvane.algorithms import make
from windvane.optimizer import Optimizer
from windvane.spaces.base import Domain
from windvane.surrogates import Learning

NAME = f"{__name__}:standardised"
LEAST = 2  # observations that have a standard deviation


class Standardised:
    """An optimiser whose values have mean 0 and variance 1 after every step."""

    goal = "maximize"

    def __init__(self, optimizer: Optimizer) -> None:
        self.inner = optimizer

    def ask(self) -> Any:
        """The next point."""
        return self.inner.ask()

    def tell(self, x: Any, y: float) -> Any:
        """The event of this step; the units are set again after it."""
        event = self.inner.tell(x, y)
        progress = self.inner._progress
        surrogate = progress.surrogate
        if len(surrogate.data) >= LEAST:
            self.inner._progress = progress._replace(surrogate=surrogate.centre(surrogate.data.y))
        return event


def standardised(
    space: Domain,
    *,
    seed: int,
    algorithm: str,
    learning: Learning,
    rate: float | None = None,
    horizon: int | None = None,
) -> Standardised:
    """The algorithm of that name, standardised; `horizon` is for the one whose period depends on it."""
    options: dict[str, Any] = {} if rate is None else {"rate": rate}
    if algorithm == "r-gp-ucb":
        options["horizon"] = horizon
    return Standardised(make(algorithm, space, seed=seed, learning=learning, **options))
