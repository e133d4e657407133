"""Other packages' runs in a small file that goes along with the documentation.

They take hours and do not depend on Windvane's code, only on the task and on their own version: a new version
of Windvane makes its own runs again and takes these up. Seconds are kept as well, but seconds of two machines
do not compare: see `side_by_side`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from windvane.files import whole, write_text

BOOT = Path("/proc/sys/kernel/random/boot_id")
DIGITS = 7
LISTS = ("regret", "cpu", "seconds")  # of a run, a number for each step


def host() -> str:
    """One machine since it was started, which is what seconds can be compared within."""
    return BOOT.read_text(encoding="ascii")[:8] if BOOT.exists() else ""


def side_by_side(runs: list[dict[str, Any]], reference: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that were made where some of the reference were."""
    hosts = {run.get("host") for run in reference}
    return [run for run in runs if run.get("host") in hosts]


def take_up(file: Path, folder: Path) -> int:
    """Put runs of the file into the folder where it has none of that name; how many those were."""
    if not file.exists():
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        missing = [row for row in map(json.loads, stream) if not (folder / row["file"]).exists()]
    for row in missing:
        write_text(folder / row["file"], json.dumps(row["run"]) + "\n")
    return len(missing)


def keep(file: Path, folder: Path, belongs: Callable[[Mapping[str, Any], str], bool]) -> int:
    """Write those runs of the folder that belong into the file, as far as tables need them; how many."""
    rows = []
    for place in sorted(folder.glob("*.json")):
        run = json.loads(place.read_text(encoding="utf-8"))
        if belongs(run, place.name):
            run = {name: value for name, value in run.items() if name != "wall"}
            run |= {name: [float(f"{v:.{DIGITS}g}") for v in run[name]] for name in LISTS if name in run}
            rows.append({"file": place.name, "run": run})
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole(file) as draft, draft.open("wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as out:
        out.writelines(json.dumps(row).encode() + b"\n" for row in rows)
    return len(rows)
