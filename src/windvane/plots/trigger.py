"""What happened in a run, step by step: prediction and measurement, statistic and threshold, data in use."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from windvane.checks import Array, integer
from windvane.data import Event
from windvane.plots.beliefs import stack
from windvane.plots.clock import Clock, axis, caption_time
from windvane.plots.inputs import changes_of, events_of
from windvane.plots.panels import beside, change_lines
from windvane.plots.style import BLACK, BLUE, GREY, ORANGE, SKY, VERMILION, WIDE, says, sheet, text

MANY = 400  # events from which marks are small
DWARFED = 30.0  # a statistic so many times its threshold asks for a log scale
COLUMNS = 132  # characters in a line of reasons
LINE = 0.165  # inches


def trigger(
    events: Iterable[Any], *, against: Clock = "step", changes: Any = None, reasons: int = 6, title: str = ""
) -> Any:
    """Why the data were reset, or were not. Returns a matplotlib Figure, with these panels from the top:

    - the measurements on what was predicted of each before it was seen: the mean, and the 95 % interval;
      what was set aside or found to be an outlier is marked, and so are the resets;
    - the statistic and its threshold, with the crossings; grey where nothing is tested yet;
    - the number of measurements in use;
    - for an algorithm that weighs hypotheses, such as "auto", what it believed;
    - the reasons for the last resets, at most `reasons`, in words.

    `events` are those of one run: `trace.events`, a list of what `tell` returned, or the journal of a
    study, `study.events()`. `against` is "step" or "time". `changes` are the steps of true changes, or a
    task that knows them.

    >>> import windvane as wv
    >>> task = wv.task("jumps", horizon=60, seed=0)
    >>> known = {"kernel": task.kernel, "noise_variance": task.noise_variance, "seed": 0}
    >>> opt = wv.make("et-gp-ucb", task.space, **known)
    >>> page = trigger(wv.simulate(opt, task).events, changes=task)
    >>> [panel.get_title(loc="left") for panel in page.axes]
    ['60 measurements, ...', 'the test', 'measurements in use'...]
    """
    told = events_of(events)
    places, clock = axis(told, against)
    listed = _reasons(told, integer("reasons", reasons, at_least=0))
    known = changes_of(changes)
    tested = any(np.isfinite(event.threshold) for event in told)
    believed = any(event.beliefs for event in told)
    heights = [2.5, *([1.5] if tested else []), 0.8, *([1.5] if believed else [])]
    page, axes = sheet(
        len(heights) + bool(listed),
        1,
        (9.0, sum(heights) + 0.7 + LINE * len(listed)),
        height_ratios=[*heights, *([LINE * len(listed)] if listed else [])],
    )
    panels = list(axes[: len(heights), 0])
    for panel in panels[:-1]:
        panel.sharex(panels[-1])
        panel.tick_params(labelbottom=False)
    rest = iter(panels)
    _predictions(next(rest), told, places, title, numbered=len(listed) > 0, reasons=reasons)
    if tested:
        _statistic(next(rest), told, places)
    _sizes(next(rest), told, places)
    if believed:
        panel = next(rest)
        stack(panel, places, told)
        says(panel, "what is believed")
    for panel in panels:
        for place, event in zip(places, told, strict=True):
            if event.reset:
                panel.axvline(place, color=VERMILION, lw=0.9, alpha=0.75, zorder=0.6)
    steps = {event.step: float(place) for event, place in zip(told, places, strict=True)}
    change_lines(panels, [steps[step] for step in known if step in steps])
    if known:
        beside(panels[0])
    caption_time(panels[-1], clock, places)
    if listed:
        _write(axes[-1, 0], listed)
    return page


def _predictions(
    panel: Any, events: Sequence[Event], places: Array, title: str, *, numbered: bool, reasons: int
) -> None:
    values, means = (np.array([getattr(event, name) for event in events]) for name in ("y", "mean"))
    half = WIDE * np.sqrt([event.std**2 + event.noise_variance for event in events])
    small = len(events) > MANY
    panel.fill_between(
        places, means - half, means + half, color=SKY, alpha=0.35, lw=0, step="mid", label="95 % predicted"
    )
    panel.plot(places, means, "_", color=BLUE, ms=2 if small else 4, mew=1.2, label="mean predicted")
    odd = _odd(events)
    special = np.zeros(len(events), dtype=bool)
    for rows in odd.values():
        special[rows] = True
    missed = (np.abs(values - means) > half) & ~special
    plain = ~missed & ~special
    size = 2.0 if small else 4.0
    panel.plot(places[plain], values[plain], ".", color=BLACK, ms=size, label="measured")
    if missed.any():
        panel.plot(
            places[missed], values[missed], "o", mfc="white", mec=BLACK, mew=0.8, ms=size, label="outside"
        )
    marks = {"set aside": ("D", ORANGE), "outlier": ("X", VERMILION)}
    for name, (mark, shade) in marks.items():
        if odd[name]:
            panel.plot(
                places[odd[name]], values[odd[name]], mark, color=shade, mec=BLACK, mew=0.5, ms=6, label=name
            )
    fired = [row for row, event in enumerate(events) if event.reset]
    if numbered:
        for number, row in list(enumerate(fired, start=1))[-reasons:]:
            panel.annotate(
                str(number),
                (places[row], 1.0),
                (0, 1),
                xycoords=("data", "axes fraction"),
                textcoords="offset points",
                ha="center",
                fontsize=text(8),
                color=VERMILION,
                fontweight="bold",
            )
    low, high = float(values.min()), float(values.max())
    margin = 0.2 * (high - low) or 1.0
    panel.set_ylim(low - margin, high + margin)  # the first predictions would dwarf everything
    panel.grid(axis="y", lw=0.4, alpha=0.4)
    beside(panel)
    count = f"{len(fired)} reset{'' if len(fired) == 1 else 's'}" if fired else "no reset"
    panel.set_title(
        f"{title + ': ' if title else ''}{len(events)} measurements, {count}",
        loc="left",
        fontsize=text(10),
        pad=14 if numbered else 6,
    )


def _odd(events: Sequence[Event]) -> dict[str, list[int]]:
    """The rows of what was set aside and of outliers; one that was both is an outlier."""
    rows = {event.step: row for row, event in enumerate(events)}
    outliers = [rows[event.outlier] for event in events if event.outlier in rows]
    aside = [row for row, event in enumerate(events) if event.set_aside and row not in outliers]
    return {"set aside": aside, "outlier": outliers}


def _statistic(panel: Any, events: Sequence[Event], places: Array) -> None:
    statistics, thresholds = (
        np.array([getattr(event, name) for event in events], dtype=np.float64)
        for name in ("statistic", "threshold")
    )
    statistics[~np.isfinite(statistics)] = np.nan
    thresholds[~np.isfinite(thresholds)] = np.nan
    watched = np.array([event.monitored for event in events])
    for start, end in _stretches(~watched):
        panel.axvspan(_edge(places, start), _edge(places, end), color=GREY, alpha=0.18, lw=0)
    panel.plot(places, statistics, color=BLUE, lw=0.9, label="statistic")
    panel.plot(places, thresholds, color=BLACK, lw=1.0, drawstyle="steps-mid", label="threshold")
    with np.errstate(invalid="ignore"):
        crossed = (statistics > thresholds) & watched
    panel.plot(places[crossed], statistics[crossed], "v", color=VERMILION, ms=6, label="above")
    shown = watched if np.isfinite(thresholds[watched]).any() else np.ones(len(events), dtype=np.bool_)
    limit = float(np.nanmax(thresholds[shown]))  # what is not tested may leave the picture
    tested = statistics[shown]
    highest = max(limit, float(np.nanmax(tested)) if np.isfinite(tested).any() else 0.0)
    if limit > 0.0 and highest > DWARFED * limit:
        panel.set_yscale("log")
        panel.set_ylim(1e-2 * float(np.nanmin(thresholds[thresholds > 0.0])), 3.0 * highest)
    elif highest > 0.0 and not (statistics < 0.0).any():
        panel.set_ylim(0.0, 1.15 * highest)
    panel.grid(axis="y", lw=0.4, alpha=0.4)
    beside(panel)
    says(panel, "the test" if watched.all() else "the test (grey: still learning, nothing is tested)")


def _stretches(flags: Any) -> list[tuple[int, int]]:
    """Where flags are set, as half-open ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(int)))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def _edge(places: Array, row: int) -> float:
    """Half-way between an event and the one before it."""
    if row in (0, len(places)):
        return float(places[min(row, len(places) - 1)])
    return 0.5 * float(places[row - 1] + places[row])


