"""What only some experiments measure, apart from `measures.py`, on which the key of every run depends.

A run that is measured here depends on this file as well, and says so in its key (see `trial.py`). So a
measure can be added without a single kept run of the others being lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from windvane.errors import InvalidArgument
from windvane.experiments import measures
from windvane.experiments.measures import Result, optimizer_for
from windvane.experiments.trial import RunSpec
from windvane.optimizer import Optimizer, restore
from windvane.simulate import simulate
from windvane.tasks import Task
from windvane.threads import one_thread


def run(trial: RunSpec) -> Result:
    """Carry out a trial, whichever of the two files measures it."""
    measure = OBSERVED.get(trial.measure.name)
    if measure is None:
        return measures.run(trial)
    with one_thread.hold():
        return measure(trial, **trial.measure.keywords())


def steps(trial: RunSpec) -> Result:
    """`regret` and `resets` as everywhere, and of each step the noise variance that the model believes in.

    `kept` is how many observations survived each of the resets.
    """
    objective = measures._task(trial.task, trial.seed)
    trace = simulate(optimizer_for(trial, objective), objective, seed=trial.seed)
    return {
        "regret": trace.regret,
        "resets": trace.resets,
        "noise": np.array([event.noise_variance for event in trace.events]),
        "kept": np.array([event.kept for event in trace.events if event.reset], dtype=np.int64),
    }


def after_alarm(trial: RunSpec, *, since: int, steps: int) -> Result:
    """What follows the first reset at or after step `since`, with the point that it keeps and without it.

    Both continue from there for `steps` steps, on the same noise: one with the point that fired, as Alg. 1
    says, the other emptied. `first` is the step of that reset, empty if there was none; `kept` and `emptied`
    are the steps after it at which each had its next alarm, empty if it had none.
    """
    objective = measures._task(trial.task, trial.seed)
    nothing = np.array([], dtype=np.int64)
    optimizer = optimizer_for(trial, objective)
    noise = np.random.default_rng((trial.seed, 2)).standard_normal(objective.horizon)
    noise *= objective.noise_variance**0.5
    for t in range(1, objective.horizon - steps + 1):
        if _reset(optimizer, objective, noise, t) and t >= since:
            break
    else:
        return {"first": nothing, "kept": nothing, "emptied": nothing}
    emptied = restore(optimizer.state())
    emptied.reset("without the point that fired")
    found = {"first": np.array([t], dtype=np.int64)}
    for name, one in (("kept", optimizer), ("emptied", emptied)):
        later = (s for s in range(1, steps + 1) if _reset(one, objective, noise, t + s))
        found[name] = np.array([step for step in [next(later, None)] if step is not None], dtype=np.int64)
    return found


def _reset(optimizer: Optimizer, objective: Task, noise: Any, t: int) -> bool:
    """Take a step; whether it ended with a reset."""
    x = optimizer.ask()
    return optimizer.tell(x, objective.value(x, t) + float(noise[t - 1])).reset


def comparators(trial: RunSpec, *, windows: tuple[int, ...]) -> Result:
    """How much the best point of a window loses to the best point of each of its steps.

    Of each length one figure, the loss over all windows: it depends on the objective alone. The regret
    against comparators that are fixed within windows is R_T less this loss, so one run of an algorithm
    answers for every length. The objective must be one that is drawn on a grid, where its sums have
    their maxima.
    """
    objective = measures._task(trial.task, trial.seed)
    if not hasattr(objective, "field"):
        raise InvalidArgument(f"{trial.task.name}: comparators need an objective that is drawn on a grid")
    horizon, best = objective.horizon, np.zeros(objective.horizon)
    sums = dict.fromkeys(windows, np.zeros(()))
    fixed = dict.fromkeys(windows, 0.0)
    for t in range(1, horizon + 1):
        field = objective.field(t)
        best[t - 1] = field.max()
        for window in windows:
            sums[window] = sums[window] + field
            if t % window == 0 or t == horizon:
                fixed[window] += float(sums[window].max())
                sums[window] = np.zeros(())
    return {f"loss {window}": np.array([best.sum() - fixed[window]]) for window in windows}


OBSERVED: dict[str, Callable[..., Result]] = {
    "steps": steps,
    "after alarm": after_alarm,
    "comparators": comparators,
}
