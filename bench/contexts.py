"""Contexts: what knowing them is worth, and what asking under a fresh one costs.

python bench/contexts.py                 both
python bench/contexts.py --seeds 10      the task following-load, seeds from 10500 on
python bench/contexts.py --speed         milliseconds only
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import windvane as wv

FIRST_SEED = 10_500
DATA = 300
ASKS = 25


def regret(seeds: int) -> None:
    """`auto`, told nothing, on following-load: with the load, and without."""
    shares, known, hidden = [], [], []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        found = []
        for hide in (False, True):
            task = wv.task("following-load", seed=seed, hidden=hide)
            optimizer = wv.make(task.space, seed=seed)
            trace = wv.simulate(optimizer, task, seed=seed)
            found.append((trace.average, len(trace.resets), optimizer.follows()))
        (with_it, resets, follows), (without, blind_resets, _) = found
        known.append(with_it)
        hidden.append(without)
        shares.append(with_it / without)
        print(
            f"seed {seed}: regret {with_it:.4f} with the load ({resets} resets; follows {follows or '-'}), "
            f"{without:.4f} without ({blind_resets} resets), ratio {shares[-1]:.2f}",
            flush=True,
        )
    print(
        f"mean of {seeds}: {np.mean(known):.4f} with, {np.mean(hidden):.4f} without, "
        f"ratio {np.mean(known) / np.mean(hidden):.2f}"
    )


def told(space: wv.Space, count: int) -> wv.Optimizer:
    """`auto` with that many observations at random points."""
    rng = np.random.default_rng(FIRST_SEED)
    optimizer = wv.make(space, seed=0)
    for row in rng.uniform(size=(count, 5)):
        x = {name: float(value) for (name, _), value in zip(space.parameters, row, strict=False)}
        best = 0.3 + 0.4 * row[3]
        optimizer.tell(x, float(np.exp(-4.0 * ((row[:3] - best) ** 2).sum()) + 0.03 * rng.normal()))
    return optimizer


def milliseconds(ask: object, count: int = ASKS) -> float:
    """The median of an ask, in time of the processor: others may be at work beside."""
    taken = []
    for number in range(count):
        start = time.process_time()
        ask(number)  # type: ignore[operator]
        taken.append(time.process_time() - start)
    return 1e3 * float(np.median(taken))


def speed() -> None:
    """An ask under a fresh context, beside asks of the same five numbers, and of three, all chosen."""
    real, context = wv.Real(0, 1), wv.Context(0, 1)
    three = dict.fromkeys("abc", real)
    spaces = {
        "3 + 2 contexts": wv.Space(three | {"d": context, "e": context}),
        "5 chosen": wv.Space(three | {"d": real, "e": real}),
        "3 chosen": wv.Space(three),
    }
    taken = {}
    for name, space in spaces.items():
        optimizer = told(space, DATA)

        def ask(number: int, optimizer: wv.Optimizer = optimizer) -> None:
            fresh = dict.fromkeys(optimizer.space.contexts, (0.37 + 0.618 * number) % 1.0)
            # another time each, so that the answer to the last ask is of no use
            optimizer.ask(time=optimizer.time + 1e-6 * number, context=fresh or None)

        taken[name] = milliseconds(ask)
        print(f"n = {DATA}, {name}: {taken[name]:.2f} ms an ask", flush=True)
    for name in ("5 chosen", "3 chosen"):
        print(f"ratio to {name}: {taken['3 + 2 contexts'] / taken[name]:.2f}")


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--speed", action="store_true", help="only that")
    given = parser.parse_args()
    speed()
    if not given.speed:
        regret(given.seeds)


if __name__ == "__main__":
    main()
