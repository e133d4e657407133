"""What the routes share: the database, the studies that are open, and the threads that work on them.

What writes waits for its turn with a study in the event loop, not in a thread: so a hundred requests to one
study leave threads for the others. What reads the model has threads of its own and works on a snapshot: it
waits for no step, and steps do not wait for it. Whatever else asks the database has a third set.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from fastapi import Request

from windvane.errors import UnknownName
from windvane.service.config import Config
from windvane.service.health import Health
from windvane.service.metrics import Metrics
from windvane.service.peers import Peers
from windvane.service.pool import DaemonPool
from windvane.service.problems import Refused, retry_after
from windvane.service.streams import Heads, Streams, Tokens
from windvane.service.writers import Writers
from windvane.storage import Database, Record, Summary, journal
from windvane.study import Study

R = TypeVar("R")
CLOSING = 30.0  # seconds that what is being written has at the end, unless it is told otherwise
REST = 3.0  # times what a part of a long read took: so it has a quarter of a core beside steps
LONG_WAITING = 50  # requests that wait for their turn to compute for long


class OpenStudies:
    """The studies used last, opened once; each follows by itself what other processes write to it."""

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self._most = most
        self._open: OrderedDict[str, tuple[int, Study]] = OrderedDict()  # with the database's number
        self._lock = threading.Lock()

    def get(self, name: str) -> Study:
        """The study of this name, as it was when it was opened; `UnknownName` if there is none."""
        with self._lock:
            found = self._open.get(name)
            if found is not None:
                self._open.move_to_end(name)
                return found[1]
        return self.current(self._database.find(name))

    def current(self, summary: Summary) -> Study:
        """The study that a summary is of. One of its name that was deleted since is forgotten."""
        with self._lock:
            number, study = self._open.get(summary.name, (None, None))
            if study is None or number != summary.id:
                study = Study(self._database, summary)
            self._open[summary.name] = (summary.id, study)
            self._open.move_to_end(summary.name)
            while len(self._open) > self._most:
                self._open.popitem(last=False)  # whoever works on it still has it
        return study

    def drop(self, name: str) -> None:
        """Forget a study that was deleted."""
        with self._lock:
            self._open.pop(name, None)


class Pace:
    """Of a long read: beside steps, whatever it does is followed by a rest that is longer."""

    def __init__(self, pressed: Callable[[], bool]) -> None:
        self._pressed = pressed
        self._begun = time.perf_counter()

    def rest(self) -> None:
        """To be called between two parts, and in the end."""
        if self._pressed():
            time.sleep(REST * (time.perf_counter() - self._begun))
        self._begun = time.perf_counter()


class Service:
    """One running service."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.database = Database(config.database, create=True)
        self.studies = OpenStudies(self.database, config.open_studies)
        self.streams = Streams(config)
        self.metrics = Metrics(self.database)
        self.peers = Peers(config.folder, config.workers)
        self.wake_sender: Callable[[], None] = lambda: None  # that of the webhooks, once it runs
        self._threads = DaemonPool(config.threads, "windvane")
        self._readers = DaemonPool(config.readers, "windvane-read")
        self._writers = Writers(config.writers)
        self._long = asyncio.Semaphore(max(1, config.threads // 2))  # there must be threads for the others
        self._long_waiting = 0
        self.health = Health(self.ping)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def close(self, patience: float = CLOSING) -> None:
        """Wait for what is being written, as long as patience lasts, and let go of the database."""
        end = time.monotonic() + patience
        self.health.close()
        self._writers.close(patience)
        for pool in (self._readers, self._threads):
            pool.shutdown(cancel_futures=True, patience=max(0.0, end - time.monotonic()))
        self.database.close()

    async def call(self, work: Callable[..., R], *arguments: Any) -> R:
        """Run something that waits for the database in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def call_long(self, work: Callable[..., R], *arguments: Any) -> R:
        """The same for what may take long: so many at a time, and not too many that wait."""
        return await self._bounded(lambda: self.call(work, *arguments))

    async def _bounded(self, work: Callable[[], Awaitable[R]]) -> R:
        if self._long_waiting >= LONG_WAITING:
            said = f"{LONG_WAITING} requests wait already for what takes long; try again later"
            raise Refused(503, "Busy", said, retry_after(5))
        self._long_waiting += 1
        try:
            async with self._long:
                return await work()
        finally:
            self._long_waiting -= 1

    async def read(self, name: str, work: Callable[[Study], R]) -> R:
        """Look at a study. However many do, and however long that takes, no step waits for it."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._with, name, work)

    def pace(self) -> Pace:
        """Of a long read that begins now."""
        return Pace(lambda: self._writers.pressed)

    async def write(self, name: str, work: Callable[[Study], R], *, long: bool = False) -> R:
        """Carry out a step of a study, one request at a time; few of those that may take `long` at once."""
        turn = self._turns.get(name)
        if turn is None:
            turn = self._turns[name] = asyncio.Lock()
        async with turn:
            step = partial(self._with, name, work)
            if long:
                with self.metrics.steps.labels("long").time():
                    return await self._bounded(lambda: self._writers.run(step))
            with self.health.step(), self.metrics.steps.labels("short").time():
                return await self._writers.run(step)

    def _with(self, name: str, work: Callable[[Study], R]) -> R:
        study = self.studies.get(name)
        try:
            return work(study)
        except UnknownName:  # of a trial; or the study was deleted elsewhere, and perhaps made anew
            now = self.current(name)
            if now is study:
                raise
            return work(now)

    def current(self, name: str) -> Study:
        """The study that has this name now, as the database says."""
        try:
            return self.studies.current(self.database.find(name))
        except UnknownName:
            self.studies.drop(name)
            raise

    @property
    def watched(self) -> tuple[Heads, Tokens]:
        """What the streams look at: the heads of studies, and the tokens that are valid."""
        return partial(self.call, self.heads), partial(self.call, self._valid_tokens)

    def _valid_tokens(self) -> set[int]:
        return {token.id for token in self.database.tokens.list()}

    def noticed(self, name: str, record: Record) -> None:
        """A record was written: have it streamed, counted and, if it is news, sent to the webhooks."""
        self.streams.ring(name)
        if record.kind == "told":
            self.metrics.tells.inc()
        if record.kind == "failed":
            self.metrics.failures.inc()
        if record.reset:
            self.metrics.resets.inc()
        if record.violated:
            self.metrics.violations.inc()
        if record.reset or record.violated:
            self.wake_sender()

    def ping(self) -> None:
        """`StorageFailure` unless the database answers."""
        with self.database.link.reading() as connection:
            journal.count(connection)

    def heads(self, names: list[str]) -> dict[str, tuple[int, int]]:
        """The database's number and the last record of each study that is still there."""
        found = {}
        for name in names:
            with suppress(UnknownName):
                summary = self.database.find(name)
                found[name] = (summary.id, summary.head)
        return found


def service_of(request: Request) -> Service:
    """The service that a request is for."""
    service: Service = request.app.state.service
    return service
