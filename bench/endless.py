"""Streams that never end, on a drifting 2-d task: `make endless`.

`tv-gp-ucb` is told kernel, noise and rate, and keeps 300 observations; `auto` is told nothing at all. Both
are to be flat: in time, in memory, and without a step that makes anybody wait. Times are of the processor:
what other programs do meanwhile does not count.

    python bench/endless.py --algorithms auto --steps 10000
"""

from __future__ import annotations

import argparse
import math
import resource
import sys
import time

import numpy as np

import windvane as wv
from sections import stamp_of

BOX = wv.Box([(0.0, 1.0)] * 2)
TOLD = {"kernel": wv.RBF(0.2), "noise_variance": 0.02, "max_points": 300}
OPTIONS = {"auto": {}, "tv-gp-ucb": {"rate": 0.003, **TOLD}}
WARM = 100  # steps that are not timed: modules are imported in the first few


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


def run(algorithm: str, steps: int) -> None:
    """One stream: a table by blocks of steps, and the worst of them all."""
    opt = wv.make(algorithm, BOX, seed=0, **OPTIONS.get(algorithm, TOLD))
    world = Drift(0, jump=0.0005)
    block = max(1, min(1000, steps // 10))
    times, rows = np.zeros(steps), []
    for t in range(steps):
        world.step()
        start = time.process_time()
        x = opt.ask()
        times[t] = time.process_time() - start
        y = world.observe(x)
        start = time.process_time()
        opt.tell(x, y)
        times[t] += time.process_time() - start
        if (t + 1) % block == 0:
            held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
            rows.append((t + 1, 1e3 * times[t + 1 - block : t + 1], held, opt.size))
            if sys.stderr.isatty():
                print(f"\r{t + 1:>7} of {steps}", end="\r", file=sys.stderr)
    told = "told nothing" if not OPTIONS.get(algorithm, TOLD) else "told kernel and noise, max_points=300"
    print(f"{algorithm}, {told}")
    print("   steps   ms a step   99 %   worst   MB peak   points in use")
    for t, took, held, size in rows[:3] + rows[3 : -1 : max(1, len(rows) // 8)] + rows[-1:]:
        tail = np.quantile(took, 0.99)
        print(f"{t:>8} {took.mean():>11.2f} {tail:>6.1f} {took.max():>7.1f} {held:>9.2f} {size:>15}")
    second, last = rows[1], rows[-1]
    ratios = f"time {last[1].mean() / second[1].mean():.2f}, memory {last[2] / second[2]:.2f}"
    worst = f"worst step after the first {WARM}: {1e3 * times[WARM:].max():.0f} ms"
    print(f"last block / second block: {ratios}; {worst}\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--algorithms", nargs="+", default=list(OPTIONS), metavar="NAME")
    given = parser.parse_args()
    for algorithm in given.algorithms:
        run(algorithm, given.steps)


if __name__ == "__main__":
    main()
    print(stamp_of("endless"))
