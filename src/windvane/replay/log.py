"""Past measurements, in the order in which they were made, and what can be guessed of their space."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import real
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.reading import Reading, told_as
from windvane.spaces import Arms, Box, Domain, Real, Space

COLUMNS = ("values", "times", "metadata", "places", "noise", "repeats", "outcomes")  # beside the points
SAY = "give the space: space=, or --box, --arms, --param in a shell"


@dataclass(frozen=True, eq=False)
class Log:
    """Points, values and times of past measurements; `windvane.replay.read_log` reads one from a file.

    `times` is None if nobody wrote them down: then an observation is a step. They must not
    go back. `noise` has the noise variance of each value, None where it is not known, and `repeats` the
    values measured at one point, of which the value is the mean: () where there is one. `places` say where
    each observation was found ("line 7"), for messages, and `notes` what the reader decided by itself.
    `outcomes` has the values of constraints that were measured with each value, by name.
    `resets` were asked for: before which observation, and why. An import asks for them again; a replay
    shows what an algorithm finds out without them.

    >>> log = Log([[0.1], [0.9]], [1.0, 2.0], times=[10.0, 20.0])
    >>> len(log), log.values
    (2, (1.0, 2.0))
    >>> Log([[0.1], [0.9]], [1.0, float("nan")])
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: log, observation 2: y=nan: must be a finite number
    >>> Log([[0.1], [0.9]], [1.0, 2.0], times=[10.0, 5.0])
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: log, observation 2: time=5.0: is before the one above it, 10.0; ...
    """

    points: Sequence[Any]
    values: Sequence[float]
    times: Sequence[float] | None = None
    metadata: Sequence[Mapping[str, Any]] = ()
    source: str = "log"
    places: Sequence[str] = ()
    notes: Sequence[str] = ()
    noise: Sequence[float | None] = ()
    repeats: Sequence[Sequence[float]] = ()
    resets: Sequence[tuple[int, str]] = ()
    outcomes: Sequence[Mapping[str, float]] = ()
    gaps: bool = False  # steps have passed of which nothing counts any longer

    def __post_init__(self) -> None:
        keep = object.__setattr__
        for name in ("points", "notes", *COLUMNS):
            given = getattr(self, name)
            if given is not None:
                keep(self, name, _listed(f"Log({name}=)", given))
        count = len(self.points)
        if not count:
            raise InvalidArgument(f"{self.source}: has no observations; there must be at least one")
        for name in COLUMNS:
            given = getattr(self, name)
            if given is not None and len(given) != count and (given or name in ("values", "times")):
                raise InvalidArgument(f"{self.source}: {count} points, but {len(given)} {name}")
        keep(self, "values", tuple(self._number(row, "y", y) for row, y in enumerate(self.values)))
        if self.times is not None:
            keep(self, "times", tuple(self._number(row, "time", t) for row, t in enumerate(self.times)))
            self._check_order(self.times)
        if self.outcomes:
            keep(self, "outcomes", tuple(self._measured(row, each) for row, each in enumerate(self.outcomes)))
        for row in range(count if self.noise or self.repeats else 0):
            try:
                Reading.of(**self.told(row))
            except WindvaneError as error:
                raise type(error)(f"{self.where(row)}: {error}") from None

    def told(self, row: int) -> dict[str, Any]:
        """What `tell` is given for an observation, beside point and time.

        >>> Log([[0.1], [0.9]], [1.0, 2.0], noise=[0.5, None], repeats=[(), (1.5, 2.5)]).told(1)
        {'y': [1.5, 2.5], 'noise_variance': None}
        """
        values = self.repeats[row] if self.repeats else ()
        return told_as(self.values[row], values, self.noise[row] if self.noise else None)

    @property
    def measured(self) -> tuple[str, ...]:
        """The names of the constraints of which there is some value."""
        return tuple(dict.fromkeys(name for each in self.outcomes for name in each))

    def _measured(self, row: int, given: Any) -> dict[str, float]:
        """The constraints of an observation; what is None was not measured."""
        if not isinstance(given, Mapping):
            raise InvalidType(
                f"{self.where(row)}: outcomes={given!r}: must be a dict such as {{'heat': 84.2}}"
            )
        return {
            str(name): self._number(row, str(name), value)
            for name, value in given.items()
            if value is not None
        }

    def _number(self, row: int, name: str, value: Any) -> float:
        try:
            return real(name, value)
        except WindvaneError as error:
            raise type(error)(f"{self.where(row)}: {error}") from None

    def _check_order(self, times: Sequence[float]) -> None:
        for row in range(1, len(times)):
            if times[row] < times[row - 1]:
                problem = f"time={times[row]!r}: is before the one above it, {times[row - 1]!r}"
                raise InvalidArgument(
                    f"{self.where(row)}: {problem}; a log is replayed in the order of time. If only the "
                    "lines are out of order, have them sorted: sort=True, or --sort in a shell"
                )

    def __len__(self) -> int:
        return len(self.points)

    def where(self, row: int) -> str:
        """Where an observation was found, for messages."""
        return f"{self.source}, {self.places[row] if self.places else f'observation {row + 1}'}"

    def without_times(self) -> Log:
        """The same log, one observation per step."""
        return dataclasses.replace(self, times=None)


def _listed(name: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__iter__"):
        raise InvalidType(f"{name}{given!r}: must be a list, a tuple or an array")
    return tuple(given)


def infer_space(log: Log) -> Domain:
    """The smallest space that holds the log: a guess, for the true bounds are not in the data.

    Lists of numbers make a Box, whole numbers Arms, dicts of numbers a Space of Reals, each over the
    range that was observed.

    >>> infer_space(Log([[0.0, 3.0], [1.0, 5.0]], [1.0, 2.0]))
    Box(bounds=((0.0, 1.0), (3.0, 5.0)))
    >>> infer_space(Log([0, 7, 3], [1.0, 2.0, 0.0]))
    Arms(n=8)
    >>> infer_space(Log([{"gain": 2.0}, {"gain": 4.0}], [1.0, 2.0]))
    Space(gain=Real(lo=2.0, hi=4.0, log=False))
    """
    first = log.points[0]
    if isinstance(first, Mapping):
        names = [str(name) for name in first]
        columns = [
            [_coordinate(log, row, point, name) for row, point in enumerate(log.points)] for name in names
        ]
        for row, point in enumerate(log.points):
            if len(point) != len(names):
                raise InvalidArgument(f"{log.where(row)}: x={point!r}: must have {', '.join(names)}")
        ranges = [_range(log, name, column) for name, column in zip(names, columns, strict=True)]
        return Space([(name, Real(*ends)) for name, ends in zip(names, ranges, strict=True)])
    if isinstance(first, int | np.integer) and not isinstance(first, bool):
        for row, point in enumerate(log.points):
            if not isinstance(point, int | np.integer) or isinstance(point, bool) or point < 0:
                raise InvalidArgument(f"{log.where(row)}: x={point!r}: must be an arm, 0 or above; {SAY}")
        return Arms(int(max(log.points)) + 1)
    rows = []
    for row, point in enumerate(log.points):
        try:
            rows.append([real(f"x[{i}]", value) for i, value in enumerate(point)])
        except TypeError as error:  # InvalidType as well
            why = (
                str(error) if isinstance(error, WindvaneError) else f"x={point!r}: must be a list of numbers"
            )
            raise InvalidType(f"{log.where(row)}: {why}; {SAY}") from None
        except WindvaneError as error:
            raise type(error)(f"{log.where(row)}: {error}") from None
        if not rows[-1] or len(rows[-1]) != len(rows[0]):
            raise InvalidArgument(
                f"{log.where(row)}: x={point!r}: must have {len(rows[0]) or 'some'} numbers"
            )
    return Box([_range(log, f"x{i + 1}", column) for i, column in enumerate(zip(*rows, strict=True))])


def _coordinate(log: Log, row: int, point: Any, name: str) -> float:
    if not isinstance(point, Mapping) or name not in point:
        raise InvalidArgument(
            f"{log.where(row)}: x={point!r}: has no {name!r}; all points must have the same"
        )
    try:
        return real(name, point[name])
    except InvalidType:
        spelt = "is no number, so that nothing can be guessed of its range"
        raise InvalidType(f"{log.where(row)}: {name}={point[name]!r}: {spelt}; {SAY}") from None
    except WindvaneError as error:
        raise type(error)(f"{log.where(row)}: {error}") from None


def _range(log: Log, name: str, column: Sequence[float]) -> tuple[float, float]:
    low, high = min(column), max(column)
    if low == high:
        raise InvalidArgument(
            f"{log.source}: {name} is {low:g} throughout, so that nothing can be guessed of its range; {SAY}"
        )
    return low, high
