"""Windvane's W-DBO beside the package of its authors, in one run: agreement, speed, regret.

    make wdbo-bench

or by hand, in an environment of its own (the criterion has wheels for CPython 3.11 on Linux):

    pip install torch==2.13.0
    pip install -c bench/constraints.txt botorch wdbo-algo==1.0.7 wdbo-criterion==2.2.1 -e .
    python bench/wdbo.py

1. Relevance of all observations on the same data. `as is` compares the two as they are. `same K, C`
   hands our formula the package's own covariances and overlaps, in which it departs from the integral
   it states: distances below 1e-5 count as 1e-5 (Matern), the overlap in space is cut off at 1, and two
   RBF kernels in time overlap by exp(-dt^2 / 2 l^2) where the integral has exp(-dt^2 / 4 l^2). RBF in space
   with Matern in time is left out: there the package adds to memory that it did not set to 0.
2. Seconds for all n relevances. Times are of the processor, in one thread: other programs do not count.
3. Both optimisers, told nothing, on the paper's within-model task: regret and seconds a step.

`--record FILE` writes the package's answers on small data, for tests/retention/test_wasserstein.py.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gpytorch
import numpy as np
import torch
import wdbo_criterion
from scipy.special import erfc, gamma, kv
from wdbo_algo.optimizer import WDBOOptimizer

import windvane as wv
from windvane.retention import Belief
from windvane.retention.wasserstein import future_overlap
from windvane.theory.relevance import Relevances, matern_future

SPACE = {None: wv.RBF, 1.5: wv.Matern32, 2.5: wv.Matern52}
TIME = {None: wv.TimeRBF, 1.5: wv.TimeMatern32, 2.5: wv.TimeMatern52}
FLOOR = 1e-5
HORIZON = 4.0  # of the package's example, in its own unit of time


def problem(
    n: int, dim: int, space_nu: float | None, time_nu: float | None, scale: float, seed: int
) -> dict[str, Any]:
    """Random observations at random times, the last of them now."""
    rng = np.random.default_rng(seed)
    return {
        "X": rng.uniform(size=(n, dim)),
        "y": rng.normal(size=n),
        "times": np.sort(rng.uniform(0.0, 60.0, n)),
        "variance": 1.3,
        "noise_variance": 0.05,
        "space_nu": space_nu,
        "time_nu": time_nu,
        "lengthscale": scale,
        "memory": 12.0,
    }


def theirs(p: dict[str, Any]) -> np.ndarray:
    """The package's criterion, relative to the distance from the prior."""

    def kernel(nu: float | None, scale: float) -> Any:
        return wdbo_criterion.RBFKernel(scale) if nu is None else wdbo_criterion.MaternKernel(scale, nu)

    n, dim = p["X"].shape
    return np.array(
        wdbo_criterion.wasserstein_criterion(
            p["X"],
            p["y"],
            p["times"],
            n,
            dim,
            p["variance"],
            p["noise_variance"],
            kernel(p["space_nu"], p["lengthscale"]),
            kernel(p["time_nu"], p["memory"]),
            float(p["times"][-1]),
            0,
            1,
        )
    )


def ours(p: dict[str, Any]) -> np.ndarray:
    """Windvane's relevance."""
    kernel = SPACE[p["space_nu"]](p["lengthscale"], p["variance"])
    model = Belief(kernel, TIME[p["time_nu"]](p["memory"]), p["noise_variance"])
    data = wv.Dataset(p["X"], p["y"], p["times"], np.arange(1, len(p["y"]) + 1))
    overlap = future_overlap(data, model, float(data.times[-1]))
    return Relevances(model.covariance(data), overlap, data.y).values()


