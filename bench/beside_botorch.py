"""Windvane beside BoTorch, in one run, on the same posteriors: the first part of `make bench`.

First Windvane runs its loop; then BoTorch is taken through the same data, so that at every step both
had the same data, kernel, noise and beta, and were asked for the maximiser of mu + sqrt(beta) sigma.
(One after the other: a program runs one optimiser, and neither should pay for the other's cold caches.
Windvane's loop takes a fraction of a second, in which a busy machine can do anything; it is run five
times, and each step counts with its median. Times are of the processor, in one thread: what other
programs do meanwhile counts for neither.)
BoTorch is used as its documentation shows: a fixed-noise SingleTaskGP,
UpperConfidenceBound, optimize_acqf with 10 restarts and 512 raw samples in double precision. What is
timed is ask + tell: for BoTorch building the model, maximising and, with a trigger, one posterior.
Both points are valued by the same exact posterior, outside the timed part.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import botorch
import gpytorch
import numpy as np
import torch
from botorch.acquisition import UpperConfidenceBound
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf

import windvane as wv
from peers.page import replace
from sections import stamp_of

NOISE = 0.02
REPEATS = 5


class DriftingSum:
    """Random Fourier features whose weights follow the Markov chain of Assumption 2."""

    def __init__(self, dim: int, lengthscale: float, rate: float, seed: int, features: int = 512) -> None:
        self.rng = np.random.default_rng(seed)
        self.rate = rate
        self.frequencies = self.rng.normal(size=(features, dim)) / lengthscale
        self.phases = self.rng.uniform(0.0, 2.0 * math.pi, features)
        self.weights = self.rng.normal(size=features)

    def step(self) -> None:
        fresh = self.rng.normal(size=len(self.weights))
        self.weights = math.sqrt(1.0 - self.rate) * self.weights + math.sqrt(self.rate) * fresh

    def __call__(self, x: np.ndarray) -> float:
        waves = np.cos(self.frequencies @ x + self.phases)
        return float(math.sqrt(2.0 / len(waves)) * self.weights @ waves)

    def noise(self) -> float:
        return math.sqrt(NOISE) * float(self.rng.normal())


class BoTorchLoop:
    """The peer: the same model, rebuilt at every step as its documentation does."""

    def __init__(self, dim: int, lengthscale: float, watch: bool) -> None:
        self.dim, self.lengthscale, self.watch = dim, lengthscale, watch
        self.X: list[np.ndarray] = []
        self.y: list[float] = []
        self.model: SingleTaskGP | None = None

    def ask(self, beta: float) -> np.ndarray:
        kernel = gpytorch.kernels.RBFKernel()
        kernel.lengthscale = self.lengthscale
        X, y = torch.tensor(np.array(self.X)), torch.tensor(self.y)[:, None]
        self.model = SingleTaskGP(
            X, y, train_Yvar=torch.full_like(y, NOISE), covar_module=kernel, outcome_transform=None
        )
        self.model.mean_module = gpytorch.means.ZeroMean()
        self.model.eval()
        bounds = torch.stack([torch.zeros(self.dim), torch.ones(self.dim)]).double()
        found, _ = optimize_acqf(
            UpperConfidenceBound(self.model, beta=beta), bounds=bounds, q=1, num_restarts=10, raw_samples=512
        )
        return found[0].numpy()

    def tell(self, x: np.ndarray, y: float, reset: bool) -> None:
        if self.watch and self.model is not None:  # the trigger needs the prediction at x
            with torch.no_grad():
                posterior = self.model.posterior(torch.tensor(x)[None])
                float(posterior.mean), float(posterior.variance)
        if reset:
            self.X, self.y = [], []
        self.X.append(x)
        self.y.append(y)


class Report:
    """What is printed, kept for the page."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> None:
        self.lines.append(line)
        print(line, flush=True)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def our_run(
    dim: int, steps: int, lengthscale: float, rate: float, seed: int
) -> tuple[list[float], list[int], list[tuple[np.ndarray, float, bool]]]:
    """Windvane's loop: seconds and observations in use at each step, and what was told."""
    objective = DriftingSum(dim, lengthscale, rate, seed)
    opt = wv.make(
        "et-gp-ucb" if rate > 0.0 else "gp-ucb",
        wv.Box([(0.0, 1.0)] * dim),
        kernel=wv.RBF(lengthscale),
        noise_variance=NOISE,
        seed=seed,
    )
    times, sizes, record = [], [], []
    for t in range(1, steps + 1):
        if rate > 0.0 and t > 1:
            objective.step()
        x, asking = timed(opt.ask)
        y = objective(x) + objective.noise()
        event, telling = timed(lambda x=x, y=y: opt.tell(x, y))
        times.append(asking + telling)
        sizes.append(opt.size)
        record.append((x, y, event.reset))
    return times, sizes, record


