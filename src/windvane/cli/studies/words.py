"""Points, times and spaces in words."""

from __future__ import annotations

import math
import time as clocks
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from windvane import digits, moments
from windvane.codec import decode
from windvane.constraints import Constraint
from windvane.digits import counted
from windvane.errors import InvalidArgument
from windvane.spaces import Arms, Candidates, Choice, Domain, Space
from windvane.spelling import parameter_text, plain
from windvane.unit_labels import units_of

LONGEST = 90  # characters of an option: a kernel may have thousands of numbers
UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def point(x: Any, space: Domain | None = None) -> str:
    """A point for people: six digits, which is not all of it; a candidate with its setting.

    >>> from windvane.spaces import Integer, Real
    >>> point({"gain": 1.3, "mode": "a b"}), point([0.5, 1 / 3]), point(7)
    ("gain=1.3 mode='a b'", 'x1=0.5 x2=0.333333', 'arm=7')
    >>> point({"gain": 1.3, "taps": 4}, Space(gain=Real(0, 2, unit="dB"), taps=Integer(1, 8)))
    'gain=1.3 dB, taps=4'
    """
    if isinstance(space, Candidates) and isinstance(x, int):
        return f"candidate={x} ({point(plain(space.row(x)))})"
    units = units_of(space)
    parts = (f"{line(name)}={_value(value)} {units.get(name, '')}" for name, value in _named(x).items())
    return (", " if units else " ").join(map(str.rstrip, parts))  # a unit stands apart from the next name


def values(x: Any, space: Domain | None = None) -> str:
    """A point for a shell: all digits, and nothing but the values; of a candidate its number comes first.

    >>> values({"gain": 1 / 3, "taps": 4}), values([0.1]), values(7)
    ('0.3333333333333333 4', '0.1', '7')
    """
    if isinstance(space, Candidates):
        return f"{x} {values(plain(space.row(x)))}"
    return " ".join(repr(v) if isinstance(v, float) else str(v) for v in _named(x).values())


def check_values(space: Domain) -> None:
    """Refuse `--format values` where a shell would split an option into several words, or lose it."""
    parameters: Any = space.parameters if isinstance(space, Space) else ()
    if isinstance(space, Candidates):
        parameters = space.options.items()
    for name, parameter in parameters:
        parameter = parameter.values
        for option in parameter.options if isinstance(parameter, Choice) else ():
            if isinstance(option, str) and option.split() != [option]:
                raise InvalidArgument(
                    f"--format values: option {option!r} of {name} is not one word, and a shell would "
                    "split it; use --json"
                )


def _named(x: Any) -> Mapping[str, Any]:
    if isinstance(x, Mapping):
        return x
    return {f"x{i + 1}": value for i, value in enumerate(x)} if isinstance(x, list) else {"arm": x}


def _value(value: Any) -> str:
    if isinstance(value, float):
        return digits.number(value, 6)
    text = str(value)
    return text if text.split() == [text] and text.isprintable() else repr(text)


def line(text: str) -> str:
    """Text on one line that does nothing to a terminal, whoever wrote it.

    >>> line("pump\\n off \\x1b[2J")
    'pump off ?[2J'
    """
    return "".join(mark if mark.isprintable() else "?" for mark in " ".join(text.split()))


def number(value: float) -> str:
    """Six digits."""
    return digits.number(value, 6)


def noise(event: Mapping[str, Any] | None) -> str:
    """What was told of the noise of a value, and of how many it is the mean; empty if neither.

    >>> noise({"told_variance": 0.25, "values": []}), noise({"told_variance": None, "values": [1.0, 2.0]})
    (' ± 0.5', ' (mean of 2)')
    """
    told, values = (event or {}).get("told_variance"), (event or {}).get("values") or ()
    said = "" if told is None else f" ± {number(math.sqrt(told))}"
    return f"{said} (mean of {len(values)}{', ± of each' if said else ''})" if len(values) > 1 else said


def utc(seconds: Any) -> str:
    """Seconds since 1970 as date and time; of a damaged row, that it has none.

    >>> utc(1_772_366_400.25), utc(float("inf"))
    ('2026-03-01 12:00:00 UTC', 'no date')
    """
    try:
        return moments.utc(seconds)
    except (OSError, OverflowError, TypeError, ValueError):
        return "no date"


def ago(at: float | None) -> str:
    """How long something has been past."""
    return "never" if at is None else f"{_span(clocks.time() - at)} ago"


