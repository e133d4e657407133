"""The tasks, chosen before any of them was run, and one run of a peer on one of them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import windvane as wv
from peers import PEERS, Adapter
from peers.kept import host
from windvane.experiments.stamp import bench_stamp

STEPS = 200
FIRST_SEED = 6000  # no choice in Windvane was made on these
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

TASKS: dict[str, tuple[str, Callable[..., Any]]] = {
    "drift": (
        "the paper's chain: replaced by a new sample little by little, rate 0.03",
        lambda **given: wv.task("within-model", dim=2, rate=0.03, **given),
    ),
    "jumps": (
        "stands still, and is another one after each of two jumps",
        lambda **given: wv.task("jumps", **given),
    ),
    "seasons": (
        "drifts to its opposite and back in 150 steps",
        lambda **given: wv.task("seasonal", period=150.0, **given),
    ),
    "static": (
        "does not change",
        lambda **given: wv.task("within-model", dim=2, rate=0.0, **given),
    ),
}


class Timed:
    """An adapter with a stopwatch: seconds of ask and tell together, by the clock and by the processor."""

    def __init__(self, adapter: Adapter, progress: Callable[[int], None]) -> None:
        self.adapter, self.progress = adapter, progress
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def ask(self) -> Any:
        self.wall.append(-time.perf_counter())
        self.cpu.append(-time.process_time())
        x = self.adapter.ask()
        self._stop()
        return x

    def tell(self, x: Any, y: float) -> Any:
        self.wall[-1] -= time.perf_counter()
        self.cpu[-1] -= time.process_time()
        event = self.adapter.tell(x, y)
        self._stop()
        self.progress(len(self.wall))
        return event

    def _stop(self) -> None:
        self.wall[-1] += time.perf_counter()
        self.cpu[-1] += time.process_time()


def one_run(peer: str, task: str, seed: int, steps: int) -> dict[str, Any]:
    """Regret and time of every step; of a run that fails, how."""
    found: dict[str, Any] = {"peer": peer, "task": task, "seed": seed, "steps": steps}
    found |= {"stamp": str(bench_stamp()), "host": host()}
    objective = TASKS[task][1](horizon=steps, seed=seed)
    timed: Timed | None = None
    try:
        found["version"] = PEERS[peer].version()
        adapter = PEERS[peer].make(objective.space.bounds, steps, seed)
        timed = Timed(adapter, lambda done: print(done, flush=True) if done % 10 == 0 else None)
        trace = wv.simulate(timed, objective, seed=seed)
        found |= {"regret": trace.regret.tolist(), "cpu": timed.cpu, "wall": timed.wall}
    except (PackageNotFoundError, ImportError) as error:
        found["failed"] = f"not installed: {error}"
    except Exception as error:
        traceback.print_exc()
        at = f"at step {len(timed.wall)}: " if timed else ""
        found["failed"] = f"{at}{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        if timed:
            found["wall"] = timed.wall
    return found


def main() -> None:
    """One run, in a process of its own: python -m peers.contest PEER TASK SEED STEPS FILE."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("seed", type=int)
    parser.add_argument("steps", type=int)
    parser.add_argument("file", type=Path)
    given = parser.parse_args()
    missing = [name for name in THREADS if os.environ.get(name) != "1"]
    if missing:
        sys.exit(f"set {missing[0]}=1: every peer has one thread")
    warnings.filterwarnings("ignore")  # the peers' own, about their fits
    found = one_run(given.peer, given.task, given.seed, given.steps)
    draft = given.file.with_suffix(".part")
    draft.write_text(json.dumps(found) + "\n", encoding="utf-8")
    draft.replace(given.file)


if __name__ == "__main__":
    main()
