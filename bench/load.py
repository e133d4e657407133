"""Pairs of tell and ask over HTTP: `make load`.

A real `windvane serve` on a database of many studies; a client process sends a tell and the next ask for one
study after the other, over several kept connections. `auto` told nothing comes first, then `et-gp-ucb` told
kernel and noise; each with one and two processes, on SQLite and PostgreSQL, and while somebody draws surfaces
of another study all the time. With --costs the CPU time of a pair is taken apart: the optimiser's own step,
what the journal adds to it (a Study in process), and what HTTP adds to that.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import windvane as wv
from load_client import NOISE, value
from sections import stamp_of
from windvane.storage import Database
from windvane.study import Study

TARGETS = {"auto": 200.0, "et-gp-ucb": 300.0}  # pairs a second
SLOWEST = 0.4  # seconds of a pair of `auto`, in 99 of 100 cases
HELD_UP = 1.5  # times as long may a tell take while somebody reads
WATCHED = "watched"  # the study that is read
STEPS = 3  # of each study before and after the load, for the figures without HTTP
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Run:
    """One row of the table."""

    algorithm: str
    database: str
    workers: int
    reader: bool

    def __str__(self) -> str:
        reader = "yes" if self.reader else ""
        return f"{self.algorithm:<10} {self.database:<10} {self.workers:>7}  {reader:<6}"


def options(algorithm: str) -> dict[str, Any]:
    """The algorithm, told its kernel; `auto` is told nothing."""
    if algorithm == "auto":
        return {"algorithm": "auto"}
    return {"algorithm": algorithm, "kernel": wv.RBF(0.2), "noise_variance": NOISE}


def fill(url: str, algorithm: str, given: argparse.Namespace) -> None:
    """The studies, each with its points."""
    with Database(url, create=True) as database:
        _fill(database, algorithm, given)


def _fill(database: Database, algorithm: str, given: argparse.Namespace) -> None:
    rng, noise = np.random.default_rng(0), random.Random(0)
    for number, name in enumerate([*(f"study-{i}" for i in range(given.studies)), WATCHED]):
        study = Study.create(database, name, wv.Box([(0.0, 1.0)] * 2), seed=number, **options(algorithm))
        points = rng.uniform(size=(given.points, 2)).tolist()
        study.add_many([(x, value(x, noise), None, None) for x in points])


def settle(url: str, given: argparse.Namespace) -> None:
    """Answer what a client left open: beside a trial that is out, every ask is dearer."""
    rng = random.Random(3)
    with Database(url) as database:
        for study in (Study.open(database, f"study-{number}") for number in range(given.studies)):
            for trial in study.pending():
                study.tell(trial, value(trial.x, rng))


# -- without HTTP ----------------------------------------------------------------------------------------


class Cost:
    """Seconds of many pairs: on the clock, and of CPU."""

    def __init__(self) -> None:
        self.pairs = 0
        self.wall = 0.0
        self.cpu = 0.0

    def add(self, step: Callable[[], None]) -> None:
        """Carry out a step and count it."""
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        self.pairs += 1


def without_http(url: str, given: argparse.Namespace, own: Cost, kept: Cost, pids: list[int]) -> None:
    """The optimiser's own step (`own`), and the same through a Study, on disk before it returns (`kept`).

    One after the other, study by study as the client does, so that both meet the machine in the same mood.
    """
    rng = random.Random(2)
    with Database(url) as database:
        studies = [Study.open(database, f"study-{number}") for number in range(given.studies)]
        optimizers = [wv.restore(study.optimizer.state()) for study in studies]

        def plain(optimizer: wv.Optimizer) -> None:
            x = optimizer.ask()
            optimizer.tell(x, value(x.tolist(), rng))

        def durable(study: Study) -> None:
            trial = study.ask(key=f"ask-{time.perf_counter_ns()}")
            study.tell(trial, value(trial.x, rng), key=f"tell-{time.perf_counter_ns()}")

        for optimizer, study in zip(optimizers, studies, strict=True):  # warms up
            plain(optimizer)
            durable(study)
        before = cpu_of(pids)
        for _ in range(STEPS):
            for optimizer, study in zip(optimizers, studies, strict=True):
                own.add(partial(plain, optimizer))
                kept.add(partial(durable, study))
        kept.cpu += cpu_of(pids) - before  # PostgreSQL's own work is part of the durable step


def sync_time(folder: Path) -> float:
    """Seconds until the disk has a page for certain: what each commit waits for."""
    seconds = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(100):
            file.write(bytes(8192))
            begun = time.perf_counter()
            os.fsync(file.fileno())
            seconds.append(time.perf_counter() - begun)
    return float(np.median(seconds))


# -- the server ------------------------------------------------------------------------------------------


def cpu_of(pids: list[int]) -> float:
    """CPU seconds of processes and all their descendants so far, ended ones included."""
    parents: dict[int, list[int]] = {}
    seconds: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
                seconds[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    total, todo = 0.0, list(pids)
    while todo:
        pid = todo.pop()
        total += seconds.get(pid, 0.0)
        todo += parents.get(pid, [])
    return total


@contextlib.contextmanager
def serving(url: str, workers: int) -> Iterator[tuple[int, int]]:
    """A real service; its process and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [
        sys.executable,
        "-m",
        "windvane",
        "serve",
        "--db",
        url,
        "--port",
        str(port),
        "--rate",
        "100000",
    ]
    process = subprocess.Popen([*command, "--workers", str(workers)], stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60.0
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5.0).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    raise SystemExit("windvane serve did not come up") from None
                time.sleep(0.1)
        yield process.pid, port
    finally:
        process.terminate()
        process.wait(30)


