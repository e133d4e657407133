"""`auto` on arms: tables with rows to train on, real ones and stand-ins, before and after a change.

    python bench/arms.py run before.jsonl --data FOLDER     # in a checkout of the version before
    python bench/arms.py run after.jsonl --data FOLDER      # in this one
    python bench/arms.py compare before.jsonl after.jsonl

    python bench/arms.py run rival.jsonl --algorithm tv-gp-ucb:rate=0.03,noise_variance=0.01 --told kernel

FOLDER has the real tables (`windvane bench --data`). Without it, only stand-ins are run. A line is one run:
told nothing, or told the covariance of the training rows. In the stand-ins each arm does something alone that
these rows may know nothing of. The verdict on a table is the mean of ln(after / before) over the seeds with
its standard error; beside it, at how many of the steps the arm was changed, and the noise variance in the
second half.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import windvane as wv
from windvane.entries import parse

PAST, STEPS, N = 400, 250, 61
Array = np.ndarray
Rng = np.random.Generator


def markov(rng: Rng, rows: int, lasting: Array) -> Array:
    """Processes of variance 1 and correlation exp(-lag / lasting), one per column."""
    stay = np.exp(-1.0 / lasting)
    path = rng.standard_normal((rows, len(lasting)))
    for t in range(1, rows):
        path[t] = stay * path[t - 1] + np.sqrt(1.0 - stay * stay) * path[t]
    return path


def smooth(
    rng: Rng, rows: int, lasting: float, lengthscale: float = 0.3, places: Array | None = None
) -> Array:
    """A field that neighbours share, of variance 1, Markov in time; places that are not given are drawn."""
    places = rng.random((N, 2)) if places is None else places
    distance2 = ((places[:, None] - places) ** 2).sum(axis=-1)
    values, vectors = np.linalg.eigh(np.exp(-0.5 * distance2 / lengthscale**2))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return markov(rng, rows, np.full(N, lasting)) @ root.T


def between(rng: Rng, shortest: float, longest: float) -> Array:
    """How long the part of each arm lasts."""
    return np.exp(rng.uniform(math.log(shortest), math.log(longest), N))


def known(rng: Rng) -> Array:
    """The part of an arm alone is in the training rows, as large as in the test rows."""
    rows = PAST + STEPS
    return smooth(rng, rows, 150.0) + 0.8 * markov(rng, rows, between(rng, 5.0, 30.0))


def rescaled(rng: Rng) -> Array:
    """It is there, but five times as small."""
    rows = PAST + STEPS
    size = np.where(np.arange(rows) < PAST, 0.2, 1.0)[:, None]
    return smooth(rng, rows, 150.0) + size * markov(rng, rows, between(rng, 5.0, 30.0))


def slow(rng: Rng) -> Array:
    """Averages of 60 rows are known, which hardly have it."""
    values = known(rng)
    sums = np.cumsum(np.concatenate((np.zeros((1, N)), values[: PAST + 59])), axis=0)
    values[:PAST] = (sums[60:] - sums[:-60])[:PAST] / 60.0
    return values


def bursts(rng: Rng) -> Array:
    """Each arm jumps now and then in the test rows, and is back within some ten steps: nobody told."""
    rows = PAST + STEPS
    values = smooth(rng, rows, 150.0)
    jumps = (rng.random((rows, N)) < 0.03) * rng.standard_normal((rows, N)) * 2.0
    jumps[:PAST] = 0.0
    stay, own = np.exp(-1.0 / between(rng, 5.0, 20.0)), np.zeros(N)
    for t in range(rows):
        own = stay * own + jumps[t]
        values[t] += own
    return values


def switches(rng: Rng) -> Array:
    """Arms are on or off, bounded like lamps and shutters: seldom in the past, often in the test rows."""
    rows = PAST + STEPS
    often = np.where(np.arange(rows) < PAST, 0.005, 0.05)[:, None]
    state = (rng.integers(0, 2, N) + np.cumsum(rng.random((rows, N)) < often, axis=0)) % 2
    return 0.5 * smooth(rng, rows, 100.0) + 2.0 * state * rng.uniform(0.3, 1.0, N)


def regime(rng: Rng) -> Array:
    """Slow in the past, another covariance and ten times as fast in the test rows."""
    return np.concatenate((smooth(rng, PAST, 200.0), 1.5 * smooth(rng, STEPS, 15.0, 0.1)))


def offsets(rng: Rng) -> Array:
    """Arms at levels of their own, which a covariance does not have; what it has is a wave of all of them."""
    rows = PAST + STEPS
    wave = np.sin(2.0 * math.pi * np.arange(rows) / 144.0)[:, None] * rng.uniform(0.8, 1.2, N)
    own = markov(rng, rows, between(rng, 10.0, 60.0))
    return rng.standard_normal(N) + 0.8 * wave + 0.3 * own


def factors(rng: Rng) -> Array:
    """Three things move all arms; in the test rows, each has a part of its own, new to everybody."""
    rows = PAST + STEPS
    values = markov(rng, rows, np.full(3, 60.0)) @ rng.standard_normal((3, N)) / math.sqrt(3.0)
    size = np.where(np.arange(rows) < PAST, 0.1, 1.0)[:, None]
    return values + size * markov(rng, rows, between(rng, 10.0, 60.0))


def jumps(rng: Rng) -> Array:
    """All arms change at once, twice, and hardly in between: the past has seen twenty such changes."""
    blocks, places = [20] * (PAST // 20) + [85, 85, STEPS - 170], rng.random((N, 2))
    rows = np.repeat(np.arange(len(blocks)), blocks)
    own = markov(rng, len(rows), np.full(N, 50.0))
    return smooth(rng, len(blocks), 0.1, places=places)[rows] + 0.1 * own


STAND_INS: dict[str, Callable[[Rng], Array]] = {
    one.__name__: one for one in (known, rescaled, slow, bursts, switches, regime, offsets, factors, jumps)
}
NOISE = {"known": 1e-3, "slow": 1e-3}


def real(name: str, data: Path, seed: int) -> object:
    """A real table; the shares' and the temperatures' have no seed."""
    if name.startswith("temperature"):
        days = name.split()[1]
        if "every 3rd" not in name and "own" not in name:
            return wv.task("temperature", data=data, days=days, seed=seed)
        from windvane.tasks.temperature import load

        values, first = load(data)[0].values, 144 * (int(days[0]) - 1)
        if "own" in name:  # without what all sensors do
            values = values - values.mean(axis=1, keepdims=True)
            return wv.task("table", values=values, train_rows=first, test_rows=288, seed=seed)
        values = values[seed % 3 :: 3]
        return wv.task(
            "table", values=values, train_rows=first // 3, test_rows=min(200, len(values) - first // 3)
        )
    return wv.task("stocks", data=data, seed=seed)


REAL = (
    "temperature 7-8",
    "temperature 5-6",
    "temperature 3-4",
    "temperature 7-8 own",
    "temperature 4-5 own",
    "temperature 4-8 every 3rd",
    "shares",
)
TASKS = ("local-change", "humid")
LABELS = (*REAL, *TASKS, *STAND_INS)


def table(label: str, data: Path | None, seed: int) -> object:
    """The task of a label."""
    if label in REAL:
        assert data is not None
        return real(label, data, seed)
    if label in TASKS:
        return wv.task(label, seed=seed)
    values = STAND_INS[label](np.random.default_rng((seed, 1)))
    return wv.task("table", values=values, train_rows=PAST, noise_variance=NOISE.get(label, 0.01), seed=seed)


def one(job: tuple[str, bool, int, str, Path | None]) -> dict:
    """One run."""
    label, told, seed, algorithm, data = job
    task = table(label, data, seed)
    (entry,) = parse("algorithm", [algorithm])
    opt = wv.make(
        entry.name, task.space, seed=seed, **entry.keywords(), **({"kernel": task.kernel} if told else {})
    )
    trace = wv.simulate(opt, task, seed=seed)
    arms = np.array([event.x for event in trace.events])
    noises = [event.noise_variance for event in trace.events]
    return {
        "table": label,
        "told": told,
        "seed": seed,
        "regret": trace.average,
        "changed": float(np.mean(arms[1:] != arms[:-1])),
        "noise": float(np.mean(noises[len(noises) // 2 :])),
        "resets": len(trace.resets),
    }


Key = tuple[str, bool, int]


def stored(file: Path) -> dict[Key, dict]:
    """The runs in a file, by table, what was told, and seed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {(row["table"], row["told"], row["seed"]): row for row in map(json.loads, lines)}


