"""What all calibrations share: what is asked of them, and runs in order, wherever they are made."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from typing import Any, TypeVar

from windvane.checks import integer
from windvane.errors import InvalidArgument, InvalidType, WorkersLost
from windvane.spaces import Domain

Found = TypeVar("Found")
OnProgress = Callable[[int, int], None]


def refuse_contexts(space: Any) -> None:
    """Nothing can be simulated where something is observed and not chosen."""
    if isinstance(space, Domain) and space.contexts:
        raise InvalidArgument(
            f"space: has contexts ({', '.join(space.contexts)}), and nobody knows how these will go; "
            "calibrate on the space without them"
        )


def length_and_jump(steps: Any, jump_at: Any) -> tuple[int, int]:
    """The steps of a run, and the one at which it jumps: the middle unless stated."""
    length = integer("steps", steps, at_least=2)
    when = length // 2 + 1 if jump_at is None else integer("jump_at", jump_at, at_least=2, at_most=length)
    return length, when


def check_jobs(jobs: Any, on_progress: Any) -> None:
    """Refuse before the first run what would be refused after it."""
    if on_progress is not None and not callable(on_progress):
        raise InvalidType(f"on_progress={on_progress!r}: must be a function of (done, total)")
    if not isinstance(jobs, Executor):
        integer("jobs", jobs, at_least=1)


def all_runs(
    work: Callable[[int], Found], runs: int, jobs: int | Executor, on_progress: OnProgress | None
) -> list[Found]:
    """What `work` makes of each number of a run; `on_progress` is called before the first and after each."""
    found: list[Found] = []
    if on_progress is not None:
        on_progress(0, runs)
    for one in _in_order(work, runs, jobs):
        found.append(one)
        if on_progress is not None:
            on_progress(len(found), runs)
    return found


def _in_order(work: Callable[[int], Found], runs: int, jobs: int | Executor) -> Iterator[Found]:
    if jobs == 1:
        yield from map(work, range(runs))
        return
    try:
        if isinstance(jobs, Executor):
            yield from jobs.map(work, range(runs))
            return
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(jobs, runs), mp_context=spawn) as pool:
            yield from pool.map(work, range(runs))
    except BrokenExecutor as error:
        raise WorkersLost(
            'jobs: a process died; a script that starts some needs `if __name__ == "__main__":`. '
            "If it has that, they may be out of memory: use fewer jobs"
        ) from error
