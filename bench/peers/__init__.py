"""The peers: who they are, and how each is set up. One file an adapter; this one imports none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import Any, Protocol

Bounds = Sequence[tuple[float, float]]


class Adapter(Protocol):
    """What a peer looks like from here; larger values are better."""

    def ask(self) -> Any: ...

    def tell(self, x: Any, y: float, /) -> Any: ...


@dataclass(frozen=True)
class Peer:
    """A row of the table: where the adapter is, what was installed for it, and how it is set up."""

    label: str
    module: str
    variant: str
    distribution: str
    setup: str
    slow: bool = False  # a second a step or more: it gets one task a seed, in turn, where others get all four

    def version(self) -> str:
        return metadata.version(self.distribution)

    def make(self, bounds: Bounds, steps: int, seed: int) -> Adapter:
        """A fresh optimiser of the box, told nothing but the number of steps where it insists."""
        adapter: Adapter = import_module(f"peers.{self.module}").make(self.variant, bounds, steps, seed)
        return adapter


BOTORCH = (
    "`SingleTaskGP` with `Normalize` and `Standardize`, `fit_gpytorch_mll` at every step, {}, "
    "`optimize_acqf` with `num_restarts=5, raw_samples=20`, double precision, 10 random points first: "
    "the example on its front page"
)

LEFT_OUT = {"HEBO": "0.3.6 needs NumPy below 1.25, and Windvane 2 or newer"}

PEERS: dict[str, Peer] = {
    "auto": Peer("Windvane `auto`", "windvane", "auto", "windvane", "`wv.make(space, seed=seed)`"),
    "et-gp-ucb": Peer(
        "Windvane `et-gp-ucb`",
        "windvane",
        "et-gp-ucb",
        "windvane",
        '`wv.make("et-gp-ucb", space, seed=seed)`',
    ),
    "botorch-logei": Peer(
        "BoTorch, LogEI", "botorch", "logei", "botorch", BOTORCH.format("`LogExpectedImprovement`")
    ),
    "botorch-ucb": Peer(
        "BoTorch, UCB",
        "botorch",
        "ucb",
        "botorch",
        "as above, with `UpperConfidenceBound(beta=0.1)` of the same page in its earlier form",
    ),
    "ax": Peer(
        "Ax",
        "ax",
        "default",
        "ax-platform",
        "`Client` with its own generation strategy (Sobol points, then BoTorch)",
        slow=True,
    ),
    "optuna-gp": Peer("Optuna, GPSampler", "optuna", "gp", "optuna", "`GPSampler(seed=seed)`, ask and tell"),
    "optuna-tpe": Peer(
        "Optuna, TPESampler", "optuna", "tpe", "optuna", "`TPESampler(seed=seed)`, Optuna's default sampler"
    ),
    "bayesian-optimization": Peer(
        "bayesian-optimization",
        "bayes_opt",
        "default",
        "bayesian-optimization",
        "its default UCB (`kappa=2.576`) after 5 random points, `alpha=1e-3` as in its guide (the default, "
        "1e-6, is for exact values), `allow_duplicate_points=True` (asking a point twice fails otherwise)",
    ),
    "scikit-optimize": Peer(
        "scikit-optimize", "skopt", "default", "scikit-optimize", "`Optimizer(bounds)`: GP, `gp_hedge`"
    ),
    "smac": Peer(
        "SMAC",
        "smac",
        "default",
        "smac",
        "`BlackBoxFacade`, ask and tell; values are noisy by default, so it asks for good points again, up "
        "to three times each, and such a step costs it nothing",
        slow=True,
    ),
    "xopt": Peer(
        "Xopt, time-dependent",
        "xopt",
        "default",
        "xopt",
        "`TDUpperConfidenceBoundGenerator(vocs)` after 2 random points; a step of the task is a second of "
        "its clock, which stands still while it computes",
        slow=True,
    ),
    "w-dbo": Peer(
        "W-DBO, its authors'",
        "wdbo",
        "default",
        "wdbo-algo",
        "`WDBOOptimizer` with Matérn 5/2 kernels in space and time, 15 random points, `alpha=0.25`; a run "
        "takes 4 of its units of time: all as in its example",
        slow=True,
    ),
    "random": Peer(
        "random points",
        "random_points",
        "default",
        "numpy",
        "uniform in the box; learns nothing",
    ),
}
