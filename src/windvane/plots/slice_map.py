"""The posterior mean as a colour over parameter and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument
from windvane.plots.lines import Line
from windvane.plots.snapshots import Snapshot, Snapshots
from windvane.plots.style import VERMILION, legend, log_scale, says, sheet, text, whole_numbers
from windvane.tasks.base import Task

PALETTE = "viridis"  # its lightness rises steadily, so colour-blind readers lose nothing


def slice_map(source: Snapshots, kept: Sequence[Snapshot], task: Task | None, title: str) -> Any:
    """Above the belief; below, if it is known, the truth, in the same colours."""
    if len(kept) < 2:
        raise InvalidArgument(f"kind='map': needs at least two snapshots, got {len(kept)}")
    shape = source.line
    steps = np.array([each.step for each in kept], dtype=np.float64)
    believed = np.array([each.mean for each in kept])
    truth = None if task is None else _truth(task, kept, shape)
    both = believed if truth is None else np.concatenate([believed, truth])
    limits = {"vmin": float(both.min()), "vmax": float(both.max())}
    rows = 1 if truth is None else 2
    page, axes = sheet(rows, 1, (8.5, 2.7 * rows + 0.7), sharex=True, sharey=True)
    above = axes[0, 0]
    mesh = _mesh(above, steps, shape, believed, limits)
    asked = [(event.step, shape.place(event.x)) for event in source.events]
    above.plot(*zip(*asked, strict=True), ".", color="white", mec="black", mew=0.4, ms=4.5, label="measured")
    above.plot(steps, [each.best for each in kept], color="black", lw=1.1, label="believed best")
    for number, step in enumerate(event.step for event in source.events if event.reset):
        above.axvline(step, color=VERMILION, lw=1.2, label=None if number else "reset")
    says(above, f"{title + ': ' if title else ''}the mean that is believed")
    if truth is not None and task is not None:
        below = axes[1, 0]
        _mesh(below, steps, shape, truth, limits)
        best = [shape.places[int(np.argmax(row))] for row in truth]
        below.plot(steps, best, color="black", lw=1.1)
        says(below, "the truth, and where it is largest")
    for panel in axes[:, 0]:
        panel.set_ylabel(shape.label, fontsize=text(9))
        dress(panel, "y", shape)
    axes[-1, 0].set_xlim(steps[0] - 0.5, steps[-1] + 0.5)
    axes[-1, 0].set_xlabel("step", fontsize=text(9))
    page.colorbar(mesh, ax=list(axes[:, 0]), fraction=0.04, pad=0.01, label="objective").outline.set_visible(
        False
    )
    legend(page, above, 3)
    return page


def dress(panel: Any, side: str, shape: Line) -> None:
    """The axis of the parameter, the x or the y axis."""
    if shape.log:
        log_scale(panel, side, float(shape.places[0]), float(shape.places[-1]))
    if shape.names:
        (panel.set_xticks if side == "x" else panel.set_yticks)(shape.places, shape.names)
    elif shape.whole and not shape.log:
        whole_numbers(panel, side)


def _truth(task: Task, kept: Sequence[Snapshot], shape: Line) -> Array:
    found = []
    for each in kept:
        at = min(each.step, task.horizon)
        found.append([task.value(point, at) for point in shape.points(each.base)])
    return np.array(found)


def _mesh(panel: Any, steps: Array, shape: Line, values: Array, limits: dict[str, float]) -> Any:
    shading = "nearest" if shape.discrete and not shape.log else "auto"
    return panel.pcolormesh(
        steps, shape.places, values.T, cmap=PALETTE, shading=shading, rasterized=True, **limits
    )
