"""Studies that are always in motion, so that the page has something to show: `windvane serve --demo`."""

from __future__ import annotations

import logging
import math
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from windvane.errors import Conflict, StorageFailure, UnknownName
from windvane.spaces import Box
from windvane.spaces.base import Domain
from windvane.storage import Database
from windvane.study import Study
from windvane.tasks import Oven

log = logging.getLogger("windvane.demo")

MARK = {"about": "made by windvane serve --demo"}
EPOCH = 60  # evaluations between two jumps
NOISE = 0.05
PAUSE = 0.5  # seconds
OVEN_STEPS = 20 * 96  # twenty days, then the first one again


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


@dataclass(frozen=True)
class Play:
    """A study of the demo: what it is made with, and what is measured at a point at a step, with noise."""

    name: str
    space: Domain
    options: Mapping[str, Any]
    measure: Callable[[Any, int, random.Random], tuple[float, dict[str, float]]]

    def opened(self, database: Database) -> Study:
        """The study, made if there is none; `Conflict` if somebody has a study of that name."""
        try:
            study = Study.open(database, self.name)
        except UnknownName:
            return Study.create(database, self.name, self.space, metadata=MARK, seed=0, **self.options)
        if study.definition["metadata"] != MARK:
            raise Conflict(
                f"--demo: there is a study {self.name!r} of yours here, which a demo must not touch"
            )
        return study


def hill() -> Play:
    """The study `demo`."""

    def measure(x: Any, step: int, noise: random.Random) -> tuple[float, dict[str, float]]:
        return objective(x, step) + noise.gauss(0.0, NOISE), {}

    return Play("demo", Box([(0.0, 1.0), (0.0, 1.0)]), {}, measure)


def oven() -> Play:
    """The study `demo-oven`: a constraint that is kept safely while what is allowed moves."""
    task = Oven(horizon=OVEN_STEPS, seed=1)

    def measure(x: Any, step: int, noise: random.Random) -> tuple[float, dict[str, float]]:
        now = step % OVEN_STEPS + 1
        spread = {name: math.sqrt(variance) for name, variance in task.outcome_noise.items()}
        outcomes = {n: value + noise.gauss(0.0, spread[n]) for n, value in task.outcomes(x, now).items()}
        return task.value(x, now) + noise.gauss(0.0, math.sqrt(task.noise_variance)), outcomes

    safely = {"constraints": task.constraints, "safe": 0.95, "start": task.start}
    return Play("demo-oven", task.space, safely, measure)


class Demo:
    """Evaluates what the demo's studies ask for again and again, in a thread, until the block ends."""

    def __init__(self, url: str, pause: float = PAUSE) -> None:
        self._database = Database(url, create=True)
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windvane-demo", daemon=True)
        try:
            self._plays = [(play, play.opened(self._database)) for play in (hill(), oven())]
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
        while self._plays and not self._stop.wait(self._pause):
            for play, study in list(self._plays):
                try:
                    trial = study.ask(expires_after=60.0)
                    value, outcomes = play.measure(trial.x, study.summary().tells, noise)
                    study.tell(trial, value, outcomes=outcomes)
                except UnknownName:
                    log.warning("the demo's study %r was deleted; it stops here", play.name)
                    self._plays.remove((play, study))
                except StorageFailure as error:
                    log.error("the demo waits: %s", error)
