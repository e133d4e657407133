"""What `tell` is given as the value: a number, or repeats; and how noisy it is, if that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from windvane.accuracy import Accuracy
from windvane.checks import real
from windvane.errors import InvalidArgument, InvalidType, WindvaneError

LARGEST = 1e100  # of |y|: squares must not overflow
SMALLEST = 1e-150  # of a standard deviation: nor its square vanish


class Reading(NamedTuple):
    """One measurement as it was told: y, the noise variance of each value if it was told, and the repeats."""

    y: float  # the mean of the repeats, if there are any
    variance: float | None = None
    values: tuple[float, ...] = ()
    accuracy: Accuracy | None = None

    @property
    def told(self) -> dict[str, Any]:
        """The arguments of `tell` that it was given as, or others that amount to the same."""
        return told_as(self.y, self.values, self.variance)

    @staticmethod
    def of(y: Any, noise_variance: Any = None, std: Any = None) -> Reading:
        """Checked.

        >>> Reading.of([1.0, 3.0], std=0.5)
        Reading(y=2.0, variance=0.25, values=(1.0, 3.0), accuracy=Accuracy(variance=0.125, ...))
        >>> Reading.of(1.0, noise_variance=0.1, std=0.3)
        Traceback (most recent call last):
        windvane.errors.InvalidArgument: noise_variance=0.1 with std=0.3: give one of the two
        """
        variance = noise_of_one(noise_variance, std)
        if not repeated(y):
            try:
                value = real("y", y, at_least=-LARGEST, at_most=LARGEST)
            except WindvaneError as error:
                if y is None or y is np.ma.masked or (isinstance(y, float) and not math.isfinite(y)):
                    raise type(error)(f"{error}. If no value came, record that with fail") from None
                raise
            return Reading(value, variance, (), None if variance is None else Accuracy(variance))
        values = tuple(
            real(f"y[{number}]", each, at_least=-LARGEST, at_most=LARGEST) for number, each in enumerate(y)
        )
        if not values:
            raise InvalidArgument("y=[]: must be a number, or a list of at least one")
        mean, accuracy = Accuracy.of_repeats(values)
        if variance is not None:
            accuracy = Accuracy(variance / len(values))
        return Reading(mean, variance, values, None if accuracy == Accuracy() else accuracy)


def told_as(y: Any, values: Sequence[float], variance: float | None) -> dict[str, Any]:
    """The arguments of `tell` for a value with its noise, or for the repeats that it is the mean of.

    >>> told_as(2.0, (1.0, 3.0), None)
    {'y': [1.0, 3.0], 'noise_variance': None}
    """
    return {"y": list(values) if values else y, "noise_variance": variance}


def noise_of_one(noise_variance: Any, std: Any) -> float | None:
    """The noise variance of one value, given that or its root; None if neither is."""
    if noise_variance is not None and std is not None:
        raise InvalidArgument(f"noise_variance={noise_variance!r} with std={std!r}: give one of the two")
    if std is not None:
        return max(real("std", std, above=0.0, at_most=LARGEST), SMALLEST) ** 2
    if noise_variance is None:
        return None
    return max(real("noise_variance", noise_variance, above=0.0, at_most=LARGEST**2), SMALLEST**2)


def repeated(y: Any) -> bool:
    """Whether y is several values; text and tables are not."""
    if isinstance(y, np.ndarray) or hasattr(y, "__array__"):
        return np.ndim(y) == 1
    return isinstance(y, Sequence) and not isinstance(y, str | bytes)


def outcomes_of(outcomes: Any, named: Mapping[str, Any]) -> dict[str, float | None]:
    """The values of constraints, from a dict and from keywords; None is for what was not measured.

    >>> outcomes_of({"heat": 84}, {"purity": None})
    {'heat': 84.0, 'purity': None}
    >>> outcomes_of({"heat": 84}, {"heat": 85})
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: heat: is told twice, in outcomes= and as a keyword
    """
    if outcomes is None:
        outcomes = {}
    if not isinstance(outcomes, Mapping) or not all(isinstance(name, str) for name in outcomes):
        raise InvalidType(
            f"outcomes={outcomes!r}: must be a dict of values by name, such as {{'heat': 84.2}}"
        )
    twice = next((name for name in named if name in outcomes), None)
    if twice is not None:
        raise InvalidArgument(f"{twice}: is told twice, in outcomes= and as a keyword")
    return {
        name: None if value is None else real(name, value, at_least=-LARGEST, at_most=LARGEST) + 0.0
        for name, value in {**outcomes, **named}.items()
    }
