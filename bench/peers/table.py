"""Runs -> one summary: times, regrets, ratios to Windvane's `auto`, and what went wrong."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from peers import PEERS
from peers.contest import TASKS
from peers.kept import side_by_side

REFERENCE = "auto"
CHANGING = [task for task in TASKS if task != "static"]
MARKS = (50, 100, 200)
WINDOW = 10  # steps up to a mark whose times count for it

Runs = dict[tuple[str, int], dict[str, Any]]


def summarise(peers: list[str], found: list[dict[str, Any]], steps: int) -> dict[str, Any]:
    """All that the page says, as plain data."""
    good: dict[str, Runs] = {peer: {} for peer in peers}
    failed: dict[str, list[str]] = {peer: [] for peer in peers}
    for run in found:
        if "failed" in run:
            failed[run["peer"]].append(f"{run['task']}, seed {run['seed']}: {run['failed']}")
        else:
            good[run["peer"]][run["task"], run["seed"]] = run
    marks = [mark for mark in MARKS if mark <= steps] or [steps]
    reference = good.get(REFERENCE, {})
    return {
        "steps": steps,
        "marks": marks,
        "machine": machine(),
        "stamps": sorted({run.get("stamp", "") for run in found if PEERS[run["peer"]].module == "windvane"}),
        "peers": {peer: _row(peer, good[peer], failed[peer], reference, marks) for peer in peers},
    }


def _row(peer: str, runs: Runs, failed: list[str], reference: Runs, marks: list[int]) -> dict[str, Any]:
    entry = PEERS[peer]
    row: dict[str, Any] = {"label": entry.label, "setup": entry.setup, "failed": failed, "runs": len(runs)}
    if not runs:
        return row
    row["package"] = f"{entry.distribution} {next(iter(runs.values()))['version']}"
    together = side_by_side(list(runs.values()), list(reference.values()))
    shared = [key for key in runs if key in reference and runs[key] in together]
    row["timed"], timed = len(together), together or list(runs.values())
    row["ms"] = {str(mark): _milliseconds(timed, mark) for mark in marks}
    row["ms_a_step"] = 1e3 * float(np.mean([run["cpu"] for run in timed]))
    row["time_ratio"] = _ratio(
        [sum(runs[key]["cpu"]) for key in shared], [sum(reference[key]["cpu"]) for key in shared]
    )
    row["regret"] = {}
    row["curves"] = {}
    for task in TASKS:
        mine = {seed: run["regret"] for (name, seed), run in runs.items() if name == task}
        if not mine:
            continue
        means = [float(np.mean(regret)) for regret in mine.values()]
        pairs = [
            (np.mean(mine[seed]), np.mean(reference[task, seed]["regret"]))
            for seed in mine
            if (task, seed) in reference
        ]
        row["regret"][task] = {
            "runs": len(means),
            "mean": float(np.mean(means)),
            "error": float(np.std(means, ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None,
            "ratio": _ratio([a for a, _ in pairs], [b for _, b in pairs]),
        }
        row["curves"][task] = np.mean(list(mine.values()), axis=0).tolist()
    row["changing"] = _together([row["regret"].get(task, {}).get("ratio") for task in CHANGING])
    row["static"] = row["regret"].get("static", {}).get("ratio")
    return row


def _milliseconds(runs: list[dict[str, Any]], mark: int) -> float:
    """The median over runs and the steps up to a mark."""
    return 1e3 * float(np.median([run["cpu"][max(mark - WINDOW, 0) : mark] for run in runs]))


def _ratio(mine: list[Any], theirs: list[Any]) -> float | None:
    """Of sums over the runs that both have."""
    return float(np.sum(mine) / np.sum(theirs)) if mine else None


def _together(ratios: list[float | None]) -> float | None:
    """The geometric mean over tasks, if there are runs on all of them."""
    known = [ratio for ratio in ratios if ratio is not None]
    return float(np.exp(np.mean(np.log(known)))) if known and len(known) == len(ratios) else None


def machine() -> dict[str, Any]:
    """What the runs were made on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    versions = {}
    for name in ("windvane", "numpy", "scipy", "torch"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "cores": os.cpu_count(),
        "processor": models[0] if models else platform.processor(),
        "python": platform.python_version(),
        **versions,
    }
