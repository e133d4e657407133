"""Windvane as a sampler of Optuna."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from threading import RLock
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.samplers._base import _process_constraints_after_trial
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from windvane.checks import integer
from windvane.errors import InvalidArgument, InvalidType
from windvane.hypothesis_names import with_place
from windvane.integrations.optuna import notes, workers
from windvane.integrations.optuna.branches import branches, of_branch, reachable, shared
from windvane.integrations.optuna.choosing import SuggestionInputs, choose, choose_along
from windvane.integrations.optuna.columns import Column, column, columns
from windvane.integrations.optuna.constrained import outcomes
from windvane.integrations.optuna.history import (
    Clock,
    Finished,
    TrialReading,
    noise_told,
    observations,
    search_space,
)
from windvane.integrations.optuna.learner import Learner, ToldOptimizer
from windvane.integrations.optuna.notes import Recipe

STREAM = 7_368_787  # so that what is drawn here has nothing to do with what the optimiser draws
REMEMBERED = 1024  # trials that were asked for and have not ended
ConstraintsFunction = Callable[[FrozenTrial], Sequence[float]]
Place = tuple[Any, int, str]  # where a study is: two in different storages may have the same name


class WindvaneSampler(BaseSampler):
    """A sampler for objectives that change while they are optimised.

    `algorithm` is any name of `wv.algorithms()`, and further keywords are its options, as for `wv.make`;
    the default, `auto`, needs to be told nothing. What was learned is a function of the study's trials,
    in the order in which they ended, and of the seed: a study that is opened anew goes on as if it had
    never been closed. Without `seed` one is drawn, and kept in the study.

    `independent_sampler` takes the parameters that have not been seen before; by default they are drawn at
    random. `n_startup_trials` trials are drawn as well, at least the first, of which nothing is known.
    `clock` is the model's time: "trials" counts the trials that have ended; a `datetime.timedelta` is the
    length of a step in real time. `consider_pruned_trials` takes the last value that a pruned trial reported
    for a measurement; by default nothing is learned from it, since an early value looks like a change.

    What `study.enqueue_trial` fixes of a trial is a context: the other parameters are chosen to go with it.
    So a load that is measured is a parameter, and each trial is enqueued with its value.

    Constraints are Optuna's: `constraints_func` takes a trial that has ended and returns numbers, each of
    which is to be at most 0, or the trial calls `set_constraint` itself. Trials are suggested where all of
    them are likely to hold. With `safe=0.95` they are suggested only where each is believed to hold with that
    probability; this needs `start`, a list of parameters that are known to be safe, with which it begins, and
    `constraints`, how many values there will be, or a list of the keys that are set.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=WindvaneSampler(seed=1))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", 0, 10) - 3) ** 2, n_trials=15)
    >>> abs(study.best_params["x"] - 3) < 0.5
    True
    >>> WindvaneSampler("et-gp-ucb", rate=0.03)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: make('et-gp-ucb'): does not use rate=; its options are ...
    """

    def __init__(
        self,
        algorithm: str = "auto",
        *,
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
        n_startup_trials: int = 1,
        clock: Clock = "trials",
        consider_pruned_trials: bool = False,
        constraints_func: ConstraintsFunction | None = None,
        **options: Any,
    ) -> None:
        if constraints_func is not None and not callable(constraints_func):
            raise InvalidType(f"constraints_func={constraints_func!r}: must be a function of a trial")
        if independent_sampler is not None and not isinstance(independent_sampler, BaseSampler):
            raise InvalidType(f"independent_sampler={independent_sampler!r}: must be a sampler of Optuna")
        self.learner = Learner(algorithm, options)
        if independent_sampler is not None and self.learner.constraints.safe is not None:
            raise InvalidArgument(
                "independent_sampler=: knows nothing of what is safe; leave it out with safe="
            )
        self._constraints_func = constraints_func
        self._seed = None if seed is None else integer("seed", seed, at_least=0)
        self._independent = independent_sampler
        self._startup = integer("n_startup_trials", n_startup_trials, at_least=1)
        self.reading = TrialReading(clock, consider_pruned_trials)
        self._reset_memory()

    def _reset_memory(self) -> None:
        self.lock = RLock()
        self._recipes: dict[Place, Recipe] = {}
        self._chosen: dict[tuple[Place, int], dict[str, Any]] = {}
        self._meant: dict[tuple[Place, int], list[str]] = {}
        self._believed: dict[Place, str] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Only what it was made with: the rest is in the study, and a copy learns it from there."""
        made = {
            name: self.__dict__[name] for name in ("_seed", "_independent", "_startup", "_constraints_func")
        }
        reading = (self.reading.clock, self.reading.consider_pruned_trials)
        return {**made, "learner": (self.learner.algorithm, self.learner.options), "reading": reading}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.learner = Learner(*state["learner"])
        self.reading = TrialReading(*state["reading"])
        self._reset_memory()

    def __repr__(self) -> str:
        return f"<WindvaneSampler: {self.learner.algorithm}>"

    # -- what Optuna calls -----------------------------------------------------------------------------

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002
    ) -> dict[str, BaseDistribution]:
        """The parameters that every branch has."""
        notes.goal(study)
        history = self.reading.history(study)
        among = branches(history)
        return search_space(history, shared(reachable(history, among)))

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """All of them together, and with them those of the branch that looks best."""
        with self.lock:
            scene, chosen = self._scene(study, trial), self._chosen_for(study, trial)
            wanted = {name: each for name, each in search_space.items() if not each.single()}
            if wanted:
                chosen.update(choose(self.learner, scene, columns(wanted), self._startup))
            self._meant[self._key(study, trial)] = list(chosen)
            self._announce(study, trial)
            return {name: chosen[name] for name in wanted if name in chosen}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A parameter that not every trial has, as it was chosen with the others; else at random."""
        with self.lock:
            scene, chosen = self._scene(study, trial), self._chosen_for(study, trial)
            wanted = column(param_name, param_distribution)
            if param_name not in chosen:
                given = frozenset(trial.params)
                more = choose_along(self.learner, scene, param_name, given, self._startup)
                if more:
                    chosen.update(more)
                    self._announce(study, trial)
            if param_name in chosen and wanted.inward(chosen[param_name]) is not None:
                return chosen[param_name]
            if self.learner.constraints.safe is not None:
                return self._begun(scene, trial, wanted, chosen)
            if self._independent is not None:
                return self._independent.sample_independent(study, trial, param_name, param_distribution)
            return wanted.draw(_generator(scene, trial, param_name))

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Nothing of its own."""
        if self._independent is not None:
            self._independent.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Learn from the trial at once, to write what happened into it while that is possible."""
        if self._independent is not None:
            self._independent.after_trial(study, trial, state, values)
        if self._constraints_func is not None:
            _process_constraints_after_trial(self._constraints_func, study, trial, state)
        with self.lock:
            notes.goal(study)
            self._chosen.pop(self._key(study, trial), None)
            self._meant.pop(self._key(study, trial), None)
            value = self.reading.value(state, values)
            if value is not None:
                self._learn(study, trial, value)
            elif state == TrialState.COMPLETE:
                text = f"nothing was learned from the value {values}"
                notes.remark(study, trial, text)
                warnings.warn(f"Trial {trial.number}: {text}", stacklevel=2)

    def reseed_rng(self) -> None:
        """Nothing to do: what is drawn depends on the seed, on what was learned and on what is running."""
        if self._independent is not None:
            self._independent.reseed_rng()

    # -- what it does ----------------------------------------------------------------------------------

    def _recipe(self, study: Study) -> Recipe:
        """What the study is optimised with; written into it when it is first seen."""
        place = _place(study)
        if place not in self._recipes:
            noted = notes.recipe(study)
            seed = self._seed
            if seed is None:
                seed = notes.some_seed() if noted is None else noted.seed
            made = Recipe(self.learner.algorithm, self.learner.options, seed, self.reading)
            if noted is None or noted.note() != made.note():
                notes.mark_study(study, notes.SAMPLER, made.note())
            self._recipes[place] = made
        return self._recipes[place]

    def seed(self, study: Study) -> int | None:
        """The seed that this study is optimised with; None if nobody has drawn one yet."""
        known = self._recipes.get(_place(study)) or notes.recipe(study)
        return self._seed if self._seed is not None or known is None else known.seed

    def _key(self, study: Study, trial: FrozenTrial) -> tuple[Place, int]:
        return _place(study), trial.number

    def _announce(self, study: Study, trial: FrozenTrial) -> None:
        key = self._key(study, trial)
        workers.announce(study, trial, self._chosen[key], self._meant.get(key, []))

    def _chosen_for(self, study: Study, trial: FrozenTrial) -> dict[str, Any]:
        """What has been chosen for a trial that has not ended."""
        while len(self._chosen) > REMEMBERED:
            oldest = next(iter(self._chosen))
            del self._chosen[oldest]
            self._meant.pop(oldest, None)
        return self._chosen.setdefault(self._key(study, trial), {})

    def _scene(self, study: Study, trial: FrozenTrial) -> SuggestionInputs:
        goal, history = notes.goal(study), self.reading.history(study)
        started = None if trial.datetime_start is None else trial.datetime_start.timestamp()
        now = self.reading.time(started, len(history) + 1)
        fixed = trial.system_attrs.get("fixed_params", {})  # by enqueue_trial
        running = workers.running(study, trial)
        return SuggestionInputs(history, running, now, goal, self._recipe(study).seed, fixed)

    def _begun(
        self, scene: SuggestionInputs, trial: FrozenTrial, wanted: Column, chosen: Mapping[str, Any]
    ) -> Any:
        """A parameter of one of the settings that are safe to begin with, of which all others are as well."""
        start = self.learner.constraints.start
        if chosen:
            raise InvalidArgument(
                f"safe=: all trials must have the same parameters; this one asks for {wanted.name!r}, which "
                "earlier ones did not, or with another range"
            )
        setting = start[(len(scene.history) + _before(scene, trial)) % len(start)]
        if wanted.name not in setting or wanted.inward(setting[wanted.name]) is None:
            raise InvalidArgument(
                f"start: {dict(setting)!r} must have a value for {wanted.name!r} that is allowed by "
                f"{wanted.distribution}"
            )
        return setting[wanted.name]

    def _learn(self, study: Study, trial: FrozenTrial, value: float) -> None:
        """Tell the model of the trial's branch, and note what it says."""
        scene = self._scene(study, trial)
        time = self.reading.time(None, len(scene.history) + 1)
        ended = Finished(
            *(trial.number, trial.params, trial.distributions, value, time),
            noise=noise_told(trial),
            outcomes=outcomes(study._storage.get_trial_system_attrs(trial._trial_id)),
        )
        history = [*scene.history, ended]
        branch = frozenset(trial.params)
        of, _ = of_branch(history, branch, alone=len(branches(history)) == 1)
        told, numbers = observations([each for each in history if each.params.keys() == branch], of)
        if not of:
            return
        if numbers[-1:] != [trial.number]:
            notes.remark(study, trial, "nothing was learned: a parameter is outside its range")
            return
        # the trial may still end after others, and a real clock will say another time
        unsure = bool(scene.running) or isinstance(self.reading.clock, timedelta)
        live = self.learner.after(scene.problem(of), told, keep=unsure)
        notes.write(study, trial, live.events[-1], numbers)
        self._believe(study, live, numbers)

    def _believe(self, study: Study, live: ToldOptimizer, numbers: Sequence[int]) -> None:
        """Note the heaviest hypothesis when it has changed."""
        beliefs = live.events[-1].beliefs
        if beliefs:
            heaviest = max(beliefs, key=lambda name: beliefs[name])
            heaviest = with_place(heaviest, lambda step: f"trial {numbers[step - 1]}")
            if self._believed.get(_place(study)) != heaviest:
                notes.mark_study(study, notes.BELIEVED, heaviest)
                self._believed[_place(study)] = heaviest


def _place(study: Study) -> Place:
    return study._storage, study._study_id, study.study_name


def _generator(scene: SuggestionInputs, trial: FrozenTrial, name: str) -> np.random.Generator:
    """A function of the seed, of what has ended and of how many run beside: the same after a crash."""
    moment = (len(scene.history), _before(scene, trial))
    return np.random.default_rng((scene.seed, STREAM, *moment, zlib.crc32(name.encode())))


def _before(scene: SuggestionInputs, trial: FrozenTrial) -> int:
    """How many of the trials that run have begun before this one."""
    return sum(each.number < trial.number for each in scene.running)
