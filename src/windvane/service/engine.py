"""A thread for steps that are short: those that wait are carried out together, and written at once.

Python threads that compute a little and wait a little spend more time on handing over to each other than on
their work. So short steps of all studies take turns in one thread, and those that have gathered while the
last ones were computed become one transaction: one wait for the disk instead of many. Long steps, such as
those that learn, stay in threads of their own, so that nobody waits for them.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from windvane.errors import StorageFailure, WindvaneError
from windvane.storage import Database
from windvane.study import Study

MOST = 16  # steps in one transaction


@dataclass(frozen=True)
class Job:
    """A step to be carried out, and who waits for it."""

    study: Study
    work: Callable[[], Any]
    answer: asyncio.Future[Any] = field(compare=False)


Outcome = tuple[Job, Any, BaseException | None]


class Engine:
    """Carries out short steps, in the order in which they come."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="windvane-steps", daemon=True)
        self._thread.start()

    async def run(self, study: Study, work: Callable[[], Any]) -> Any:
        """Wait for a step; when this returns, it is on disk."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(study, work, answer))
        return await answer

    def close(self) -> None:
        """End after the steps that wait."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        going = True
        while going:
            jobs, going = self._next()
            if not jobs:
                continue
            outcomes = self._together(jobs) if len(jobs) > 1 else None
            if outcomes is None:
                outcomes = [_carry_out(job) for job in jobs]
            jobs[0].answer.get_loop().call_soon_threadsafe(_answer, outcomes)

    def _next(self) -> tuple[list[Job], bool]:
        """The steps that have gathered, at least one; and whether there will be more."""
        jobs: list[Job] = []
        while len(jobs) < MOST:
            try:
                job = self._jobs.get(block=not jobs)
            except queue.Empty:
                break
            if job is None:
                return jobs, False
            jobs.append(job)
        return jobs, True

    def _together(self, jobs: list[Job]) -> list[Outcome] | None:
        """All steps in one transaction; None if that came to nothing, and then nothing was written."""
        try:
            with self._database.link.batch():
                outcomes = [_within(job) for job in jobs]
        except BaseException:  # not a caller's mistake: each by itself will tell whose step it was
            for job in jobs:
                job.study.forget()
            return None
        return outcomes


def _within(job: Job) -> Outcome:
    """A step among others: what it refuses is its own affair, but any failure is that of all."""
    try:
        return job, job.work(), None
    except StorageFailure:
        raise
    except WindvaneError as error:
        return job, None, error


def _carry_out(job: Job) -> Outcome:
    try:
        return job, job.work(), None
    except BaseException as error:
        return job, None, error


def _answer(outcomes: list[Outcome]) -> None:
    """In the event loop: wake those who wait, unless they have gone."""
    for job, result, error in outcomes:
        if job.answer.done():
            continue
        if error is None:
            job.answer.set_result(result)
        else:
            job.answer.set_exception(error)
