"""How long the shell takes to start, beside the import that it cannot do without.

    python bench/start.py               # some ten seconds
    python bench/start.py --repeats 30

Commands take turns, so that whatever else the machine does slows down all of them alike. Of each the least
time counts: by the clock, and of the processor alone. `study ask` is whole: it opens the database, restores
the study, finds a point and has it on disk. SciPy, which a point needs, is imported only then. Modules are
compiled once, before anything is timed, as they are for whoever has installed Windvane.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BOUND = 1.3  # of `study ask`, as a multiple of the import
IMPORT = "import windvane.study"


def spent(command: list[str]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    windvane = [sys.executable, "-m", "windvane"]
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # or all of it would be compiled in each run
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "compiled")
        place = ["--db", str(Path(folder) / "start.db")]
        for words in (["create", "press", "--box", "0,1", "0,1", "--expires-after", "0.001"],
                      ["tell", "press", "--at", "[0.2, 0.7]", "1.5"]):  # fmt: skip
            subprocess.run([*windvane, "study", *words, *place], check=True, stdout=subprocess.DEVNULL)
        commands = {
            "an empty program": [sys.executable, "-c", "pass"],
            IMPORT: [sys.executable, "-c", IMPORT],
            f"{IMPORT}, scipy.linalg": [sys.executable, "-c", f"{IMPORT}, scipy.linalg"],
            "windvane --help": [*windvane, "--help"],
            "windvane study list": [*windvane, "study", "list", *place],
            "windvane study ask": [*windvane, "study", "ask", "press", *place],
        }
        for command in commands.values():
            spent(command)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                found[name].append(spent(command))
    least = {name: tuple(min(each) for each in zip(*times, strict=True)) for name, times in found.items()}
    print(f"{'':38}{'clock':>8}{'':>7}{'processor':>11}")
    for name, (wall, work) in least.items():
        clock, processor = wall / least[IMPORT][0], work / least[IMPORT][1]
        print(f"{name:38}{wall:7.3f} s {clock:5.2f}x {work:8.3f} s {processor:5.2f}x")
    ratio = least["windvane study ask"][1] / least[IMPORT][1]
    print(f"`windvane study ask` takes {ratio:.2f} times the import; at most {BOUND} is wanted")
    return int(ratio > BOUND)


if __name__ == "__main__":
    sys.exit(main())
