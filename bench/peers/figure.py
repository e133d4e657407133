"""The two figures: regret against time a step, and regret over the steps."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

from peers.contest import TASKS
from windvane.plots import style

WINDVANE = {"auto": style.BLACK, "et-gp-ucb": style.VERMILION}
OTHERS = (style.BLUE, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.GREY)
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "p", "h", "<", ">")
TICKS = (
    0.1,
    0.2,
    0.3,
    0.5,
    0.7,
    1.0,
    1.5,
    2.0,
    3.0,
    5.0,
    7.0,
    10.0,
    20.0,
)  # of the ratios that are to be expected
SMOOTH = 15  # steps of a running mean


def single(row: dict[str, Any]) -> bool:
    """Whether there is one run a task only, which decides nothing."""
    return max((cell["runs"] for cell in row["regret"].values()), default=0) < 2


def scatter(summary: dict[str, Any]) -> Any:
    """One mark an optimiser; down and to the left is better."""
    figure, axes = style.sheet(1, 2, (10.0, 4.6), sharey=True)
    looks = _looks(summary)
    for panel, key, title in zip(
        axes.flat,
        ("changing", "static"),
        ("objectives that change", "one that does not"),
        strict=True,
    ):
        for peer, row in summary["peers"].items():
            if row.get(key) is None or peer == "random":
                continue
            colour, marker, _ = looks[peer]
            size = 110 if peer in WINDVANE else 60
            panel.scatter(
                row["ms_a_step"],
                row[key],
                s=size,
                facecolor="none" if single(row) else colour,
                edgecolor=colour,
                linewidth=1.5,
                marker=marker,
                zorder=3,
                label=_name(row),
            )
        random = summary["peers"].get("random", {}).get(key)
        if random is not None:
            panel.axhline(random, color=style.GREY, lw=0.8, ls=(0, (1, 2)))
            panel.annotate(
                "random points",
                (1.0, random),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="bottom",
                fontsize=8,
                color=style.GREY,
            )
        panel.axhline(1.0, color=style.BLACK, lw=0.6)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS], minor=False)
        panel.set_yticks([], minor=True)
        panel.set_ylim(*_limits(summary))
        panel.xaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        panel.xaxis.set_minor_formatter(lambda *_: "")
        panel.set_xlabel("milliseconds per step")
        panel.grid(True, which="major", color="#e6e6e6", lw=0.6)
        style.says(panel, title)
    axes[0, 0].set_ylabel("regret / that of Windvane auto")
    _legend(figure, axes)
    return figure


def _limits(summary: dict[str, Any]) -> tuple[float, float]:
    rows = summary["peers"].values()
    ratios = [row[key] for row in rows for key in ("changing", "static") if row.get(key)] or [1.0]
    return 0.85 * min(*ratios, 1.0), 1.18 * max(*ratios, 1.0)


def curves(summary: dict[str, Any]) -> Any:
    """A panel a task: running means of the regret, averaged over runs."""
    figure, axes = style.sheet(2, 2, (10.0, 7.2), sharex=True)
    looks = _looks(summary)
    for panel, task in zip(axes.flat, TASKS, strict=True):
        top = 0.0
        for peer, row in reversed(summary["peers"].items()):
            curve = row.get("curves", {}).get(task)
            if curve is None:
                continue
            colour, _, dashes = looks[peer]
            line = _running(np.array(curve))
            ours = peer in WINDVANE
            panel.plot(
                np.arange(1, len(line) + 1),
                line,
                color=colour,
                ls=dashes,
                lw=2.2 if ours else 1.1,
                zorder=3 if ours else 2,
                label=_name(row),
            )
            top = max(top, float(line.max()))
        panel.set_ylim(0.0, 1.05 * top if top else 1.0)
        style.says(panel, task)
    for panel in axes[1]:
        panel.set_xlabel("step")
    for panel in axes[:, 0]:
        panel.set_ylabel("regret")
    _legend(figure, axes)
    return figure


def _running(values: np.ndarray) -> np.ndarray:
    """The mean of up to SMOOTH steps, the last of them this one."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - SMOOTH, 0)
    return (total[ends] - total[starts]) / (ends - starts)


def _looks(summary: dict[str, Any]) -> dict[str, tuple[str, str, Any]]:
    """Colour, marker and dashes; those that share a colour differ in both of the others."""
    colours, markers = cycle(OTHERS), cycle(MARKERS)
    found: dict[str, tuple[str, str, Any]] = {}
    rest = 0
    for peer in summary["peers"]:
        if peer in WINDVANE:
            found[peer] = (WINDVANE[peer], "*", "-")
        elif peer == "random":
            found[peer] = (style.GREY, "x", (0, (1, 2)))
        else:
            found[peer] = (next(colours), next(markers), style.DASHED[rest // len(OTHERS)])
            rest += 1
    return found


def _name(row: dict[str, Any]) -> str:
    return str(row["label"]).replace("`", "")


def _legend(figure: Any, axes: Any) -> None:
    """Each optimiser once, in the order of the table, whichever panel it is in."""
    shown: dict[str, Any] = {}
    for panel in axes.flat:
        handles, labels = panel.get_legend_handles_labels()
        shown |= dict(zip(labels, handles, strict=True))
    names = sorted(shown, key=lambda name: (not name.startswith("Windvane"), name.lower()))
    figure.legend(
        [shown[name] for name in names], names, loc="outside right upper", frameon=False, fontsize=9
    )
