"""Spaces and options as JSON sends them, turned into Windvane's; and slices of a space on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.codec import decode
from windvane.errors import CorruptState, InvalidArgument
from windvane.service.bodies import ArmsBody, BoxBody, ChoiceBody, IntegerBody, ParametersBody, RealBody
from windvane.spaces import Arms, Box, Choice, Integer, Real, Space
from windvane.spaces.base import Domain, Parameter


def space_of(body: BoxBody | ArmsBody | ParametersBody) -> Domain:
    """The space that a body describes.

    >>> space_of(ArmsBody(arms=3))
    Arms(n=3)
    """
    if isinstance(body, BoxBody):
        return Box([(lo, hi) for lo, hi in body.box])
    if isinstance(body, ArmsBody):
        return Arms(body.arms)
    return Space({name: _parameter(each) for name, each in body.parameters.items()})


def _parameter(body: RealBody | IntegerBody | ChoiceBody) -> Parameter:
    if isinstance(body, RealBody):
        return Real(body.real[0], body.real[1], log=body.log)
    if isinstance(body, IntegerBody):
        return Integer(body.integer[0], body.integer[1], log=body.log)
    return Choice(body.choice)


def options_of(given: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON writes them: plain values, or components by their type.

    >>> options_of({"delta": 0.1, "kernel": {"type": "RBF", "lengthscale": [0.2]}})
    {'delta': 0.1, 'kernel': RBF(lengthscale=(0.2,), variance=1.0)}
    """
    found = {}
    for name, value in given.items():
        try:
            found[name] = decode(value)
        except (CorruptState, RecursionError) as error:
            said = str(error).removeprefix("state: ")
            raise InvalidArgument(f"options.{name}: {said}") from None
    return found


@dataclass(frozen=True)
class Slice:
    """A grid through a point: its axes, and the points row by row, the first axis fastest."""

    axes: list[dict[str, Any]]
    at: Any
    points: Any
    shape: tuple[int, ...]


def axis_names(space: Domain) -> list[str]:
    """What the axes of a space are called.

    >>> axis_names(Box([(0, 1), (0, 1)])), axis_names(Arms(3))
    (['x1', 'x2'], ['arm'])
    """
    if isinstance(space, Arms):
        return ["arm"]
    if isinstance(space, Space):
        return [name for name, _ in space.parameters]
    return [f"x{i + 1}" for i in range(space.dim)]


def middle(space: Domain) -> Any:
    """A point in the middle, to look around from while nothing is known."""
    return space.decode(space.candidates(1)[0] if isinstance(space, Arms) else np.full(space.dim, 0.5))


def slice_of(space: Domain, at: Any, axes: list[str], resolution: int) -> Slice:
    """The grid along one or two axes through the point `at`."""
    names = axis_names(space)
    chosen = axes or names[:2]
    if len(chosen) > 2 or len(set(chosen)) != len(chosen):
        raise InvalidArgument(f"axes={','.join(axes)!r}: must be one or two different names")
    for name in chosen:
        if name not in names:
            raise InvalidArgument(f"axes={name!r}: unknown; there are {', '.join(names)}")
    ticks = [_ticks(space, names.index(name), resolution) for name in chosen]
    shape = tuple(len(values) for values in reversed(ticks))
    lines = [{"name": name, "values": values} for name, values in zip(chosen, ticks, strict=True)]
    return Slice(lines, _plain(at), _points(space, at, chosen, ticks), shape)


def _ticks(space: Domain, index: int, resolution: int) -> list[Any]:
    if isinstance(space, Arms):
        return list(range(space.n))
    if isinstance(space, Box):
        lo, hi = space.bounds[index]
        return list(map(float, np.linspace(lo, hi, resolution)))
    assert isinstance(space, Space)
    parameter = space.parameters[index][1]
    if isinstance(parameter, Choice):
        return list(parameter.options)
    if parameter.size is not None and parameter.size <= resolution:
        return [parameter.decode(block) for block in parameter.levels()]
    values = [parameter.decode(np.array([u])) for u in np.linspace(0.0, 1.0, resolution)]
    return list(dict.fromkeys(values))


def _points(space: Domain, at: Any, names: list[str], ticks: list[list[Any]]) -> Any:
    if isinstance(space, Arms):
        return ticks[0]
    rows = ticks[1] if len(ticks) == 2 else [None]
    if isinstance(space, Space):
        second = {} if len(ticks) == 1 else {names[1]: None}
        return [
            {**at, names[0]: first, **dict.fromkeys(second, other)} for other in rows for first in ticks[0]
        ]
    columns = [int(name[1:]) - 1 for name in names]
    points = np.tile(np.asarray(at, dtype=np.float64), (len(rows) * len(ticks[0]), 1))
    points[:, columns[0]] = np.tile(ticks[0], len(rows))
    if len(ticks) == 2:
        points[:, columns[1]] = np.repeat(ticks[1], len(ticks[0]))
    return points


def _plain(point: Any) -> Any:
    return point.tolist() if isinstance(point, np.ndarray) else point
