"""A step of `auto` beside one of ET-GP-UCB with the same points: python bench/auto.py

Both are told the same observations of a static objective, so neither drops anything; what is timed is
ask + tell, each step by the processor, with its median over five repeats.
"""

from __future__ import annotations

import time

import numpy as np

import windvane as wv
from sections import stamp_of

REPEATS = 5
STEPS = 400
BLOCK = 50


def observed(dim: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points near a hill and everywhere, as an optimiser chooses them, with their noisy values."""
    rng = np.random.default_rng(seed)
    near = 0.5 + 0.15 * rng.standard_normal((STEPS, dim))
    X = np.where(rng.random((STEPS, 1)) < 0.5, np.clip(near, 0.0, 1.0), rng.random((STEPS, dim)))
    y = np.exp(-4.0 * ((X - 0.5) ** 2).sum(axis=1)) + 0.14 * rng.standard_normal(STEPS)
    return X, y


def seconds(name: str, dim: int, lengthscale: float, seed: int) -> np.ndarray:
    """The time of each step."""
    space = wv.Box([(0.0, 1.0)] * dim)
    opt = wv.make(name, space, kernel=wv.RBF(lengthscale), noise_variance=0.02, seed=seed)
    found = np.empty(STEPS)
    for step, (x, y) in enumerate(zip(*observed(dim, seed), strict=True)):
        start = time.process_time()
        opt.ask()
        opt.tell(x, float(y))
        found[step] = time.process_time() - start
    return found


def main() -> None:
    """Print both, and their ratio, by the number of points."""
    for dim, lengthscale in ((1, 0.2), (2, 0.2), (4, 0.4), (8, 0.566)):
        times = {}
        for name in ("et-gp-ucb", "auto"):
            runs = np.array([seconds(name, dim, lengthscale, seed=0) for _ in range(REPEATS)])
            times[name] = np.median(runs, axis=0)
        print(f"d = {dim}, lengthscale {lengthscale}")
        print("  points   ET-GP-UCB ms   auto ms   ratio")
        for start in range(0, STEPS, BLOCK):
            one, two = (1e3 * times[name][start : start + BLOCK].mean() for name in ("et-gp-ucb", "auto"))
            print(f"  {start + 1:3}-{start + BLOCK:3}   {one:12.2f}   {two:7.2f}   {two / one:5.1f}")
        ratio = times["auto"].sum() / times["et-gp-ucb"].sum()
        print(f"  all steps: {ratio:.1f} times ET-GP-UCB's\n")


if __name__ == "__main__":
    main()
    print(stamp_of("auto"))