def ours_on_their_matrices(p: dict[str, Any]) -> np.ndarray:
    """Windvane's formula on the covariance and the overlap as the package computes them.

    The floor lowers the diagonal of K by a little, except, in the package, the entry of the observation
    that is removed. Raising K_jj by a gap g divides P_jj and alpha_j by 1 + g P_jj and S_jj by its square.
    """
    dim, scale, memory = p["X"].shape[1], p["lengthscale"], p["memory"]
    far = np.sqrt(np.square(p["X"][:, None] - p["X"][None]).sum(-1))
    apart = np.abs(p["times"][:, None] - p["times"][None])
    ages = p["times"][-1] - p["times"]

    def matern(u: np.ndarray, nu: float) -> np.ndarray:
        return 2.0 ** (1.0 - nu) / gamma(nu) * u**nu * kv(nu, u)

    def scaled(r: np.ndarray, nu: float, length: float) -> np.ndarray:
        return math.sqrt(2.0 * nu) * np.maximum(r, FLOOR) / length

    if p["space_nu"] is None:
        K = np.exp(-0.5 * (far / scale) ** 2)
        C = math.pi ** (dim / 2) * scale**dim * np.exp(-0.25 * (far / scale) ** 2)
    else:
        nu = p["space_nu"]
        order, u = 2.0 * nu + dim / 2, scaled(far, nu, scale)
        ratio = (gamma(nu + dim / 2) / gamma(nu)) ** 2 * gamma(order) / gamma(2.0 * nu + dim)
        whole = ratio * (4.0 * math.pi) ** (dim / 2) * (scale / math.sqrt(2.0 * nu)) ** dim  # of k^2
        K, C = matern(u, nu), whole * matern(u, order)
    C = np.minimum(C, 1.0)
    if p["time_nu"] is None:
        K = K * np.exp(-0.5 * (apart / memory) ** 2)
        total = ages[:, None] + ages[None, :]
        C = C * np.exp(-0.5 * (apart / memory) ** 2) * erfc(total / (2.0 * memory))
    else:
        K = K * matern(scaled(apart, p["time_nu"], memory), p["time_nu"])
        C = C * matern_future(ages, p["time_nu"], memory)
    gap = p["variance"] * (1.0 - K[0, 0])
    K = p["variance"] * K + p["noise_variance"] * np.eye(len(ages))
    P = np.linalg.inv(K)
    pivot = np.diagonal(P)
    plain = (P @ p["y"] / pivot) ** 2 + 1.0 / pivot
    return Relevances(K, C, p["y"]).values() * np.sqrt((plain + gap) / plain) / (1.0 + gap * pivot)


def agreement() -> None:
    print("relevance, largest absolute difference over all observations")
    print("    n  d   space       time           l     as is   same K, C")
    for space_nu, time_nu in ((2.5, 2.5), (1.5, 1.5), (2.5, 1.5), (None, None), (2.5, None)):
        for n, dim, scale in ((30, 1, 0.2), (100, 2, 0.2), (100, 4, 0.3), (100, 2, 0.8)):
            p = problem(n, dim, space_nu, time_nu, scale, seed=n + dim)
            package = theirs(p)
            there = package >= 0.0  # it answers -1 where its cut-off overlap makes a square negative
            direct = np.abs(ours(p) - package)[there].max()
            matched = np.abs(ours_on_their_matrices(p) - package)[there].max()
            names = [f"Matern {2 * nu:.0f}/2" if nu else "RBF" for nu in (space_nu, time_nu)]
            row = (
                f"  {n:>3} {dim:>2}   {names[0]:<12}{names[1]:<12}{scale:>4} {direct:>9.1e} {matched:>11.1e}"
            )
            print(row + ("" if there.all() else f"   ({np.count_nonzero(~there)} answers of -1 left out)"))


def fastest(work: Callable[[], object], repeats: int) -> float:
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def speed() -> None:
    print("\nall n relevances, Matern 5/2 in space and time, d = 2: the fastest of several, in ms")
    print("    n    package   Windvane   ratio")
    for n, repeats in ((25, 9), (50, 9), (100, 5), (200, 2)):
        p = problem(n, 2, 2.5, 2.5, 0.2, seed=n)
        a, b = fastest(lambda p=p: theirs(p), repeats), fastest(lambda p=p: ours(p), 20)
        print(f"  {n:>3} {1e3 * a:>10.1f} {1e3 * b:>10.2f} {a / b:>7.0f}")


