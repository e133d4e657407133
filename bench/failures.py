"""How often `auto`, told nothing, fails where 30 % of a box always fails, and what that costs.

    python bench/failures.py             # the table: 20 seeds from 10600 on
    python bench/failures.py --seeds 4

Regret is against the best point that does not fail, over the trials that gave a value; beside it stands that
of a run in the same world where nothing fails. In the last row the part that fails is another one from step
101 on: "again" is how many of the points of steps 121 to 200 are in the part that failed before.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

import windvane as wv
from sections import stamp_of

SHAPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "a side": lambda x: x[..., 0] > 0.7,
    "a disc": lambda x: ((x - 0.5) ** 2).sum(axis=-1) < 0.3 / np.pi,
    "a corner": lambda x: (x > 1.0 - np.sqrt(0.3)).all(axis=-1),
    "nothing": lambda x: np.zeros(x.shape[:-1], dtype=bool),
}
RATES = (0.0, 0.01)
STEPS, MOVING, MOVED_AT, SETTLED = 60, 200, 100, 120
FIRST_SEED = 10_600
GRID = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 26)] * 2), axis=-1).reshape(-1, 2)


def run(
    shape: str, rate: float, seed: int, steps: int = STEPS, moves: bool = False
) -> tuple[float, float, float]:
    """The share of trials that failed, mean regret, and the share of late points in the old part."""
    task = wv.task("within-model", dim=2, rate=rate, horizon=steps, seed=seed)
    rng, opt = np.random.default_rng(seed), wv.make(task.space, seed=seed)
    fails, failed, regret, again = SHAPES[shape], 0, [], 0
    for step in range(1, steps + 1):
        if moves and step == MOVED_AT + 1:
            fails = lambda x: x[..., 0] < 0.3  # noqa: E731 - the other side
        x = opt.ask(time=float(step))
        if fails(x):
            failed += 1
            opt.fail(x, float(step))
            continue
        again += step > SETTLED and bool(SHAPES[shape](x))
        value = float(task.value(x, step))
        opt.tell(x, value + rng.normal() * np.sqrt(task.noise_variance), float(step))
        regret.append(max(max(task.value(z, step) for z in GRID[~fails(GRID)]) - value, 0.0))
    return failed / steps, float(np.mean(regret)), again / max(steps - SETTLED, 1)


def moving(seed: int) -> tuple[float, float, float]:
    """A side that fails, and from step 101 on the other one."""
    return run("a side", 0.0, seed, MOVING, moves=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    seeds = list(range(FIRST_SEED, FIRST_SEED + given.seeds))
    print(f"{'what fails':12}{'drift':>7}{'failed':>9}{'worst':>8}{'regret':>9}{'free':>8}", flush=True)
    with ProcessPoolExecutor(given.workers) as pool:
        free = {
            rate: np.array(list(pool.map(run, ["nothing"] * len(seeds), [rate] * len(seeds), seeds)))
            for rate in RATES
        }
        for shape, rate in product(list(SHAPES)[:3], RATES):
            found = np.array(list(pool.map(run, [shape] * len(seeds), [rate] * len(seeds), seeds)))
            share, regret = found[:, 0], found[:, 1].mean()
            print(
                f"{shape:12}{rate:7}{share.mean():9.1%}{share.max():8.0%}{regret:9.3f}"
                f"{free[rate][:, 1].mean():8.3f}",
                flush=True,
            )
        found = np.array(list(pool.map(moving, seeds)))
        print(f"moves at {MOVED_AT}: {found[:, 0].mean():.1%} failed, again {found[:, 2].mean():.1%}")


if __name__ == "__main__":
    main()
    print(stamp_of("failures"))