def _sizes(panel: Any, events: Sequence[Event], places: Array) -> None:
    sizes = [event.size for event in events]
    panel.step(places, sizes, where="post", color=BLUE, lw=1.2)
    panel.fill_between(places, sizes, step="post", color=BLUE, alpha=0.15, lw=0)
    panel.set_ylim(0.0, 1.1 * max(*sizes, 1))
    panel.grid(axis="y", lw=0.4, alpha=0.4)
    says(panel, "measurements in use")


def _reasons(events: Sequence[Event], most: int) -> list[str]:
    """The reasons for the last resets, wrapped; the number is the reset's own."""
    resets = [event for event in events if event.reset]
    lines = []
    for number, event in list(enumerate(resets, start=1))[len(resets) - min(most, len(resets)) :]:
        said = f"{number}  step {event.step}, kept {event.kept}: {event.reason or 'no reason given'}"
        lines += textwrap.wrap(said, COLUMNS, subsequent_indent="     ")
    return lines


def _write(panel: Any, lines: Sequence[str]) -> None:
    panel.set_axis_off()
    panel.text(
        0.0,
        1.0,
        "\n".join(line.replace("$", r"\$") for line in lines),
        transform=panel.transAxes,
        va="top",
        fontsize=text(8),
        linespacing=1.25,
    )
