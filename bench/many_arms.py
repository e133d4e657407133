"""More arms than steps: what looking at all of them costs `auto`, told nothing.

Tables of many arms with noise of 0.3, each searched for 300 steps by `auto` as it is ("now"), by `auto` with
the exploration that few arms have ("few": beta = 1.2 ln(4 t)), and by two rules that know how many steps
there will be: the square root of them in arms drawn at random, then always the one with the best mean
("sample"), or with the best upper bound ("bounds"). "Uniform" draws an arm at random each time. With
--choice, `auto` meets the same tables as a `wv.Choice`, and "few" is left out.

The regret per step, and ln(now / few) with its standard error. Runs are kept in a file, missing ones added.
With --speed, what a step takes in spaces of many options instead, in milliseconds of the processor.

    python bench/many_arms.py FILE --first 30500 --seeds 4
    python bench/many_arms.py FILE --first 30500 --seeds 2 --arms 300 --choice
    python bench/many_arms.py --speed
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import windvane as wv

STEPS, NOISE = 300, 0.3
Rng = np.random.Generator
RULES = ("now", "few", "sample", "bounds", "uniform")


def still(rng: Rng, arms: int) -> np.ndarray:
    """Normal values that stay."""
    return np.tile(rng.standard_normal(arms), (STEPS, 1))


def drifts(rng: Rng, arms: int) -> np.ndarray:
    """Each arm moves on its own, with a memory of 100 steps."""
    stay, values = math.exp(-1.0 / 100.0), np.empty((STEPS, arms))
    values[0] = rng.standard_normal(arms)
    for t in range(1, STEPS):
        values[t] = stay * values[t - 1] + math.sqrt(1.0 - stay * stay) * rng.standard_normal(arms)
    return values


def jumps(rng: Rng, arms: int) -> np.ndarray:
    """All are drawn again in the middle."""
    return np.repeat(rng.standard_normal((2, arms)), STEPS // 2, axis=0)


def heavy(rng: Rng, arms: int) -> np.ndarray:
    """Student's t with 2.5 degrees of freedom: a few are far better than all others."""
    return np.tile(rng.standard_t(2.5, arms), (STEPS, 1))


def level(rng: Rng, arms: int) -> np.ndarray:
    """All are nearly the same, beside the noise."""
    return np.tile(10.0 + 0.05 * rng.standard_normal(arms), (STEPS, 1))


def trend(rng: Rng, arms: int) -> np.ndarray:
    """They differ, and move together."""
    return rng.standard_normal(arms) + np.cumsum(0.1 * rng.standard_normal(STEPS))[:, None]


WORLDS: dict[str, Callable[[Rng, int], np.ndarray]] = {
    one.__name__: one for one in (still, drifts, jumps, heavy, level, trend)
}


def learned(rule: str, values: np.ndarray, noise: np.ndarray, seed: int, choice: bool) -> tuple[float, int]:
    """The regret per step of `auto`, and how many arms it asked for; odd seeds minimise."""
    arms, sign = values.shape[1], -1.0 if seed % 2 else 1.0
    space = wv.Space(x=wv.Choice(list(range(arms)))) if choice else wv.Arms(arms)
    more = {"beta": wv.LogBeta(1.2, 4.0)} if rule == "few" else {}
    opt = wv.make(space, seed=seed, goal="minimize" if sign < 0.0 else "maximize", **more)
    lost, asked = 0.0, set()
    for row, error in zip(values, noise, strict=True):
        x = opt.ask()
        arm = x["x"] if choice else x
        opt.tell(x, sign * float(row[arm] + error))
        lost += row.max() - row[arm]
        asked.add(arm)
    return lost / STEPS, len(asked)


def simple(rule: str, values: np.ndarray, noise: np.ndarray, seed: int) -> tuple[float, int]:
    """The same of a rule without a model."""
    rng = np.random.default_rng((seed, 2))
    arms = values.shape[1]
    first = rng.permutation(arms)[: math.ceil(math.sqrt(STEPS))]
    sums, counts, lost = np.zeros(arms), np.zeros(arms), 0.0
    for t, (row, error) in enumerate(zip(values, noise, strict=True)):
        if rule == "uniform":
            arm = int(rng.integers(arms))
        elif t < len(first):
            arm = int(first[t])
        else:
            bound = sums[first] / counts[first]
            if rule == "bounds":
                bound = bound + NOISE * np.sqrt(2.0 * math.log(t) / counts[first])
            arm = int(first[np.argmax(bound)])
        sums[arm] += row[arm] + error
        counts[arm] += 1
        lost += row.max() - row[arm]
    return lost / STEPS, int(np.count_nonzero(counts))


