"""How spaces, points and options are spelt in JSON: the same in files, in the shell and over HTTP.

A space is one of

    {"box": [[0, 1], [-5, 5]]}
    {"arms": 46}
    {"candidates": [[0.1, 5], [0.2, 7]]} or {"candidates": [{"gain": 1.0, "mode": "a"}, ...], "scale": {"gain": "log"}}
    {"parameters": {"gain": {"real": [0.1, 10], "log": true}, "taps": {"integer": [1, 8]}, "mode": {"choice": ["a", "b"]}}}

A real or an integer may have a "unit", a real a "step". What is observed, not chosen, has "context": true, and may have
"period": true or "clip": true: {"real": [0, 24], "unit": "h", "context": true, "period": true}.

Errors name the place, as in `space.parameters.gain.real[0]`.
"""  # noqa: E501 - a space is easier to read on one line

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np

from windvane.checks import integer, real
from windvane.codec import decode
from windvane.constraints import AtLeast, AtMost, Constraint, constraint_from_json
from windvane.errors import CorruptState, InvalidArgument, InvalidType, WindvaneError
from windvane.spaces import Arms, Box, Candidates, Choice, Context, Integer, Parameter, Real, Space
from windvane.spaces.base import Domain

MOST_ARMS = 1_000  # the covariance of n arms has n x n numbers and is part of every checkpoint
MOST_CANDIDATES = 20_000  # they are part of every checkpoint
MOST_PARAMETERS = 100  # coordinates of a box as well
MOST_OPTIONS = 100  # of a choice, each a coordinate of the model
LONGEST_NAME = 100
SPACES = (
    '{"box": [[lo, hi], ...]}, {"arms": n}, {"candidates": [[...], ...]} (with "scale" or not) or '
    '{"parameters": {name: ...}}'
)
PARAMETERS = (
    '{"real": [lo, hi]}, {"integer": [lo, hi]} (each with "log": true or not, "unit"; a real with "step") '
    'or {"choice": [...]}, each with "context": true or not (and then "period" or "clip")'
)
FLAGS = ("log", "context", "period", "clip")
LIMIT = re.compile(  # "heat<=90 °C": a name, the allowed side, a number, and a unit that cannot continue it
    r"\s*(?P<name>\w+)\s*(?P<side><=|>=|≤|≥)\s*"
    r"(?P<limit>[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?)\s*(?P<unit>([^\s\d.,_<>=≤≥][^<>=≤≥]*)?)",
    re.IGNORECASE,
)
Made = TypeVar("Made")


def space_from_json(value: Any, where: str = "space") -> Domain:
    """The space that plain JSON describes.

    >>> space_from_json({"parameters": {"gain": {"real": [0.1, 10], "log": True}}})
    Space(gain=Real(lo=0.1, hi=10.0, log=True))
    >>> space_from_json({"box": [[0, 1], [5, "high"]]})
    Traceback (most recent call last):
    windvane.errors.InvalidType: space.box[1][1]='high': must be a finite number
    """
    kinds = ("box", "arms", "candidates", "parameters")
    also = ("scale",) if isinstance(value, Mapping) and "candidates" in value else ()
    kind, given = _only(where, value, kinds, SPACES, also)
    inside = f"{where}.{kind}"
    if kind == "arms":
        return Arms(integer(inside, given, at_least=1, at_most=MOST_ARMS))
    if kind == "candidates":
        return _candidates(where, given, value.get("scale", {}))
    if kind == "box":
        pairs = _list(inside, given, "pairs of bounds", MOST_PARAMETERS)
        return _made(inside, Box, [_pair(f"{inside}[{i}]", pair, real) for i, pair in enumerate(pairs)])
    if not isinstance(given, Mapping):
        raise InvalidType(f"{inside}: must be an object of {PARAMETERS}")
    if not 1 <= len(given) <= MOST_PARAMETERS:
        raise InvalidArgument(f"{inside}: {len(given)} parameters; must be 1 to {MOST_PARAMETERS}")
    return _made(
        inside, Space, [(_name(inside, name), _parameter(inside, name, given[name])) for name in given]
    )


