"""Constraints as Optuna has them: values of a trial, each of which is to be at most 0.

A sampler's `constraints_func` returns them when a trial ends, or the trial sets them itself, by a key. Either
way they are in Optuna's storage, and are read from there. How many there are is only known once a trial has
some, unless the caller says so, as is needed for `safe`.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.study._constrained_optimization import _CONSTRAINTS_KEY as STORED

from windvane.checks import integer
from windvane.constraints import AtMost, Constraint
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.optuna.columns import Columns, inward, point
from windvane.options.declared import RESERVED
from windvane.reading import LARGEST
from windvane.spelling import spelt_name

OPTIONS = ("constraints", "safe", "start")
MOST = 100  # constraints
SAY_WHICH = (
    "say which constraints there are, since the first trial must keep them already: constraints=2 for a "
    "constraints_func that returns two values, constraints=['heat'] for trial.set_constraint('heat', ...)"
)


@dataclass(frozen=True)
class TrialConstraints:
    """What was said of the constraints in advance: their keys, how safe it has to be, and where to begin."""

    keys: tuple[str, ...] = ()
    safe: Any = None
    start: tuple[Mapping[str, Any], ...] = ()

    @staticmethod
    def of(options: Mapping[str, Any]) -> TrialConstraints:
        """Those among the options of a sampler.

        >>> TrialConstraints.of({"constraints": 2}).keys
        ('0', '1')
        >>> TrialConstraints.of({"safe": 0.95, "start": [{"x": 0.5}]})
        Traceback (most recent call last):
        windvane.errors.InvalidArgument: safe=0.95: say which constraints there are, since the first trial ...
        """
        keys, safe, start = (options.get(name) for name in OPTIONS)
        found = TrialConstraints(_keys(keys), safe, _start(start))
        if safe is not None and not found.keys:
            raise InvalidArgument(f"safe={safe!r}: {SAY_WHICH}")
        if safe is not None and not found.start:
            raise InvalidArgument(
                f"safe={safe!r}: needs start=[...], the parameters of trials that are known to meet the "
                "constraints, to begin with"
            )
        if safe is None and found.start:
            raise InvalidArgument("start=: belongs to safe=, which is not given")
        return found

    def seen(self, told: Iterable[Mapping[str, float]]) -> tuple[str, ...]:
        """The keys that were said in advance, and those that some trial has.

        Safe mode leaves its start only if it is told of each constraint, so it warns of a key that none has.
        """
        had: set[str] = set().union(*told)
        found = {*self.keys, *had}
        missing = [key for key in self.keys if key not in had]
        if self.safe is not None and had and missing:
            warnings.warn(
                f"constraints={list(self.keys)!r}: no trial so far has a value of {missing[0]!r}, only of "
                f"{', '.join(map(repr, sorted(had)))}; in safe mode the search stays at the start without it",
                stacklevel=2,
            )
        return tuple(sorted(found, key=lambda key: (int(key), "") if key.isdecimal() else (MOST, key)))

    def options(self, keys: Sequence[str], of: Columns) -> dict[str, Any]:
        """What `make` is given for these constraints; nothing if there are none."""
        if not keys:
            return {}
        found: dict[str, Any] = {"constraints": limits(keys)}
        if self.safe is not None:
            found |= {
                "safe": self.safe,
                "start": [self._setting(number, of) for number in range(len(self.start))],
            }
        return found

    def _setting(self, number: int, of: Columns) -> dict[str, Any]:
        """One of the settings to begin with, as the optimiser's space has it."""
        given = self.start[number]
        found = inward(of, given)
        if found is None:
            names = ", ".join(repr(each.name) for each in of)
            raise InvalidArgument(
                f"start[{number}]={dict(given)!r}: must have a value within its range for each of {names}"
            )
        return point(of, found)


def limits(keys: Sequence[str]) -> dict[str, Constraint]:
    """A constraint for each key."""
    return {spelt(key): AtMost(0.0) for key in keys}


def spelt(key: str) -> str:
    """The name that an optimiser has for a constraint: any text may be a key of Optuna's.

    >>> spelt("0"), spelt("heat"), spelt("heat of pump")
    ('c0', 'heat', 'c_heat_of_pump_c5d5e89c')
    """
    if key.isdecimal() and key.isascii():
        return f"c{key}"
    return spelt_name(f"c_{key}" if re.fullmatch("c[0-9]+", key) else key, RESERVED)


def outcomes(attributes: Mapping[str, Any]) -> dict[str, float]:
    """The constraints among the system attributes of a trial, by key; those that are not finite are left out.

    >>> outcomes({"constraints": [0.5, -1.0], "constraints:heat": float("inf")})
    {'0': 0.5, '1': -1.0}
    """
    found = {str(number): value for number, value in enumerate(attributes.get(STORED) or ())}
    prefix = f"{STORED}:"
    found |= {key.removeprefix(prefix): value for key, value in attributes.items() if key.startswith(prefix)}
    return {
        key: float(value)
        for key, value in found.items()
        if isinstance(value, int | float) and math.isfinite(value) and abs(value) <= LARGEST
    }


def _keys(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, int) and not isinstance(given, bool):
        return tuple(map(str, range(integer("constraints", given, at_least=1, at_most=MOST))))
    if not isinstance(given, list | tuple) or not all(isinstance(key, str) and key for key in given):
        raise InvalidType(f"constraints={given!r}: must be how many there are, or a list of their keys")
    if len({*given}) < len(given) or not 1 <= len(given) <= MOST:
        raise InvalidArgument(f"constraints={given!r}: must be 1 to {MOST} different keys")
    return tuple(given)


def _start(given: Any) -> tuple[Mapping[str, Any], ...]:
    if given is None:
        return ()
    if not isinstance(given, list | tuple) or not all(isinstance(each, Mapping) for each in given):
        raise InvalidType(f"start={given!r}: must be a list of dicts of parameters, such as [{{'x': 0.5}}]")
    return tuple(dict(each) for each in given)
