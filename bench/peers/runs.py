"""Runs on disk: one file each, made in a process of its own, and not made twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

from peers import PEERS
from peers.contest import FIRST_SEED, STEPS, TASKS, THREADS
from windvane.experiments.stamp import bench_stamp, stamps

OURS = "windvane"
BENCH = Path(__file__).resolve().parents[1]
PATIENCE = 4.0  # a run may take that many times the budget by the clock: other programs may be at work


@dataclass(frozen=True)
class Run:
    """A peer on a task with a seed."""

    peer: str
    task: str
    seed: int
    steps: int

    def file(self, folder: Path) -> Path:
        return folder / f"{self.peer}_{self.task}_{self.steps}_{self.seed}.json"

    def stored(self, folder: Path) -> dict[str, Any] | None:
        """What is on disk, if anything is."""
        file = self.file(folder)
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


def plan(peers: list[str], seeds: int, steps: int, tasks: list[str] | None = None) -> Iterator[Run]:
    """Seed by seed, task by task, all peers in turn: whatever the machine does meets all alike.

    A slow peer gets one task per seed, in turn, unless the tasks are named.
    """
    for number in range(seeds):
        for place, task in enumerate(tasks or TASKS):
            for peer in peers:
                if tasks or not PEERS[peer].slow or number % len(TASKS) == place:
                    yield Run(peer, task, FIRST_SEED + number, steps)


def outdated(found: dict[str, Any]) -> bool:
    """Whether Windvane has changed since a run of its own, or a peer is installed in another version."""
    peer = PEERS[found["peer"]]
    if peer.module != OURS:
        try:
            return found.get("version", peer.version()) != peer.version()
        except PackageNotFoundError:
            return False
    return [one.code for one in stamps(found.get("stamp", ""))] != [bench_stamp().code]


def lasting(found: Mapping[str, Any], _: str = "") -> bool:
    """Whether a run is worth keeping beside the page: another package's, of full length, that went well."""
    whole = found["steps"] == STEPS and "failed" not in found
    return whole and PEERS[found["peer"]].module != OURS


def minutes(found: dict[str, Any]) -> float:
    """What a run took of the processor; of one that failed, by the clock."""
    return sum(found.get("cpu", found.get("wall", []))) / 60.0


def start(run: Run, folder: Path) -> subprocess.Popen[str]:
    """The run in a process of its own, with one thread whatever the library."""
    one = dict.fromkeys(THREADS, "1")
    file = str(run.file(folder).resolve())
    with run.file(folder).with_suffix(".log").open("w", encoding="utf-8") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "peers.contest", run.peer, run.task, str(run.seed), str(run.steps), file],
            cwd=BENCH,
            env={**os.environ, **one},
            stdout=subprocess.DEVNULL,
            stderr=log,
            text=True,
        )


class Budget:
    """Minutes of the processor a peer has, and what its runs have used of them."""

    def __init__(self, allowed: float) -> None:
        self.allowed = allowed
        self.used: dict[str, float] = {}
        self.longest: dict[str, float] = {}

    def add(self, run: Run, found: dict[str, Any]) -> None:
        taken = minutes(found)
        self.used[run.peer] = self.used.get(run.peer, 0.0) + taken
        self.longest[run.peer] = max(self.longest.get(run.peer, 0.0), taken)

    def allows(self, run: Run) -> bool:
        return self.used.get(run.peer, 0.0) + self.longest.get(run.peer, 0.0) <= self.allowed


def make_all(
    runs: list[Run], folder: Path, allowed: float, jobs: int, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """All runs that are on disk or fit into the budget, the missing ones made now, `jobs` at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    budget = Budget(allowed)
    found: dict[Run, dict[str, Any]] = {}
    for run in runs:
        if (stored := run.stored(folder)) is not None and not outdated(stored):
            found[run] = stored
            budget.add(run, stored)
    waiting = [run for run in runs if run not in found]
    total, begun = len(waiting), time.monotonic()
    if found:
        say(f"{len(found)} runs were made before, {total} are missing")
    busy: dict[Run, tuple[subprocess.Popen[str], float]] = {}
    done = 0
    try:
        while waiting or busy:
            while waiting and len(busy) < jobs:
                run = waiting.pop(0)
                if budget.allows(run):
                    busy[run] = (start(run, folder), time.monotonic())
                else:
                    done += 1
            time.sleep(0.05)
            for run, (process, since) in list(busy.items()):
                late = time.monotonic() - since > 60.0 * PATIENCE * allowed
                if process.poll() is None and not late:
                    continue
                del busy[run]
                done += 1
                found[run] = _ended(run, process, folder, allowed if late else None)
                budget.add(run, found[run])
                ended = found[run].get("failed") or f"{60.0 * minutes(found[run]):.1f} s"
                spent = (time.monotonic() - begun) / 60.0
                say(f"{done}/{total}  {spent:6.1f} min  {run.peer:<22} {run.task:<8} {run.seed}  {ended}")
    finally:
        for process, _ in busy.values():
            process.kill()
    return [found[run] for run in runs if run in found]


def _ended(run: Run, process: subprocess.Popen[str], folder: Path, allowed: float | None) -> dict[str, Any]:
    """What the process wrote; if it was too late or died, that."""
    if allowed is not None:
        process.kill()
    process.wait()
    file = run.file(folder)
    if process.returncode == 0 and file.exists():
        return dict(json.loads(file.read_text(encoding="utf-8")))
    why = (
        f"not done in {PATIENCE * allowed:g} minutes"
        if allowed is not None
        else f"died with {process.returncode}"
    )
    found = {"peer": run.peer, "task": run.task, "seed": run.seed, "steps": run.steps, "failed": why}
    found["wall"] = [60.0 * (allowed or 0.0)]
    file.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return found