def space_to_json(space: Domain) -> dict[str, Any]:
    """The inverse of `space_from_json`.

    >>> space_to_json(Box([(0, 1), (-5, 5)]))
    {'box': [[0.0, 1.0], [-5.0, 5.0]]}
    """
    if isinstance(space, Box):
        return {"box": [list(pair) for pair in space.bounds]}
    if isinstance(space, Arms):
        return {"arms": space.n}
    if isinstance(space, Candidates):
        scale = {"scale": {str(column): kind for column, kind in space.scale}} if space.scale else {}
        return {"candidates": [plain(space.row(i)) for i in range(space.size)], **scale}
    if not isinstance(space, Space):
        raise InvalidType(f"space={space!r}: must be a Box, Arms, Candidates or a Space")
    return {"parameters": {name: _spelt(parameter) for name, parameter in space.parameters}}


def plain(value: Any) -> Any:
    """A point, or several, as plain JSON: arrays become lists, and NumPy's numbers Python's.

    >>> plain({"gain": np.float64(0.5), "taps": np.int64(3)}), plain(np.array([0.5, 1.0]))
    ({'gain': 0.5, 'taps': 3}, [0.5, 1.0])
    """
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def coordinate_names(space: Domain) -> list[str]:
    """What the coordinates of a space are called: those of a box have numbers.

    >>> coordinate_names(Box([(0, 1), (0, 1)])), coordinate_names(Arms(3))
    (['x1', 'x2'], ['arm'])
    """
    if isinstance(space, Arms):
        return ["arm"]
    if isinstance(space, Candidates):
        return ["candidate"]
    if isinstance(space, Space):
        return [name for name, _ in space.parameters]
    return [f"x{i + 1}" for i in range(space.dim)]


def options_from_json(given: Any, where: str = "options") -> dict[str, Any]:
    """The options of an algorithm: plain values as they are, components by their type.

    >>> options_from_json({"delta": 0.1, "kernel": {"type": "RBF", "lengthscale": [0.2]}})
    {'delta': 0.1, 'kernel': RBF(lengthscale=(0.2,), variance=1.0)}
    >>> options_from_json({"constraints": {"heat": {"at_most": 90}}})
    {'constraints': {'heat': AtMost(limit=90.0, unit='', kernel=None, noise_variance=None, mean=None)}}
    >>> options_from_json({"max_step": {"gain": 0.5}})
    {'max_step': {'gain': 0.5}}
    >>> options_from_json({"kernel": {"type": "RFB"}})
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: options.kernel: there is no component of type 'RFB'
    """
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidType(f"{where}: must be an object whose keys are the names of options")
    found = {}
    for name, value in given.items():
        try:
            found[name] = _option(name, value, where)
        except (CorruptState, RecursionError) as error:
            said = str(error).removeprefix("state: ")
            if isinstance(error.__cause__, KeyError):
                said = f"there is no component of type {error.__cause__.args[0]!r}"
            raise InvalidArgument(f"{where}.{name}: {said}") from None
    return found


def _option(name: str, value: Any, where: str) -> Any:
    if name == "constraints" and isinstance(value, Mapping):
        return {each: constraint_from_json(value[each], f"{where}.{name}.{each}") for each in value}
    if name == "start" and isinstance(value, list):
        return value
    return dict(value) if _of_numbers(value) else decode(value)


def spelt_constraint(text: Any, where: str = "constraint") -> tuple[str, Constraint]:
    """A constraint as a shell has it, and its name.

    >>> spelt_constraint("heat<=90 °C")
    ('heat', AtMost(limit=90.0, unit='°C', kernel=None, noise_variance=None, mean=None))
    >>> spelt_constraint("purity >= 0.8")[1].limit
    0.8
    >>> spelt_constraint("heat<90")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: constraint='heat<90': must be a name, <= or >=, and a number, with a unit or not, in quotation marks: "heat<=90 °C" or "purity>=0.8"
    """  # noqa: E501
    found = LIMIT.fullmatch(text) if isinstance(text, str) else None
    if found is None or not found["name"].isidentifier():
        raise InvalidArgument(
            f"{where}={text!r}: must be a name, <= or >=, and a number, with a unit or not, in quotation "
            'marks: "heat<=90 °C" or "purity>=0.8"'
        )
    kind = AtMost if found["side"] in ("<=", "≤") else AtLeast
    return found["name"], _made(
        f"{where}={text!r}", lambda limit: kind(limit, found["unit"].strip()), float(found["limit"])
    )


