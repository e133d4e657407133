"""Named parameters side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from windvane import checks, notebook
from windvane.checks import Array
from windvane.codec import component
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces.base import (
    BoolArray,
    Domain,
    Option,
    Parameter,
    SeenContext,
    first_of_each,
    listed,
    read_only,
    rows,
    uncountable,
)
from windvane.spaces.context import Context
from windvane.spaces.parameters import Choice
from windvane.spaces.sobol import sobol

# Up to this many discrete configurations, each gets its own share of the candidates.
_FEW = 64


@final
@component
@dataclass(frozen=True, init=False, repr=False)
class Space(Domain):
    """Named parameters of any kind; a point is a dict with one value a parameter.

    `parameters` keeps (name, parameter) pairs in the order given, which is the order of the encoded
    coordinates. A dict works as well as keywords, and allows any name. A `Context` among them is observed,
    not chosen: it is part of a point, and whoever asks for one says what it is.

    >>> from windvane.spaces import Choice, Integer, Real
    >>> space = Space(gain=Real(0.1, 10, log=True), taps=Integer(1, 8), mode=Choice(["a", "b"]))
    >>> unit = space.encode({"gain": 1.0, "taps": 8, "mode": "b"})
    >>> unit.round(3)
    array([0.5  , 1.   , 0.   , 0.707])
    >>> space.decode(unit)
    {'gain': 1.0, 'taps': 8, 'mode': 'b'}
    >>> space.encode({"gain": 1.0, "tap": 8, "mode": "b"})
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: x: missing 'taps'; unexpected 'tap'; needs 'gain', 'taps', 'mode'
    """

    parameters: tuple[tuple[str, Parameter], ...]

    def __init__(
        self,
        parameters: Mapping[str, Parameter] | Sequence[tuple[str, Parameter]] = (),
        /,
        **named: Parameter,
    ) -> None:
        # states write the pairs under the field's name; a parameter of that name is a Parameter
        if not parameters and not isinstance(named.get("parameters"), Parameter | None):
            parameters = named.pop("parameters")  # type: ignore[assignment]
        object.__setattr__(self, "parameters", _named(parameters, named))

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{name}={parameter!r}' for name, parameter in self.parameters)})"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return notebook.space("Space", dict(self.parameters))

    @cached_property
    def _blocks(self) -> tuple[tuple[Parameter, slice], ...]:
        ends = np.cumsum([parameter.dim for _, parameter in self.parameters]).tolist()
        return tuple(
            (parameter, slice(end - parameter.dim, end))
            for (_, parameter), end in zip(self.parameters, ends, strict=True)
        )

    @cached_property
    def dim(self) -> int:
        """The number of encoded coordinates of all parameters together."""
        return sum(parameter.dim for _, parameter in self.parameters)

    @cached_property
    def contexts(self) -> tuple[str, ...]:
        """The names of the `Context` parameters."""
        return tuple(name for name, parameter in self.parameters if isinstance(parameter, Context))

    @cached_property
    def axes_of_contexts(self) -> Mapping[str, tuple[int, ...]]:
        """The coordinates of each of these."""
        each = zip(self.parameters, self._blocks, strict=True)
        return {
            name: tuple(range(at.start, at.stop)) for (name, p), (_, at) in each if isinstance(p, Context)
        }

    def seen(self, context: Any) -> SeenContext | None:
        """A value for each context, checked, as it is told and as the coordinates it fixes."""
        if not self.contexts:
            return super().seen(context)
        needed = ", ".join(map(repr, self.contexts))
        if context is None:
            raise InvalidArgument(
                f"context: is missing; this space observes {needed}, so say what is observed now"
            )
        if not isinstance(context, Mapping):
            raise InvalidType(f"context={context!r}: must be a dict with the keys {needed}")
        if set(context) != set(self.contexts):
            raise InvalidArgument(f"context: {_difference(self.contexts, context)}; needs {needed}")
        values: dict[str, Option] = {}
        fixed: dict[int, float] = {}
        for name, parameter in self.parameters:
            if isinstance(parameter, Context):
                values[name] = parameter.observed(f"context[{name!r}]", context[name])
                block = parameter.encode(name, values[name]).tolist()
                fixed |= zip(self.axes_of_contexts[name], block, strict=True)
        return SeenContext(values, fixed)

    def settings(self, limit: int) -> Array | None:
        """All combinations of what is chosen; contexts are at their first level."""
        chosen = [p.size for _, p in self.parameters if not isinstance(p, Context)]
        if any(size is None for size in chosen) or math.prod(size or 1 for size in chosen) > limit:
            return None
        return _product(p.levels()[:1] if isinstance(p, Context) else p.levels() for _, p in self.parameters)

    @property
    def parameter_count(self) -> int:
        """The number of named parameters."""
        return len(self.parameters)

    @cached_property
    def free(self) -> BoolArray:
        """True for the coordinates of `Real` parameters."""
        flags = [parameter.size is None for _, parameter in self.parameters for _ in range(parameter.dim)]
        return read_only(np.array(flags, dtype=np.bool_))

    @cached_property
    def fine(self) -> BoolArray:
        """True for the coordinates of `Integer` parameters with many levels."""
        flags = [parameter.fine for _, parameter in self.parameters for _ in range(parameter.dim)]
        return read_only(np.array(flags, dtype=np.bool_))

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """The coordinates of `Choice` parameters."""
        return tuple(
            c for p, at in self._blocks if isinstance(p.values, Choice) for c in range(at.start, at.stop)
        )

    @cached_property
    def choice_blocks(self) -> tuple[tuple[int, ...], ...]:
        """The same, those of each `Choice` together."""
        blocks = (at for p, at in self._blocks if isinstance(p.values, Choice) and p.dim)
        return tuple(tuple(range(at.start, at.stop)) for at in blocks)

    @cached_property
    def size(self) -> int | None:
        """The number of combinations, None with a `Real` among them."""
        return None if any(p.size is None for _, p in self.parameters) else self._combinations

    @cached_property
    def _combinations(self) -> int:
        return math.prod(parameter.size or 1 for _, parameter in self.parameters)

    def encode(self, x: Any) -> Array:
        """The blocks of all parameters in a row."""
        return self._encode("x", x)

    def encode_many(self, points: Any) -> Array:
        """A list of dicts, as an m x d array."""
        each = enumerate(listed("points", points, "dicts"))
        return np.stack([self._encode(f"points[{i}]", point) for i, point in each])

    def decode(self, unit: Array) -> dict[str, Option]:
        """The nearest point, as a dict of native Python values."""
        unit = checks.array("unit", unit, (self.dim,))
        names = (name for name, _ in self.parameters)
        return {name: p.decode(unit[at]) for name, (p, at) in zip(names, self._blocks, strict=True)}

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """Points drawn uniformly, one parameter after the other."""
        count = checks.integer("count", count, at_least=0)
        return np.hstack([parameter.sample(rng, count) for _, parameter in self.parameters])

    def everything(self) -> Array:
        """All combinations; the last parameter varies fastest."""
        if self.size is None:
            raise uncountable("this Space")
        return _product(parameter.levels() for _, parameter in self.parameters)

    def configurations(self, limit: int) -> Array | None:
        """All combinations of integers and choices, with every `Real` at its midpoint."""
        if self._combinations > limit:
            return None
        return _product(parameter.levels() for _, parameter in self.parameters)

    def candidates(self, count: int) -> Array:
        """All points if few; else Sobol points, shared out among the discrete configurations if few."""
        count = checks.integer("count", count, at_least=1)
        if self.size is not None and self.size <= count:
            return self.everything()
        configurations = self.configurations(min(_FEW, count)) if self.free.any() else None
        if configurations is None:
            return _distinct(self.snap(sobol(self.dim, count)))
        each, rest = divmod(count, len(configurations))
        shares = each + (np.arange(len(configurations)) < rest)
        points = np.repeat(configurations, shares, axis=0)
        points[:, self.free] = sobol(int(self.free.sum()), count)
        return self.snap(points) if self.contexts else points

    def snap(self, units: Array) -> Array:
        """The nearest point, parameter by parameter."""
        units = rows("units", units, self.dim)
        return np.hstack([parameter.snap(units[:, at]) for parameter, at in self._blocks])

    def tighten(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Parameter by parameter."""
        ends = [parameter.tighten(lower[at], upper[at]) for parameter, at in self._blocks]
        return np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])

    def neighbours(self, unit: Array) -> Array:
        """One integer moved to the next level, or one choice changed."""
        nearest = self.snap(checks.array("unit", unit, (self.dim,))[None])
        moved = []
        for parameter, at in self._blocks:
            steps = parameter.neighbours(nearest[0, at])
            block = np.repeat(nearest, len(steps), axis=0)
            block[:, at] = steps
            moved.append(block)
        return np.vstack(moved)

    def _encode(self, name: str, x: Any) -> Array:
        if not isinstance(x, Mapping):
            raise InvalidType(f"{name}={x!r}: must be a dict with the keys {self._names}")
        if len(x) != len(self.parameters) or any(key not in x for key, _ in self.parameters):
            known = tuple(key for key, _ in self.parameters)
            raise InvalidArgument(f"{name}: {_difference(known, x)}; needs {self._names}")
        return np.concatenate([p.encode(f"{name}[{key!r}]", x[key]) for key, p in self.parameters])

    @cached_property
    def _names(self) -> str:
        return ", ".join(repr(key) for key, _ in self.parameters)


