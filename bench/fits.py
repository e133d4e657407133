"""What a fit of the hyperparameters costs: CPU milliseconds and evaluations of the objective.

    python bench/fits.py

Two starts in two dimensions, kernel and noise unknown; cold from the defaults, warm from the optimum of
the first nine tenths of the data. Half of the data are near one place, as an optimiser's are. Then a step of
`gp-ucb` in which it fits at n = 3,000, and the mean step of `tv-gp-ucb-mle`, both told nothing.
"""

from __future__ import annotations

import time
from statistics import mean, median

import numpy as np

import windvane as wv
from windvane.kernels import RBF, Markov, Static
from windvane.surrogates import Model, Noise, Search, fit, map_estimate
from windvane.threads import one_thread

SEEDS = range(8)
SEARCH = Search(starts=2)
START = RBF([0.3, 0.3]), Noise(0.01)


def data(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    X[n // 2 :] = np.clip(0.6 + 0.08 * rng.normal(size=(n - n // 2, 2)), 0.0, 1.0)
    y = np.sin(5.0 * X[:, 0]) + np.cos(3.0 * X[:, 1] * (1 + seed % 3)) + 0.1 * rng.normal(size=n)
    return X, (y - y.mean()) / y.std(), np.arange(1.0, n + 1.0)


def timed(kernel, temporal, noise, values, seed):
    evaluations, at = [], fit._Objective.at

    def counted(self, theta):
        evaluations.append(1)
        return at(self, theta)

    fit._Objective.at = counted
    try:
        start = time.process_time()
        map_estimate(kernel, temporal, noise, values, SEARCH, seed)
        return 1e3 * (time.process_time() - start), len(evaluations)
    finally:
        fit._Objective.at = at


def step_with_a_fit(dim, n=3000):
    """CPU seconds."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, dim))
    y = np.sin(X @ np.full(dim, 5.0)) + 0.1 * rng.normal(size=n)
    data = wv.Dataset(X, y, np.arange(1.0, n + 1.0), np.arange(1, n + 1))
    model = Model(RBF([0.3] * dim), Noise(0.02))
    surrogate = model.surrogate(wv.Box([(0, 1)] * dim)).restart(data)
    start = time.process_time()
    surrogate.learn(Search(), rescale=True, seed=0)
    return time.process_time() - start


def mean_step(name, steps=200):
    """CPU milliseconds."""
    opt, rng = wv.make(name, wv.Box([(0, 1)] * 2), seed=0), np.random.default_rng(0)
    start = time.process_time()
    for step in range(steps):
        x = opt.ask()
        opt.tell(x, float(np.sin(6.0 * x[0] + step / 60) + np.cos(4.0 * x[1]) + 0.1 * rng.normal()))
    return 1e3 * (time.process_time() - start) / steps


def main():
    print("| k_T | n | cold, ms | evaluations | warm, ms | evaluations |\n|---|---|---|---|---|---|")
    for temporal in (Static(), Markov(0.03)):
        for n in (20, 50, 100, 200):
            cold, warm = [], []
            for seed in SEEDS:
                values = data(n, seed)
                before = map_estimate(
                    START[0], temporal, START[1], tuple(each[: 9 * n // 10] for each in values), SEARCH, seed
                )
                cold.append(timed(START[0], temporal, START[1], values, seed))
                warm.append(timed(before.kernel, temporal, before.noise, values, seed))
            cells = (
                f"{median(ms for ms, _ in runs):.1f} | {mean(count for _, count in runs):.1f}"
                for runs in (cold, warm)
            )
            print(f"| {type(temporal).__name__} | {n} | {' | '.join(cells)} |")
    for dim in (2, 8):
        print(f"A fit of gp-ucb at n = 3,000 in {dim} dimensions: {step_with_a_fit(dim):.2f} s")
    print(f"A step of tv-gp-ucb-mle, mean of 200: {mean_step('tv-gp-ucb-mle'):.1f} ms")


if __name__ == "__main__":
    with one_thread:
        main()
