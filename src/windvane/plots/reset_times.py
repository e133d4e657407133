"""When resets happen: a ridge an algorithm, or a rate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from windvane.checks import Array, integer, real
from windvane.errors import InvalidArgument, InvalidType
from windvane.plots.inputs import Run, changes_of, named
from windvane.plots.panels import change_lines
from windvane.plots.style import BLACK, checked_colours, looks, ramp, sheet, text

HOW = "as in {'et-gp-ucb': [trace, trace]} or {0.03: [[27, 80], [31]]}"
OVERLAP = 0.9  # of the distance between two ridges is what the highest takes
FINENESS = 80  # the usual bandwidth is the horizon over this


def reset_times(
    runs: Mapping[Any, Any],
    *,
    first: bool = False,
    changes: Any = None,
    bandwidth: float | None = None,
    horizon: int | None = None,
    colours: Mapping[str, str] | None = None,
    title: str = "",
) -> Any:
    """The density of reset times over all runs as ridges, with a tick for each reset beneath.

    `runs` has, by name, a list of traces, or for each run the list of its resets. Names that are numbers,
    such as rates of change, are put in order and coloured as one. `first` counts the first reset of a run
    only. Every ridge has the same height at its peak; how many resets a run has is written beside it.
    `changes` are the steps of true changes, or a task that knows them. `bandwidth` is the standard
    deviation of the smoothing, in steps, and `horizon` the last step. Returns a matplotlib Figure.

    >>> page = reset_times({"et-gp-ucb": [[27, 80], [31, 77, 90]], "r-gp-ucb": [[36, 72], [36, 72]]})
    >>> [text.get_text() for text in page.axes[0].texts]
    ['2.5 per run', '2.0 per run']
    """
    found = {name: _resets(name, given, first) for name, given in named("runs", runs, HOW).items()}
    numeric = all(isinstance(name, int | float) for name in found)
    names = sorted(found) if numeric else list(found)
    given = [given for each in runs.values() for given in ([each] if isinstance(each, Run) else each)]
    last = _last(horizon, given, found)
    width = max(1.0, last / FINENESS) if bandwidth is None else real("bandwidth", bandwidth, above=0.0)
    known = changes_of(changes)
    shades = _shades(names, numeric, colours)
    page, axes = sheet(1, 1, (8.0, 1.3 + 0.55 * len(names)))
    panel = axes[0, 0]
    steps = np.linspace(1.0, last, 20 * FINENESS + 1)
    for place, name in enumerate(names):
        resets = found[name]
        every = np.array([step for run in resets for step in run], dtype=np.float64)
        ridge = density(every, steps, width, last)
        peak = float(ridge.max()) or 1.0
        base = len(names) - 1 - place
        shade, order = shades[name], 2 + 2 * place
        panel.fill_between(
            steps, base, base + OVERLAP * ridge / peak, color=shade, alpha=0.55, lw=0, zorder=order
        )
        panel.plot(steps, base + OVERLAP * ridge / peak, color=shade, lw=1.2, zorder=order)
        panel.vlines(every, base - 0.1, base - 0.02, color=shade, lw=0.8, zorder=order)
        count = len(every) / len(resets)
        panel.text(
            1.01,
            base + 0.1,
            f"{100 * count:.0f} % of runs" if first else f"{count:.1f} per run",
            transform=panel.get_yaxis_transform(),
            fontsize=text(8.5),
        )
    panel.set_yticks(range(len(names))[::-1], [f"{name:g}" if numeric else str(name) for name in names])
    panel.tick_params(axis="y", length=0)
    panel.spines["left"].set_visible(False)
    panel.set_xlim(0.0, last + 1.0)
    panel.set_ylim(-0.15, len(names) + 0.05)
    panel.set_xlabel("step of the first reset" if first else "step of a reset", fontsize=text(9))
    change_lines([panel], known)
    if known:
        page.legend(loc="outside upper right", frameon=False, fontsize=text(9))
    if title:
        panel.set_title(title, loc="left", fontsize=text(10), color=BLACK)
    return page


def density(every: Array, steps: Array, width: float, last: float) -> Array:
    """A Gaussian kernel estimate on [1, last]; what would leave at an end is reflected.

    >>> steps = np.linspace(1.0, 100.0, 2001)
    >>> round(float(np.trapezoid(density(np.array([3.0, 40.0, 99.0]), steps, 4.0, 100.0), steps)), 3)
    1.0
    """
    if not every.size:
        return np.zeros_like(steps)
    mirrored = np.concatenate([every, 2.0 - every, 2.0 * last - every])
    apart = (steps[:, None] - mirrored) / width
    return np.asarray(np.exp(-0.5 * apart**2).sum(axis=1) / (len(every) * width * math.sqrt(2.0 * math.pi)))


def _resets(name: Any, given: Any, first: bool) -> list[list[int]]:
    """The resets of each run, or only the first of each."""
    runs = [given] if isinstance(given, Run) else given
    if isinstance(runs, str) or not isinstance(runs, Sequence):
        raise InvalidType(f"runs[{name!r}]={given!r}: must be a list of traces, or of lists of resets")
    if not runs:
        raise InvalidArgument(f"runs[{name!r}]: must have at least one run, got an empty list")
    found = []
    for number, run in enumerate(runs):
        steps = run.resets if isinstance(run, Run) else run
        if isinstance(steps, str) or not isinstance(steps, Iterable):
            raise InvalidType(f"runs[{name!r}][{number}]={run!r}: must be a trace or a list of resets")
        where = f"runs[{name!r}][{number}]"
        every = sorted(integer(where, step, at_least=1) for step in steps)
        found.append(every[:1] if first else every)
    return found


def _last(horizon: int | None, given: Sequence[Any], found: Mapping[Any, list[list[int]]]) -> int:
    latest = max((step for runs in found.values() for run in runs for step in run), default=1)
    if horizon is not None:
        return integer("horizon", horizon, at_least=max(latest, 2))
    longest = max((len(run.regret) for run in given if isinstance(run, Run)), default=0)
    return max(latest, longest, 2)


def _shades(names: Sequence[Any], numeric: bool, colours: Mapping[str, str] | None) -> dict[Any, Any]:
    if not numeric:
        return {name: each.colour for name, each in looks(map(str, names), colours).items()}
    chosen = {} if colours is None else checked_colours(colours, names)
    most = max(len(names) - 1, 1)
    return {name: chosen.get(name, ramp(place / most)) for place, name in enumerate(names)}
