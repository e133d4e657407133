"""Tune the PID controller of a drive that wears, batch after batch, while it works.

For 240 batches the motor weakens and friction and dead time grow; then a stronger motor is put in. Nobody
tells the controller. Contestants see the same batches, after 30 batches of commissioning that do not count:

  fixed      the gains that were best after commissioning, never touched again
  gp-ucb     Bayesian optimisation that believes all it ever saw
  et-gp-ucb  drops its data when a batch breaks the bound
  auto       Windvane's default, which weighs hypotheses about how things change
  oracle     knows the drive, and is tuned anew by brute force every 20 batches

Prints the mean cost of a batch (less is better) and draws the first run. The drive itself is in drive.py.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from drive import aged, cost, tuned

import windvane as wv
from windvane.plots import style

SPACE = wv.Space(kp=wv.Real(3, 30, log=True), ki=wv.Real(0.3, 6, log=True), kd=wv.Real(1, 8, log=True))
NAMES = ("fixed", "gp-ucb", "et-gp-ucb", "auto", "oracle")


def contest(seed, start, wear, after):
    """Cost and kp of each batch, batches x contestants, and the batches of resets by name."""
    rng = np.random.default_rng(seed)
    opts = {name: wv.make(name, SPACE, goal="minimize", seed=seed) for name in ("gp-ucb", "auto")}
    learning = wv.LearnThenMonitor(steps=start)  # from the whole of commissioning
    opts["et-gp-ucb"] = wv.make("et-gp-ucb", SPACE, goal="minimize", seed=seed, learning=learning)
    costs, kps, resets = [], [], {name: [] for name in opts}
    for batch in range(-start, wear + after):
        drive = aged(max(batch, 0) / wear) if batch < wear else aged((batch - wear) / wear, motor=3.0)
        tried = {name: opt.ask() for name, opt in opts.items()}
        if batch == 0:
            fixed = opts["gp-ucb"].best().x
        if batch == -start or (batch >= 0 and batch % 20 == 0):
            oracle = tuned(SPACE, drive)
        tried |= {"fixed": fixed if batch >= 0 else oracle, "oracle": oracle}
        gains = np.array([list(tried[name].values()) for name in NAMES]).T
        spent = dict(zip(NAMES, cost(gains, drive, rng), strict=True))
        for name, opt in opts.items():
            event = opt.tell(tried[name], math.log(spent[name]))  # a bad batch costs 20 times a good one
            if event.reset:
                resets[name].append(batch)
        if batch >= 0:
            costs.append(list(spent.values()))
            kps.append(gains[0])
    return np.array(costs), np.array(kps), resets


def draw(costs, kps, resets, overhaul):
    """The cost, smoothed, and how the proportional gain follows the oracle's."""
    figure, ((above,), (below,)) = style.sheet(2, 1, (8, 5.4), sharex=True)
    calm = np.transpose([np.median(costs[max(0, i - 7) : i + 8], axis=0) for i in range(len(costs))])
    for (name, look), smooth, kp in zip(style.looks(NAMES).items(), calm, kps.T, strict=True):
        above.plot(smooth, label=name, **look.line)
        above.plot(resets.get(name, []), [0.4] * len(resets.get(name, [])), "^", color=look.colour)
        below.plot(kp, ".", color=look.colour, ms=6 if name == "oracle" else 3)
    above.set(ylabel="cost, median of 15 batches", yscale="log")
    below.set(ylabel="proportional gain kp", yscale="log", xlabel="batch (triangles: resets)")
    for panel, ticks in ((above, (0.5, 1, 2, 4)), (below, (3, 5, 10, 20, 30))):
        panel.axvline(overhaul, color="black", ls=":")
        panel.set_yticks(ticks, map(str, ticks))
        panel.minorticks_off()
    style.legend(figure, above, 5)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few batches, too few to judge by")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--runs", type=int, default=1, help="how many seeds")
    given = parser.parse_args()
    start, wear, after = (12, 20, 8) if given.short else (30, 240, 80)
    runs = [contest(given.seed + number, start, wear, after) for number in range(given.runs)]
    few = "(a few batches only: too few to judge by)" if given.short else ""
    print("mean cost per batch all    new   worn  overhauled; resets in the first run", few)
    for name, costs in zip(NAMES, np.mean([costs for costs, _, _ in runs], axis=0).T, strict=True):
        parts = (costs, costs[: wear // 2], costs[wear // 2 : wear], costs[wear:])
        resets = runs[0][2].get(name) or ["none"]
        print(f"{name:16}", *(f"{part.mean():6.2f}" for part in parts), "  resets", *resets)
    given.out.mkdir(parents=True, exist_ok=True)
    draw(*runs[0], wear).savefig(given.out / "wearing-pid.png", dpi=130)
