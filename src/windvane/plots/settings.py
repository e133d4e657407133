"""The settings that were tried, and the one believed best, over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.data import Event
from windvane.errors import InvalidArgument, InvalidType
from windvane.optimizer import Optimizer
from windvane.plots.clock import Clock, axis, caption_time
from windvane.plots.inputs import changes_of, event_of
from windvane.plots.lines import axis_label, coordinate_name
from windvane.plots.panels import change_lines
from windvane.plots.snapshots import optimizer_of
from windvane.plots.style import BLACK, BLUE, VERMILION, legend, log_scale, sheet, text, whole_numbers
from windvane.spaces import Choice, Integer, Space

MOST = 60  # times at which the believed best is worked out
HEIGHT = 1.5  # inches a panel


def settings(
    source: Any, *, optimizer: Any = None, against: Clock = "step", changes: Any = None, title: str = ""
) -> Any:
    """Each parameter over time: what was tried, and what was believed best. Returns a matplotlib Figure.

    `source` is a trace, its events, or a study: then its journal is read. What was believed best is no part
    of an event: it is found by telling a fresh copy of the `optimizer` all of it, which changes nothing.
    A study has its own; without one there are only the settings. `against` is "step" or "time", and `changes`
    are the steps of true changes, or a task that knows them.

    >>> import windvane as wv
    >>> opt = wv.make(wv.Space(gain=wv.Real(0, 10, unit="dB"), taps=wv.Integer(1, 8)), seed=0)
    >>> events = [opt.tell(opt.ask(), y) for y in (0.2, 0.5, 0.4)]
    >>> page = settings(events, optimizer=opt)
    >>> [panel.get_ylabel() for panel in page.axes]
    ['gain (dB)', 'taps']
    """
    if optimizer is not None or hasattr(source, "optimizer"):
        optimizer = optimizer_of(source if optimizer is None else optimizer)
    journal = _journal(source)
    told = [event for event in journal if event.x is not None]
    if not told:
        raise InvalidArgument("source: must have at least one event of a tell, got none")
    known = changes_of(changes)
    places, clock = axis(told, against)
    names = _names(told[0].x)
    page, axes = sheet(len(names), 1, (9.0, HEIGHT * len(names) + 0.9), sharex=True)
    best = _believed(journal, optimizer) if optimizer is not None else {}
    by_step = {event.step: float(place) for event, place in zip(told, places, strict=True)}
    for panel, name in zip(axes[:, 0], names, strict=True):
        parameter = _parameter(optimizer, name)
        values = [_value(event.x, name) for event in told]
        levels = _levels(parameter, values)
        heights = _heights(values, levels)
        outside = panel.scatter(places, heights, s=14, color=BLUE, alpha=0.6, lw=0, zorder=3, label="tried")
        outside.set_clip_on(False)
        if best:
            believed = _heights([_value(x, name) for x in best.values()], levels)
            panel.step(
                [by_step[step] for step in best], believed, color=BLACK, lw=1.3, where="post",
                label="believed best",
            )  # fmt: skip
        _dress(panel, name, parameter, levels, all(float(each).is_integer() for each in heights))
        for number, event in enumerate(each for each in told if each.reset):
            panel.axvline(
                by_step[event.step], color=VERMILION, lw=0.9, alpha=0.75, zorder=0.6,
                label=None if number else "reset",
            )  # fmt: skip
    change_lines(axes[:, 0], [by_step[step] for step in known if step in by_step])
    caption_time(axes[-1, 0], clock, places)
    if title:
        axes[0, 0].set_title(title, loc="left", fontsize=text(10))
    legend(page, axes[0, 0], 4)
    return page


def _journal(source: Any) -> list[Event]:
    """The events of a run, those of resets that were asked for among them."""
    given = getattr(source, "events", source)
    given = given() if callable(given) else given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidType(f"source={source!r}: must be a trace, a study, or a sequence of events")
    return [event for number, each in enumerate(given) if (event := event_of(number, each)) is not None]


def _believed(journal: Sequence[Event], optimizer: Optimizer) -> dict[int, Any]:
    """What a fresh copy believes best after some of the steps, by their numbers."""
    twin = Optimizer(optimizer.space, optimizer.composition, goal=optimizer.goal, seed=optimizer.seed)
    total = sum(event.x is not None for event in journal)
    chosen = set(np.unique(np.linspace(1, total, min(total, MOST)).round().astype(int)).tolist())
    found, count = {}, 0
    for event in journal:
        if event.x is None:
            twin.reset(event.reason)
            continue
        count += 1
        twin.tell(np.array(event.x) if isinstance(event.x, list) else event.x, time=event.time, **event.told)
        if count in chosen:
            found[event.step] = twin.best(context=twin.last_context).x
    return found


def _names(x: Any) -> list[Any]:
    """The parameters of a point: names, numbers of coordinates, or None for the number of an arm."""
    if isinstance(x, dict):
        return list(x)
    return [None] if isinstance(x, int | np.integer) else list(range(len(x)))


def _value(x: Any, name: Any) -> Any:
    return x if name is None else x[name]


def _parameter(optimizer: Optimizer | None, name: Any) -> Any:
    space = None if optimizer is None else optimizer.space
    return dict(space.parameters)[name].values if isinstance(space, Space) else None


def _levels(parameter: Any, values: Sequence[Any]) -> list[Any]:
    """The options of a choice, in their order; empty for numbers."""
    if isinstance(parameter, Choice):
        return list(parameter.options)
    named = any(isinstance(value, str | bool) for value in values)
    return list(dict.fromkeys(values)) if named else []


def _heights(values: Sequence[Any], levels: Sequence[Any]) -> Array:
    return np.array([levels.index(value) if levels else value for value in values], dtype=np.float64)


def _dress(panel: Any, name: Any, parameter: Any, levels: Sequence[Any], whole: bool) -> None:
    label = coordinate_name(name) if not isinstance(name, str) else axis_label(name, parameter)
    panel.set_ylabel(label, fontsize=text(9))
    panel.grid(axis="y", lw=0.4, alpha=0.4)
    if levels:
        panel.set_yticks(range(len(levels)), [str(each) for each in levels])
        panel.set_ylim(-0.5, len(levels) - 0.5)
    elif getattr(parameter, "log", False):
        log_scale(panel, "y", parameter.lo, parameter.hi)
    elif name is None or isinstance(parameter, Integer) or (parameter is None and whole):
        whole_numbers(panel, "y")
