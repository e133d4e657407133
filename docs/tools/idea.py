"""Draws images/idea.svg and images/idea-steps.svg from one run of ET-GP-UCB: `python docs/tools/idea.py`.

The objective is a hill on a line that stands still, wanders for thirty steps, and stands still again. Nothing
in the pictures is made up: points, predictions, bound and resets are those of the run.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

import windvane as wv
from windvane.theory import trigger_widths

STEPS, NOISE, DELTA, SEED = 100, 0.08, 0.1, 0
BLUE, RED, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#9a9a9a", "#222222"  # Okabe and Ito's palette
SHEET = {
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#666666",
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "svg.fonttype": "path",
    "svg.hashsalt": "windvane",
}
LINE = np.linspace(0.0, 1.0, 201)


def optimum(t: int) -> float:
    """Where the hill is: at 0.25 for 40 steps, at 0.75 from step 70 on, on its way in between."""
    return 0.25 + 0.5 * min(1.0, max(0.0, (t - 40) / 30))


def objective(x: Any, t: int) -> Any:
    """The hill at step t."""
    return np.exp(-22.0 * (x - optimum(t)) ** 2)


def start() -> wv.Optimizer:
    """The optimiser of the run: told kernel and noise, but nothing of the change."""
    return wv.make(
        "et-gp-ucb",
        wv.Box([(0, 1)]),
        kernel=wv.RBF(0.2),
        noise_variance=NOISE**2,
        delta=DELTA,
        seed=SEED,
    )


def run() -> list[wv.Event]:
    """The events of the run."""
    opt, noise = start(), random.Random(SEED)
    events = []
    for t in range(1, STEPS + 1):
        x = opt.ask()
        events.append(opt.tell(x, float(objective(x[0], t)) + noise.gauss(0.0, NOISE)))
    return events


def before(events: list[wv.Event], step: int) -> wv.Optimizer:
    """The optimiser as it was before it was told the value of `step`."""
    opt = start()
    for event in events[: step - 1]:
        opt.tell(event.x, event.y)
    return opt


def overview(events: list[wv.Event]) -> Figure:
    """Time from left to right: where it measured, and what the trigger saw."""
    figure = Figure(figsize=(8.6, 5.5), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(1.55, 1.0))
    steps = np.arange(1, STEPS + 1)
    resets = [event.step for event in events if event.reset]
    last = resets[-1]

    surface = np.array([objective(LINE, t) for t in steps]).T
    paper = LinearSegmentedColormap.from_list("paper", ["#ffffff", "#cfe3f2", "#7fb2d8"])
    top.imshow(surface, origin="lower", aspect="auto", extent=(0.5, STEPS + 0.5, 0, 1), cmap=paper)
    top.plot(steps, [optimum(t) for t in steps], color=INK, lw=1.4, ls=(0, (5, 3)))
    stale = [event for event in events if event.step < last]
    used = [event for event in events if event.step >= last]
    grey = {"facecolors": "white", "edgecolors": GREY, "s": 20, "linewidths": 1.1, "zorder": 3}
    top.scatter([e.step for e in stale], [e.x[0] for e in stale], **grey)
    top.scatter([e.step for e in used], [e.x[0] for e in used], color=BLUE, s=22, zorder=3)
    top.set(
        ylabel="setting x",
        ylim=(-0.04, 1.04),
        title="The objective changes, and Windvane measures where it looks best",
    )
    note = {"fontsize": 9, "color": INK, "ha": "center"}
    top.annotate("the optimum", (84, 0.75), (84, 0.93), arrowprops={"arrowstyle": "-", "color": INK}, **note)
    top.text(84, 0.5, "filled: data in use now", fontsize=9, color=BLUE, ha="center")
    top.text(21, 0.62, "hollow: data thrown away since", fontsize=9, color="#6f6f6f", ha="center")
    top.text(21, 0.04, "it stands still: all data are used", **note)

    statistic = np.array([event.statistic for event in events])
    threshold = np.array([event.threshold for event in events])
    bottom.fill_between(steps, threshold, 2.0, color=RED, alpha=0.08, lw=0, step="mid")
    bottom.plot(steps, threshold, color=RED, lw=1.6, drawstyle="steps-mid")
    bottom.vlines(steps, 0, statistic, color=BLUE, lw=1.0, alpha=0.5)
    bottom.scatter(steps, statistic, color=BLUE, s=12, zorder=3)
    bottom.scatter(resets, statistic[np.array(resets) - 1], color=RED, s=46, zorder=4, marker="D")
    bottom.set(
        ylim=(0, 1.5),
        xlim=(0.5, STEPS + 0.5),
        xlabel="step",
        ylabel="|measured - expected|",
        title="Each measurement is held against a bound that a static objective would keep",
    )
    bottom.text(33, 0.52, "the bound", color=RED, fontsize=9, ha="center")
    bottom.text(33, 0.26, "the surprise of each step", color=BLUE, fontsize=9, ha="center")
    for number, step in enumerate(resets):
        for panel in (top, bottom):
            panel.axvline(step, color=RED, lw=1.2, zorder=2)
        height = statistic[step - 1]
        says = "bound broken:\nold data go" if number == 0 else "and again"
        place = (step - 1.5, 1.18) if number == 0 else (step - 1.5, 1.25)
        bottom.annotate(says, (step, height), place, color=RED, fontsize=9, ha="right", va="center")
    return figure


def snapshots(events: list[wv.Event]) -> Figure:
    """Three moments of the same run: it fits, it does not, it starts again."""
    figure = Figure(figsize=(8.6, 3.1), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    reset = next(event for event in events if event.reset)
    moments = (
        (40, "step 40: it fits"),
        (reset.step, f"step {reset.step}: the bound is broken"),
        (STEPS - 10, f"step {STEPS - 10}: it fits again"),
    )
    for panel, (step, title) in zip(panels, moments, strict=True):
        opt = before(events, step)
        mean, std = opt.predict(LINE[:, None])
        elapsed = step - max([event.step for event in events[: step - 1] if event.reset], default=0)
        root, width = trigger_widths(elapsed, DELTA, NOISE**2)
        bound = root * std + width
        panel.fill_between(LINE, mean - bound, mean + bound, color=BLUE, alpha=0.13, lw=0)
        panel.plot(LINE, objective(LINE, step), color=INK, lw=1.4, ls=(0, (5, 3)))
        panel.plot(LINE, mean, color=BLUE, lw=1.8)
        inside = {observation.step for observation in opt.data}
        for event in events[: step - 1]:
            kept = event.step in inside
            panel.scatter(
                event.x[0],
                event.y,
                s=13,
                zorder=4 if kept else 2,
                color=BLUE if kept else "white",
                edgecolors=BLUE if kept else GREY,
                linewidths=0.9,
            )
        now = events[step - 1]
        fired = now.reset
        panel.scatter(now.x[0], now.y, s=60, marker="D", color=RED if fired else GREEN, zorder=5)
        panel.set(title=title, xlabel="setting x", xlim=(0, 1), ylim=(-0.9, 1.7))
    panels[0].set_ylabel("value")
    panels[0].text(0.7, 0.75, "the bound allows\nthe shaded band", color=BLUE, fontsize=8.5, ha="center")
    panels[0].annotate(
        "the next\nmeasurement",
        (events[39].x[0], events[39].y),
        (0.3, -0.6),
        color=GREEN,
        fontsize=8.5,
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "-", "color": GREEN},
    )
    panels[1].annotate(
        "outside",
        (reset.x[0], reset.y),
        (0.42, -0.6),
        color=RED,
        fontsize=8.5,
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "-", "color": RED},
    )
    panels[2].text(0.04, -0.75, "hollow: thrown away", color="#6f6f6f", fontsize=8.5)
    panels[1].text(0.97, 1.5, "dashed: the truth", color=INK, fontsize=8.5, ha="right")
    return figure


def main(folder: Path) -> None:
    """Draw both pictures into `folder`."""
    events = run()
    with mpl.rc_context(SHEET):
        for name, figure in (("idea", overview(events)), ("idea-steps", snapshots(events))):
            FigureCanvasSVG(figure)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "images")
