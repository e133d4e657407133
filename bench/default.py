"""What a user meets: a step of `auto`, told nothing, with its fits: `make bench`.

Five runs of 200 steps in two dimensions on each of three worlds; ask and tell are timed together, by the
processor. A figure is the median over the five runs: of the mean step, of the 99 % quantile, of the worst.

    python bench/default.py --steps 400
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import windvane as wv
from sections import stamp_of

RUNS = 5
WORLDS = {
    "stands still": ("within-model", {"rate": 0.0}),
    "drifts, 0.03": ("within-model", {"rate": 0.03}),
    "jumps": ("jumps", {}),
}


def seconds(world: str, steps: int, seed: int) -> np.ndarray:
    """The time of each step."""
    name, options = WORLDS[world]
    task = wv.task(name, horizon=steps, seed=seed, **options)
    opt = wv.make(task.space, seed=seed)
    rng, found = np.random.default_rng(seed), np.empty(steps)
    for step in range(steps):
        start = time.process_time()
        x = opt.ask()
        found[step] = time.process_time() - start
        y = float(task.value(x, step + 1)) + np.sqrt(task.noise_variance) * float(rng.standard_normal())
        start = time.process_time()
        opt.tell(x, y)
        found[step] += time.process_time() - start
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=200)
    steps = parser.parse_args().steps
    seconds("stands still", 30, 99)  # modules are imported in the first few steps
    print(f"auto, told nothing, {steps} steps in 2-d, medians over {RUNS} runs")
    print("| the objective | mean step | 99 % | worst |")
    print("|:--|--:|--:|--:|")
    for world in WORLDS:
        runs = 1e3 * np.array([seconds(world, steps, seed) for seed in range(RUNS)])
        figures = (runs.mean(axis=1), np.quantile(runs, 0.99, axis=1), runs.max(axis=1))
        cells = " | ".join(f"{np.median(each):.1f} ms" for each in figures)
        print(f"| {world} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
    print(stamp_of("default"))