def package_run(task: Any, seed: int) -> tuple[float, float, float]:
    """Regret a step, seconds a step and observations in use of the package, used as its example does."""
    np.random.seed(seed)  # noqa: NPY002 - the package draws from the global generator
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    matern = gpytorch.kernels.MaternKernel
    peer = WDBOOptimizer(np.array([[0.0, 1.0]] * 2), matern, matern, [2.5], [2.5])
    regret, spent, sizes = [], 0.0, []
    for t in range(1, task.horizon + 1):
        clock = HORIZON * t / task.horizon
        start = time.process_time()
        x = peer.next_query(clock)
        spent += time.process_time() - start
        value = task.value(np.clip(x, 0.0, 1.0), t)
        regret.append(task.optimum(t) - value)
        y = value + math.sqrt(task.noise_variance) * rng.normal()
        start = time.process_time()
        peer.tell(x, clock, y)
        peer.clean(clock)
        spent += time.process_time() - start
        sizes.append(peer.dataset_size())
    return float(np.mean(regret)), spent / task.horizon, float(np.mean(sizes))


def our_run(task: Any, seed: int, **options: Any) -> tuple[float, float, float]:
    opt = wv.make("w-dbo", task.space, seed=seed, **options)
    start = time.process_time()
    trace = wv.simulate(opt, task, seed=seed)
    spent = time.process_time() - start
    sizes = [event.size for event in trace.events]
    return float(np.mean(trace.regret)), spent / task.horizon, float(np.mean(sizes))


def end_to_end(seeds: int, horizon: int) -> None:
    print(f"\nwithin-model, d = 2, eps = 0.03, T = {horizon}, {seeds} runs: medians (and regret run by run)")
    print("                               regret a step   s a step   in use")
    found = {}
    for name, run in (
        ("package, told nothing", package_run),
        ("Windvane, told nothing", our_run),
        ("Windvane, kernel and noise", None),
    ):
        rows = []
        for seed in range(seeds):
            task = wv.task("within-model", dim=2, rate=0.03, horizon=horizon, seed=seed)
            given = {"kernel": task.kernel, "noise_variance": task.noise_variance}
            rows.append(run(task, seed) if run else our_run(task, seed, **given))
        regret, spent, size = np.median(rows, axis=0)
        found[name] = spent
        each = " ".join(f"{row[0]:.2f}" for row in rows)
        print(f"  {name:<28} {regret:>13.3f} {spent:>10.4f} {size:>8.0f}   ({each})", flush=True)
    first, second, _ = found.values()
    print(f"  a step is {first / second:.0f} times faster, told nothing")


def record(path: Path) -> None:
    """The package's answers on small data, in full precision."""
    rows = []
    for space_nu, time_nu in ((2.5, 2.5), (1.5, 1.5), (2.5, 1.5), (1.5, 2.5), (None, None), (2.5, None)):
        for n, dim in ((8, 1), (12, 2), (12, 3)):
            p = problem(n, dim, space_nu, time_nu, 0.2, seed=10 * n + dim)
            plain = {key: each.tolist() if isinstance(each, np.ndarray) else each for key, each in p.items()}
            rows.append({**plain, "relevance": theirs(p).tolist()})
    made = {"made by": "python bench/wdbo.py --record", "package": "wdbo-criterion 2.2.1", "cases": rows}
    path.write_text(json.dumps(made, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--record", type=Path, help="write the package's answers for the tests, and stop")
    parser.add_argument("--seeds", type=int, default=3, help="runs of the end-to-end comparison; 0 for none")
    parser.add_argument("--horizon", type=int, default=100)
    given = parser.parse_args()
    if given.record is not None:
        record(given.record)
        return
    warnings.filterwarnings("ignore")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    agreement()
    speed()
    if given.seeds:
        end_to_end(given.seeds, given.horizon)


if __name__ == "__main__":
    main()