def load(given: argparse.Namespace, port: int, servers: list[int]) -> tuple[dict[str, Any], float]:
    """Run the client; what it measured, and the CPU seconds of the servers meanwhile."""
    script = Path(__file__).with_name("load_client.py")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    wanted = {
        "studies": given.studies,
        "connections": given.connections,
        "seconds": given.seconds,
        "port": port,
    }
    print(json.dumps(wanted), file=process.stdin, flush=True)
    if process.stdout.readline().strip() != "ready":
        raise SystemExit("the client did not come up")
    before = cpu_of(servers)
    print("go", file=process.stdin, flush=True)
    answer = process.stdout.readline()
    used = cpu_of(servers) - before
    if process.wait(30) != 0 or not answer:
        raise SystemExit("the client broke off")
    result: dict[str, Any] = json.loads(answer)
    return result, used


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[tuple[str, int]]:
    """A PostgreSQL server of our own: its URL and its process."""
    runtime = folder / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    import pgserver

    server = pgserver.get_server(folder / "postgres")
    try:
        pid = int((folder / "postgres" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        yield server.get_uri(), pid
    finally:
        server.cleanup()


@contextlib.contextmanager
def reading(port: int) -> Iterator[list[float]]:
    """Somebody who draws a surface of a study that nobody writes to, one after another; what each took."""
    address = f"http://127.0.0.1:{port}/v1/studies/{WATCHED}/surface?resolution=100"
    taken, stop = list[float](), threading.Event()

    def read() -> None:
        while not stop.is_set():
            begun = time.perf_counter()
            with urllib.request.urlopen(address, timeout=60.0) as answer:
                answer.read()
            taken.append(time.perf_counter() - begun)

    thread = threading.Thread(target=read)
    thread.start()
    try:
        yield taken
    finally:
        stop.set()
        thread.join()


# -- the report ------------------------------------------------------------------------------------------


def measured(run: Run, url: str, given: argparse.Namespace, extra: list[int]) -> dict[str, Any]:
    """One row: what the client saw, and the CPU seconds of the servers."""
    with contextlib.ExitStack() as stack:
        server, port = stack.enter_context(serving(url, run.workers))
        surfaces = stack.enter_context(reading(port)) if run.reader else []
        found, used = load(given, port, [server, *extra])
        return {**found, "server": used, "surfaces": len(surfaces)}


def row(run: Run, found: dict[str, Any], sync: float) -> str:
    """As it is printed."""
    taken, elapsed = found["taken"], found["elapsed"]
    pairs = len(taken["pair"])
    tell, pair = (
        "".join(f"{1e3 * float(np.quantile(taken[name], q)):>8.1f}" for q in (0.5, 0.99))
        for name in ("tell", "pair")
    )
    costs = f"{1e3 * found['server'] / pairs:>8.2f} {found['server'] / elapsed:>6.2f}"
    machine = f"{1e3 * sync:>7.2f} {os.getloadavg()[0]:>6.1f}"
    surfaces = f"{found['surfaces'] / elapsed:>8.1f}" if run.reader else " " * 8
    return f"{run} {pairs / elapsed:>7.0f} {tell} {pair} {costs} {surfaces} {machine}"


def verdicts(results: dict[Run, list[dict[str, Any]]]) -> list[str]:
    """What the issue asks for, and what there was: the best of the runs of each row."""

    def rate(run: Run) -> float:
        return max(len(each["taken"]["pair"]) / each["elapsed"] for each in results.get(run, []))

    def tell(run: Run) -> float:
        return min(float(np.median(each["taken"]["tell"])) for each in results[run])

    said = []
    for algorithm, target in TARGETS.items():
        rows = [run for run in results if run.algorithm == algorithm and not run.reader]
        if rows:
            best = max(rows, key=rate)
            said.append(f"{algorithm}: {rate(best):.0f} pairs a second at best, wanted {target:.0f}")
    for run in results:
        plain = Run(run.algorithm, run.database, run.workers, reader=False)
        if run.reader and plain in results:
            ratio = tell(run) / tell(plain)
            said.append(
                f"{run.algorithm}, {run.database}, {run.workers}: with a reader a tell takes "
                f"{ratio:.2f} times as long, wanted below {HELD_UP}"
            )
        one = Run(run.algorithm, run.database, 1, run.reader)
        if run.workers == 2 and one in results:
            ratio = rate(run) / rate(one)
            said.append(f"{run.algorithm}, {run.database}: two processes are {ratio:.2f} times one")
    slow = [
        float(np.quantile(each["taken"]["pair"], 0.99))
        for run, every in results.items()
        if run.algorithm == "auto" and not run.reader
        for each in every
    ]
    if slow:
        said.append(f"auto: 99 of 100 pairs within {1e3 * min(slow):.0f} ms, wanted {1e3 * SLOWEST:.0f}")
    return said


def costs(url: str, found: dict[str, Any], own: Cost, kept: Cost) -> None:
    """The CPU time of a pair, taken apart."""
    pairs = len(found["taken"]["pair"])
    library, durable, served, client = (
        1e3 * seconds
        for seconds in (
            own.cpu / own.pairs,
            kept.cpu / kept.pairs,
            found["server"] / pairs,
            found["cpu"] / pairs,
        )
    )
    print("\nms a pair             clock      CPU")
    print(f"library (wv.make)  {1e3 * own.wall / own.pairs:>8.2f} {library:>8.2f}")
    print(f"durable (Study)    {1e3 * kept.wall / kept.pairs:>8.2f} {durable:>8.2f}")
    print(f"server             {'':>8} {served:>8.2f}")
    print(f"client             {'':>8} {client:>8.2f}   on {url}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0, help="of each run")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each row, in turn")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--algorithms", nargs="+", default=["auto", "et-gp-ucb"])
    parser.add_argument("--no-reader", action="store_true")
    parser.add_argument("--costs", action="store_true", help="take the CPU time of a pair apart")
    parser.add_argument("--folder", help="where the databases are made; /dev/shm has no disk to wait for")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="windvane-load-", dir=given.folder))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # after PostgreSQL's own, which writes there
    print(
        f"{given.studies} studies of {given.points} points, {given.connections} connections, "
        f"{given.seconds:g} s a run, {os.cpu_count()} cores\n\n"
        "algorithm  database   workers  reader  pairs/s  tell p50     p99 pair p50     p99   CPU ms  cores "
        "surfaces sync ms   load",
        flush=True,
    )
    results: dict[Run, list[dict[str, Any]]] = {}
    for algorithm in given.algorithms:
        for database in given.databases:
            with contextlib.ExitStack() as stack:
                rows(algorithm, database, folder / algorithm, given, results, stack)
    print("\n" + "\n".join(verdicts(results)))


def rows(
    algorithm: str,
    database: str,
    folder: Path,
    given: argparse.Namespace,
    results: dict[Run, list[dict[str, Any]]],
    stack: contextlib.ExitStack,
) -> None:
    """Those of one algorithm on one database."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)  # a server that root starts runs as somebody else
    filled, extra = str(folder / "filled.db"), list[int]()
    if database == "postgresql":
        filled, pid = stack.enter_context(postgres(folder))
        extra = [pid]
    fill(filled, algorithm, given)
    readers = [False] if given.no_reader else [False, True]
    for repeat in range(given.repeat):
        for reader in readers:
            for workers in given.workers:
                url = filled
                if database == "sqlite":  # each run begins with the same
                    url = str(folder / f"{workers}-{reader}-{repeat}.db")
                    shutil.copy(filled, url)
                run = Run(algorithm, database, workers, reader)
                own, kept = Cost(), Cost()
                if given.costs:
                    without_http(url, given, own, kept, extra)
                found = measured(run, url, given, extra)
                settle(url, given)
                results.setdefault(run, []).append(found)
                print(row(run, found, sync_time(folder)), flush=True)
                if given.costs:
                    costs(url, found, own, kept)


if __name__ == "__main__":
    main()
    print(stamp_of("http"))