def run(file: Path, given: argparse.Namespace) -> None:
    """All runs that are missing."""
    known = stored(file)
    jobs = [
        (label, told == "kernel", seed, given.algorithm, given.data)
        for seed in range(given.first, given.first + given.seeds)
        for label in given.tables
        for told in given.told
        if (label, told == "kernel", seed) not in known and (given.data is not None or label not in REAL)
    ]
    with ProcessPoolExecutor(given.jobs) as pool:
        for row in pool.map(one, jobs):
            with file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(row) + "\n")


def compare(before: Path, after: Path) -> None:
    """A table of what is in both."""
    old, new = stored(before), stored(after)
    print("| table | told | runs | before | after | ln(after / before) | arm changed, % | noise | resets |")
    print("|:--|:--|--:|--:|--:|--:|--:|--:|--:|")
    for told in (True, False):
        for label in LABELS:
            keys = [key for key in old if key[:2] == (label, told) and key in new]
            if len(keys) < 2:
                continue
            a, b = (np.array([runs[key]["regret"] for key in keys]) for runs in (old, new))
            gap = np.log(b / a)
            verdict = f"{gap.mean():+.3f} ± {gap.std(ddof=1) / math.sqrt(len(gap)):.3f}"
            sides = [
                [np.mean([runs[key][name] for key in keys]) for runs in (old, new)]
                for name in ("changed", "noise", "resets")
            ]
            changed = f"{100 * sides[0][0]:.0f} to {100 * sides[0][1]:.0f}"
            noise = f"{sides[1][0]:.2g} to {sides[1][1]:.2g}"
            resets = f"{sides[2][0]:.1f} to {sides[2][1]:.1f}"
            what = "the kernel" if told else "nothing"
            cells = (
                label,
                what,
                len(keys),
                f"{a.mean():.3f}",
                f"{b.mean():.3f}",
                verdict,
                changed,
                noise,
                resets,
            )
            print("| " + " | ".join(map(str, cells)) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    make = verbs.add_parser("run", help="make the runs that are missing in a file")
    make.add_argument("file", type=Path)
    make.add_argument("--first", type=int, default=10300, help="the first seed")
    make.add_argument("--seeds", type=int, default=12)
    make.add_argument("--tables", nargs="+", choices=LABELS, default=LABELS, metavar="NAME")
    make.add_argument("--told", nargs="+", choices=("kernel", "nothing"), default=("kernel", "nothing"))
    make.add_argument("--algorithm", default="auto", help="with options, such as auto:hazard=0")
    make.add_argument("--data", type=Path, help="the folder of the real tables")
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
