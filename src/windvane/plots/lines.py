"""A straight line through a space: one parameter takes all its values, the others stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import Array, integer, one_of
from windvane.errors import InvalidArgument
from windvane.spaces import Arms, Box, Candidates, Choice, Integer, Real, Space
from windvane.spaces.base import Domain, Parameter

LEVELS = 400  # values of a discrete parameter that can be told apart in a picture


@dataclass(frozen=True, eq=False)
class Line:
    """Values of one parameter, in the caller's terms, and their places on an axis."""

    space: Domain
    key: Any  # of the parameter: an index into a box, a name in a space, None for arms
    label: str
    values: tuple[Any, ...]
    places: Array
    discrete: bool = False
    log: bool = False
    names: tuple[str, ...] = ()  # of the values, if they are no numbers

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers and nothing between."""
        return self.discrete and all(isinstance(value, int) for value in self.values)

    def points(self, base: Any) -> Any:
        """The points of the line through `base`."""
        if self.key is None:
            return list(self.values)
        if isinstance(self.space, Box):
            found = np.tile(np.asarray(base, dtype=np.float64), (len(self.values), 1))
            found[:, self.key] = self.values
            return found
        return [{**base, self.key: value} for value in self.values]

    def place(self, x: Any) -> float:
        """Where a point lies along the axis."""
        value = x if self.key is None else x[self.key]
        return float(self.values.index(value)) if self.names else float(value)

    def places_of(self, units: Array) -> Array:
        """Where encoded points lie along the axis."""
        if isinstance(self.space, Box):  # thousands of points at once
            low, high = self.space.bounds[self.key]
            return np.asarray(low + (high - low) * units[:, self.key])
        return np.array([self.place(self.space.decode(unit)) for unit in units])

    def nearness(self, units: Array, base: Array) -> Array:
        """How near encoded points are to the line through `base`, from 1 on it to 0 far away."""
        apart = (units - base) ** 2
        apart[:, self._own] = 0.0
        return np.asarray(np.exp(-apart.sum(axis=1) / (2.0 * 0.15**2)))

    @property
    def _own(self) -> slice:
        """The encoded coordinates of the parameter."""
        if self.key is None:
            return slice(None)
        if isinstance(self.space, Space):
            names = [name for name, _ in self.space.parameters]
            dims = [parameter.dim for _, parameter in self.space.parameters]
            start = sum(dims[: names.index(self.key)])
            return slice(start, start + dims[names.index(self.key)])
        return slice(self.key, self.key + 1)


def line(space: Domain, along: Any = None, count: int = 101) -> Line:
    """All values of one parameter, at most `count` of a continuous one.

    `along` is the index of a coordinate of a `Box`, or the name of a parameter of a `Space`; left out, it
    is the first. `Arms` are a line by themselves, and so are `Candidates`.

    >>> import windvane as wv
    >>> space = wv.Space(gain=wv.Real(0.1, 10, log=True), mode=wv.Choice(["a", "b"]))
    >>> line(space, "gain", 3).values
    (0.1, 1.0, 10.0)
    >>> line(space, "mode").points({"gain": 2.0, "mode": "a"})
    [{'gain': 2.0, 'mode': 'a'}, {'gain': 2.0, 'mode': 'b'}]
    """
    number = integer("points", count, at_least=2, at_most=10_000)
    if isinstance(space, Arms):
        if along is not None:
            raise InvalidArgument(f"along={along!r}: arms have no parameters; leave it out")
        _few("arms", space.n)
        return Line(space, None, "arm", tuple(range(space.n)), np.arange(float(space.n)), discrete=True)
    if isinstance(space, Candidates):
        if along is not None:
            raise InvalidArgument(f"along={along!r}: candidates are a list, in its order; leave it out")
        _few("candidates", space.size)
        numbers = np.arange(float(space.size))
        return Line(space, None, "candidate", tuple(range(space.size)), numbers, discrete=True)
    if isinstance(space, Box):
        key = integer("along", 0 if along is None else along, at_least=0, at_most=space.dim - 1)
        values = np.linspace(*space.bounds[key], number)
        return Line(space, key, coordinate_name(key), tuple(values.tolist()), values)
    assert isinstance(space, Space)
    parameters = dict(space.parameters)
    name = next(iter(parameters)) if along is None else one_of("along", along, parameters)
    return _of_parameter(space, name, parameters[name], number)


def _of_parameter(space: Space, name: str, parameter: Parameter, number: int) -> Line:
    parameter = parameter.values
    if isinstance(parameter, Real) and parameter.size is not None:
        _few(f"levels of {name}", parameter.size)
        steps = tuple(parameter.decode(level) for level in parameter.levels())
        return Line(space, name, axis_label(name, parameter), steps, np.array(steps), True)
    if isinstance(parameter, Real):
        spaced = np.geomspace if parameter.log else np.linspace
        values = spaced(parameter.lo, parameter.hi, number).clip(parameter.lo, parameter.hi)
        return Line(
            space, name, axis_label(name, parameter), tuple(values.tolist()), values, log=parameter.log
        )
    if isinstance(parameter, Integer):
        _few(f"levels of {name}", parameter.hi - parameter.lo + 1)
        levels = tuple(range(parameter.lo, parameter.hi + 1))
        places = np.array(levels, dtype=np.float64)
        return Line(space, name, axis_label(name, parameter), levels, places, True, parameter.log)
    assert isinstance(parameter, Choice)
    options = parameter.options
    names = tuple(map(str, options))
    return Line(space, name, name, options, np.arange(float(len(options))), True, names=names)


def coordinate_name(key: Any) -> str:
    """What a coordinate of a box is called, counted from 1 as on the page and in files; None is of arms.

    >>> coordinate_name(0), coordinate_name(None)
    ('x1', 'arm')
    """
    return "arm" if key is None else f"x{key + 1}"


def axis_label(name: str, parameter: Any) -> str:
    """The name of a parameter, and the unit that it is in, if it has one.

    >>> axis_label("gain", Real(0, 10, unit="dB")), axis_label("taps", Integer(1, 8))
    ('gain (dB)', 'taps')
    """
    unit = getattr(parameter, "unit", "")
    return f"{name} ({unit})" if unit else name


def _few(what: str, count: int) -> None:
    if count > LEVELS:
        raise InvalidArgument(f"along: {count} {what} are more than can be told apart; at most {LEVELS}")
