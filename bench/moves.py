"""What limits and prices of moves cost: regret and travel of `auto`, told nothing, beside a free run.

    python bench/moves.py                # all worlds, 12 paired seeds
    python bench/moves.py --seeds 3

Travel is the sum over the coordinates of how far two points in a row are apart, in ranges. The price of
crossing a range is given as a share of the standard deviation of y over the space.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

import windvane as wv
from sections import stamp_of

WORLDS = {
    "static": ("within-model", {"rate": 0.0}),
    "drift 0.01": ("within-model", {"rate": 0.01}),
    "jumps": ("jumps", {}),
}
STEPS = 150
FIRST_SEED = 10_650
KINDS = ("free", "max_step 0.3", "max_step 0.1", "move_cost 0.2", "move_cost 0.4")


def run(world: str, kind: str, seed: int) -> tuple[str, str, int, float, float]:
    """Mean regret and mean travel of one run."""
    name, options = WORLDS[world]
    task = wv.task(name, horizon=STEPS, seed=seed, **options)
    option, _, number = kind.partition(" ")
    given = {}
    if option == "max_step":
        given = {"max_step": float(number)}
    elif option == "move_cost":
        given = {"move_cost": float(number) * spread(task, seed)}
    trace = wv.simulate(wv.make(task.space, seed=seed, **given), task, seed=seed)
    points = np.array([task.space.encode(event.x) for event in trace.events])
    return world, kind, seed, trace.average, float(np.abs(np.diff(points, axis=0)).sum(axis=1).mean())


def spread(task: wv.tasks.Task, seed: int) -> float:
    """The standard deviation of y over the space, as an engineer knows it: from twenty values."""
    rng = np.random.default_rng(seed)
    return float(np.std([task.value(task.space.decode(x), 1) for x in task.space.sample(rng, 20)]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS))
    parser.add_argument("--kinds", nargs="*", default=list(KINDS))
    given = parser.parse_args()
    seeds = range(FIRST_SEED, FIRST_SEED + given.seeds)
    jobs = list(product(given.worlds, given.kinds, seeds))
    with ProcessPoolExecutor(given.workers) as pool:
        found = {(w, k, s): (r, t) for w, k, s, r, t in pool.map(run, *zip(*jobs, strict=True))}
    print(f"{'world':12}{'moves':16}{'regret':>8}{'ratio':>8}{'+-':>7}{'travel':>8}{'ratio':>8}")
    for world, kind in product(given.worlds, given.kinds):
        regret, travel = np.array([found[world, kind, seed] for seed in seeds]).T
        free = np.array([found[world, given.kinds[0], seed] for seed in seeds]).T
        ratio = np.log(regret / free[0])
        error = ratio.std(ddof=1) / np.sqrt(len(seeds)) if len(seeds) > 1 else np.nan
        print(
            f"{world:12}{kind:16}{regret.mean():8.3f}{regret.mean() / free[0].mean():8.2f}{error:7.2f}"
            f"{travel.mean():8.3f}{travel.mean() / free[1].mean():8.2f}"
        )


if __name__ == "__main__":
    main()
    print(stamp_of("moves"))
