"""Does `auto`, told nothing, stay away from a cliff that it knows? How often it asks beyond the edge.

    python bench/cliffs.py                     # seeds 0 to 13, some minutes
    python bench/cliffs.py --first 100 --seeds 20 --steps 200

The objective rises to x = 1/2 and is `-depth` beyond, as penalties are; noise has a standard deviation of
0.05. A row has the number of steps beyond the edge in the second half of each run.
"""

from __future__ import annotations

import argparse

import numpy as np

import windvane as wv

DEPTHS = (10.0, 1e2, 1e3, 1e6)


def beyond(dim: int, depth: float, seed: int, steps: int) -> tuple[int, int]:
    """The steps beyond the edge in the second half of a run, and its resets."""
    opt, rng, fallen, resets = wv.make(wv.Box([(0, 1)] * dim), seed=seed), np.random.default_rng(seed), 0, 0
    for step in range(1, steps + 1):
        x = opt.ask()
        y = -depth if x[0] > 0.5 else x[0] - sum((x[1:] - 0.5) ** 2)
        resets += opt.tell(x, y + 0.05 * rng.normal()).reset
        fallen += x[0] > 0.5 and 2 * step > steps
    return fallen, resets


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seeds", type=int, default=14)
    parser.add_argument("--steps", type=int, default=120)
    given = parser.parse_args()
    print("| d | depth | steps beyond the edge, by run | runs with more than a quarter | with a reset |")
    print("|--:|--:|:--|--:|--:|")
    for dim in (1, 2):
        for depth in DEPTHS:
            runs = [
                beyond(dim, depth, seed, given.steps)
                for seed in range(given.first, given.first + given.seeds)
            ]
            steps = [fallen for fallen, _ in runs]
            bad = sum(fallen > given.steps / 8 for fallen in steps)
            resets = sum(count > 0 for _, count in runs)
            print(f"| {dim} | {depth:g} | {' '.join(map(str, steps))} | {bad} | {resets} |", flush=True)


if __name__ == "__main__":
    main()
