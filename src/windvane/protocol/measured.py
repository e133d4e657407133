"""What a study is told at a tell: a value with its noise, and what was measured of the constraints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from windvane.checks import one_of
from windvane.constraints import Constraint
from windvane.errors import InvalidArgument, InvalidType, UnknownName
from windvane.reading import Reading, outcomes_of


class Measured(NamedTuple):
    """A value as it was told, and the constraints beside it, by name."""

    reading: Reading
    outcomes: Mapping[str, float]

    @property
    def told(self) -> dict[str, Any]:
        """The arguments of `Optimizer.tell` beside point and time."""
        return {**self.reading.told, **self.outcomes}

    @staticmethod
    def of(y: Any, noise_variance: Any, std: Any, outcomes: Any, named: Mapping[str, Any]) -> Measured:
        """Checked, as far as that is possible without knowing the constraints."""
        told = outcomes_of(outcomes, named)
        measured = {name: value for name, value in told.items() if value is not None}
        return Measured(reading_of(y, noise_variance, std), measured)


def reading_of(y: Any, noise_variance: Any = None, std: Any = None) -> Reading:
    """A finite number, or several; anything else is a failed evaluation."""
    try:
        reading = Reading.of(y, noise_variance, std)
    except (InvalidArgument, InvalidType) as error:
        if str(error).startswith("y"):
            error.add_note("an evaluation that gave no number is recorded with fail(trial, reason)")
        raise
    return reading._replace(y=reading.y + 0.0)  # no negative zero: SQLite would not keep its sign


def check_names(outcomes: Iterable[str], constraints: Mapping[str, Constraint]) -> None:
    """An error unless these are constraints of the study."""
    for name in outcomes:
        if not constraints:
            raise InvalidArgument(f"outcomes: {name!r} is told, but this study has no constraints")
        one_of("outcomes", name, constraints)


def check_of(of: str | None, constraints: Mapping[str, Constraint]) -> None:
    """An error unless what is to be predicted is the objective, or a constraint of the study."""
    if of is not None and not constraints:
        raise UnknownName(f"of={of!r}: this study has no constraints; leave it out for the objective")
    if of is not None:
        one_of("of", of, constraints)
