"""What an optimiser believed, kept as it goes: the model itself only knows what it believes now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import Array, integer
from windvane.data import Event
from windvane.errors import InvalidType
from windvane.optimizer import Optimizer
from windvane.plots.lines import Line, line


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The belief about f at the step to come, along a line; all values in the caller's units.

    `places` and `values` are the observations in use, `nearness` says how close to the line each is, and
    `newness` how new, from 0 for the oldest in use to 1 for the newest.
    """

    step: int
    base: Any  # the point that the line goes through
    mean: Array
    std: Array
    places: Array
    values: Array
    nearness: Array
    newness: Array
    best: float  # the place of `base`, if that is the point believed best; else of the best on the line


class Snapshots:
    """Keeps what an optimiser believes, every so many steps; `slices` draws it.

    Hand it to `simulate` as `on_step`, or call it with each event that `tell` returns. It only looks: the
    optimiser asks for the same points with it as without it. `along` chooses the parameter, by name or by
    index; the others stay at the point believed best at the time, or at those of `through`. Contexts stay at
    what they were last.

    >>> import windvane as wv
    >>> task = wv.task("within-model", dim=1, rate=0.03, horizon=30, seed=0)
    >>> known = {"kernel": task.kernel, "noise_variance": task.noise_variance, "seed": 0}
    >>> opt = wv.make("et-gp-ucb", task.space, **known)
    >>> past = Snapshots(opt, every=10)
    >>> trace = wv.simulate(opt, task, on_step=past)
    >>> [snapshot.step for snapshot in past]
    [11, 21, 31]
    """

    def __init__(
        self, optimizer: Any, *, along: Any = None, through: Any = None, every: int = 1, points: int = 101
    ) -> None:
        self.optimizer = optimizer_of(optimizer)
        self.line: Line = line(self.optimizer.space, along, points)
        if through is not None:
            self.optimizer.space.encode(through)  # an error now rather than at the first event
        self.through = through
        self.every = integer("every", every, at_least=1)
        self.events: list[Event] = []
        self._kept: list[Snapshot] = []

    def __call__(self, event: Event) -> None:
        if not isinstance(event, Event):
            raise InvalidType(f"event={event!r}: must be what tell() returned")
        self.events.append(event)
        if event.step % self.every == 0:
            self._kept.append(snapshot(self.optimizer, self.line, self.through))

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Snapshot]:
        return iter(self._kept)

    def __repr__(self) -> str:
        return f"<{len(self)} snapshots along {self.line.label}, every {self.every}>"


def snapshot(optimizer: Optimizer, along: Line, through: Any = None) -> Snapshot:
    """What is believed now."""
    space, data = optimizer.space, optimizer.data
    base = through
    if base is None:
        base = space.decode(space.candidates(1)[0])
        if optimizer.last_time is not None:
            base = optimizer.best(context=optimizer.last_context).x
    mean, std = optimizer.predict(along.points(base))
    sign = 1.0 if optimizer.goal == "maximize" else -1.0
    best = along.place(base) if through is None else float(along.places[int(np.argmax(sign * mean))])
    return Snapshot(
        step=optimizer.step,
        base=base,
        mean=mean,
        std=std,
        places=along.places_of(data.X),
        values=sign * data.y,
        nearness=along.nearness(data.X, space.encode(base)),
        newness=_newness(data.steps),
        best=best,
    )


def _newness(steps: Any) -> Array:
    span = float(steps[-1] - steps[0]) if len(steps) else 0.0
    return np.asarray((steps - steps[0]) / span if span else np.ones(len(steps)))


def optimizer_of(given: Any) -> Optimizer:
    """An optimiser, or that of a study."""
    found = given if isinstance(given, Optimizer) else getattr(given, "optimizer", None)
    if isinstance(found, Optimizer):
        return found
    raise InvalidType(f"optimizer={given!r}: must come from wv.make, or be a study")
