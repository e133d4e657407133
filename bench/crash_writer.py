"""A writer for bench/crash.py: asks, tells, adds, fails and amends on shared studies until somebody kills it.

Its log is a file of JSON lines: what it is about to do, under which key, and what came back. One write(2)
each, so that a line is there or not, and what is there survives the process. A writer that takes over
from one that was killed first repeats what that one had begun, under the same key.

    python bench/crash_writer.py URL FOLDER

is a nursery: it imports everything once, and forks a writer for each line "WRITER LIFE SEED" that it reads.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

import windvane as wv
from windvane.errors import StorageFailure
from windvane.storage import journal
from windvane.study import Study

STUDIES: dict[str, dict[str, Any]] = {
    "line": {
        "algorithm": "et-gp-ucb",
        "space": wv.Box([(0.0, 1.0), (0.0, 1.0)]),
        "options": {"kernel": wv.RBF(0.3), "noise_variance": 0.02, "max_points": 100},
        "seed": 5,
    },
    "mill": {
        "algorithm": "auto",
        "space": wv.Box([(0.0, 1.0)]),
        "options": {"kernel": wv.RBF(0.3), "noise_variance": 0.02, "max_points": 60},
        "seed": 6,
    },
}
PATIENCE = (0.05, 30.0)  # seconds until a trial expires, a few at once and most of them never
BY_HAND = 0.03  # the share of resets, of values taken back and of values corrected
RECENT = 5  # of the values that were told, those that may turn out to be wrong
OUT = 3  # trials that one writer has out in one study


def log_of(folder: Path, writer: int) -> Path:
    """Where a writer keeps its log, through all its lives."""
    return folder / f"writer-{writer}.jsonl"


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What is in a log."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Writer:
    """One life of a writer."""

    def __init__(self, url: str, folder: Path, writer: int, life: int, seed: int) -> None:
        self.url, self.name = url, f"{writer}.{life}"
        self.rng = random.Random(seed)
        log = log_of(folder, writer)
        self.unanswered, self.out, self.told = self.remember(lines_of(log))
        self.file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self.studies: dict[str, Study] = {}
        self.count = 0

    @staticmethod
    def remember(
        lines: list[dict[str, Any]],
    ) -> tuple[dict[str, Any] | None, dict[str, dict[int, list[float]]], dict[str, list[int]]]:
        """What the last life had begun, the trials that are out, and those that were told and count."""
        begun: dict[str, Any] | None = None
        out: dict[str, dict[int, list[float]]] = {name: {} for name in STUDIES}
        told: dict[str, list[int]] = {name: [] for name in STUDIES}
        for line in lines:
            if "verb" in line:
                begun = line
            if "done" not in line:
                continue
            assert begun is not None
            if begun["verb"] == "ask":
                out[begun["study"]][line["trial"]] = line["x"]
            elif begun["verb"] in ("tell", "fail"):
                del out[begun["study"]][begun["trial"]]
            if begun["verb"] == "tell":
                told[begun["study"]].append(begun["trial"])
            elif begun["verb"] == "retract":
                told[begun["study"]].remove(begun["trial"])
            begun = None
        return begun, out, told

    def note(self, line: dict[str, Any]) -> None:
        os.write(self.file, (json.dumps(line) + "\n").encode())

    def live(self) -> None:
        """Until killed."""
        if self.unanswered is not None:
            self.note({"takes over": self.unanswered["key"], "written": self.written(self.unanswered)})
            self.carry_out(self.unanswered)
        while True:
            self.count += 1
            wish = self.wish()
            self.note(wish)
            self.carry_out(wish)

    def wish(self) -> dict[str, Any]:
        """What to do next."""
        rng, name = self.rng, self.rng.choice(list(STUDIES))
        wish: dict[str, Any] = {"key": f"{self.name}.{self.count}", "study": name}
        out, chance = self.out[name], rng.random()
        if rng.random() < BY_HAND:
            verb = rng.choice(("reset", "retract", "correct"))
            if verb == "reset":
                return {**wish, "verb": verb, "reason": "new pump"}
            if self.told[name]:
                trial = rng.choice(self.told[name][-RECENT:])
                right = {"y": rng.random()} if verb == "correct" else {}
                return {**wish, "verb": verb, "trial": trial, **right}
        if chance < 0.1:
            x = [rng.random() for _ in range(STUDIES[name]["space"].dim)]
            return {**wish, "verb": "add", "x": x, "y": self.measure(x), "time": self.stamp()}
        if not out or (len(out) < OUT and chance < 0.5):
            patience = PATIENCE[rng.random() < 0.9]
            return {**wish, "verb": "ask", "time": self.stamp(), "expires_after": patience}
        trial = rng.choice(list(out))
        if chance < 0.92:
            y = self.measure(out[trial])
            return {**wish, "verb": "tell", "trial": trial, "y": y, "time": self.stamp()}
        return {**wish, "verb": "fail", "trial": trial, "reason": "sensor lost"}

    def written(self, wish: dict[str, Any]) -> bool:
        """Whether what the last life had begun is in the journal, though nobody was told."""
        while True:
            try:
                study = self.open(wish["study"])
                with study.database.link.reading() as connection:
                    return journal.head_and_keyed(connection, study.id, wish["key"])[1] is not None
            except StorageFailure:
                time.sleep(0.05)

    def open(self, name: str) -> Study:
        if name not in self.studies:
            self.studies[name] = Study.open(self.url, name)
        return self.studies[name]

    def carry_out(self, wish: dict[str, Any]) -> None:
        """Again and again until it is acknowledged; then say so."""
        given = {name: value for name, value in wish.items() if name not in ("verb", "study")}
        while True:
            try:
                study = self.open(wish["study"])
                if wish["verb"] == "ask":
                    trial = study.ask(**given)
                    self.note({"done": wish["key"], "trial": trial.number, "x": trial.x})
                    self.out[wish["study"]][trial.number] = trial.x
                else:
                    verb = {
                        "tell": study.submit_tell,
                        "add": study.submit_add,
                        "fail": study.fail,
                        "reset": study.submit_reset,
                        "retract": study.retract,
                        "correct": study.correct,
                    }
                    record = verb[wish["verb"]](**given)
                    self.note({"done": wish["key"], "seq": record.seq})
                    if wish["verb"] in ("tell", "fail"):
                        del self.out[wish["study"]][wish["trial"]]
                    if wish["verb"] == "tell":
                        self.told[wish["study"]].append(wish["trial"])
                    elif wish["verb"] == "retract":
                        self.told[wish["study"]].remove(wish["trial"])
                return
            except StorageFailure:  # the server was killed
                time.sleep(0.05)

    def measure(self, x: list[float]) -> float:
        """A hill that jumps from time to time."""
        centre = 0.2 + 0.6 * ((time.time() // 7.0) % 2)
        return math.exp(-8.0 * sum((v - centre) ** 2 for v in x)) + self.rng.gauss(0.0, 0.14)

    def stamp(self) -> float | None:
        """The writers' clocks differ by a second or so, and now and then there is none."""
        return None if self.rng.random() < 0.2 else 10.0 * (time.time() % 1e6 + self.rng.gauss(0.0, 1.0))


def nursery(url: str, folder: Path) -> None:
    """Fork writers on request, and say which process it is."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the dead need not be waited for
    for line in sys.stdin:
        writer, life, seed = map(int, line.split())
        child = os.fork()
        if child == 0:
            os.setsid()
            Writer(url, folder, writer, life, seed).live()
        print(child, flush=True)


if __name__ == "__main__":
    nursery(sys.argv[1], Path(sys.argv[2]))
