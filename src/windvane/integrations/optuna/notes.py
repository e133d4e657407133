"""What is written into a study, for people, for optuna-dashboard and for whoever opens it anew.

Attributes of the study: `windvane:sampler` (what it takes to make the sampler again, its seed included),
`windvane:resets` (the numbers of the trials at which old data were thrown away) and `windvane:believed` (the
heaviest hypothesis, for an algorithm that weighs several). Attributes of a trial: `windvane:in_use`, how many
observations the model rests on after it; `windvane:reset`, `windvane:reason` and `windvane:kept` where there
was a reset; `windvane:remark` where something else was odd. `windvane:violated` are the constraints that were
above 0, `windvane:constraint_resets` those whose own old data were thrown away, with the reason and how many
were kept, and `windvane:retreat` is there where nothing is believed safe any more after the trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from optuna.study import Study
from optuna.trial import FrozenTrial

from windvane.codec import decode, encode
from windvane.data import Event
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.optuna.history import FINISHED, TrialReading
from windvane.moments import NamedSteps, Sentence, in_words, with_steps

SAMPLER = "windvane:sampler"
RESETS = "windvane:resets"
BELIEVED = "windvane:believed"
RESET = "windvane:reset"
REASON = "windvane:reason"
KEPT = "windvane:kept"
IN_USE = "windvane:in_use"
REMARK = "windvane:remark"
VIOLATED = "windvane:violated"
CONSTRAINT_RESETS = "windvane:constraint_resets"
RETREAT = "windvane:retreat"


@dataclass(frozen=True)
class Recipe:
    """What it takes to make a sampler again; `options` is None if they cannot be written down."""

    algorithm: str
    options: Mapping[str, Any] | None
    seed: int
    reading: TrialReading

    def note(self) -> dict[str, Any]:
        """Plain JSON."""
        clock = self.reading.clock
        try:
            options = None if self.options is None else encode(dict(self.options))
        except InvalidType:  # a trigger or a kernel of the user's own that is no component
            options = None
        return {
            "algorithm": self.algorithm,
            "options": options,
            "seed": self.seed,
            "clock": clock.total_seconds() if isinstance(clock, timedelta) else clock,
            "consider_pruned_trials": self.reading.consider_pruned_trials,
        }

    @staticmethod
    def read(note: Mapping[str, Any]) -> Recipe:
        """The recipe of a note."""
        clock = note["clock"]
        reading = TrialReading(
            clock if clock == "trials" else timedelta(seconds=clock), note["consider_pruned_trials"]
        )
        options = None if note["options"] is None else decode(note["options"])
        return Recipe(note["algorithm"], options, note["seed"], reading)


def recipe(study: Study) -> Recipe | None:
    """What the study says of the sampler that it was made with."""
    note = study._storage.get_study_user_attrs(study._study_id).get(SAMPLER)
    return None if note is None else Recipe.read(note)


def mark_study(study: Study, key: str, value: Any) -> None:
    """Set an attribute; past the study, as a pruner may have handed over a part of one that cannot."""
    study._storage.set_study_user_attr(study._study_id, key, value)


def some_seed() -> int:
    """A seed from the operating system, short enough for any database and any reader of JSON."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def goal(study: Study) -> str:
    """`minimize` or `maximize`; an error for several objectives at once."""
    if len(study.directions) != 1:
        given = [each.name.lower() for each in study.directions]
        raise InvalidArgument(
            f"directions={given}: must be one; Windvane has no sampler for several objectives"
        )
    return study.direction.name.lower()


def write(study: Study, trial: FrozenTrial, event: Event, numbers: Sequence[int]) -> None:
    """What happened at a trial, while it may still be written into it; `numbers` are of the trials told."""
    _mark(study, trial, IN_USE, event.size)
    why = in_trials(event.sentence or (event.reason,), numbers)
    if event.reset:
        _mark(study, trial, RESET, True)
        _mark(study, trial, REASON, why)
        _mark(study, trial, KEPT, event.kept)
        earlier = (each.number for each in study.get_trials(deepcopy=False) if each.user_attrs.get(RESET))
        mark_study(study, RESETS, sorted({*earlier, trial.number}))
    elif why:
        remark(study, trial, why)
    if event.violated:
        _mark(study, trial, VIOLATED, list(event.violated))
    thrown = {
        name: [in_trials(each.sentence or (each.reason,), numbers), each.kept]
        for name, each in event.outcomes.items()
        if each.reset
    }
    if thrown:
        _mark(study, trial, CONSTRAINT_RESETS, thrown)
    if event.retreat is not None:
        _mark(study, trial, RETREAT, True)


def in_trials(sentence: Sentence, numbers: Sequence[int]) -> str:
    """A reason with the numbers of trials in the place of steps, which count what was told from 1.

    >>> in_trials(("a sudden change at ", NamedSteps(2, 5.0), " is believed"), [0, 4, 5])
    'a sudden change at trial 4 is believed'
    >>> in_trials(("the regime of ", NamedSteps(1, last=2), " is back since ", NamedSteps(3)), [0, 4, 5])
    'the regime of trials 0 to 4 is back since trial 5'
    """

    def trial(named: NamedSteps) -> str:
        first = numbers[named.step - 1]
        return f"trial {first}" if named.last is None else f"trials {first} to {numbers[named.last - 1]}"

    return in_words(with_steps(sentence, trial))


def remark(study: Study, trial: FrozenTrial, text: str) -> None:
    """Something worth knowing about a trial."""
    _mark(study, trial, REMARK, text)


def _mark(study: Study, trial: FrozenTrial, key: str, value: Any) -> None:
    study._storage.set_trial_user_attr(trial._trial_id, key, value)


@dataclass(frozen=True)
class Reset:
    """Old data were thrown away when this trial ended; `kept` observations survived.

    Those of the objective, or of a `constraint`: c0, c1, ... are what `constraints_func` returned.
    """

    trial: int
    reason: str
    kept: int
    constraint: str | None = None


def resets(study: Study) -> list[Reset]:
    """The resets that the sampler noted in the study, oldest first.

    >>> import optuna
    >>> resets(optuna.create_study())
    []
    """
    found = []
    for trial in study.get_trials(deepcopy=False, states=FINISHED):
        attributes = trial.user_attrs
        if attributes.get(RESET):
            found.append(Reset(trial.number, attributes.get(REASON, ""), attributes.get(KEPT, 0)))
        for name, (reason, kept) in attributes.get(CONSTRAINT_RESETS, {}).items():
            found.append(Reset(trial.number, reason, kept, name))
    return found
