"""Has regret changed? `auto` before and after a change, paired by task and seed.

    python bench/paired.py run before.jsonl                # in a checkout of the version before
    python bench/paired.py run after.jsonl                 # in this one
    python bench/paired.py compare before.jsonl after.jsonl

A line is one run: told nothing, or told the kernel where there is one. Runs that are in the file are not made
again. The verdict on a task is the mean of ln(after / before) over the seeds with its standard error.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import windvane as wv

TASKS = {
    "static": ("within-model", {"rate": 0.0, "horizon": 200}),
    "drift 0.01": ("within-model", {"rate": 0.01, "horizon": 200}),
    "drift 0.03": ("within-model", {"rate": 0.03, "horizon": 200}),
    "jumps": ("jumps", {"horizon": 200}),
    "Hartmann, moved": ("hartmann-shift", {}),
    "Ackley, moved": ("ackley-shift", {}),
    "policy search": ("policy-search", {}),
}
TOLD = ("static", "drift 0.01", "drift 0.03", "jumps")
Key = tuple[str, bool, int]


def stored(file: Path) -> dict[Key, dict]:
    """The runs in a file, by task, what was told, and seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["task"], row["told"], row["seed"]): row for row in map(json.loads, lines)}


def run(file: Path, first: int, count: int) -> None:
    """All runs that are missing."""
    known = stored(file)
    for seed in range(first, first + count):
        for label, (name, options) in TASKS.items():
            for told in (False, True) if label in TOLD else (False,):
                if (label, told, seed) in known:
                    continue
                task = wv.task(name, seed=seed, **options)
                opt = wv.make("auto", task.space, seed=seed, **({"kernel": task.kernel} if told else {}))
                trace = wv.simulate(opt, task, seed=seed)
                row = {"task": label, "told": told, "seed": seed, "regret": float(np.mean(trace.regret))}
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps({**row, "resets": len(trace.resets)}) + "\n")
        print(f"seed {seed}: done", flush=True)


def compare(before: Path, after: Path) -> None:
    """A table of what is in both."""
    old, new = stored(before), stored(after)
    print("| task | told | runs | before | after | ln(after / before) |")
    print("|:--|:--|--:|--:|--:|--:|")
    for label in TASKS:
        for told in (False, True):
            keys = [key for key in old if key[:2] == (label, told) and key in new]
            if not keys:
                continue
            a, b = (np.array([runs[key]["regret"] for key in keys]) for runs in (old, new))
            gap = np.log(b / a)
            verdict = f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}"
            what = "the kernel" if told else "nothing"
            print(f"| {label} | {what} | {len(keys)} | {a.mean():.3f} | {b.mean():.3f} | {verdict} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("run", help="make the runs that are missing in a file")
    make.add_argument("file", type=Path)
    make.add_argument("--first", type=int, default=7000, help="the first seed")
    make.add_argument("--seeds", type=int, default=30)
    both = verbs.add_parser("compare", help="two files, paired")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.verb == "run":
        run(given.file, given.first, given.seeds)
    else:
        compare(given.before, given.after)


if __name__ == "__main__":
    main()
