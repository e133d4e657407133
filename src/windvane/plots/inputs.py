"""What the figures are made of: traces, events and changes, read and checked at the door."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np

from windvane.checks import Array, integer
from windvane.data import Event
from windvane.errors import InvalidArgument, InvalidType
from windvane.tasks.base import Task

HOW = "as in {'et-gp-ucb': trace} or {'et-gp-ucb': [trace, trace]}"
FIELDS = {field.name for field in dataclasses.fields(Event)}
NEEDED = {
    field.name
    for field in dataclasses.fields(Event)
    if field.default is field.default_factory is dataclasses.MISSING
}


@runtime_checkable
class Run(Protocol):
    """All that figures want of a `Trace`."""

    @property
    def regret(self) -> Array:
        """r_t for t = 1 .. T."""
        ...

    @property
    def resets(self) -> Any:
        """The steps of the resets."""
        ...


def named(what: str, given: Any, how: str) -> Mapping[Any, Any]:
    """A dict that is not empty."""
    if not isinstance(given, Mapping):
        raise InvalidType(f"{what}={_short(given)}: must be a dict by name, {how}")
    if not given:
        raise InvalidArgument(f"{what}={given!r}: must not be empty; give a dict by name, {how}")
    for name in given:
        if not isinstance(name, Hashable) or not str(name):
            raise InvalidArgument(f"{what}: the name {name!r} is empty")
    return given


def runs_of(traces: Any) -> dict[str, list[Run]]:
    """The runs of each name, at least one each, with finite regret."""
    found: dict[str, list[Run]] = {}
    for name, given in named("traces", traces, HOW).items():
        runs = [given] if isinstance(given, Run) else given
        if not isinstance(runs, Sequence) or isinstance(runs, str):
            raise InvalidType(f"traces[{name!r}]={_short(given)}: must be a trace or a list of traces")
        if not runs:
            raise InvalidArgument(f"traces[{name!r}]: must have at least one trace, got an empty list")
        for number, run in enumerate(runs):
            where = f"traces[{name!r}][{number}]"
            if not isinstance(run, Run):
                raise InvalidType(f"{where}={_short(run)}: must be a trace, with regret and resets")
            regret = np.asarray(run.regret, dtype=np.float64)
            if regret.ndim != 1 or not regret.size:
                raise InvalidArgument(f"{where}.regret: must have one number per step, got {regret.shape}")
            if not np.isfinite(regret).all():
                raise InvalidArgument(f"{where}.regret: must be finite, got NaN or infinity")
        found[str(name)] = list(runs)
    return found


def events_of(given: Any) -> list[Event]:
    """Events, from events, from their dicts, or from the journal of a study.

    Of a journal only tells have events; what was asked, failed or expired is left out.
    """
    if isinstance(given, Event | str | Mapping) or not isinstance(given, Iterable):
        raise InvalidType(
            f"events={_short(given)}: must be a sequence of events, as trace.events or study.events()"
        )
    found = [event for number, each in enumerate(given) if (event := event_of(number, each)) is not None]
    if not found:
        raise InvalidArgument("events: must have at least one event of a tell, got none")
    steps = [event.step for event in found]
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise InvalidArgument("events: must be of one run and in order; their steps do not rise")
    return found


def event_of(number: int, given: Any) -> Event | None:
    """The event of one entry of a journal; None of one that has none."""
    if isinstance(given, Event):
        return given
    values = given if isinstance(given, Mapping) else getattr(given, "event", given)
    if values is None and hasattr(given, "kind"):
        return None  # a record of the journal that is no tell
    if not isinstance(values, Mapping) or not values.keys() >= NEEDED:
        raise InvalidType(f"events[{number}]={_short(given)}: must be an event, its dict, or a record of one")
    return Event.from_dict(values)


def changes_of(given: Any) -> tuple[int, ...]:
    """The steps at which the objective truly changed: as given, or what a task knows of itself.

    >>> import windvane as wv
    >>> changes_of([40, 80]), changes_of(wv.task("jumps", horizon=300))
    ((40, 80), (101, 201))
    >>> changes_of(wv.task("rate-change")), changes_of(None)
    ((175,), ())
    """
    if given is None:
        return ()
    if isinstance(given, Task):
        return tuple(sorted(set(_known(given))))
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidType(f"changes={_short(given)}: must be steps, or the task that knows them")
    return tuple(integer(f"changes[{i}]", step, at_least=1) for i, step in enumerate(given))


def _known(task: Any) -> list[int]:
    """Jumps have `steps`, a change of the rate a `switch`; a wrapper acts `at` a step, on a task within."""
    found = [*getattr(task, "steps", ())]
    found += [step for name in ("switch", "at") if isinstance(step := getattr(task, name, None), int)]
    inner = getattr(task, "task", None)
    if inner is not None:
        found += _known(inner)
    return found


def _short(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= 60 else f"{said[:57]}..."
