"""Kill -9 at random moments, under four writers: is everything acknowledged there, once? `make crash`

Four processes ask, tell, add and fail on two shared studies (ET-GP-UCB and `auto`). At a random moment
some or all of them are killed, and on PostgreSQL now and then the server with all its processes; then they
are started again. In the end the journal is compared with what the writers have logged, and with a twin
that was told everything in one go and never interrupted: every event, every point asked, and the next one.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

import windvane as wv
from crash_verdict import faults, tally
from crash_writer import STUDIES, lines_of, log_of
from windvane.study import Study

WRITERS = 4
SERVER = 0.1  # the share of kills that take the server too


class Postgres:
    """A server of our own that can be killed."""

    def __init__(self, folder: Path) -> None:
        runtime = folder / "run"
        runtime.mkdir(mode=0o700)
        os.environ["XDG_RUNTIME_DIR"] = str(runtime)
        import pgserver  # reads the variable when it is imported

        atexit.register(
            shutil.rmtree, folder, ignore_errors=True
        )  # after PostgreSQL's own, which writes there
        self.server = pgserver.get_server(folder / "data")
        self.url: str = self.server.get_uri()

    def kill(self) -> None:
        """The postmaster and its children, at once."""
        head = psutil.Process(self.server.get_pid())
        family = [head, *head.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):  # it has served its connection, and ended by itself
                process.kill()
        psutil.wait_procs(family, timeout=10)
        self.server.ensure_postgres_running()

    def stop(self) -> None:
        self.server.cleanup()


class Writers:
    """Four writers and their nursery."""

    def __init__(self, url: str, folder: Path, rng: random.Random) -> None:
        self.rng, self.lives, self.processes = rng, [0] * WRITERS, [0] * WRITERS
        script = Path(__file__).with_name("crash_writer.py")
        self.nursery = subprocess.Popen(
            [sys.executable, str(script), url, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        for writer in range(WRITERS):
            self.start(writer)
        for writer in range(WRITERS):  # so that there is something to lose, however slow the machine
            log = log_of(folder, writer)
            while not (log.exists() and b'"done"' in log.read_bytes()):
                assert psutil.pid_exists(self.processes[writer]), f"writer {writer} has failed"
                time.sleep(0.01)

    def start(self, writer: int) -> None:
        assert self.nursery.stdin is not None
        assert self.nursery.stdout is not None
        self.lives[writer] += 1
        self.nursery.stdin.write(f"{writer} {self.lives[writer]} {self.rng.getrandbits(32)}\n")
        self.nursery.stdin.flush()
        self.processes[writer] = int(self.nursery.stdout.readline())

    def kill(self, which: list[int]) -> None:
        """No mercy, no warning. A writer that is dead already has failed: that must not go unseen."""
        for writer in which:
            os.kill(self.processes[writer], signal.SIGKILL)
        for writer in which:
            while psutil.pid_exists(self.processes[writer]):
                time.sleep(0.001)

    def stop(self) -> None:
        for writer in range(WRITERS):
            if psutil.pid_exists(self.processes[writer]):
                self.kill([writer])
        assert self.nursery.stdin is not None
        self.nursery.stdin.close()
        self.nursery.wait()


@contextmanager
def database(kind: str, folder: Path) -> Iterator[tuple[str, Postgres | None]]:
    """A fresh one, and the server if there is one."""
    if kind == "sqlite":
        yield str(folder / "studies.db"), None
        return
    server = Postgres(folder)
    try:
        yield server.url, server
    finally:
        server.stop()


def rounds(
    kind: str, kills: int, seed: int, pause: tuple[float, float], progress: Progress
) -> dict[str, Any]:
    """Kill so many times on one database, then look."""
    rng = random.Random(seed)
    found: dict[str, Any] = {"kills": kills, "processes killed": 0, "server killed": 0, "in flight": 0}
    task = progress.add_task(kind, total=kills)
    with tempfile.TemporaryDirectory() as name, database(kind, Path(name)) as (url, server):
        folder = Path(name)
        folder.chmod(0o755)  # a server started by root runs as somebody else
        for study, made in STUDIES.items():
            options = {**made["options"], "seed": made["seed"]}
            Study.create(url, study, made["space"], made["algorithm"], **options).close()
        writers = Writers(url, folder, rng)
        try:
            for _ in range(kills):
                time.sleep(rng.uniform(*pause))
                which = rng.sample(range(WRITERS), WRITERS if rng.random() < 0.4 else rng.randint(1, 3))
                writers.kill(which)
                found["processes killed"] += len(which)
                if server is not None and rng.random() < SERVER:
                    server.kill()
                    found["server killed"] += 1
                for writer in which:
                    begun = lines_of(log_of(folder, writer))
                    found["in flight"] += bool(begun) and "done" not in begun[-1]
                    writers.start(writer)
                progress.advance(task)
            writers.kill(list(range(WRITERS)))
        finally:
            writers.stop()
        lines = [lines_of(log_of(folder, writer)) for writer in range(WRITERS)]
        found["faults"] = []
        for study, made in STUDIES.items():
            twin = wv.make(made["algorithm"], made["space"], seed=made["seed"], **made["options"])
            with Study.open(url, study) as opened:
                for what, count in tally(study, lines, opened.events()).items():
                    found[what] = found.get(what, 0) + count
                found["faults"] += faults(opened, twin, lines)
    return found


def main() -> int:
    """Both databases, a table of counts, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="moments at which something is killed")
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--pause", type=float, nargs=2, default=(0.5, 2.5), help="seconds between kills")
    given = parser.parse_args()
    kinds = ("sqlite", "postgresql") if given.database == "both" else (given.database,)
    console = Console()
    columns = (TextColumn("{task.description:<10}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("left"), TimeRemainingColumn(), console=console) as progress:
        results = [rounds(kind, given.kills, given.seed, tuple(given.pause), progress) for kind in kinds]
    table = Table("count", *kinds)
    for what in results[0]:
        values = [len(result[what]) if what == "faults" else result[what] for result in results]
        table.add_row(what, *map(str, values))
    console.print(table)
    for fault in [fault for result in results for fault in result["faults"]][:20]:
        console.print(fault, style="red")
    return 1 if any(result["faults"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
