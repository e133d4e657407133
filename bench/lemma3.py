"""Lemma 3 by simulation: the share of static runs in which the bound is ever broken: `make lemma3`.

Before the first reset the trigger does not influence what is asked, so one run of GP-UCB answers for
every delta: its predictions and observations are replayed through each trigger.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import windvane as wv
from windvane.experiments.workers import one_thread_workers
from windvane.triggers import replay

DELTAS = (0.05, 0.1, 0.5)


def alarms(seed: int, steps: int = 200) -> list[bool]:
    """For each delta, whether the trigger fired in a run on an objective that does not change."""
    task = wv.task("within-model", rate=0.0, horizon=steps, seed=seed)
    opt = wv.make("gp-ucb", task.space, kernel=task.kernel, noise_variance=task.noise_variance, seed=seed)
    trace = wv.simulate(opt, task, seed=seed)
    stream = [(wv.Prediction(e.mean, e.std, e.noise_variance), e.y) for e in trace.events]
    return [any(verdict.fired for verdict in replay(wv.PosteriorBound(delta), stream)) for delta in DELTAS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
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