def compare(
    say: Report, name: str, dim: int, steps: int, lengthscale: float, rate: float, seed: int
) -> dict[str, float]:
    """One run; returns the ratio of total times and the share of steps where ours is not worse."""
    drifting = rate > 0.0
    repeats = [our_run(dim, steps, lengthscale, rate, seed) for _ in range(REPEATS)]
    ours = np.median([times for times, _, _ in repeats], axis=0)
    _, sizes, record = repeats[0]
    peer = BoTorchLoop(dim, lengthscale, drifting)
    space = wv.Box([(0.0, 1.0)] * dim)
    judge = wv.make("gp-ucb", space, kernel=wv.RBF(lengthscale), noise_variance=NOISE, seed=0)
    theirs, gaps = [], []
    for t, (x, y, reset) in enumerate(record, start=1):
        spent = 0.0
        if peer.X:
            beta = max(0.4 * math.log(4.0 * t), 0.0)
            other, spent = timed(lambda beta=beta: peer.ask(beta))
            mean, std = judge.predict(np.stack([x, np.clip(other, 0.0, 1.0)]))
            values = mean + math.sqrt(beta) * std
            gaps.append(values[1] - values[0])
        _, telling = timed(lambda x=x, y=y, reset=reset: peer.tell(x, y, reset))
        theirs.append(spent + telling)
        if reset:
            judge = wv.make("gp-ucb", space, kernel=wv.RBF(lengthscale), noise_variance=NOISE, seed=0)
        judge.tell(x, y)
    gaps = np.array(gaps)
    ratio = sum(theirs) / sum(ours)
    say(f"\n{name}: d = {dim}, T = {steps}, lengthscale {lengthscale:.3g}, eps = {rate:g}")
    say("  steps        n   Windvane ms   BoTorch ms   ratio")
    for low in range(0, steps, max(1, steps // 8)):
        part = slice(low, min(low + max(1, steps // 8), steps))
        a, b = 1e3 * np.mean(ours[part]), 1e3 * np.mean(theirs[part])
        n = np.mean(sizes[part])
        say(f"  {part.start + 1:>3}-{part.stop:<4} {n:>7.0f} {a:>13.2f} {b:>12.1f} {b / a:>7.0f}")
    fine = float(np.mean(gaps <= 1e-4))
    say(f"  total {sum(ours):8.3f} s against {sum(theirs):8.2f} s: {ratio:.0f} times faster")
    say(
        f"  acquisition value not worse by more than 1e-4 on {fine:.1%} of the steps; "
        f"better by more than 1e-4 on {np.mean(gaps < -1e-4):.1%}; worst {gaps.max():.2g}"
    )
    return {"ratio": ratio, "fine": fine}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=1, help="runs of each comparison")
    parser.add_argument("--quick", action="store_true", help="an eighth of the steps, to try it out")
    parser.add_argument("--dim", type=int, choices=(2, 8), help="only the comparisons in this dimension")
    parser.add_argument("--page", type=Path, help="also write it between the marks in this page")
    given = parser.parse_args()
    say = Report()
    warnings.filterwarnings("ignore")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)  # as fast as two here, and Windvane uses one
    say(
        f"Windvane {wv.__version__}, BoTorch {botorch.__version__}, "
        f"torch {torch.__version__}, NumPy {np.__version__}"
    )
    share = 8 if given.quick else 1
    wide = 0.2 * math.sqrt(8.0)
    plans = [
        ("static, n grows to the end", 2, 400, 0.2, 0.0, 50, 0.99),
        ("static, n grows to the end", 8, 200, wide, 0.0, 30, 0.95),
        ("drifting, both run ET-GP-UCB", 2, 400, 0.2, 0.03, 100, 0.99),
    ]
    rows = []
    for name, dim, steps, scale, rate, least, fine in plans:
        if given.dim not in (None, dim):
            continue
        for seed in range(given.seeds):
            found = compare(say, name, dim, steps // share, scale, rate, seed)
            rows.append((f"{name}, d = {dim}", found["ratio"], least, found["fine"], fine))
    say("\nsummary                                  ratio  wanted   not worse  wanted")
    for name, ratio, least, fine, wanted in rows:
        say(f"{name:<40} {ratio:>5.0f} {least:>7} {fine:>11.1%} {wanted:>7.0%}")
    if given.page:
        text = "```text\n" + "\n".join(say.lines) + "\n```"
        replace(given.page, "botorch", f"{text}\n\n{stamp_of('botorch')}")


if __name__ == "__main__":
    main()