def _difference(known: tuple[str, ...], x: Mapping[Any, Any]) -> str:
    """What is missing in a dict, and what is too much."""
    missing = ", ".join(repr(key) for key in known if key not in x)
    unexpected = ", ".join(repr(key) for key in x if key not in known)
    parts = [f"missing {missing}" if missing else "", f"unexpected {unexpected}" if unexpected else ""]
    return "; ".join(filter(None, parts))


def _named(parameters: Any, named: dict[str, Any]) -> tuple[tuple[str, Parameter], ...]:
    how = "Space(gain=Real(0.1, 10), taps=Integer(1, 8))"
    given = list(parameters.items()) if isinstance(parameters, Mapping) else parameters
    if not isinstance(given, list | tuple) or not all(isinstance(p, tuple) and len(p) == 2 for p in given):
        raise InvalidType(f"parameters={parameters!r}: must be named, as in {how}, or a dict of parameters")
    pairs = (*given, *named.items())
    if not pairs:
        raise InvalidArgument(f"Space(): needs at least one parameter, as in {how}")
    for name, parameter in pairs:
        if not isinstance(name, str):
            raise InvalidType(f"parameter name {name!r}: must be a string")
        if not isinstance(parameter, Parameter):
            raise InvalidType(f"{name}={parameter!r}: must be a Real, an Integer, a Choice or a Context")
    if all(isinstance(parameter, Context) for _, parameter in pairs):
        raise InvalidArgument(
            f"Space({', '.join(name for name, _ in pairs)}): has contexts only, so there is nothing to "
            "choose; add a Real, an Integer or a Choice"
        )
    if len(dict(pairs)) != len(pairs):
        raise InvalidArgument(f"Space({', '.join(name for name, _ in pairs)}): parameter names must differ")
    return pairs


def _product(blocks: Iterable[Array]) -> Array:
    """Every combination of one row from each of the blocks, in lexicographic order."""
    result = np.empty((1, 0))
    for block in blocks:
        result = np.hstack((np.repeat(result, len(block), axis=0), np.tile(block, (len(result), 1))))
    return result


def _distinct(points: Array) -> Array:
    """The rows without repetitions, in their first order."""
    return points[first_of_each(points)]
