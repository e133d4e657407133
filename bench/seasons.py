"""Is the second day better than the first? `auto` on worlds that come back, told nothing and told the period.

    python bench/seasons.py run before.jsonl --seeds 20         # in a checkout of the version before
    python bench/seasons.py run after.jsonl --seeds 20          # in this one
    python bench/seasons.py run after.jsonl --seeds 20 --told   # the same runs, told period=
    python bench/seasons.py compare before.jsonl after.jsonl

A line is one run. Runs that are in the file are not made again. The table has the mean regret of each period,
the ratio of the second to the first, and the mean of ln(after / before) over the seeds with its standard
error.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

import windvane as wv


class Valve:
    """A valve whose best opening follows the day, with two harmonics; the best gain stays where it is."""

    name = "valve"
    kernel = None
    horizon = 288
    noise_variance = 0.04

    def __init__(self, seed: int, period: float = 96.0) -> None:
        self.period, self.space = period, wv.Box([(0.0, 1.0), (0.0, 1.0)])
        self.phase = np.random.default_rng((seed, 7)).uniform(0.0, 2.0 * math.pi, 2)

    def value(self, x: Any, t: float) -> float:
        """20 where nothing is right, 25 where everything is."""
        angle = 2.0 * math.pi * t / self.period
        best = 0.5 + 0.25 * math.sin(angle + self.phase[0]) + 0.1 * math.sin(2.0 * angle + self.phase[1])
        return 20.0 + 5.0 * math.exp(-(((x[0] - best) / 0.15) ** 2 + ((x[1] - 0.6) / 0.3) ** 2) / 2.0)

    def optimum(self, t: float) -> float:
        """At the best opening and the best gain."""
        del t
        return 25.0


WORLDS = {
    "seasonal 100": (100.0, lambda seed: wv.task("seasonal", period=100, horizon=300, seed=seed)),
    "seasonal 60": (60.0, lambda seed: wv.task("seasonal", period=60, horizon=300, seed=seed)),
    "valve 96": (96.0, Valve),
}
Key = tuple[str, bool, int]


def stored(file: Path) -> dict[Key, dict]:
    """The runs in a file, by world, what was told, and seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["world"], row["told"], row["seed"]): row for row in map(json.loads, lines)}


def run(file: Path, first: int, count: int, told: bool, worlds: list[str]) -> None:
    """All runs that are missing."""
    known = stored(file)
    for seed in range(first, first + count):
        for label in worlds:
            if (label, told, seed) in known:
                continue
            period, world = WORLDS[label]
            task = world(seed)
            opt = wv.make("auto", task.space, seed=seed, **({"period": period} if told else {}))
            trace = wv.simulate(opt, task, seed=seed)
            regret = np.asarray(trace.regret)
            days = [float(regret[int(a) : int(a + period)].mean()) for a in np.arange(0, len(regret), period)]
            row = {"world": label, "told": told, "seed": seed, "regret": float(regret.mean()), "days": days}
            beliefs = trace.events[-1].beliefs
            row |= {"resets": [int(step) for step in trace.resets], "believed": max(beliefs, key=beliefs.get)}
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")
        print(f"seed {seed}: done", flush=True)


def compare(before: Path, after: Path) -> None:
    """A table of what is in both; runs that were told the period are held against those that were not."""
    old, new = stored(before), stored(after)
    print("| world | told | runs | regret per period, before | after | second / first | ln(after / before) |")
    print("|:--|:--|--:|:--|:--|--:|--:|")
    for label in WORLDS:
        for told in (False, True):
            pairs = [
                (old[label, False, seed], row)
                for (name, was, seed), row in new.items()
                if (name, was) == (label, told) and (label, False, seed) in old
            ]
            if not pairs:
                continue
            a, b = (np.array([pair[i]["days"] for pair in pairs]) for i in (0, 1))
            gap = np.log([two["regret"] / one["regret"] for one, two in pairs])
            error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else math.nan
            days = (" ".join(f"{day:.3f}" for day in each.mean(axis=0)) for each in (a, b))
            ratio = b.mean(axis=0)[1] / b.mean(axis=0)[0]
            what = "the period" if told else "nothing"
            print(f"| {label} | {what} | {len(pairs)} | {' | '.join(days)} | {ratio:.2f} | ", end="")
            print(f"{gap.mean():+.3f} ± {error:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("run", help="make the runs that are missing in a file")
    make.add_argument("file", type=Path)
    make.add_argument("--first", type=int, default=10000, help="the first seed")
    make.add_argument("--seeds", type=int, default=20)
    make.add_argument("--told", action="store_true", help="tell the period")
    make.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS))
    both = verbs.add_parser("compare", help="two files, paired")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.verb == "run":
        run(given.file, given.first, given.seeds, given.told, given.worlds)
    else:
        compare(given.before, given.after)


if __name__ == "__main__":
    main()
