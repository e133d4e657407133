"""Limits on what is measured beside the objective: Windvane, SafeOpt and Optuna. `make constraints-bench`

    static     `gp-ucb` with safe=0.95 beside SafeOpt: nothing changes, all are told kernels and noise
    changing   `auto`, told nothing, beside SafeOpt, told kernels and noise: the constraint drifts or jumps
    optuna     `auto` with constraints, not in safe mode, beside Optuna's samplers with `constraints_func`
    cost       a step of `auto` with two constraints beside one without, the three taking turns

    python bench/constraints.py static --quick           # a try: 2 other seeds of 20 steps
    python bench/constraints.py changing --jobs 2        # two runs at a time
    python bench/constraints.py changing --rivals auto "auto soft" "auto safe"    # needs no SafeOpt
    python bench/constraints.py changing --no-runs       # only the table of what has been run

All rivals meet the same objective, the same constraint and the same noise; a seed is one world. A step is
one point that is asked for; it violates if the constraint at that point is truly beyond its limit, whatever
the noise showed. Regret is the distance to the best value within the limits at that step. Time is of the
processor, ask and tell together, in one thread.

Each run that is finished is a line of OUT/PART.jsonl and is not made again: interrupt it as you like. After a
change of Windvane name its rivals with --again, or choose another --out; the table ends with the stamps of
the code that made its lines. A run that fails is named, and made again the next time. The table is of the
seeds that all rivals have finished; it is printed, and kept in OUT/PART.md. Progress goes to stderr.

SafeOpt (0.16, its authors' package) has to be told a kernel: it is told the true one, and the true noise. It
chooses from a grid of 50 x 50 points, or 201 on a line, and knows the same start as Windvane does in safe
mode. Its own choice is the most uncertain point of those that may be best or may enlarge the safe set;
`ucb=True`, which it offers besides, takes the highest upper bound among the safe points, and is the stronger
rival where regret counts.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

from peers import limits, limits_table
from peers.contest import THREADS
from peers.lines import Lines, Row
from sections import computed_by, stamp_of

NEEDS = {"safeopt": "safeopt", "safe-ucb": "safeopt", "swarm": "safeopt", "optuna": "optuna"}  # by first word


@dataclass(frozen=True)
class Part:
    """What is compared, on which seeds, and for how long."""

    help: str
    first: int
    seeds: int
    steps: int
    worlds: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    ours: str = ""  # the rival that is compared with each of the others


PARTS = {
    "static": Part(
        "nothing changes, all are told kernels and noise: gp-ucb in safe mode beside SafeOpt",
        20_000,
        50,
        60,
        ("line", "square"),
        ("gp-ucb safe", "safeopt", "safeopt 95%", "safe-ucb", "safe-ucb 95%", "swarm"),
        "gp-ucb safe",
    ),
    "changing": Part(
        "the constraint drifts or jumps: auto, told nothing, beside SafeOpt, told kernels and noise",
        20_100,
        50,
        200,
        ("drift", "jumps"),
        (
            "auto",
            "auto soft",
            "auto safe",
            "safeopt",
            "safeopt window",
            "safe-ucb",
            "safe-ucb window",
        ),
        "auto safe",
    ),
    "optuna": Part(
        "auto with constraints, not in safe mode, beside Optuna's GPSampler and TPESampler",
        20_200,
        20,
        150,
        ("square", "drift", "jumps"),
        ("auto soft", "optuna gp", "optuna tpe"),
        "auto soft",
    ),
    "cost": Part("a step of auto with two constraints beside one without", 20_300, 5, 200),
}
QUICK = (1, 2, 20)  # the first seed, how many, and steps: not those that count
FIELDS = ("world", "rival", "seed", "steps")


def jobs_of(seeds: range, steps: int, worlds: list[str], rivals: list[str]) -> Iterator[Row]:
    """Seed by seed, so that all worlds and rivals advance together."""
    for seed in seeds:
        for world in worlds:
            for rival in rivals:
                yield {"world": world, "rival": rival, "seed": seed, "steps": steps}


def make_all(
    work: Callable[..., Row],
    todo: list[Row],
    kept: Lines,
    workers: int,
    line: Callable[[Row], str],
) -> None:
    """Make the runs, with one thread each, and keep each as soon as it is done."""
    os.environ.update(dict.fromkeys(THREADS, "1"))  # for the processes that are started
    begun, total = time.monotonic(), len(todo)
    rivals = list(dict.fromkeys(job.get("rival", "auto safe") for job in todo))
    with ProcessPoolExecutor(workers, get_context("spawn"), limits.warm, (rivals,)) as pool:
        running = {pool.submit(work, **job): job for job in todo}
        try:
            for done, future in enumerate(as_completed(running), start=1):
                job = running[future]
                if (error := future.exception()) is not None:
                    said = f"failed: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
                else:
                    kept.add({**future.result(), "stamp": str(stamp_of("constraints"))})
                    said = line(future.result())
                spent = (time.monotonic() - begun) / 60.0
                left = spent / done * (total - done)
                name = "  ".join(str(each) for each in job.values())
                tell(f"{done}/{total}  {spent:.1f} min, {left:.0f} to go  {name}  {said}")
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise SystemExit(f"interrupted; what is finished is in {kept.file}") from None


def tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def spoken(run: Row) -> str:
    beyond, regret = limits_table.share(run), limits_table.feasible_regret(run)
    return f"beyond {beyond:.1%}, regret within {regret:.3f}, {limits_table.milliseconds(run):.1f} ms a step"


def spoken_cost(run: Row) -> str:
    return ", ".join(f"{name} {1e3 * sum(run[name]) / run['steps']:.1f} ms" for name in limits.MODES)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="part", required=True, metavar="PART")
    for name, part in PARTS.items():
        verb = verbs.add_parser(name, help=part.help, description=part.help)
        last = part.first + part.seeds - 1
        verb.add_argument(
            "--seeds",
            type=int,
            default=part.seeds,
            metavar="N",
            help=f"how many, from {part.first} on; {part.seeds}, to {last}, unless stated",
        )
        verb.add_argument(
            "--first", type=int, default=part.first, metavar="SEED", help=f"the first seed; {part.first}"
        )
        verb.add_argument(
            "--steps", type=int, default=part.steps, metavar="T", help=f"of a run; {part.steps} unless stated"
        )
        verb.add_argument(
            "--quick", action="store_true", help=f"a try: {QUICK[1]} other seeds of {QUICK[2]} steps"
        )
        verb.add_argument("--no-runs", action="store_true", help="only the table of what has been run")
        verb.add_argument(
            "--out", type=Path, default=Path("out/constraints"), metavar="FOLDER", help="out/constraints"
        )
        if part.rivals:
            verb.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time; 1")
            for what, known in (("worlds", part.worlds), ("rivals", part.rivals)):
                verb.add_argument(
                    f"--{what}",
                    nargs="+",
                    choices=known,
                    default=list(known),
                    metavar="NAME",
                    help=f"only these, of {', '.join(known)}",
                )
            verb.add_argument(
                "--again",
                nargs="+",
                choices=part.rivals,
                default=[],
                metavar="NAME",
                help="forget all runs of these rivals first: they were made with another version",
            )
    given = parser.parse_args()
    if given.seeds < 1 or given.steps < 1:
        parser.error("--seeds and --steps must be at least 1")
    missing = {NEEDS[word] for name in getattr(given, "rivals", ()) if (word := name.split()[0]) in NEEDS}
    missing = {package for package in missing if find_spec(package) is None}
    if missing and not given.no_runs:
        parser.error(
            f"{' and '.join(missing)}: not installed here; see `make constraints-bench`, or --rivals"
        )
    return given


def main() -> None:
    given = arguments()
    part = PARTS[given.part]
    first, seeds, steps = QUICK if given.quick else (given.first, given.seeds, given.steps)
    numbers = range(first, first + seeds)
    file = given.out / f"{given.part}.jsonl"
    if part.rivals:
        kept, plan = Lines(file, FIELDS), list(jobs_of(numbers, steps, given.worlds, given.rivals))
        work, line, workers = limits.run, spoken, given.jobs
        if given.again:
            kept.forget(lambda run: run["rival"] in given.again)
    else:
        kept, plan = Lines(file, FIELDS[2:]), [{"seed": seed, "steps": steps} for seed in numbers]
        work, line, workers = limits.cost, spoken_cost, 1
    todo = [] if given.no_runs else kept.missing(plan)
    if todo:
        tell(f"{len(todo)} of {len(plan)} runs to make, into {file}")
        make_all(work, todo, kept, workers, line)
    found = kept.of(plan)
    if not found:
        raise SystemExit(f"no runs of {steps} steps in {file}")
    if part.rivals:
        text = limits_table.table(given.part, found, given.worlds, given.rivals, part.ours)
    else:
        text = limits_table.cost_table(found)
    if len(found) < len(plan):
        tell(f"{len(plan) - len(found)} of {len(plan)} runs are missing: the same command makes them")
    ours = [run for run in found if run.get("rival", "auto").split()[0] not in NEEDS]
    text = f"{text.rstrip()}\n\n{computed_by(run.get('stamp', '') for run in ours)}\n"
    if not given.quick:
        (given.out / f"{given.part}.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
