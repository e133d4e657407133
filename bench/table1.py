"""Table 1 at one or more rates of change beside the paper's figures: `make table1`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from windvane.experiments.paper.table1 import RATES, ROWS, run
from windvane.experiments.workers import one_thread_workers


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
                paper = ROWS[name].medians[RATES.index(rate)]
                print(
                    f"{name:<22} {paper:>6.3f} {middle:>6.3f}  {low:.3f} to {high:.3f}  "
                    f"{resets.mean():>6.1f} {milliseconds.mean():>7.2f}"
                )
    print(f"{time.perf_counter() - started:.0f} s on {given.jobs} processes")


if __name__ == "__main__":
    main()
