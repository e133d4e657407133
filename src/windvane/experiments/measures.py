"""What is measured in a trial: arrays by name, a function of the trial alone.

A worker may run trials of many algorithms on the same objective one after the other, so the last
few tasks are kept: drawing an objective and finding its optimum is then done once.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.algorithms import make
from windvane.data import Prediction
from windvane.errors import AlgorithmFailed, InvalidArgument, UnknownName
from windvane.experiments.guard import Guarded, explained
from windvane.experiments.trial import Call, RunSpec
from windvane.simulate import simulate
from windvane.tasks import TASKS, Task, task
from windvane.threads import one_thread
from windvane.triggers import PosteriorBound

Result = dict[str, npt.NDArray[Any]]
SELDOM_MORE = 4  # tasks kept by a worker


def run(trial: RunSpec) -> Result:
    """Carry out a trial, on one BLAS thread: another number of threads rounds differently."""
    with one_thread.hold():
        return MEASURES[trial.measure.name](trial, **trial.measure.keywords())


@lru_cache(maxsize=SELDOM_MORE)
def _task(what: Call, seed: int) -> Task:
    options = what.keywords()
    if "seed" in TASKS[what.name].options:
        options.setdefault("seed", seed)
    return task(what.name, **options)


def optimizer_for(trial: RunSpec, objective: Task) -> Any:
    """The algorithm by name, or the researcher's own given as module:function."""
    told = {name: getattr(objective, name, None) for name in trial.told}
    given = {**told, **trial.algorithm.keywords()}
    if ":" in trial.algorithm.name:
        return own_algorithm(trial.algorithm.name)(objective, seed=trial.seed, **given)
    return make(trial.algorithm.name, objective.space, seed=trial.seed, **given)


def own_algorithm(name: str) -> Callable[..., Any]:
    """The function behind `module:function`, called with the space and what its signature names."""
    found, parameters = _own_function(name), own_signature(name)
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

    def build(objective: Task, **given: Any) -> Any:
        known = {"horizon": objective.horizon, **given}
        used = {k: v for k, v in known.items() if takes_all or k in parameters}
        with explained(name, f"{name.partition(':')[2]}(...)"):
            optimizer = found(objective.space, **used)
        return Guarded(name, optimizer, objective.space)

    return build


def own_signature(name: str) -> Mapping[str, inspect.Parameter]:
    """The parameters of the function behind `module:function`."""
    try:
        return inspect.signature(_own_function(name)).parameters
    except ValueError:
        raise InvalidArgument(f"algorithm={name!r}: its signature cannot be read") from None


def _own_function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    try:
        with explained(name, f"import of {module!r}"):
            home = importlib.import_module(module)
    except AlgorithmFailed:
        if find_module(module):
            raise
        raise UnknownName(
            f"algorithm={name!r}: there is no module {module!r}; run from its folder, or install it"
        ) from None
    if not hasattr(home, function):
        near = get_close_matches(function, [known for known in vars(home) if not known.startswith("_")], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownName(f"algorithm={name!r}: the module {module!r} has no {function!r}{hint}")
    found = getattr(home, function)
    if not callable(found):
        raise InvalidArgument(f"algorithm={name!r}: must be a function that returns an optimiser")
    return found  # type: ignore[no-any-return]


def find_module(name: str) -> bool:
    """Whether there is such a module."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def regret(trial: RunSpec, *, steps: int | None = None) -> Result:
    """r_t for t = 1 .. T, the steps of the resets, and those at which the task itself jumps.

    On a task with constraints there is `violated` besides: whether a limit was broken at a step. A point
    beyond a limit never counts as better than the optimum: its regret is at least 0.
    """
    objective = _task(trial.task, trial.seed)
    trace = simulate(optimizer_for(trial, objective), objective, seed=trial.seed, steps=steps)
    jumps = np.array(getattr(objective, "steps", ()), dtype=np.int64)
    if trace.violated is None:
        return {"regret": trace.regret, "resets": trace.resets, "jumps": jumps}
    counted = np.where(trace.violated, np.maximum(trace.regret, 0.0), trace.regret)
    return {"regret": counted, "resets": trace.resets, "jumps": jumps, "violated": trace.violated}


def alarms(trial: RunSpec, *, deltas: tuple[float, ...], until: int, steps: int) -> Result:
    """Where Lemma 3's bound is broken along a run that is never reset, for each delta.

    Until its first reset ET-GP-UCB is GP-UCB, and a reset window only decides which of these steps
    counts. So one run answers for every window: the first reset with [N_low, N_high] is at the first of
    these steps from N_low on, or at N_high. A run ends as soon as, for every delta, the bound was broken
    at or after step `until`.
    """
    objective = _task(trial.task, trial.seed)
    optimizer = optimizer_for(trial, objective)
    noise = np.random.default_rng((trial.seed, 2)).standard_normal(steps) * objective.noise_variance**0.5
    triggers = [PosteriorBound(delta) for delta in deltas]
    broken: list[list[int]] = [[] for _ in deltas]
    for t in range(1, steps + 1):
        x = optimizer.ask()
        event = optimizer.tell(x, objective.value(x, t) + float(noise[t - 1]))
        prediction = Prediction(event.mean, event.std, event.noise_variance)
        for trigger, found in zip(triggers, broken, strict=True):
            verdict, _ = trigger.test(trigger.start(), prediction, event.y, t)
            if verdict.fired:
                found.append(t)
        if all(found and found[-1] >= until for found in broken):
            break
    names = [f"alarms {delta:g}" for delta in deltas]
    return {name: np.array(found, dtype=np.int64) for name, found in zip(names, broken, strict=True)}


MEASURES: dict[str, Callable[..., Result]] = {"regret": regret, "alarms": alarms}