def spelt_constraints(texts: Iterable[str], where: str = "constraint") -> dict[str, Constraint]:
    """Several of them by name, each once.

    >>> [f"{name} {limit}" for name, limit in spelt_constraints(["heat<=90", "purity>=0.8"]).items()]
    ['heat <= 90', 'purity >= 0.8']
    """
    found: dict[str, Constraint] = {}
    for text in texts:
        name, constraint = spelt_constraint(text, where)
        if name in found:
            raise InvalidArgument(f"{where}={text!r}: {name!r} is there twice")
        found[name] = constraint
    return found


def spelt_name(text: str, taken: Collection[str] = ()) -> str:
    """A name by which a constraint can be told, whatever others call it; as it is, if that will do.

    >>> spelt_name("heat"), spelt_name("heat of pump"), spelt_name("time", taken=["time"])
    ('heat', 'c_heat_of_pump_c5d5e89c', 'c_time_6f949845')
    """
    if text.isidentifier() and text not in taken and not text.startswith("c_"):
        return text
    return f"c_{re.sub('[^a-zA-Z0-9]', '_', text)}_{zlib.crc32(text.encode()):x}"


def _of_numbers(value: Any) -> bool:
    """Whether it is an object of numbers by name, as `max_step` takes: no component has only such fields."""
    return isinstance(value, Mapping) and bool(value) and all(type(v) in (int, float) for v in value.values())


def _candidates(where: str, given: Any, scale: Any) -> Candidates:
    rows = _list(f"{where}.candidates", given, "settings", MOST_CANDIDATES)
    first = rows[0]
    if not isinstance(first, list | Mapping) or not 1 <= len(first) <= MOST_PARAMETERS:
        raise InvalidArgument(
            f"{where}.candidates[0]: must be a list of 1 to {MOST_PARAMETERS} numbers, or an object with as "
            "many keys"
        )
    if isinstance(first, Mapping):
        for name in first:
            _name(f"{where}.candidates[0]", name)
    if not isinstance(scale, Mapping):
        raise InvalidType(f'{where}.scale: must be an object such as {{"gain": "log"}}')
    numbered = not isinstance(first, Mapping)
    columns = {int(key) if numbered and str(key).isdecimal() else key: kind for key, kind in scale.items()}
    return _made(f"{where}.candidates", lambda found: Candidates(found, scale=columns), rows)


def _parameter(where: str, name: str, value: Any) -> Parameter:
    where = f"{where}.{name}"
    kind, _ = _only(where, value, ("real", "integer", "choice"), PARAMETERS, also=(*FLAGS, "unit", "step"))
    for flag in FLAGS:
        if not isinstance(value.get(flag, False), bool):
            raise InvalidType(f"{where}.{flag}={value[flag]!r}: must be true or false")
    chosen = _values(where, kind, value)
    if value.get("context", False):
        return _made(
            where, lambda flags: Context(chosen, **flags), {f: value.get(f, False) for f in FLAGS[2:]}
        )
    for flag in FLAGS[2:]:
        if value.get(flag, False):
            raise InvalidArgument(f'{where}.{flag}: is for a context; add "context": true')
    return chosen


