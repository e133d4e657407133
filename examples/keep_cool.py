"""Earn as much as you can with an oven that must not exceed 90 °C, in a hall that warms and cools.

What comes out of the oven is worth most right at the limit, and what the oven may do depends on the hall,
on the hour and on the weather. Power and belt speed are set every quarter of an hour, for three days.
Contestants:

  fixed      the best setting for the warmest hour, which is known only afterwards, never touched
  auto       Windvane's default: told what is earned, and nothing of the temperature
  soft       told the temperature and its limit as well: constraints={"heat": wv.AtMost(90)}
  safe       the same with safe=0.95, beginning with one cool setting
  safe+hall  the same, and the temperature of the hall is measured: a context

Prints for how many of the steps the product was too hot, the hottest, what was earned an hour, and what is
left of that if nothing is paid for what was too hot. Draws the first run. The oven is `wv.task("oven")`.
"""

import argparse
from pathlib import Path

import numpy as np

import windvane as wv
from windvane.plots import style

NAMES = ("fixed", "auto", "soft", "safe", "safe+hall")
LIMIT, SHOWN = 90.0, (45.0, 120.0)  # °C


def fixed(task):
    """The best setting for the warmest hour."""
    steps, cool = range(1, task.horizon + 1), task.start[0]
    return task.optimum(max(steps, key=lambda t: task.outcomes(cool, t)["heat"])).x


def contest(name, seed, steps):
    """The true temperature and earnings of each step, 2 x steps, and the steps of resets of either model."""
    task = wv.task("oven", horizon=steps, seed=seed, measured=name == "safe+hall")
    if name == "fixed":
        points, resets = [fixed(task)] * steps, []
    else:
        limits = {} if name == "auto" else {"constraints": task.constraints}
        careful = {"safe": 0.95, "start": task.start} if name.startswith("safe") else {}
        opt = wv.make(task.space, seed=seed, **limits, **careful)
        events = wv.simulate(opt, task, seed=seed).events
        points = [event.x for event in events]
        resets = [e.step for e in events if e.reset or any(told.reset for told in e.outcomes.values())]
    heats = [task.outcomes(x, t)["heat"] for t, x in enumerate(points, start=1)]
    return np.array([heats, [task.value(x, t) for t, x in enumerate(points, start=1)]]), resets


def judged(heat, earned):
    """Which steps were too hot, and what is earned in each if nothing is paid for these."""
    hot = heat > LIMIT
    return hot, np.where(hot, 0.0, earned)


def draw(runs, steps):
    """The temperature over time, a panel for each contestant; marks at the upper edge are hotter still."""
    figure, panels = style.sheet(len(NAMES), 1, (8, 7.5), sharex=True, sharey=True)
    hours = np.arange(steps) / 4
    for panel, (name, (heat, earned)) in zip(panels[:, 0], runs.items(), strict=True):
        hot, paid = judged(heat, earned)
        panel.axhline(LIMIT, color="black", lw=1, label="the limit, 90 °C")
        shown = np.clip(heat, SHOWN[0] + 2, SHOWN[1] - 2)
        panel.plot(hours[~hot], shown[~hot], ".", ms=4, color=style.BLUE, label="within")
        panel.plot(hours[hot], shown[hot], "x", ms=4, color=style.VERMILION, label="too hot")
        share = f"{name}: too hot in {100 * hot.mean():.0f} % of steps"
        style.says(panel, f"{share}; {paid.mean():.0f} €/h if these earn nothing")
    panels[-1, 0].set(xlabel="hours", ylim=SHOWN)
    figure.supylabel("product, °C", fontsize=style.text(9))
    style.legend(figure, panels[0, 0])
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few hours, too few to judge by")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--runs", type=int, default=1, help="how many seeds")
    given = parser.parse_args()
    steps, seeds = 24 if given.short else 288, range(given.seed, given.seed + given.runs)
    few = "(a few hours only: too few to judge by)" if given.short else ""
    print("           % too hot  hottest °C    €/h  not too hot; resets in the first run", few)
    first = {}
    for name in NAMES:
        runs, resets = zip(*(contest(name, seed, steps) for seed in seeds), strict=True)
        first[name], (heat, earned) = runs[0], np.concatenate(runs, axis=1)
        hot, paid = judged(heat, earned)
        figures = f"{100 * hot.mean():9.1f} {heat.max():11.1f} {earned.mean():6.0f} {paid.mean():12.0f}"
        print(f"{name:10} {figures}   resets", *(resets[0] or ["none"]))
    given.out.mkdir(parents=True, exist_ok=True)
    draw(first, steps).savefig(given.out / "keep-cool.png", dpi=130)
