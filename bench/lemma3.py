"""Lemma 3 by simulation: the share of static runs in which the bound is ever broken: `make lemma3`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from windvane.experiments.paper.lemma3 import DELTAS, alarms
from windvane.experiments.workers import one_thread_workers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    started = time.perf_counter()
    counts = [0] * len(DELTAS)
    spawn = multiprocessing.get_context("spawn")
    with one_thread_workers(), ProcessPoolExecutor(given.jobs, mp_context=spawn) as pool:
        work = [pool.submit(alarms, seed, given.steps) for seed in range(given.runs)]
        for done, future in enumerate(work, start=1):
            counts = [count + fired for count, fired in zip(counts, future.result(), strict=True)]
            if sys.stderr.isatty():
                print(f"\r{done:>5} of {given.runs} runs", end="\r", file=sys.stderr)
    print(f"{given.runs} static runs of {given.steps} steps: share with any reset")
    for delta, count in zip(DELTAS, counts, strict=True):
        verdict = "holds" if count <= delta * given.runs else "DOES NOT HOLD"
        print(f"  delta = {delta:<5g} {count / given.runs:>7.2%}   bound {delta:.0%}: {verdict}")
    print(f"{time.perf_counter() - started:.0f} s on {given.jobs} processes")


if __name__ == "__main__":
    main()