def run(file: Path, given: argparse.Namespace) -> None:
    """All runs that are missing."""
    known = {tuple(row[:5]) for row in stored(file)}
    for seed in range(given.first, given.first + given.seeds):
        for arms in given.arms:
            for world in given.worlds:
                rng = np.random.default_rng((seed, arms))
                values, noise = WORLDS[world](rng, arms), NOISE * rng.standard_normal(STEPS)
                for rule in RULES:
                    key = (world, arms, rule, seed, given.choice)
                    if key in known or (given.choice and rule == "few"):
                        continue
                    if rule in ("now", "few"):
                        found = learned(rule, values, noise, seed, given.choice)
                    else:
                        found = simple(rule, values, noise, seed)
                    with file.open("a", encoding="utf-8") as out:
                        out.write(json.dumps((*key, *found)) + "\n")


def stored(file: Path) -> list[list]:
    """World, arms, rule, seed, whether they are options, regret, arms asked for."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def table(file: Path, given: argparse.Namespace) -> None:
    """What is in the file of these seeds."""
    seeds = range(given.first, given.first + given.seeds)
    rows = {tuple(row[:5]): row[5:] for row in stored(file)}
    print("| world | arms | runs | " + " | ".join(RULES) + " | asked for, now | few | ln(now / few) |")
    print("|:--|--:|--:|" + "--:|" * (len(RULES) + 3))
    for arms in given.arms:
        for world in given.worlds:
            found = {
                rule: {
                    s: rows[world, arms, rule, s, given.choice]
                    for s in seeds
                    if (world, arms, rule, s, given.choice) in rows
                }
                for rule in RULES
            }
            regrets = [
                f"{np.mean([r for r, _ in found[rule].values()]):.3f}" if found[rule] else ""
                for rule in RULES
            ]
            asked = [
                f"{np.mean([n for _, n in found[rule].values()]):.0f}" if found[rule] else ""
                for rule in RULES[:2]
            ]
            both = [seed for seed in found["few"] if seed in found["now"]]
            gap = np.log([found["now"][seed][0] / found["few"][seed][0] for seed in both])
            verdict = (
                f"{gap.mean():+.2f} ± {gap.std(ddof=1) / math.sqrt(len(gap)):.2f}" if len(both) > 1 else ""
            )
            print(
                "| "
                + " | ".join((world, str(arms), str(len(found["now"])), *regrets, *asked, verdict))
                + " |"
            )


def speed(steps: int = 60) -> None:
    """The mean of an ask and of a tell of `auto` in such spaces."""

    def options(*counts: int) -> dict[str, wv.Choice]:
        return {f"c{i}": wv.Choice(list(range(count))) for i, count in enumerate(counts)}

    spaces = {
        "50 options, two numbers": wv.Space(options(50), a=wv.Real(0, 1), b=wv.Real(0, 1)),
        "300 options": wv.Space(options(300)),
        "1000 options": wv.Space(options(1000)),
        "300 options, one number": wv.Space(options(300), a=wv.Real(0, 1)),
        "three times 20 options": wv.Space(options(20, 20, 20)),
    }
    wv.make(wv.Box([(0, 1)]), seed=0).ask()
    print("| space | ask | tell |\n|:--|--:|--:|")
    for name, space in spaces.items():
        opt, rng, asks, tells = wv.make(space, seed=0), np.random.default_rng(0), 0.0, 0.0
        worth = rng.standard_normal(1000)
        for _ in range(steps):
            start = time.process_time()
            x = opt.ask()
            asks += time.process_time() - start
            y = sum(worth[v] if isinstance(v, int) else -((v - 0.3) ** 2) for v in x.values())
            start = time.process_time()
            opt.tell(x, float(y) + 0.1 * rng.standard_normal())
            tells += time.process_time() - start
        print(f"| {name} | {1e3 * asks / steps:.1f} ms | {1e3 * tells / steps:.1f} ms |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?", help="of the runs")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--first", type=int, default=30500, help="the first seed")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--arms", type=int, nargs="+", default=(200, 500, 2000))
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=tuple(WORLDS), metavar="NAME")
    parser.add_argument("--choice", action="store_true", help="as the options of a wv.Choice")
    given = parser.parse_args()
    if given.speed or given.file is None:
        speed()
    else:
        run(given.file, given)
        table(given.file, given)


if __name__ == "__main__":
    main()
