"""The answer to a best trial that is out of date: what is believed best now."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from optuna.study import Study

from windvane.checks import integer
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.optuna import notes
from windvane.integrations.optuna.branches import branches, of_branch, reachable
from windvane.integrations.optuna.choosing import ranked
from windvane.integrations.optuna.columns import point
from windvane.integrations.optuna.history import Finished, TrialReading, observations
from windvane.integrations.optuna.learner import Learner, OptunaProblem, ToldOptimizer
from windvane.integrations.optuna.sampler import WindvaneSampler


@dataclass(frozen=True)
class BestNow:
    """The parameters believed best now, with mean and standard deviation of the objective there.

    Both are in the units of the study, noise excluded. What they rest on: `in_use` observations; `age` trials
    have ended since the nearest of them was made; `last_reset` is the number of the trial at which older ones
    were thrown away, None if that has never happened. `feasible` is how probably all constraints hold there,
    None if no trial has any.
    """

    params: dict[str, Any]
    mean: float
    std: float
    in_use: int
    age: int
    last_reset: int | None
    feasible: float | None = None


def best_now(
    study: Study, algorithm: str | None = None, *, seed: int | None = None, **options: Any
) -> BestNow:
    """The parameters believed best now, whoever sampled the trials.

    A study of a `WindvaneSampler` knows its algorithm, options and seed, also when it is opened anew. For any
    other study, and to see what another algorithm believes, name one; `auto` is the default.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    >>> study.optimize(lambda trial: -abs(trial.suggest_float("x", 0, 10) - 3), n_trials=20)
    >>> best = best_now(study)
    >>> abs(best.params["x"] - 3) < 1
    True
    """
    if not isinstance(study, Study):
        raise InvalidType(f"study={study!r}: must be a study of Optuna")
    goal = notes.goal(study)
    learner, reading, seed, lock = _reader(study, algorithm, seed, options)
    with lock:
        history = reading.history(study)
        among = branches(history)
        if not among:
            raise InvalidArgument("best_now(): nothing is known before the first trial with a value")
        among = reachable(history, among)
        now = reading.time(None, len(history) + 1)
        found = []
        for branch in among:
            of, fixed = of_branch(history, branch, alone=len(among) == 1)
            inside = [trial for trial in history if trial.params.keys() == branch]
            told, numbers = observations(inside, of)
            live = learner.after(OptunaProblem(of, goal, seed), told)
            found.append(_believed(live, history, numbers, fixed, now))
    sign = 1.0 if goal == "maximize" else -1.0
    return max(
        found, key=lambda each: ranked(1.0 if each.feasible is None else each.feasible, sign * each.mean)
    )


def _reader(
    study: Study, algorithm: str | None, seed: int | None, options: dict[str, Any]
) -> tuple[Learner, TrialReading, int, AbstractContextManager[Any]]:
    """Who learns from the trials, how they are read, and what nobody else may use meanwhile."""
    sampler, noted = study.sampler, notes.recipe(study)
    if algorithm is None and seed is None and not options and isinstance(sampler, WindvaneSampler):
        return sampler.learner, sampler.reading, sampler.seed(study) or 0, sampler.lock
    if algorithm is None and noted is not None and noted.options is None:
        raise InvalidArgument(
            f"best_now(): the options of {noted.algorithm!r} could not be written into the study; give "
            "algorithm= and its options again"
        )
    if algorithm is None:
        algorithm = "auto" if noted is None else noted.algorithm
        if noted is not None and noted.options is not None:
            options = {**noted.options, **options}
    if seed is None:
        seed = 0 if noted is None else noted.seed
    reading = TrialReading() if noted is None else noted.reading
    return Learner(algorithm, options), reading, integer("seed", seed, at_least=0), nullcontext()


def _believed(
    live: ToldOptimizer,
    history: Sequence[Finished],
    numbers: Sequence[int],
    fixed: dict[str, Any],
    now: float,
) -> BestNow:
    best = live.best(now)
    params = best.x
    return BestNow(
        params={**fixed, **params},
        mean=best.mean,
        std=best.std,
        in_use=live.optimizer.size,
        age=_age(live, params, [trial.number for trial in history], numbers),
        last_reset=next(
            (n for n, e in zip(reversed(numbers), reversed(live.events), strict=True) if e.reset), None
        ),
        feasible=best.feasible,
    )


def _age(live: ToldOptimizer, params: dict[str, Any], ended: Sequence[int], numbers: Sequence[int]) -> int:
    """How many trials have ended since the observation in use that is nearest to a point."""
    data = live.optimizer.data
    if not len(data):
        return len(ended)
    of = live.problem.columns
    here = live.optimizer.space.encode(point(of, [each.inward(params[each.name]) for each in of]))
    distance = np.square(data.X - here).sum(axis=1)
    nearest = np.flatnonzero(distance <= distance.min() * (1 + 1e-9))[-1]  # the newest of several
    number = numbers[int(data.steps[nearest]) - 1]
    return len(ended) - 1 - ended.index(number)
