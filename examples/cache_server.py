"""A process that serves rows of a SQLite file through a cache: the system of `cache_under_load.py`.

    python cache_server.py rows.db

For each line "load ahead seed seconds" on its input it answers requests of that load for so many seconds, and
prints the microseconds of wall time that a request took. On a miss it reads the row that was asked for and
the next ones, `ahead` in all; rows used longest ago leave the cache. The cache lives on from line to line.
"""

import math
import random
import sqlite3
import subprocess
import sys
import time
from collections import OrderedDict
from itertools import pairwise

ROWS, CAPACITY, HOT = 100_000, 500, 100
LOADS = {
    "lookups": (0.8, 1),
    "runs": (0.2, 16),
    "scans": (0.1, 200),
}  # share of hot rows, mean length of a run


def fill(path):
    """A table of rows with 120 random bytes each."""
    database = sqlite3.connect(path)
    rng = random.Random(0)
    rows = ((number, rng.randbytes(120)) for number in range(ROWS))
    with database:
        database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, body BLOB)")
        database.executemany("INSERT INTO item VALUES (?, ?)", rows)
    database.close()


def requests(load, rng):
    """The rows that are asked for, without end: hot ones here and there, and runs that begin anywhere."""
    hot, length = LOADS[load]
    while True:
        if rng.random() < hot:
            yield rng.randrange(HOT) * (ROWS // HOT)
        else:
            first = rng.randrange(ROWS)
            yield from range(first, min(first + math.ceil(rng.expovariate(1 / length)), ROWS))


def run_length(load, seed, count=2000):
    """How many rows are asked for in a row, on average, as a log of the last requests shows it."""
    wanted = requests(load, random.Random(seed))
    rows = [next(wanted) for _ in range(count)]
    return count / (1 + sum(b != a + 1 for a, b in pairwise(rows)))


def read(database, cache, row, ahead):
    """One row, from the cache if it is there."""
    if row in cache:
        cache.move_to_end(row)
    else:
        cache.update(database.execute("SELECT id, body FROM item WHERE id >= ? LIMIT ?", (row, ahead)))
        while len(cache) > CAPACITY:
            cache.popitem(last=False)
    return cache.get(row)


def serve(database, cache, load, ahead, seed, seconds):
    """Microseconds a request, once the cache has settled for half of the time."""
    wanted = requests(load, random.Random(seed))
    for length in (seconds / 2, seconds):
        start, served, spent = time.perf_counter(), 0, 0.0
        while spent < length:
            read(database, cache, next(wanted), ahead)
            served, spent = served + 1, time.perf_counter() - start
    return spent / served * 1e6


def start(path):
    """A new server process."""
    command = [sys.executable, __file__, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def measure(server, load, ahead, seed, seconds):
    """Microseconds a request, as a server process measured it."""
    print(load, ahead, seed, seconds, file=server.stdin, flush=True)
    return float(server.stdout.readline())


def main():
    """Serve until the input ends."""
    database, cache = sqlite3.connect(sys.argv[1]), OrderedDict()
    for line in sys.stdin:
        load, ahead, seed, seconds = line.split()
        print(serve(database, cache, load, int(ahead), int(seed), float(seconds)), flush=True)


if __name__ == "__main__":
    main()
