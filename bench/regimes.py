"""Has regret changed where something comes back? `auto` before and after a change, paired by world and seed.

    python bench/regimes.py run before.jsonl               # in a checkout of the version before
    python bench/regimes.py run after.jsonl                # in this one
    python bench/regimes.py compare before.jsonl after.jsonl

The worlds: a sample of a GP in the unit square whose level moves by -2 or whose values are doubled and raised
by 5 standard deviations, at a step between 50 and 90 of 150; two samples that take turns of 60 steps; and,
to see that nothing is recognised that was never there, samples that are new at every jump. `python
bench/paired.py` has the worlds in which nothing comes back.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import windvane as wv

PART = 60  # steps of a regime


class Level:
    """A static sample, of which a multiple with another level is seen from a random step on."""

    def __init__(self, seed: int, factor: float, level: float) -> None:
        self.task = wv.task("within-model", rate=0.0, horizon=150, seed=seed)
        self.at = int(np.random.default_rng(seed).integers(50, 91))
        self.factor, self.level = factor, level
        self.space, self.kernel = self.task.space, self.task.kernel
        self.name, self.horizon, self.noise_variance = "level", 150, self.task.noise_variance

    def value(self, x: np.ndarray, t: int) -> float:
        value = self.task.value(x, 1)
        return self.factor * value + self.level if t >= self.at else value

    def optimum(self, t: int) -> float:
        value = self.task.optimum(1)
        return self.factor * value + self.level if t >= self.at else value


class Turns:
    """Static samples that take turns: the numbers say which, part by part."""

    def __init__(self, seed: int, turns: str) -> None:
        self.tasks = [
            wv.task("within-model", rate=0.0, horizon=PART, seed=seed + 100 * int(each)) for each in turns
        ]
        first = self.tasks[0]
        self.space, self.kernel = first.space, first.kernel
        self.name, self.horizon, self.noise_variance = "turns", PART * len(turns), first.noise_variance

    def value(self, x: np.ndarray, t: int) -> float:
        return self.tasks[(t - 1) // PART].value(x, 1)

    def optimum(self, t: int) -> float:
        return self.tasks[(t - 1) // PART].optimum(1)


WORLDS = {
    "level - 2": lambda seed: Level(seed, 1.0, -2.0),
    "2 f + 5": lambda seed: Level(seed, 2.0, 5.0),
    "A B A B": lambda seed: Turns(seed, "0101"),
    "A B C D": lambda seed: Turns(seed, "0123"),
}
Key = tuple[str, bool, int]


def stored(file: Path) -> dict[Key, dict]:
    """The runs in a file, by world, what was told, and seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["task"], row["told"], row["seed"]): row for row in map(json.loads, lines)}


def run(file: Path, first: int, count: int, only: list[str]) -> None:
    """All runs that are missing."""
    known = stored(file)
    for seed in range(first, first + count):
        for label, world in WORLDS.items():
            for told in (False, True):
                if (label, told, seed) in known or (only and label not in only):
                    continue
                task = world(seed)
                opt = wv.make("auto", task.space, seed=seed, **({"kernel": task.kernel} if told else {}))
                trace = wv.simulate(opt, task, seed=seed)
                changes = [(e.step, getattr(e, "change", None)) for e in trace.events if e.reset]
                row = {
                    "task": label,
                    "told": told,
                    "seed": seed,
                    "regret": float(np.mean(trace.regret)),
                    "late": float(
                        np.mean(trace.regret[task.at - 1 :] if label in LEVELS else trace.regret[2 * PART :])
                    ),
                    "changes": [[step, None if found is None else found.kind] for step, found in changes],
                }
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
        print(f"seed {seed}: done", flush=True)


LEVELS = ("level - 2", "2 f + 5")


def compare(before: Path, after: Path) -> None:
    """A table of what is in both; `late` is from the change on, or from the third part on."""
    old, new = stored(before), stored(after)
    print("| world | told | runs | before | after | ln(after / before) | late before | after | ln | kinds |")
    print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|:--|")
    for label in WORLDS:
        for told in (False, True):
            keys = [key for key in old if key[:2] == (label, told) and key in new]
            if not keys:
                continue
            cells = []
            for what in ("regret", "late"):
                a, b = (np.array([runs[key][what] for key in keys]) for runs in (old, new))
                gap = np.log(b / a)
                error = gap.std(ddof=1) / np.sqrt(len(gap))
                cells += [f"{a.mean():.3f}", f"{b.mean():.3f}", f"{gap.mean():+.3f} ± {error:.3f}"]
            kinds = [kind for key in keys for _, kind in new[key]["changes"]]
            counted = ", ".join(f"{kind}: {kinds.count(kind)}" for kind in sorted(set(map(str, kinds))))
            told_what = "the kernel" if told else "nothing"
            print(f"| {label} | {told_what} | {len(keys)} | {' | '.join(cells)} | {counted} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("run", help="make the runs that are missing in a file")
    make.add_argument("file", type=Path)
    make.add_argument("--first", type=int, default=10000, help="the first seed")
    make.add_argument("--seeds", type=int, default=30)
    make.add_argument("--only", action="append", default=[], choices=list(WORLDS))
    both = verbs.add_parser("compare", help="two files, paired")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.verb == "run":
        run(given.file, given.first, given.seeds, given.only)
    else:
        compare(given.before, given.after)


if __name__ == "__main__":
    main()
