"""Where trials run: local processes, a Dask cluster, or any executor of the caller.

Results never depend on it: a trial is a pure function of its description.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from windvane.errors import InvalidArgument, WorkersLost
from windvane.experiments.code import code_digest
from windvane.experiments.workers import one_thread_workers
from windvane.extras import require

CONNECT = 10  # seconds until a cluster must have answered


class Workers(Protocol):
    """Hands out executors; a new one when the last one broke."""

    @property
    def width(self) -> int:
        """How many runs are worth having in flight."""
        ...

    @property
    def renewable(self) -> bool:
        """Whether `start` gives a new executor after the last one broke."""
        ...

    def start(self) -> AbstractContextManager[Executor]:
        """An executor, for as long as the context lasts."""
        ...


@dataclass(frozen=True)
class Processes:
    """Local processes with one BLAS thread each.

    >>> Processes(2).width
    4
    """

    jobs: int

    @property
    def width(self) -> int:
        """One running and one waiting per process: short enough to stop at once, long enough not to idle."""
        return 2 * self.jobs

    @property
    def renewable(self) -> bool:
        """A broken pool is replaced."""
        return True

    @contextmanager
    def start(self) -> Iterator[Executor]:
        """A pool of fresh processes; they are gone when the context ends, finished or not."""
        before = set(multiprocessing.active_children())
        with one_thread_workers():
            spawn = multiprocessing.get_context("spawn")
            pool = ProcessPoolExecutor(self.jobs, mp_context=spawn, initializer=_settle_in)
            try:
                yield pool
            except BaseException:
                for process in set(multiprocessing.active_children()) - before:
                    process.terminate()
                raise
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def _settle_in() -> None:
    """In a worker: leave Ctrl-C to the coordinator, which hears it too, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@dataclass(frozen=True)
class Borrowed:
    """An executor that belongs to the caller and is left running."""

    executor: Executor
    width: int = 64
    renewable: bool = False

    def start(self) -> AbstractContextManager[Executor]:
        """The same executor each time."""
        return nullcontext(self.executor)


@dataclass(frozen=True)
class Dask:
    """An existing Dask cluster; a run whose worker dies is given to another one by the scheduler."""

    address: str
    width: int = 64
    renewable: bool = False

    @contextmanager
    def start(self) -> Iterator[Executor]:
        """A client of the cluster, as an executor."""
        distributed = require("distributed", "dask")
        if not re.fullmatch(r"\w+://\S+|[^/\s]+:\d+", self.address):
            raise InvalidArgument(
                f"--dask {self.address}: must be the address of a scheduler with its port, "
                "such as tcp://scheduler:8786"
            )
        try:
            client: Any = distributed.Client(self.address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise InvalidArgument(
                f"--dask {self.address}: no scheduler answers there ({error}); `dask scheduler` starts one"
            ) from error
        try:
            if not client.scheduler_info(n_workers=-1)["workers"]:
                raise InvalidArgument(
                    f"--dask {self.address}: the cluster has no workers; `dask worker` starts one"
                )
            self._same_code(client)
            with client.get_executor(pure=False) as executor:
                yield executor
        except (distributed.KilledWorker, CancelledError) as error:
            raise WorkersLost(
                f"--dask {self.address}: lost the scheduler, or a run killed several workers ({error}); "
                "finished runs are kept: run again"
            ) from error
        finally:
            client.close()

    def _same_code(self, client: Any) -> None:
        """Results are kept by the code that computes them, so every worker must have the same."""
        found = client.run(code_digest, on_error="return")
        other = [worker for worker, digest in found.items() if digest != code_digest()]
        if other:
            raise InvalidArgument(
                f"--dask {self.address}: {other[0]} has another version of windvane, numpy or scipy than "
                "this machine, or none; install the same on every worker"
            )
