"""Kill -9 of the service at random moments, under four writers over HTTP: `make crash-service`.

The writers send asks and tells to shared studies, half of them of `auto`, and note what was answered. Once
so many tells were answered that a round is worth something, however busy the machine, the service is killed
with all its processes, started again, and so on. At the end every answered tell is in the journal once, its
numbers have no gaps, and a twin that is told the same without interruption gives the same events and asks
for the same point next.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import windvane as wv
from windvane.client import Client
from windvane.study import Study

STUDIES = 6
WRITERS = 4
OPTIONS = {"kernel": wv.RBF(0.2), "noise_variance": 0.01}


class Writer(threading.Thread):
    """Asks and tells, with keys of its own; what the service answered is certain, what it did not is open."""

    def __init__(self, number: int, port: int) -> None:
        super().__init__(daemon=True)
        self._number = number
        self._port = port
        self.stopping = threading.Event()
        self.acknowledged: list[tuple[str, int, float]] = []
        self.broken = 0

    def run(self) -> None:
        client = Client(f"http://127.0.0.1:{self._port}", retries=0, timeout=10)
        rng = random.Random(self._number)
        while not self.stopping.is_set():
            name = f"study-{rng.randrange(STUDIES)}"
            try:
                study = client.study(name)
                trial = study.ask()
                y = rng.gauss(trial.x[0], 0.1)
                study.tell(trial.number, y)
                self.acknowledged.append((name, trial.number, y))
            except wv.WindvaneError:
                self.broken += 1
                time.sleep(0.02)


def algorithm(number: int) -> str:
    """Of a study."""
    return "auto" if number % 2 else "et-gp-ucb"


def serve(database: Path, port: int, workers: int) -> subprocess.Popen[bytes]:
    """A service that answers, in a group of processes of its own."""
    command = [sys.executable, "-m", "windvane", "serve", "--db", str(database), "--port", str(port)]
    command += ["--workers", str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    client = Client(f"http://127.0.0.1:{port}", retries=0, timeout=2)
    for _ in range(300):
        try:
            client.studies()
            return process
        except wv.WindvaneError:
            time.sleep(0.1)
    raise SystemExit("the service did not come up")


def verdict(database: Path, writers: list[Writer]) -> dict[str, int]:
    """What is in the journals, against what was answered and against twins."""
    counts = dict.fromkeys(("tells answered", "tells in the journal", "lost", "twice", "faults"), 0)
    told: dict[tuple[str, int], list[float]] = {}
    for number in range(STUDIES):
        with Study.open(database, f"study-{number}") as study:
            records = study.events()
            counts["faults"] += [record.seq for record in records] != list(range(1, len(records) + 1))
            twin = wv.make(algorithm(number), wv.Box([(0, 1)] * 2), seed=number, **OPTIONS)
            for record in records:
                if record.kind == "told" and record.event is not None and record.trial is not None:
                    told.setdefault((study.name, record.trial), []).append(float(record.y or 0.0))
                    event = twin.tell(record.x, float(record.y or 0.0), record.event["time"])
                    counts["faults"] += {**event.as_dict(), "x": list(event.x)} != dict(record.event)
            pending = [trial.x for trial in study.pending()]
            asked = twin.ask(pending=pending[-64:])
            counts["faults"] += study.ask().x != asked.tolist()
    counts["tells in the journal"] = sum(map(len, told.values()))
    counts["twice"] = sum(len(values) > 1 for values in told.values())
    for writer in writers:
        counts["tells answered"] += len(writer.acknowledged)
        counts["lost"] += sum(told.get((name, trial)) != [y] for name, trial, y in writer.acknowledged)
    return counts


def wait(writers: list[Writer], tells: int, limit: float) -> bool:
    """Until the writers have had so many more answers; whether they had them within so many seconds."""

    def answered() -> int:
        return sum(len(writer.acknowledged) for writer in writers)

    wanted, until = answered() + tells, time.monotonic() + limit
    while answered() < wanted:
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


def main() -> int:
    """Kill, start, count; 1 if something was lost, or is not what it should be."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--tells", type=int, default=40, help="that are answered between kills, on average")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that a round may take for that")
    parser.add_argument("--port", type=int, default=8741)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="processes of the service")
    given = parser.parse_args()
    rng = random.Random(given.seed)
    with tempfile.TemporaryDirectory(prefix="windvane-crash-") as folder:
        database = Path(folder) / "studies.db"
        for number in range(STUDIES):
            Study.create(
                database, f"study-{number}", wv.Box([(0, 1)] * 2), algorithm(number), seed=number, **OPTIONS
            ).close()
        writers = [Writer(number, given.port) for number in range(WRITERS)]
        process = serve(database, given.port, given.workers)
        for writer in writers:
            writer.start()
        short = 0
        for kill in range(given.kills):
            short += not wait(writers, rng.randint(1, 2 * given.tells - 1), given.limit)
            time.sleep(rng.uniform(0.0, 0.05))  # at any moment of a request
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process = serve(database, given.port, given.workers)
            print(f"\r{kill + 1}/{given.kills} kills", end="", file=sys.stderr, flush=True)
        for writer in writers:
            writer.stopping.set()
        for writer in writers:
            writer.join()
        process.send_signal(signal.SIGINT)
        process.wait()
        print(file=sys.stderr)
        found = {"kills": given.kills, **verdict(database, writers)}
        found["requests cut off"] = sum(writer.broken for writer in writers)
        found["rounds too slow"] = short
        for name, value in found.items():
            print(f"{name:<22} {value:>8}")
        return int(any(found[name] for name in ("lost", "twice", "faults")))


if __name__ == "__main__":
    sys.exit(main())
