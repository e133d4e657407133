"""Pairs of tell and ask over HTTP, beside the same steps without HTTP and without a database: `make load`.

A real `windvane serve` on a database of many studies; a client process sends a tell and the next ask for one
study after the other, over several kept connections. The CPU time of a pair is taken apart: the optimiser's
own step, what the journal adds to it (a Study in process), and what HTTP adds to that.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import windvane as wv
from load_client import NOISE, value
from windvane.storage import Database
from windvane.study import Study

TARGET = 300.0  # pairs a second
STEPS = 3  # of each study before and after the load, for the figures without HTTP
TICKS = os.sysconf("SC_CLK_TCK")


def options(given: argparse.Namespace) -> dict[str, Any]:
    """The algorithm, told its kernel; `auto` is told nothing."""
    if given.algorithm == "auto":
        return {"algorithm": "auto"}
    return {"algorithm": given.algorithm, "kernel": wv.RBF(0.2), "noise_variance": NOISE}


def fill(database: Database, given: argparse.Namespace) -> None:
    """The studies, each with its points."""
    rng, noise = np.random.default_rng(0), random.Random(0)
    for number in range(given.studies):
        study = Study.create(
            database, f"study-{number}", wv.Box([(0.0, 1.0)] * 2), seed=number, **options(given)
        )
        points = rng.uniform(size=(given.points, 2)).tolist()
        study.add_many([(x, value(x, noise), None, None) for x in points])


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
        for study in studies:
            for trial in study.pending():  # what the client left unanswered would make every ask dearer
                study.fail(trial, "the load has ended")
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
def serving(url: str, given: argparse.Namespace) -> Iterator[tuple[int, int]]:
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
    process = subprocess.Popen([*command, "--workers", str(given.workers)], stdout=subprocess.DEVNULL)
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
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    import pgserver

    server = pgserver.get_server(folder / "postgres")
    try:
        pid = int((folder / "postgres" / "postmaster.pid").read_text(encoding="utf-8").split()[0])
        yield server.get_uri(), pid
    finally:
        server.cleanup()


# -- the report ------------------------------------------------------------------------------------------


def quantiles(seconds: list[float]) -> str:
    return "".join(f"{1e3 * float(np.quantile(seconds, q)):>9.2f}" for q in (0.5, 0.95, 0.99))


def report(own: Cost, kept: Cost, found: dict[str, Any], server: float, sync: float) -> None:
    taken, elapsed = found["taken"], found["elapsed"]
    pairs = len(taken["pair"])
    rate = pairs / elapsed
    print(f"\n{pairs} pairs in {elapsed:.1f} s: {rate:.0f} pairs of tell and ask a second")
    met = "met" if rate >= TARGET else "missed"
    print(f"target {TARGET:.0f} on two cores, client included: {met}; ratio {rate / TARGET:.2f}")
    print("\nms over HTTP      p50      p95      p99")
    for name in ("ask", "tell", "pair"):
        print(f"{name:<12}{quantiles(taken[name])}")
    library, durable, served, client = (
        1e3 * seconds
        for seconds in (own.cpu / own.pairs, kept.cpu / kept.pairs, server / pairs, found["cpu"] / pairs)
    )
    print("\nms a pair             clock      CPU")
    print(f"library (wv.make)  {1e3 * own.wall / own.pairs:>8.2f} {library:>8.2f}")
    print(f"durable (Study)    {1e3 * kept.wall / kept.pairs:>8.2f} {durable:>8.2f}")
    print(f"server             {'':>8} {served:>8.2f}")
    print(f"client             {'':>8} {client:>8.2f}")
    parts = {
        "library's own step": library,
        "journal": durable - library,
        "HTTP": served - durable,
        "client": client,
    }
    whole = sum(parts.values())
    shares = ", ".join(f"{name} {100 * part / whole:.0f} %" for name, part in parts.items())
    print(
        f"\nof {whole:.2f} ms of CPU a pair: {shares}; the largest part: {max(parts, key=lambda n: parts[n])}"
    )
    print(f"a pair over HTTP / the library's own, CPU of the server: {served / library:.1f}")
    print(f"cores busy with it: server {server / elapsed:.2f}, client {found['cpu'] / elapsed:.2f}")
    print(f"a commit waits {1e3 * sync:.2f} ms for the disk, and a pair has two")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--points", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--postgres", action="store_true", help="PostgreSQL instead of SQLite; needs pgserver"
    )
    parser.add_argument("--algorithm", default="et-gp-ucb")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="windvane-load-"))
    try:
        with contextlib.ExitStack() as stack:
            url, extra = str(folder / "studies.db"), list[int]()
            if given.postgres:
                url, pid = stack.enter_context(postgres(folder))
                extra = [pid]
            kind = "PostgreSQL" if given.postgres else "SQLite"
            workers = f"{given.workers} worker{'s' * (given.workers > 1)}"
            print(
                f"{given.studies} studies of {given.points} points, {given.algorithm}, {kind}, {workers}, ",
                end="",
            )
            print(f"{given.connections} connections, {given.seconds:g} s", flush=True)
            with Database(url, create=True) as database:
                fill(database, given)
            own, kept = Cost(), Cost()
            without_http(url, given, own, kept, extra)
            with serving(url, given) as (server, port):
                found, used = load(given, port, [server, *extra])
            without_http(url, given, own, kept, extra)  # and again, in case the machine's mood has changed
        report(own, kept, found, used, sync_time(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
