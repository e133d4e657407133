"""Table 1 at one rate of change beside the paper's figures: `make table1`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import windvane as wv
from windvane.experiments.workers import one_thread_workers

# algorithm -> (what it is told, medians of the paper at eps = 0.01, 0.03, 0.05)
ROWS = {
    "gp-ucb": ((), (0.748, 1.051, 1.276)),
    "r-gp-ucb": (("rate", "horizon"), (0.622, 0.831, 0.985)),
    "et-gp-ucb[0.01,0.05]": (("horizon",), (0.604, 0.778, 0.879)),
    "et-gp-ucb[0.001,0.1]": (("horizon",), (0.507, 0.688, 0.866)),
    "et-gp-ucb": ((), (0.483, 0.686, 0.849)),
    "tv-gp-ucb": (("rate",), (0.299, 0.500, 0.622)),
    "ui-tvbo": (("rate",), (0.351, 0.647, 0.868)),
}
RATES = (0.01, 0.03, 0.05)


def run(name: str, rate: float, seed: int, horizon: int = 400) -> tuple[float, int, float]:
    """R_T / T, the number of resets, and milliseconds a step of one run."""
    task = wv.task("within-model", rate=rate, horizon=horizon, seed=seed)
    known = {"kernel": task.kernel, "noise_variance": task.noise_variance, "rate": rate, "horizon": horizon}
    options = {option: known[option] for option in ("kernel", "noise_variance", *ROWS[name][0])}
    opt = wv.make(name, task.space, seed=seed, **options)
    start = time.perf_counter()
    trace = wv.simulate(opt, task, seed=seed)
    return trace.average, len(trace.resets), 1e3 * (time.perf_counter() - start) / horizon


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.03], choices=RATES)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    started = time.perf_counter()
    spawn = multiprocessing.get_context("spawn")
    with one_thread_workers(), ProcessPoolExecutor(given.jobs, mp_context=spawn) as pool:
        for rate in given.rates:
            print(f"R_T / T, eps = {rate:g}, {given.runs} runs of 400 steps (median, quartiles)")
            print(
                f"{'algorithm':<22} {'paper':>6} {'here':>6}  {'quartiles':<15} {'resets':>6} {'ms/step':>7}"
            )
            for name in ROWS:
                work = [pool.submit(run, name, rate, seed) for seed in range(given.runs)]
                found = []
                for done, future in enumerate(work, start=1):
                    found.append(future.result())
                    if sys.stderr.isatty():
                        print(f"\r{name:<22} {done:>3} of {given.runs}", end="\r", file=sys.stderr)
                average, resets, milliseconds = np.array(found).T
                low, middle, high = np.percentile(average, (25, 50, 75))
                paper = ROWS[name][1][RATES.index(rate)]
                print(
                    f"{name:<22} {paper:>6.3f} {middle:>6.3f}  {low:.3f} to {high:.3f}  "
                    f"{resets.mean():>6.1f} {milliseconds.mean():>7.2f}"
                )
    print(f"{time.perf_counter() - started:.0f} s on {given.jobs} processes")


if __name__ == "__main__":
    main()
