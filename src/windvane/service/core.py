"""What the routes share: the database, the studies that are open, and the threads that work on them.

A request waits for its turn with a study in the event loop, not in a thread: so a slow study, or a
hundred requests to one, leave threads for the others.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from fastapi import Request

from windvane.errors import UnknownName
from windvane.service.config import Config
from windvane.service.engine import Engine
from windvane.service.metrics import Metrics
from windvane.service.streams import Streams
from windvane.storage import Database, Summary, journal
from windvane.study import Study

R = TypeVar("R")


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

    def known(self, name: str) -> Study | None:
        """The study of this name if it is open already."""
        with self._lock:
            found = self._open.get(name)
        return None if found is None else found[1]

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


class Service:
    """One running service."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.database = Database(config.database, create=True)
        self.studies = OpenStudies(self.database, config.open_studies)
        self.streams = Streams(config)
        self.metrics = Metrics(self.database)
        self.on_reset: Callable[[], None] = lambda: None  # the webhooks' sender, once it runs
        self._threads = ThreadPoolExecutor(config.threads, thread_name_prefix="windvane")
        # on PostgreSQL, where nobody waits for a writer to another study, there is nothing to gather
        self._engine = Engine(self.database) if self.database.kind == "sqlite" else None
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def close(self) -> None:
        """Wait for what is being written, and let go of the database."""
        if self._engine is not None:
            self._engine.close()
        self._threads.shutdown()
        self.database.close()

    async def call(self, work: Callable[..., R], *arguments: Any) -> R:
        """Run something that waits or computes in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *arguments)

    async def use(self, name: str, work: Callable[[Study], R], *, long: bool = False) -> R:
        """Do something with a study, one request at a time; what may take `long` has a thread of its own."""
        turn = self._turns.get(name)
        if turn is None:
            turn = self._turns[name] = asyncio.Lock()
        async with turn:
            known = self.studies.known(name)
            if not long and self._engine is not None and known is not None and known.quick:
                found: R = await self._engine.run(known, lambda: self._with(name, work))
                return found
            return await self.call(self._with, name, work)

    def _with(self, name: str, work: Callable[[Study], R]) -> R:
        study = self.studies.get(name)
        try:
            return work(study)
        except (
            UnknownName
        ):  # of a trial; or the study was deleted elsewhere, perhaps made anew under its name
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
