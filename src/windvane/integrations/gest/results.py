"""Results as they come in: what was evaluated, and its value or why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from windvane.checks import real
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.gest.problem import ID, GestProblem
from windvane.integrations.gest.variables import ObservedVariable, single
from windvane.reading import LARGEST

ERROR, ERROR_TEXT = "xopt_error", "xopt_error_str"  # Xopt's names for a failed evaluation
LONGEST = 200  # characters of a reason
NOISE = {"_std": "std", "_var": "noise_variance"}  # after the objective's name; the second is Xopt's


@dataclass(frozen=True)
class Result:
    """One evaluated point; `value` is None if there is none, and `reason` says why.

    `noise` has the standard deviation or the variance of the noise in it, as `tell` takes it, if known, and
    `outcomes` the constraints that were measured, by the names that the optimiser has for them.
    """

    point: Mapping[str, Any]
    value: float | None
    reason: str
    id: int | None
    noise: Mapping[str, float] = field(default_factory=dict)
    outcomes: Mapping[str, float] = field(default_factory=dict)


def read_all(
    results: Any, problem: GestProblem, issued: int, context: Mapping[str, Any] | None = None
) -> list[Result]:
    """All results, or an error that says what is wrong with one of them; IDs go from 0 to `issued` - 1.

    Of an evaluation that failed nobody may have reported the `context`; then it is the one known before.

    >>> from gest_api.vocs import VOCS
    >>> from windvane.integrations.gest.problem import problem
    >>> of = problem(VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"}))
    >>> read_all([{"x": 0.5, "f": 2.0}], of, 0)
    [Result(point={'x': 0.5}, value=2.0, reason='', id=None, noise={}, outcomes={})]
    >>> read_all([{"x": 0.5}], of, 0)
    [Result(point={'x': 0.5}, value=None, reason="no value for 'f'", id=None, noise={}, outcomes={})]
    >>> read_all([{"x": 1.5, "f": 2.0}], of, 0)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: results[0]['x']=1.5: must be a finite number at least 0 and at most 1
    """
    if isinstance(results, Mapping | str | bytes) or not isinstance(results, Sequence):
        raise InvalidType(f"results={results!r}: must be a list of dicts, one for each point")
    read = []
    for at, each in enumerate(results):
        read.append(_read(f"results[{at}]", each, problem, issued, context or {}))
        context = read[-1].point
    return read


def _read(where: str, result: Any, problem: GestProblem, issued: int, context: Mapping[str, Any]) -> Result:
    if not isinstance(result, Mapping):
        raise InvalidType(f"{where}={result!r}: must be a dict")
    value, reason = _value(where, result, problem.objective)
    point = {}
    for each in problem.variables:
        given = single(result.get(each.name))
        absent = given is None or (isinstance(each, ObservedVariable) and _missing(given))
        if absent and value is None and isinstance(each, ObservedVariable) and each.name in context:
            point[each.name] = context[each.name]
            continue
        if absent:
            kind = "contextual variable" if isinstance(each, ObservedVariable) else "variable"
            raise InvalidArgument(f"{where}: the {kind} {each.name!r} is missing")
        point[each.name] = each.inward(f"{where}[{each.name!r}]", given)
    for name, constant in problem.constants.items():
        _check_constant(f"{where}[{name!r}]", result.get(name), constant)
    number = _id(f"{where}['{ID}']", result.get(ID), issued)
    outcomes = _outcomes(where, result, problem)
    if value is None:
        return Result(point, value, reason, number)
    return Result(point, value, reason, number, _noise(where, result, problem), outcomes)


def _value(where: str, result: Mapping[str, Any], name: str) -> tuple[float | None, str]:
    """The objective; if it is missing or not finite, or the evaluation raised an error, why there is none."""
    failed = result.get(ERROR)
    if not _missing(failed) and bool(failed):
        lines = str(result.get(ERROR_TEXT) or "").strip().splitlines()
        said = lines[-1].strip().replace("\0", "") if lines else ""
        return None, said[:LONGEST] or "the evaluation raised an error"
    value = single(result.get(name))
    if _missing(value):
        return None, f"no value for {name!r}"
    if isinstance(value, float) and math.isinf(value):
        return None, f"{name!r} is {value}"
    return real(f"{where}[{name!r}]", value, at_least=-LARGEST, at_most=LARGEST), ""


def _noise(where: str, result: Mapping[str, Any], problem: GestProblem) -> dict[str, float]:
    """What is known of the noise in the value; at most one of the two ways to say it."""
    inputs = {*problem.constants, *(each.name for each in problem.variables)}
    given = {
        name: single(result[name])
        for end in NOISE
        if (name := problem.objective + end) in result and name not in inputs
    }
    known = {name: value for name, value in given.items() if not _missing(value)}
    if len(known) > 1:
        raise InvalidArgument(f"{where}: has {' and '.join(map(repr, known))}; give one of the two")
    for name, value in known.items():
        largest = LARGEST if name.endswith("_std") else LARGEST**2
        return {NOISE[name[-4:]]: real(f"{where}[{name!r}]", value, above=0.0, at_most=largest)}
    return {}


def _outcomes(where: str, result: Mapping[str, Any], problem: GestProblem) -> dict[str, float]:
    """The constraints that were measured: not those that are missing or not finite."""
    found = {}
    for each in problem.constraints:
        value = single(result.get(each.column))
        if _missing(value) or (isinstance(value, float) and math.isinf(value)):
            continue
        found[each.name] = real(f"{where}[{each.column!r}]", value, at_least=-LARGEST, at_most=LARGEST)
    return found


def _id(name: str, given: Any, issued: int) -> int | None:
    """A number that was given out; a table with gaps holds it as a float, and NaN in the gaps."""
    given = single(given)
    if _missing(given):
        return None
    whole = type(given) is int or (isinstance(given, float) and given.is_integer())
    if not whole or not 0 <= given < issued:
        raise InvalidArgument(
            f"{name}={given!r}: not one that this generator has given out; leave '{ID}' away for a point "
            "that it did not suggest"
        )
    return int(given)


def _check_constant(name: str, given: Any, constant: Any) -> None:
    """A value measured under another constant is not one of this objective."""
    given, constant = single(given), single(constant)
    kinds = (str, int, float, bool)
    if isinstance(given, kinds) and isinstance(constant, kinds) and not _missing(given) and given != constant:
        raise InvalidArgument(f"{name}={given!r}: the VOCS has the constant {constant!r}")


def _missing(value: Any) -> bool:
    """None, NaN, and what pandas puts where there is nothing: that does not equal itself, or say whether."""
    try:
        return value is None or not bool(value == value)
    except (TypeError, ValueError):
        return True
