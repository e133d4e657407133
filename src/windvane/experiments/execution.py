"""Trials -> results: what is known is not run again, what finishes is kept, what breaks is repeated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait

from windvane.errors import WorkersLost
from windvane.experiments.executors import Workers
from windvane.experiments.measures import Result
from windvane.experiments.observed import run
from windvane.experiments.store import SECONDS, Store
from windvane.experiments.trial import RunSpec

MOST_BREAKS = 3  # in a row, without a single run in between

Report = Callable[[RunSpec, Result], None]


def execute(
    trials: Sequence[RunSpec],
    store: Store,
    workers: Workers,
    *,
    on_kept: Callable[[int], None] | None = None,
    on_done: Report | None = None,
) -> dict[RunSpec, Result]:
    """The result of every trial, in the order of `trials` whatever the order they finished in.

    A run that raises stops the experiment with its error; a worker that dies does not: the runs it had in
    hand are given out again. Either way the finished runs are in the store. `on_kept` is told how many
    results were there already, `on_done` each one that is new.
    """
    wanted = list(dict.fromkeys(trials))
    results = store.find(wanted)
    if on_kept is not None:
        on_kept(len(results))
    waiting = deque(trial for trial in wanted if trial not in results)

    def finished(trial: RunSpec, result: Result) -> None:
        store.put(trial, result)
        results[trial] = result
        if on_done is not None:
            on_done(trial, result)

    breaks = 0
    try:
        while waiting:
            left = len(waiting)
            try:
                with workers.start() as executor:
                    _drain(executor, waiting, workers.width, finished, store.flush)
            except BrokenExecutor as error:
                breaks = 0 if len(waiting) < left else breaks + 1
                if not workers.renewable or breaks >= MOST_BREAKS:
                    raise WorkersLost(
                        f"workers died again and again before {waiting[0]} was done "
                        "(out of memory?); finished runs are kept: run again, with fewer --jobs"
                    ) from error
    finally:
        store.flush()
    return {trial: results[trial] for trial in wanted}


def _drain(
    executor: Executor,
    waiting: deque[RunSpec],
    width: int,
    finished: Callable[[RunSpec, Result], None],
    pause: Callable[[], None],
) -> None:
    """Run everything, with a `pause` when nothing comes; a failure puts the unfinished back to `waiting`."""
    flying: dict[Future[Result], RunSpec] = {}
    try:
        while waiting or flying:
            while waiting and len(flying) < width:
                trial = waiting[0]
                flying[executor.submit(run, trial)] = trial
                waiting.popleft()
            done, _ = wait(flying, timeout=SECONDS, return_when=FIRST_COMPLETED)
            if not done:
                pause()
            for future in done:
                result = _result_of(future, flying[future])
                finished(flying.pop(future), result)
    except BaseException:
        for future, trial in flying.items():
            future.cancel()
            if future.done() and not future.cancelled() and future.exception() is None:
                finished(trial, future.result())
            else:
                waiting.appendleft(trial)
        raise


def _result_of(future: Future[Result], trial: RunSpec) -> Result:
    """The result, or the error with the trial it belongs to."""
    try:
        return future.result()
    except BrokenExecutor:
        raise
    except Exception as error:
        error.add_note(f"in {trial}")
        raise
