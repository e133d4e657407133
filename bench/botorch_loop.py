"""A plain BoTorch loop, and the same loop wrapped in an EventTriggeredLoop, on objectives that change.

Both have the same model, the same acquisition and the same optimiser; the plain one never resets. Two
models: one that is given kernel and noise, and a SingleTaskGP that is fitted at every step (the wrapped
loop fits while it learns, and then monitors). Needs the extra: pip install 'windvane[botorch]'.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import windvane as wv
from sections import stamp_of
from windvane.integrations.botorch import EventTriggeredLoop, given_model

# isort: split
from botorch.exceptions.warnings import OptimizationWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.utils.sampling import draw_sobol_samples
from gpytorch.mlls import ExactMarginalLogLikelihood


def fitted_model(X: torch.Tensor, Y: torch.Tensor) -> SingleTaskGP:
    """As BoTorch's documentation shows it."""
    model = SingleTaskGP(X, Y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def scan(acquisition: Any, bounds: torch.Tensor) -> torch.Tensor:
    """The best of 2,048 Sobol points, for both loops alike: quicker than a few ascents."""
    points = draw_sobol_samples(bounds, n=2048, q=1)
    with torch.no_grad():
        return points[acquisition(points).argmax()]


def tasks(horizon: int) -> dict[str, Callable[[int], Any]]:
    return {
        "drifts, rate 0.03": lambda seed: wv.task(
            "within-model", dim=2, rate=0.03, horizon=horizon, seed=seed
        ),
        "jumps twice": lambda seed: wv.task("jumps", count=2, horizon=horizon, seed=seed),
        "stands still": lambda seed: wv.task("within-model", dim=2, rate=0.0, horizon=horizon, seed=seed),
    }


def loops(task: Any, seed: int, fitted: bool) -> dict[str, EventTriggeredLoop]:
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    make_model = fitted_model if fitted else given_model(task.kernel, task.noise_variance)
    common = {"optimize": scan, "initial": 1 if fitted else 0, "seed": seed}
    return {
        "plain": EventTriggeredLoop(make_model, bounds, trigger=wv.Never(), **common),
        "wrapped": EventTriggeredLoop(make_model, bounds, learning=None if fitted else 0, **common),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--horizon", type=int, default=150)
    parser.add_argument("--model", choices=("given", "fitted"), help="only this one")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", category=OptimizationWarning)
    warnings.filterwarnings("ignore", "Optimization failed", RuntimeWarning)
    torch.set_num_threads(1)
    print(f"regret a step, mean of {given.seeds} seeds and {given.horizon} steps; resets of the wrapped loop")
    heads = f"{'plain':>7} {'wrapped':>8} {'ratio':>6} {'better':>7} {'resets':>7} {'ms/step':>8}"
    print(f"{'model':<8} {'task':<20} {heads}")
    for model in ("given", "fitted"):
        if given.model not in (None, model):
            continue
        for name, make_task in tasks(given.horizon).items():
            regret: dict[str, list[float]] = {"plain": [], "wrapped": []}
            resets, start = [], time.perf_counter()
            for seed in range(given.seeds):
                task = make_task(seed)
                for kind, loop in loops(task, seed, model == "fitted").items():
                    trace = wv.simulate(loop, task, seed=seed)
                    regret[kind].append(trace.average)
                    if kind == "wrapped":
                        resets.append(len(trace.resets))
            spent = 1e3 * (time.perf_counter() - start) / (2 * given.seeds * given.horizon)
            plain, wrapped = np.array(regret["plain"]), np.array(regret["wrapped"])
            print(
                f"{model:<8} {name:<20} {plain.mean():>7.3f} {wrapped.mean():>8.3f} "
                f"{wrapped.mean() / plain.mean():>6.2f} {np.sum(wrapped < plain):>4}/{given.seeds:<2} "
                f"{np.mean(resets):>7.1f} {spent:>8.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
    print(stamp_of("botorch-loop"))