def ahead(at: float | None) -> str:
    """When nobody waits for a trial any longer."""
    return "never expires" if at is None else f"expires in {_span(at - clocks.time())}"


def _span(seconds: float) -> str:
    """A duration in whole units: nobody waits for hundredths of an hour.

    >>> _span(-0.2), _span(59.3), _span(103), _span(90000), _span(9e9)
    ('0 s', '59 s', '1 min', '1 d', '104166 d')
    """
    for size, unit in UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return "0 s"


def space_lines(space: Domain) -> list[str]:
    """A space, one parameter per line.

    >>> from windvane.spaces import Integer, Real
    >>> space_lines(Space(gain=Real(0.1, 10, log=True), taps=Integer(1, 8), mode=Choice(["a", "b"])))
    ['gain: real, 0.1 to 10, log scale', 'taps: integer, 1 to 8', "mode: one of 'a', 'b'"]
    >>> space_lines(Arms(1)), space_lines(Arms(1200))
    (['1 arm, 0 to 0'], ['1,200 arms, 0 to 1,199'])
    """
    if isinstance(space, Arms):
        return [f"{counted(space.n, 'arm')}, 0 to {space.n - 1:,}"]
    if isinstance(space, Candidates):
        columns = f"{len(space.rows[0])} numbers each" if space.names is None else ", ".join(space.names)
        return [f"{counted(space.size, 'candidate')}, 0 to {space.size - 1:,}: {columns}"]
    if isinstance(space, Space):
        return [f"{name}: {parameter_text(parameter)}" for name, parameter in space.parameters]
    bounds: Any = getattr(space, "bounds", ())
    return [f"x{i + 1}: real, {lo:g} to {hi:g}" for i, (lo, hi) in enumerate(bounds)]


def option(name: str, value: Any) -> str:
    """An option of the algorithm as the definition of a study has it, on one line.

    >>> option("max_step", {"dict": {"valve": 10}}), option("delta", 0.1)
    ('max_step: valve=10', 'delta: 0.1')
    """
    found = decode(value)
    text = str(found)
    if name == "start":
        text = ", or ".join(point(plain(each)) for each in found)
    elif isinstance(found, Mapping):
        text = ", ".join(f"{k}={v}" for k, v in found.items())
    return line(f"{name}: {text if len(text) <= LONGEST else text[: LONGEST - 3] + '...'}")


def constraint_lines(summary: Any) -> list[str]:
    """The constraints of a study, one per line, and how sure they must be."""
    found = [f"{name} {constraint}" for name, constraint in summary.constraints.items()]
    if summary.safe is not None:
        found.append(f"asked for only where each holds with a probability of {summary.safe:g}")
    return [line(each) for each in found]


def outcome_lines(event: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> list[str]:
    """What was told of the constraints at a tell, one per line."""
    found = []
    for name, told in (event.get("outcomes") or {}).items():
        limit = constraints[name]
        verdict = f"BEYOND ITS LIMIT, {limit}" if told["violated"] else f"within its limit, {limit}"
        unit = limit.unit and f" {limit.unit}"
        expected = f"expected {number(told['mean'])} ± {number(told['std'])}{unit}"
        found.append(f"{name} = {number(told['value'])}{unit}: {verdict}; {expected}")
        if told["reset"]:
            found.append(f"RESET of {name}: {told['reason']}")
    return [line(each) for each in found]


def outcomes(record: Any, constraints: Mapping[str, Constraint] = MappingProxyType({})) -> str:
    """The same in few characters, for a list of records; what is beyond its limit has an exclamation mark.

    >>> from windvane.storage import Record
    >>> event = {"outcomes": {"heat": {"value": 92.5, "violated": True}}}
    >>> outcomes(Record(1, "told", 0.0, event=event))
    '  heat=92.5!'
    >>> from windvane.constraints import AtMost
    >>> outcomes(Record(1, "told", 0.0, event=event), {"heat": AtMost(90, unit="°C")})
    '  heat=92.5 °C!'
    """
    told = (record.event or {}).get("outcomes") or {}
    values = {name: one for name, one in told.items() if one["value"] is not None}
    units = {name: f" {each.unit}" for name, each in constraints.items() if each.unit}
    return "".join(
        f"  {name}={number(one['value'])}{units.get(name, '')}{'!' if one['violated'] else ''}"
        for name, one in values.items()
    )
