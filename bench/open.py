"""How long it takes to open a study of 100,000 events and to ask it, beside one of 1,000: `make open`

Both end with 63 tells after the last checkpoint, the most that there can be: these are followed again.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

import windvane as wv
from sections import stamp_of
from windvane.study import Study
from windvane.study.live import SPARSE

BATCH = 1000
OPTIONS = {"kernel": wv.RBF(0.2), "noise_variance": 0.02, "max_points": 100, "seed": 0}


def fill(study: Study, events: int) -> None:
    """Noisy values of a hill, in large batches; the last of them one by one would cost the same."""
    rng = np.random.default_rng(0)
    X = rng.random((events, 2))
    y = np.exp(-8.0 * ((X - 0.5) ** 2).sum(axis=1)) + 0.14 * rng.standard_normal(events)
    rows = [(x.tolist(), float(value), None, None) for x, value in zip(X, y, strict=True)]
    last = events - (SPARSE - 1)
    for start in range(0, last, BATCH):
        study.add_many(rows[start : min(start + BATCH, last)])
    for row in rows[last:]:
        study.add_many([row])


def seconds(url: str, name: str, repeats: int) -> tuple[float, float, float]:
    """To open the study, to ask it, and the CPU time of both: each time from nothing; the medians."""
    found = []
    for _ in range(repeats):
        start, busy = time.perf_counter(), time.process_time()
        with Study.open(url, name) as study:
            middle = time.perf_counter()
            trial = study.ask()
            end, busy = time.perf_counter(), time.process_time() - busy
            study.fail(trial)
        found.append((middle - start, end - middle, busy))
    opened, asked, cpu = (statistics.median(each) for each in zip(*found, strict=True))
    return opened, asked, cpu


def main() -> None:
    """Fill both, and print both with their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--url", help="a database, for instance PostgreSQL; else SQLite in a new folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = given.url or str(Path(folder) / "studies.db")
        totals = []
        print(" events   file MB   open ms   first ask ms   CPU ms")
        for events in (1000, given.events):
            name = f"open {events} {time.time_ns()}"
            with Study.create(url, name, wv.Box([(0.0, 1.0)] * 2), "et-gp-ucb", **OPTIONS) as study:
                fill(study, events)
            size = "-" if given.url else f"{Path(url).stat().st_size / 1e6:.1f}"
            one, two, cpu = (1e3 * each for each in seconds(url, name, given.repeats))
            totals.append(cpu)
            print(f"{events:>7} {size:>9} {one:>9.1f} {two:>14.1f} {cpu:>8.1f}", flush=True)
        print(f"ratio of the CPU times {totals[1] / totals[0]:.2f}")


if __name__ == "__main__":
    main()
    print(stamp_of("open"))
