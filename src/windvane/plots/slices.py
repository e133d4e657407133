"""The posterior through time: what is believed along one parameter, now or at several times of the past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from windvane.checks import one_of
from windvane.errors import InvalidArgument, InvalidType
from windvane.plots.lines import Line, line
from windvane.plots.slice_map import dress, slice_map
from windvane.plots.snapshots import Snapshot, Snapshots, optimizer_of, snapshot
from windvane.plots.style import BLACK, BLUE, GREEN, SKY, WIDE, legend, sheet, text
from windvane.tasks.base import Task

PANELS = 6  # of the past, unless the caller chooses
COLUMNS = 3


def slices(
    source: Any,
    *,
    kind: Literal["lines", "map"] = "lines",
    along: Any = None,
    through: Any = None,
    steps: Sequence[int] | None = None,
    task: Task | None = None,
    title: str = "",
) -> Any:
    """What is believed of the objective along one parameter. Returns a matplotlib Figure.

    `source` is an optimiser or a study, for what is believed now, or `Snapshots`, for the past. With
    "lines" each panel is a time: the mean and its 95 % interval, the observations in use (paler the
    older they are and the further they lie from the line), and, with a `task`, the truth. `steps` chooses
    the times: the panel of step t shows what is believed of f_t before y_t is seen. With "map" the mean is
    a colour over parameter and time, above the truth if there is a `task`; this needs `Snapshots`.

    `along` and `through` are those of `Snapshots`, and are given there for the past.

    >>> import windvane as wv
    >>> opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)
    >>> for y in (0.2, 0.5, 0.4):
    ...     event = opt.tell(opt.ask(), y)
    >>> page = slices(opt)
    >>> page.axes[0].get_title(loc="left")
    'before step 4'
    """
    one_of("kind", kind, ("lines", "map"))
    if task is not None and not isinstance(task, Task):
        raise InvalidType(f"task={task!r}: must come from wv.task, or have value, optimum, space and horizon")
    if isinstance(source, Snapshots):
        if along is not None or through is not None:
            raise InvalidArgument("along, through: give them to Snapshots, which have been taken already")
        shape, kept = source.line, list(source)
    else:
        optimizer = optimizer_of(source)
        if kind == "map":
            raise InvalidArgument("kind='map': needs Snapshots; an optimiser only knows what it believes now")
        shape = line(optimizer.space, along)
        kept = [snapshot(optimizer, shape, through)]
    if not kept:
        raise InvalidArgument("source: must have at least one snapshot, got none; hand it to on_step")
    if task is not None and task.space != shape.space:
        raise InvalidArgument(f"task: lives in {task.space}, the optimiser in {shape.space}")
    if kind == "map":
        assert isinstance(source, Snapshots)
        return slice_map(source, kept if steps is None else _chosen(kept, steps), task, title)
    return _panels(_spaced(kept) if steps is None else _chosen(kept, steps), shape, task, title)


def _spaced(kept: list[Snapshot]) -> list[Snapshot]:
    """A few at equal distances, the first and the last among them."""
    rows = np.unique(np.linspace(0, len(kept) - 1, PANELS).round().astype(int))
    return [kept[row] for row in rows]


def _chosen(kept: list[Snapshot], steps: Any) -> list[Snapshot]:
    if isinstance(steps, str) or not isinstance(steps, Sequence) or not len(steps):
        raise InvalidType(f"steps={steps!r}: must be a list of at least one step")
    known = {each.step: each for each in kept}
    for step in steps:
        if step not in known:
            have = f"{min(known)} to {max(known)}" if len(known) > 8 else ", ".join(map(str, known))
            raise InvalidArgument(f"steps: no snapshot for step {step!r}; there are {len(known)}: {have}")
    return [known[step] for step in steps]


def _panels(kept: Sequence[Snapshot], shape: Line, task: Task | None, title: str) -> Any:
    columns = min(COLUMNS, len(kept))
    rows = -(-len(kept) // columns)
    width, height = (9.0, 2.3) if columns == COLUMNS else (3.2 * columns + 2.8, 3.0)
    page, axes = sheet(rows, columns, (width, height * rows + 0.6), sharex=True, sharey=True)
    flat = list(axes.flat)
    for panel in flat[len(kept) :]:
        panel.set_axis_off()
    seen = []
    for panel, each in zip(flat, kept, strict=False):
        seen += [each.mean, each.values]
        (_bars if shape.discrete else _band)(panel, shape, each)
        if task is not None:
            at = min(each.step, task.horizon)
            truth = [task.value(point, at) for point in shape.points(each.base)]
            style = (
                {"ls": "none", "marker": "_", "ms": 9, "mew": 2} if shape.discrete else {"ls": (0, (5, 1.5))}
            )
            seen.append(np.array(truth))
            panel.plot(shape.places, truth, color=GREEN, lw=1.6, label="truth", **style)
        shades = np.tile((0.0, 0.0, 0.0, 1.0), (len(each.values), 1))
        shades[:, 3] = 0.1 + 0.9 * each.nearness * (0.15 + 0.85 * each.newness)
        panel.scatter(each.places, each.values, s=11, c=shades, lw=0, zorder=2)  # beneath the mean
        panel.plot([], [], ".", color=BLACK, label="in use")
        panel.axvline(each.best, color=BLACK, lw=0.8, ls=":", zorder=0.5, label="believed best")
        panel.set_title(f"before step {each.step}", loc="left", fontsize=text(9.5))
        panel.grid(axis="y", lw=0.4, alpha=0.4)
    low, high = (float(end(np.concatenate(seen))) for end in (np.min, np.max))
    margin = 0.25 * (high - low) or 1.0
    flat[0].set_ylim(low - margin, high + margin)  # what is believed of the first steps would dwarf the rest
    _dress(flat[0], shape)
    for panel in flat[max(0, len(kept) - columns) : len(kept)]:
        panel.set_xlabel(shape.label, fontsize=text(9))
        panel.tick_params(labelbottom=True)
    for panel in axes[:, 0]:
        panel.set_ylabel("objective", fontsize=text(9))
    if title:
        page.suptitle(title, x=0.01, ha="left", fontsize=text(10))
    legend(page, flat[0], 5)
    return page


def _band(panel: Any, shape: Line, each: Snapshot) -> None:
    half = WIDE * each.std
    panel.fill_between(
        shape.places, each.mean - half, each.mean + half, color=SKY, alpha=0.35, lw=0, label="95 %"
    )
    panel.plot(shape.places, each.mean, color=BLUE, lw=1.6, zorder=3, label="mean")


def _bars(panel: Any, shape: Line, each: Snapshot) -> None:
    half = WIDE * each.std
    panel.vlines(shape.places, each.mean - half, each.mean + half, color=SKY, alpha=0.6, lw=4, label="95 %")
    panel.plot(shape.places, each.mean, "o", color=BLUE, mec="white", mew=0.6, ms=5, zorder=3, label="mean")


def _dress(panel: Any, shape: Line) -> None:
    """The axis of the parameter, which all panels share."""
    dress(panel, "x", shape)
    low, high = float(shape.places[0]), float(shape.places[-1])
    if shape.discrete and not shape.log:
        low, high = low - 0.5, high + 0.5
    if low < high:
        panel.set_xlim(low, high)
