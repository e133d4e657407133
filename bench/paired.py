"""Has regret changed? `auto` before and after a change, or with another option, paired by world and seed.

    python bench/paired.py run before.jsonl                # in a checkout of the version before
    python bench/paired.py run after.jsonl                 # in this one
    python bench/paired.py compare before.jsonl after.jsonl

    python bench/paired.py run without.jsonl --set initial=0 --worlds static jumps

A line is one run: told nothing, or told the kernel where there is one. Runs that are in the file are not made
again; worlds that a version does not have are left out. The verdict on a world is the mean of
ln(after / before) over the seeds with its standard error; beside it, the ratios of means and of ninth
deciles, and in how many runs there was a reset.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import windvane as wv
from windvane.entries import parse

WORLDS = {
    "static": "within-model:rate=0.0,horizon=200",
    "drift 0.01": "within-model:rate=0.01,horizon=200",
    "drift 0.03": "within-model:rate=0.03,horizon=200",
    "jumps": "jumps:horizon=200",
    "Hartmann, moved": "hartmann-shift",
    "Ackley, moved": "ackley-shift",
    "policy search": "policy-search",
    "rough": "rough:horizon=200",
    "rough + jumps": "rough:count=2,horizon=300",
    "Hartmann-3 mirrored": "hartmann3-mirrored:horizon=200",
    "moving peaks": "moving-peaks:horizon=200",
    "Branin walks": "branin-walk:horizon=200",
    "plant breaks": "breaking-plant:horizon=200",
    "valve": "valve:horizon=288",
    "regimes": "regimes:horizon=300",
    "workload": "workload:horizon=200",
    "Levy 4-d": "levy:dim=4,horizon=200",
    "noisy": "within-model:rate=0.0,dim=1,noise_variance=0.2,horizon=200",
    "noisy 4-d": "within-model:rate=0.0,dim=4,noise_variance=0.2,horizon=200",
    "noisy, drift 0.01": "within-model:rate=0.01,noise_variance=0.2,horizon=200",
    "noisy, drift 0.03 1-d": "within-model:rate=0.03,dim=1,noise_variance=0.2,horizon=200",
    "noisy, jumps": "jumps:noise_variance=0.2,horizon=200",
    "noisy, rough": "rough:noise_variance=0.2,horizon=200",
    **{
        f"still, {kind} {dim}-d": f"still:kind={kind},dim={dim},scale=1.0,horizon=200"
        for kind, dims in {
            "kinks": (1, 2, 4),
            "cliff": (1, 2, 6),
            "ridge": (2, 6),
            "plateau": (2, 4),
            "steep": (2, 3),
            "rough": (1, 2, 4),
        }.items()
        for dim in dims
    },
}
TOLD = ("static", "drift 0.01", "drift 0.03", "jumps")
Key = tuple[str, bool, int]


def stored(file: Path) -> dict[Key, dict]:
    """The runs in a file, by world, what was told, and seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["task"], row["told"], row["seed"]): row for row in map(json.loads, lines)}


def one(job: tuple[str, bool, int, dict]) -> dict | None:
    """One run; None if this version has no such world."""
    label, told, seed, options = job
    (entry,) = parse("world", [WORLDS[label]])
    if entry.name not in wv.tasks():
        return None
    task = wv.task(entry.name, seed=seed, **entry.keywords())
    opt = wv.make("auto", task.space, seed=seed, **options, **({"kernel": task.kernel} if told else {}))
    trace = wv.simulate(opt, task, seed=seed)
    return {
        "task": label,
        "told": told,
        "seed": seed,
        "regret": float(np.mean(trace.regret)),
        "resets": len(trace.resets),
    }


def run(file: Path, given: argparse.Namespace) -> None:
    """All runs that are missing."""
    (entry,) = parse("--set", ["auto:" + ",".join(given.set)] if given.set else ["auto"])
    known = stored(file)
    jobs = [
        (label, told, seed, entry.keywords())
        for seed in range(given.first, given.first + given.seeds)
        for label in given.worlds
        for told in ((False, True) if label in TOLD else (False,))
        if (label, told, seed) not in known
    ]
    with ProcessPoolExecutor(given.jobs) as pool:
        for number, row in enumerate(pool.map(one, jobs), start=1):
            if row is not None:
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
            if not number % 20:
                print(f"{number} of {len(jobs)} runs", flush=True)


def compare(before: Path, after: Path) -> None:
    """A table of what is in both."""
    old, new = stored(before), stored(after)
    print(
        "| world | told | runs | before | after | ln(after / before) | means | ninth deciles | with resets |"
    )
    print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|")
    for label in WORLDS:
        for told in (False, True):
            keys = [key for key in old if key[:2] == (label, told) and key in new]
            if len(keys) < 2:
                continue
            a, b = (np.array([runs[key]["regret"] for key in keys]) for runs in (old, new))
            gap = np.log(b / a)
            verdict = f"{gap.mean():+.3f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.3f}"
            tails = f"{b.mean() / a.mean():.2f} | {np.quantile(b, 0.9) / np.quantile(a, 0.9):.2f}"
            resets = " to ".join(str(sum(runs[key]["resets"] > 0 for key in keys)) for runs in (old, new))
            what = "the kernel" if told else "nothing"
            cells = (label, what, len(keys), f"{a.mean():.3g}", f"{b.mean():.3g}", verdict, tails, resets)
            print("| " + " | ".join(map(str, cells)) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("run", help="make the runs that are missing in a file")
    make.add_argument("file", type=Path)
    make.add_argument("--first", type=int, default=10000, help="the first seed")
    make.add_argument("--seeds", type=int, default=30)
    make.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS), metavar="NAME")
    make.add_argument("--set", nargs="+", metavar="OPTION=VALUE", help="options of auto")
    make.add_argument("--jobs", type=int, default=2, help="processes")
    both = verbs.add_parser("compare", help="two files, paired")
    both.add_argument("before", type=Path)
    both.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.verb == "run":
        run(given.file, given)
    else:
        compare(given.before, given.after)


if __name__ == "__main__":
    main()
