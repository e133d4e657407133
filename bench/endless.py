"""A stream that never ends: 100,000 tells on a drifting 2-d task with max_points=300: `make endless`."""

from __future__ import annotations

import argparse
import math
import resource
import sys
import time

import numpy as np

import windvane as wv


class Drift:
    """A smooth bump that wanders around the unit square and jumps now and then."""

    def __init__(self, seed: int, jump: float) -> None:
        self.rng = np.random.default_rng(seed)
        self.jump = jump
        self.centre = np.array([0.5, 0.5])

    def step(self) -> None:
        self.centre += 0.002 * self.rng.normal(size=2)
        if self.rng.random() < self.jump:
            self.centre = self.rng.uniform(size=2)
        np.clip(self.centre, 0.0, 1.0, out=self.centre)

    def observe(self, x: np.ndarray) -> float:
        gap = x - self.centre
        return 2.0 * math.exp(-0.5 * float(gap @ gap) / 0.06) - 1.0 + 0.14 * float(self.rng.normal())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--max-points", type=int, default=300)
    parser.add_argument(
        "--algorithm",
        default="tv-gp-ucb",
        help="tv-gp-ucb keeps the budget full; et-gp-ucb resets now and then",
    )
    given = parser.parse_args()
    options = {"rate": 0.003} if given.algorithm == "tv-gp-ucb" else {}
    opt = wv.make(
        given.algorithm,
        wv.Box([(0.0, 1.0)] * 2),
        kernel=wv.RBF(0.2),
        noise_variance=0.02,
        max_points=given.max_points,
        seed=0,
        **options,
    )
    world = Drift(0, jump=0.0005)
    block = max(1, min(1000, given.steps // 10))
    seconds, rows = 0.0, []
    for t in range(1, given.steps + 1):
        world.step()
        start = time.perf_counter()
        x = opt.ask()
        seconds += time.perf_counter() - start
        y = world.observe(x)
        start = time.perf_counter()
        opt.tell(x, y)
        seconds += time.perf_counter() - start
        if t % block == 0:
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
            rows.append((t, 1e3 * seconds / block, held, opt.size))
            seconds = 0.0
            if sys.stderr.isatty():
                print(f"\r{t:>7} of {given.steps}", end="\r", file=sys.stderr)
    print(f"{given.algorithm}, max_points={given.max_points}")
    print("   steps   ms a step   MB peak   points in use")
    for t, milliseconds, held, size in rows[:3] + rows[3 : -1 : max(1, len(rows) // 8)] + rows[-1:]:
        print(f"{t:>8} {milliseconds:>11.2f} {held:>9.2f} {size:>15}")
    second, last = rows[1], rows[-1]
    print(f"last block / second block: time {last[1] / second[1]:.2f}, memory {last[2] / second[2]:.2f}")


if __name__ == "__main__":
    main()
