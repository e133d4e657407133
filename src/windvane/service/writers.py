"""Threads for steps: one works at a time, and nobody waits long for a slow one.

Python threads that compute at the same time spend more on handing Python's lock to each other than they gain.
So steps follow one another, each from its first line to the disk. One that takes longer than others should
wait is left to its thread, and another thread goes on with what waits: no step has to be known as short or
long before.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R")
LULL = 0.05  # seconds after a step: those who send them one after another are heard of again by then
PATIENCE = 0.05  # seconds; a step of `auto` that fits takes 30 ms, others 3 to 5 (docs/decisions/0042)


class Job(NamedTuple):
    """A step to be carried out, and who waits for it."""

    work: Callable[[], Any]
    answer: asyncio.Future[Any]


class Writers:
    """At most so many threads, started as they are needed. What waits is carried out in the order it came."""

    def __init__(self, most: int, patience: float = PATIENCE) -> None:
        self._most = most
        self._patience = patience
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._idle = 0  # threads that wait
        self._watched = False  # whether one of them looks how long the present step takes
        self._since: float | None = None  # when the present step began
        self._present = 0  # its number
        self._ended = float("-inf")  # when the last one did
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a step waits or is the present one."""
        return self._since is not None or bool(self._jobs)

    @property
    def pressed(self) -> bool:
        """Whether there are steps to make, or were just now: who sends them may be at work on the next."""
        return self.busy or time.monotonic() - self._ended < LULL

    async def run(self, work: Callable[[], R]) -> R:
        """Wait for a step; when this returns, it is on disk."""
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        with self._changed:
            if self._closed:
                raise RuntimeError("the service has stopped")
            self._jobs.append(Job(work, answer))
            if self._since is None or not self._watched:
                self._wake()
        return await answer

    def close(self, patience: float | None = None) -> None:
        """End after the steps that wait; after so many seconds at the latest, if that is said."""
        end = None if patience is None else time.monotonic() + patience
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _wake(self) -> None:
        if self._idle:
            self._changed.notify()
        elif len(self._threads) < self._most:
            thread = threading.Thread(
                target=self._run, name=f"windvane-step_{len(self._threads)}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def _run(self) -> None:
        number = 0
        while (taken := self._next(number)) is not None:
            number, job = taken
            result, error = None, None
            try:
                result = job.work()
            except BaseException as raised:
                error = raised
            self._ended = time.monotonic()
            job.answer.get_loop().call_soon_threadsafe(_answer, job.answer, result, error)
            del taken, job, result, error  # a thread that waits holds on to nothing

    def _next(self, done: int) -> tuple[int, Job] | None:
        """The step that is this thread's, once there is one, after it has `done` another; None at the end."""
        with self._changed:
            if self._present == done:  # else that took long, and another thread went on
                self._since = None
            while True:
                left = None if self._since is None else self._since + self._patience - time.monotonic()
                if self._jobs and (left is None or left <= 0.0):
                    self._present += 1
                    self._since = time.monotonic()
                    job = self._jobs.popleft()
                    if self._jobs and not self._watched:
                        self._wake()  # somebody has to look how long this one takes
                    return self._present, job
                if self._closed and not self._jobs:
                    self._changed.notify_all()  # those who wait for the rest of the steps may end as well
                    return None
                watching = left is not None and bool(self._jobs) and not self._watched
                self._watched = self._watched or watching
                self._idle += 1
                self._changed.wait(left if watching else None)
                self._idle -= 1
                if watching:
                    self._watched = False


def _answer(answer: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    """In the event loop: wake who waits, unless they have gone."""
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)
