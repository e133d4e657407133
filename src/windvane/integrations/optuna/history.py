"""What a study has measured, in the order in which it was measured.

Everything that the sampler knows is a function of this and of the seed, so that a study that is opened anew
goes on as if nothing had happened.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.optuna.columns import Columns, inward, widest
from windvane.integrations.optuna.constrained import outcomes
from windvane.reading import LARGEST, noise_of_one

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
ASKED = "windvane:asked"  # a system attribute of a trial: what was chosen for it, and who evaluates it
NOISE, STD = "windvane:noise_variance", "windvane:std"  # user attributes: the noise of a trial's value
RECENT = 10  # trials whose ranges count, where a parameter's range changes
AVOIDED = 5  # trials for which a point that was pruned is kept away from

Clock = Literal["trials"] | timedelta


class Finished(NamedTuple):
    """A trial that has ended. `value` is None if there is nothing to learn from it; `time` is the model's."""

    number: int
    params: Mapping[str, Any]
    distributions: Mapping[str, BaseDistribution]
    value: float | None
    time: float
    planned: frozenset[str] = frozenset()  # the parameters that were chosen before it began
    failed: bool = False  # it was to give a value and gave none; a pruned trial was not
    noise: float | None = None  # the noise variance of the value, if the trial says so
    outcomes: Mapping[str, float] = MappingProxyType({})  # its constraints, by Optuna's keys


class Told(NamedTuple):
    """An observation as the optimiser is told it; a failure has no value."""

    point: tuple[Any, ...]
    value: float | None
    time: float
    noise: float | None = None
    outcomes: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class TrialReading:
    """How trials are read: which clock, and whether the last value of a pruned trial is a measurement."""

    clock: Clock = "trials"
    consider_pruned_trials: bool = False
    _read: dict[int, tuple[FrozenTrial, int, Finished]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.clock != "trials" and not isinstance(self.clock, timedelta):
            raise InvalidType(f"clock={self.clock!r}: must be 'trials' or a datetime.timedelta, one step")
        if isinstance(self.clock, timedelta) and self.clock <= timedelta(0):
            raise InvalidArgument(f"clock={self.clock!r}: must be longer than nothing")
        if not isinstance(self.consider_pruned_trials, bool):
            raise InvalidType(
                f"consider_pruned_trials={self.consider_pruned_trials!r}: must be True or False"
            )

    def history(self, study: Study) -> list[Finished]:
        """The trials that have ended, in the order in which they did."""
        trials = study.get_trials(deepcopy=False, states=FINISHED)
        ended = _ended(trials)
        trials.sort(key=lambda trial: (ended[trial.number], trial.number))
        return [self.read(trial, at, ended[trial.number]) for at, trial in enumerate(trials, start=1)]

    def read(self, trial: FrozenTrial, position: int, ended: float) -> Finished:
        """A trial that has ended, the `position`-th to do so; storages hand out the same object again."""
        known = self._read.get(trial._trial_id)
        if known is not None and known[0] is trial and known[1] == position:
            return known[2]
        value = self.value(trial.state, trial.values)
        time = self.time(ended, position)
        planned = frozenset(trial.system_attrs.get(ASKED, {}).get("meant", ()))
        failed = value is None and trial.state != TrialState.PRUNED
        noise = None if value is None else noise_told(trial)
        found = Finished(
            *(trial.number, trial.params, trial.distributions, value, time, planned, failed, noise),
            {} if value is None else outcomes(trial.system_attrs),
        )
        self._read[trial._trial_id] = (trial, position, found)
        return found

    def value(self, state: TrialState, values: Sequence[float] | None) -> float | None:
        """What is learned from a trial. A failure is no value, and neither is infinity."""
        told = state == TrialState.COMPLETE or (self.consider_pruned_trials and state == TrialState.PRUNED)
        if not told or values is None or not math.isfinite(values[0]) or abs(values[0]) > LARGEST:
            return None
        return float(values[0])

    def time(self, moment: float | None, position: int) -> float:
        """The model's time: how many trials had ended, failures included, or how many steps had passed."""
        if isinstance(self.clock, timedelta):
            now = datetime.now().timestamp() if moment is None else moment
            return now / self.clock.total_seconds()
        return float(position)


def noise_told(trial: FrozenTrial) -> float | None:
    """The noise variance of a trial's value, if a user attribute says what it is.

    An attribute cannot be taken back once a trial has ended: one that is wrong must not end the study.
    """
    told = (trial.user_attrs.get(name) for name in (NOISE, STD))
    try:
        return noise_of_one(*told)
    except (InvalidArgument, InvalidType) as error:
        names = f"{NOISE} and {STD}"
        warnings.warn(f"trial {trial.number}: {names}: {error}; taken as not told", stacklevel=2)
        return None


def _ended(trials: Sequence[FrozenTrial]) -> dict[int, float]:
    """When each trial ended, by its number, in seconds since 1970.

    Optuna writes what the clock on the wall says, which shows one hour twice when clocks go back. Trials
    start in the order of their numbers, and end after they started: that tells which of the two is meant.
    """
    found, last = {}, -math.inf
    for trial in sorted(trials, key=lambda trial: trial.number):
        start = _not_before(last, trial.datetime_start)
        found[trial.number] = max(start, _not_before(start, trial.datetime_complete))
        last = max(last, start)
    return found


def _not_before(earliest: float, moment: datetime | None) -> float:
    """The first time at or after `earliest` at which clocks showed this; if none was, the first at all."""
    if moment is None:
        return -math.inf
    shown = [moment.replace(fold=fold).timestamp() for fold in (0, 1)]
    return next((stamp for stamp in shown if stamp >= earliest), shown[0])


def observations(history: Sequence[Finished], of: Columns) -> tuple[list[Told], list[int]]:
    """What there is to tell about these parameters, and the numbers of the trials that have a value."""
    told, numbers = [], []
    for trial in history:
        point = inward(of, trial.params) if trial.failed or trial.value is not None else None
        if point is not None:
            told.append(Told(point, trial.value, trial.time, trial.noise, trial.outcomes))
            if trial.value is not None:
                numbers.append(trial.number)
    return told, numbers


def avoided(history: Sequence[Finished], of: Columns) -> list[tuple[Any, ...]]:
    """The points of late that were pruned: without this, the same point would be asked for again."""
    late = [trial for trial in history[-AVOIDED:] if trial.value is None and not trial.failed]
    points = [inward(of, trial.params) for trial in late]
    return [point for point in points if point is not None]


def search_space(history: Sequence[Finished], names: frozenset[str]) -> dict[str, BaseDistribution]:
    """The distribution of each parameter, as of late; without those that leave no choice."""
    seen: dict[str, list[BaseDistribution]] = {name: [] for name in sorted(names)}
    missing = set(names)
    for trial in reversed(history):
        if trial.value is None:
            continue
        for name in missing & trial.distributions.keys():
            seen[name].append(trial.distributions[name])
            if len(seen[name]) == RECENT:
                missing.discard(name)
        if not missing:
            break
    found = {name: widest(each) for name, each in seen.items() if each}
    return {name: each for name, each in found.items() if not each.single()}
