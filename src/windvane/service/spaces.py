"""Slices of a space on a grid, to draw the model on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from windvane.errors import InvalidArgument
from windvane.service import limits
from windvane.spaces import Arms, Box, Candidates, Choice, Space
from windvane.spaces.base import Domain
from windvane.spelling import coordinate_names, plain


@dataclass(frozen=True)
class Slice:
    """A grid through a point: its axes, and the points row by row, the first axis fastest."""

    axes: list[dict[str, Any]]
    at: Any
    points: Any
    shape: tuple[int, ...]


def middle(space: Domain) -> Any:
    """A point in the middle, to look around from while nothing is known."""
    return space.decode(
        space.candidates(1)[0] if isinstance(space, Arms | Candidates) else np.full(space.dim, 0.5)
    )


def slice_of(space: Domain, at: Any, axes: list[str], resolution: int) -> Slice:
    """The grid along one or two axes through the point `at`."""
    names = coordinate_names(space)
    chosen = axes or names[:2]
    if len(chosen) > 2 or len(set(chosen)) != len(chosen):
        raise InvalidArgument(f"axes={','.join(axes)!r}: must be one or two different names")
    for name in chosen:
        if name not in names:
            raise InvalidArgument(f"axes={name!r}: unknown; there are {', '.join(names)}")
    ticks = [_ticks(space, names.index(name), resolution) for name in chosen]
    shape = tuple(len(values) for values in reversed(ticks))
    lines = [{"name": name, "values": values} for name, values in zip(chosen, ticks, strict=True)]
    return Slice(lines, plain(at), _points(space, at, chosen, ticks), shape)


def _ticks(space: Domain, index: int, resolution: int) -> list[Any]:
    if isinstance(space, Arms):
        return list(range(space.n))
    if isinstance(space, Candidates):  # of a long list, as many as can be drawn
        shown = min(space.size, limits.PAGE)
        return list(map(int, np.unique(np.linspace(0, space.size - 1, shown).astype(int))))
    if isinstance(space, Box):
        lo, hi = space.bounds[index]
        return list(map(float, np.linspace(lo, hi, resolution)))
    assert isinstance(space, Space)
    parameter = space.parameters[index][1].values
    if isinstance(parameter, Choice):
        return list(parameter.options)
    if parameter.size is not None and parameter.size <= resolution:
        return [parameter.decode(block) for block in parameter.levels()]
    values = [parameter.decode(np.array([u])) for u in np.linspace(0.0, 1.0, resolution)]
    return list(dict.fromkeys(values))


def _points(space: Domain, at: Any, names: list[str], ticks: list[list[Any]]) -> Any:
    if isinstance(space, Arms | Candidates):
        return ticks[0]
    if isinstance(space, Space):
        grid = (values[::-1] for values in product(*reversed(ticks)))
        return [{**at, **dict(zip(names, values, strict=True))} for values in grid]
    columns = np.meshgrid(
        *reversed(ticks), indexing="ij"
    )  # in Python it held up steps for longer than the model
    points = np.tile(np.asarray(at, dtype=np.float64), (columns[0].size, 1))
    for name, column in zip(names, reversed(columns), strict=True):
        points[:, int(name[1:]) - 1] = column.ravel()
    return points
