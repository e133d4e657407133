"""`auto`, told nothing, when the level of the objective moves: is it noticed, how soon, and at what cost?

    python bench/level.py

A bump of height 3 in one dimension, noise 0.2; the level moves at step 51 of 150. Regret is against the best
point of the same moment, so that the level itself counts for nothing.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

import windvane as wv

STEPS, AT, HEIGHT, NOISE = 150, 51, 3.0, 0.2


def run(algorithm: str, jump: float, seed: int) -> tuple[list[int], int, float]:
    """The resets, the number of outliers, and the mean regret from the jump on."""
    rng = np.random.default_rng(seed)
    summit = float(rng.uniform(0.2, 0.8))
    opt = wv.make(algorithm, wv.Box([(0, 1)]), seed=seed)
    resets, outliers, regret = [], 0, []
    for step in range(1, STEPS + 1):
        x = opt.ask()
        value = HEIGHT * math.exp(-20.0 * (x[0] - summit) ** 2)
        level = jump if step >= AT else 0.0
        event = opt.tell(x, value + level + NOISE * float(rng.standard_normal()))
        resets += [step] if event.reset else []
        outliers += event.outlier is not None
        regret += [HEIGHT - value] if step >= AT else []
    return resets, outliers, float(np.mean(regret))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--algorithm", default="auto", choices=wv.algorithms(), metavar="NAME")
    given = parser.parse_args()
    print("| the level moves by | resets at step | outliers | mean regret after it |")
    print("|--:|:--|:--|--:|")
    for jump in (0.0, 3.0, 8.0, -8.0, 30.0, -100.0):
        runs = [run(given.algorithm, jump, seed) for seed in range(given.runs)]
        resets = "; ".join(", ".join(map(str, resets)) or "none" for resets, _, _ in runs)
        outliers = ", ".join(str(count) for _, count, _ in runs)
        print(
            f"| {jump:g} | {resets} | {outliers} | {np.mean([regret for *_, regret in runs]):.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
