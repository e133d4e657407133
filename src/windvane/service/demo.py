"""A study that is always in motion, so that the page has something to show: `windvane serve --demo`."""

from __future__ import annotations

import logging
import math
import random
import threading
from typing import Any

from windvane.errors import Conflict, StorageFailure, UnknownName
from windvane.spaces import Box
from windvane.storage import Database
from windvane.study import Study

log = logging.getLogger("windvane.demo")

NAME = "demo"
MARK = {"about": "made by windvane serve --demo"}
EPOCH = 60  # evaluations between two jumps
NOISE = 0.05
PAUSE = 0.5  # seconds


def objective(x: list[float], step: int) -> float:
    """A hill that wanders over the unit square, and every now and then is somewhere else.

    A function of the step alone, so that a demo that was stopped goes on where it was.

    >>> objective([0.5, 0.5], 7) == objective([0.5, 0.5], 7)
    True
    """
    epoch, since = divmod(step, EPOCH)
    world = random.Random(epoch)
    angle = world.uniform(0.0, 2.0 * math.pi)
    centre = [world.uniform(0.2, 0.8) + 0.002 * since * turn for turn in (math.cos(angle), math.sin(angle))]
    distance = sum((a - b) ** 2 for a, b in zip(x, centre, strict=True))
    return world.uniform(-0.5, 0.5) + 1.5 * math.exp(-distance / 0.08)


def opened(database: Database) -> Study:
    """The demo's study, made if there is none; `Conflict` if somebody has a study of that name."""
    try:
        study = Study.open(database, NAME)
    except UnknownName:
        return Study.create(database, NAME, Box([(0.0, 1.0), (0.0, 1.0)]), metadata=MARK, seed=0)
    if study.definition["metadata"] != MARK:
        raise Conflict(f"--demo: there is a study {NAME!r} of yours here, which a demo must not touch")
    return study


class Demo:
    """Evaluates the demo's objective again and again, in a thread, until the block ends."""

    def __init__(self, url: str, pause: float = PAUSE) -> None:
        self._database = Database(url, create=True)
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windvane-demo", daemon=True)
        try:
            self._study = opened(self._database)
        except BaseException:
            self._database.close()
            raise

    def __enter__(self) -> Demo:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()
        self._database.close()

    def _run(self) -> None:
        noise = random.Random()
        while not self._stop.wait(self._pause):
            try:
                trial = self._study.ask(expires_after=60.0)
                value = objective(trial.x, self._study.summary().tells) + noise.gauss(0.0, NOISE)
                self._study.tell(trial, value)
            except UnknownName:
                log.warning("the demo's study was deleted; it stops here")
                return
            except StorageFailure as error:
                log.error("the demo waits: %s", error)
