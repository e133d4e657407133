"""What it costs to import a long log: reading and checking it, and telling it.

python bench/import_log.py                           # a million lines are read, 3,000 are told
python bench/import_log.py --lines 100000 --told 500
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

import windvane as wv
from windvane.study import Study, logs

SPACE = wv.Box([(0, 1), (0, 1)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}


def written(path: Path, lines: int) -> Path:
    luck = random.Random(0)
    with path.open("w") as file:
        file.write("x1,x2,y,time\n")
        for i in range(lines):
            file.write(f"{luck.random():.6f},{luck.random():.6f},{luck.gauss(0, 1):.6f},{i}\n")
    return path


def most() -> float:
    """Megabytes of memory, at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--told", type=int, default=3000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        long, short = written(folder / "long.csv", given.lines), written(folder / "short.csv", given.told)
        with Study.create(folder / "s.db", "reads", SPACE, seed=0) as study:
            start = time.process_time()
            log = logs.LogFile(study, long)
            checked = time.process_time() - start
            count = sum(1 for _ in log.rows())
            again = time.process_time() - start - checked
            print(f"{count:,} lines checked in {checked:.0f} s of a processor, read again in {again:.0f} s")
            print(f"memory: {most():.0f} MB at most", flush=True)
        for algorithm, options in (("et-gp-ucb", GIVEN), ("auto", {})):
            with Study.create(
                folder / f"{algorithm}.db", "told", SPACE, algorithm, seed=0, **options
            ) as study:
                start = time.process_time()
                study.import_log(short)
                spent = (time.process_time() - start) / given.told
                print(
                    f"{algorithm}: {1e3 * spent:.1f} ms of a processor for each observation told", flush=True
                )


if __name__ == "__main__":
    main()
