"""A list of settings: how long an ask takes, and what coordinates are worth.

By default, an ask of `auto`, told nothing, on a list of 20,000 settings with 12 numbers each and 200
observations in use, beside an ask on a Box of the same dimension. Milliseconds by the processor: the median
and the largest of twenty asks, a tell before each, the median of these tells, and the longest tell of all.

With --regret, `auto`, told nothing, on the task `recipes` twice: as it is, a wv.Candidates, and as wv.Arms,
which know no coordinates. One run per seed; the mean regret per step of both.

    python bench/candidates.py
    python bench/candidates.py --rows 100000 --data 300
    python bench/candidates.py --regret --seeds 12
"""

from __future__ import annotations

import argparse
import math
import resource
import time

import numpy as np

import windvane as wv
from sections import stamp_of
from windvane.tasks.base import Task

ASKS = 20
FIRST_SEED = 10400


def timed(space: wv.Candidates | wv.Box, data: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The milliseconds of asks once so many observations are in use, and of all tells."""
    rng = np.random.default_rng(seed)
    opt = wv.make(space, seed=seed, max_points=data + ASKS + 1)
    slopes = 3.0 * rng.uniform(size=space.dim) ** 3
    asks, tells = [], []
    for step in range(data + ASKS):
        start = time.process_time()
        x = opt.ask()
        asks.append(time.process_time() - start)
        y = -float(slopes @ (space.encode(x) - 0.4) ** 2) + 0.02 * float(rng.standard_normal())
        start = time.process_time()
        opt.tell(x, y)
        tells.append(time.process_time() - start)
        assert opt.size == step + 1, "a reset would make the figures look better than they are"
    return 1e3 * np.array(asks[data:]), 1e3 * np.array(tells)


def speed(rows: int, dim: int, data: int) -> None:
    wv.make(wv.Box([(0, 1)]), seed=0).ask()
    rng = np.random.default_rng(0)
    spaces = {
        f"Candidates, {rows:,} x {dim}": wv.Candidates(rng.uniform(size=(rows, dim))),
        f"Box, {dim} dimensions": wv.Box([(0, 1)] * dim),
    }
    print(f"auto, told nothing, {data} to {data + ASKS} observations in use")
    print("| space | ask, median | largest | tell, median | largest of all |")
    print("|:--|--:|--:|--:|--:|")
    medians = []
    for name, space in spaces.items():
        asks, tells = timed(space, data, seed=10400)
        medians.append(float(np.median(asks)))
        figures = (np.median(asks), asks.max(), np.median(tells[data:]), tells.max())
        print(f"| {name} | {' | '.join(f'{each:.1f} ms' for each in figures)} |", flush=True)
    print(f"\nan ask on the list takes {medians[0] / medians[1]:.2f} of one on the box")
    print(f"peak memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def mean_regret(task: Task, space: wv.Candidates | wv.Arms, seed: int) -> float:
    opt, rng, lost = wv.make(space, seed=seed), np.random.default_rng(seed), 0.0
    for t in range(1, task.horizon + 1):
        x = opt.ask()
        lost += task.optimum(t) - task.value(x, t)
        opt.tell(x, task.value(x, t) + math.sqrt(task.noise_variance) * float(rng.standard_normal()))
    return lost / task.horizon


def regret(count: int) -> None:
    print("the task `recipes`, mean regret per step, auto told nothing")
    print("| seed | Candidates | Arms |")
    print("|:--|--:|--:|")
    pairs = []
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        task = wv.task("recipes", seed=seed)
        pair = tuple(mean_regret(task, space, seed) for space in (task.space, wv.Arms(task.space.size)))
        pairs.append(pair)
        print(f"| {seed} | {pair[0]:.3f} | {pair[1]:.3f} |", flush=True)
    means = np.mean(pairs, axis=0)
    fewer = sum(a < b for a, b in pairs)
    print(f"| mean | {means[0]:.3f} | {means[1]:.3f} |")
    print(f"\nratio of the means {means[0] / means[1]:.2f}; less regret as Candidates in {fewer} of {count}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=12)
    parser.add_argument("--data", type=int, default=200)
    parser.add_argument("--regret", action="store_true")
    parser.add_argument("--seeds", type=int, default=12)
    given = parser.parse_args()
    if given.regret:
        regret(given.seeds)
    else:
        speed(given.rows, given.dim, given.data)


if __name__ == "__main__":
    main()
    print(stamp_of("candidates"))