def _values(where: str, kind: str, value: Mapping[str, Any]) -> Parameter:
    """The values that a parameter takes, chosen or observed."""
    log, unit, given, inside = value.get("log", False), value.get("unit", ""), value[kind], f"{where}.{kind}"
    if kind == "choice":
        if log:
            raise InvalidArgument(f"{where}.log: a choice has no order; leave it out")
        if unit:
            raise InvalidArgument(f"{where}.unit: a choice has none; leave it out")
        if "step" in value:
            raise InvalidArgument(f"{where}.step: a choice has none; leave it out")
        options = _list(inside, given, "options", MOST_OPTIONS)
        for i, option in enumerate(options):
            if isinstance(option, str) and any("\ud800" <= mark <= "\udfff" for mark in option):
                raise InvalidArgument(
                    f"{inside}[{i}]: must be text that UTF-8 can write, without lone surrogates"
                )
        return _made(inside, Choice, options)
    if kind == "real":
        step = value.get("step")
        return _made(inside, lambda ends: Real(ends[0], ends[1], log, unit, step), _pair(inside, given, real))
    if "step" in value:
        raise InvalidArgument(f"{where}.step: is for a real; the steps of an integer are 1")
    return _made(inside, lambda ends: Integer(ends[0], ends[1], log, unit), _pair(inside, given, integer))


def _spelt(parameter: Parameter) -> dict[str, Any]:
    if isinstance(parameter, Context):
        flags = {flag: True for flag in ("period", "clip") if getattr(parameter, flag)}
        return {**_spelt(parameter.values), "context": True, **flags}
    if isinstance(parameter, Choice):
        return {"choice": list(parameter.options)}
    assert isinstance(parameter, Real | Integer)
    kind = "real" if isinstance(parameter, Real) else "integer"
    found: dict[str, Any] = {kind: [parameter.lo, parameter.hi]}
    if parameter.log:
        found["log"] = True
    if parameter.unit:
        found["unit"] = parameter.unit
    if isinstance(parameter, Real) and parameter.step is not None:
        found["step"] = parameter.step
    return found


def _only(
    where: str, value: Any, kinds: tuple[str, ...], allowed: str, also: tuple[str, ...] = ()
) -> tuple[str, Any]:
    """The one kind that an object is of, and what it says of it."""
    if not isinstance(value, Mapping):
        raise InvalidType(f"{where}: must be {allowed}")
    found = [kind for kind in kinds if kind in value]
    if len(found) != 1 or not set(value) <= {*found, *also}:
        keys = ", ".join(map(str, value))[:100] or "nothing"
        raise InvalidArgument(f"{where}: has {keys}; must be {allowed}")
    return found[0], value[found[0]]


def _list(where: str, value: Any, what: str, most: int) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidType(f"{where}: must be a list of {what}")
    if not 1 <= len(value) <= most:
        raise InvalidArgument(f"{where}: {len(value)} {what}; must be 1 to {most:,}")
    return list(value)


def _pair(where: str, value: Any, check: Callable[[str, Any], Made]) -> tuple[Made, Made]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise InvalidArgument(f"{where}: must be two numbers [lo, hi]")
    return check(f"{where}[0]", value[0]), check(f"{where}[1]", value[1])


def _name(where: str, name: Any) -> str:
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidArgument(f"{where}: a name must be 1 to {LONGEST_NAME} printable characters")
    if name != name.strip():
        raise InvalidArgument(f"{where}: name {name!r} begins or ends with a blank")
    return name


def _made(where: str, kind: Callable[[Any], Made], given: Any) -> Made:
    """What `kind` makes of it; an error says where."""
    try:
        return kind(given)
    except WindvaneError as error:
        raise type(error)(f"{where}: {error}") from None


def parameter_text(parameter: Parameter) -> str:
    """A parameter in words: what it is, its range and its unit."""
    if isinstance(parameter, Context):
        more = ", periodic" if parameter.period else ", clipped" if parameter.clip else ""
        return f"context, {parameter_text(parameter.values)}{more}"
    if isinstance(parameter, Choice):
        shown = [repr(option) for option in parameter.options]
        more = f", ... ({len(shown)} in all)" if len(shown) > 8 else ""
        return f"one of {', '.join(shown[:8])}{more}"
    assert isinstance(parameter, Real | Integer)
    kind = "real" if isinstance(parameter, Real) else "integer"
    unit = f" {parameter.unit}" if parameter.unit else ""
    if isinstance(parameter, Real) and parameter.step is not None:
        unit += f" in steps of {parameter.step:g}"
    return f"{kind}, {parameter.lo:g} to {parameter.hi:g}{unit}{', log scale' if parameter.log else ''}"
