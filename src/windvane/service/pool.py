"""Threads that a process does not wait for when it ends.

The executor of the standard library joins its threads at exit, so that one long computation keeps a service
that was told to stop. What is cut off here was not answered, and nothing of it is on disk.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
Job = tuple["Future[Any]", Callable[[], Any]]


class DaemonPool(Executor):
    """At most so many threads, started as they are needed."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._closed = False

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have a function called in one of the threads."""
        future: Future[R] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the pool is closed")
            self._jobs.put((future, lambda: fn(*args, **kwargs)))
            if not self._idle.acquire(blocking=False) and len(self._threads) < self._most:
                name = f"{self._name}_{len(self._threads)}"
                self._threads.append(threading.Thread(target=self._run, name=name, daemon=True))
                self._threads[-1].start()
        return future

    def shutdown(
        self, wait: bool = True, *, cancel_futures: bool = False, patience: float | None = None
    ) -> None:
        """Take nothing more. With `wait`, wait for what runs, for `patience` seconds at most."""
        with self._lock:
            self._closed = True
            while cancel_futures:
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if job is not None:
                    job[0].cancel()
            for _ in self._threads:
                self._jobs.put(None)
        end = None if patience is None else time.monotonic() + patience
        for thread in self._threads if wait else ():
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _run(self) -> None:
        while (job := self._next()) is not None:
            future, work = job
            if future.set_running_or_notify_cancel():
                try:
                    result = work()
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
                    del result
            del job, future, work  # a thread that waits holds on to nothing

    def _next(self) -> Job | None:
        try:
            return self._jobs.get_nowait()
        except queue.Empty:
            self._idle.release()
            return self._jobs.get()
