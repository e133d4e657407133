"""What is put right of something that was told: its value, its noise, or the value of a constraint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from windvane.constraints import Constraint
from windvane.errors import InvalidArgument
from windvane.protocol.measured import Measured, check_names, reading_of
from windvane.reading import Reading, noise_of_one, outcomes_of


class Correction(NamedTuple):
    """What is right; of what is left out, what was told stays. A constraint that is None was not measured."""

    reading: Reading | None
    variance: float | None
    outcomes: Mapping[str, float | None]

    @staticmethod
    def of(y: Any, noise_variance: Any, std: Any, outcomes: Any, named: Mapping[str, Any]) -> Correction:
        """Checked."""
        measured = outcomes_of(outcomes, named)
        variance = noise_of_one(noise_variance, std)
        if y is None and variance is None and not measured:
            raise InvalidArgument("y: must be the right value, unless that of a constraint is corrected")
        return Correction(None if y is None else reading_of(y), variance, measured)

    def applied(self, was: Measured, constraints: Mapping[str, Constraint]) -> Measured:
        """What counts instead of what was told."""
        check_names(self.outcomes, constraints)
        right = was.reading if self.reading is None else self.reading
        variance = was.reading.variance if self.variance is None else self.variance
        now = {**was.outcomes, **self.outcomes}
        outcomes = {name: value for name in constraints if (value := now.get(name)) is not None}
        return Measured(Reading(right.y, variance, right.values), outcomes)

    def led_to(self, told: Measured) -> bool:
        """Whether this correction has made that of what was told before: a request that was repeated."""
        right = told.reading if self.reading is None else self.reading
        same = (right.y, right.values) == (told.reading.y, told.reading.values)
        return same and all(told.outcomes.get(name) == value for name, value in self.outcomes.items())


def outcomes_now(
    was: Measured, now: Measured | None, constraints: Mapping[str, Constraint]
) -> dict[str, dict[str, Any]]:
    """What a record that amends another has of the constraints: the values that count, and the old ones."""
    found: dict[str, dict[str, Any]] = {}
    for name, constraint in constraints.items():
        before, value = was.outcomes.get(name), (now or was).outcomes.get(name)
        if before is not None or value is not None:
            violated = value is not None and not constraint.met(value)
            found[name] = {"value": value, "violated": violated, "was": before}
    return found
