"""Runs under limits -> figures over seeds, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from peers.intervals import Interval, difference, mean, ratio
from peers.limits import MODES, RIVALS, WORLDS
from peers.lines import Row

WANTED = 3.5  # times a step without limits, at most, for a step with two

Figure = Callable[[Row], float]  # of one run


def share(run: Row) -> float:
    """Of the asked points, those truly beyond a limit."""
    return float(np.mean(run["violated"]))


def within(run: Row) -> float:
    """Of the asked points, those truly within all limits."""
    return 1.0 - share(run)


def share_but_first(run: Row) -> float:
    """The same without the steps at which the world has just jumped, of which nobody can know."""
    first = {step - 1 for step in run["jumps"]}
    return float(np.mean([broken for at, broken in enumerate(run["violated"]) if at not in first]))


def feasible_regret(run: Row) -> float:
    """The mean over the steps within all limits; nan if there is none."""
    kept = [regret for regret, broken in zip(run["regret"], run["violated"], strict=True) if not broken]
    return float(np.mean(kept)) if kept else float("nan")


def regret(run: Row) -> float:
    """The mean over all steps; a point beyond a limit may be better than any within."""
    return float(np.mean(run["regret"]))


def value(run: Row) -> float:
    return float(np.mean(run["value"]))


def simple_regret(run: Row) -> float:
    """Of the best of the asked points that were within all limits; nan if there was none."""
    kept = [each for each, broken in zip(run["regret"], run["violated"], strict=True) if not broken]
    return float(min(kept, default=float("nan")))


def milliseconds(run: Row) -> float:
    return 1e3 * float(np.mean(run["cpu"]))


def jumps(run: Row) -> float:
    return float(len(run["jumps"]))


def percent(found: Interval) -> str:
    return "{:.1f} ({:.1f} to {:.1f})".format(*(100.0 * each for each in found))


def points(found: Interval) -> str:
    return "{:+.1f} ({:+.1f} to {:+.1f})".format(*(100.0 * each for each in found))


def number(found: Interval) -> str:
    return "{:.3g} ({:.3g} to {:.3g})".format(*found)


def times(found: Interval) -> str:
    return "{:.2f} ({:.2f} to {:.2f})".format(*found)


def alone(found: Interval) -> str:
    return f"{found[0]:.3g}"


Own = tuple[str, Figure, Callable[[Interval], str]]
Pair = tuple[str, Figure, Callable[[np.ndarray, np.ndarray], Interval], Callable[[Interval], str]]

BEYOND: Own = ("beyond a limit, %", share, percent)
FEASIBLE: Own = ("regret, steps within", feasible_regret, number)
TIME: Own = ("ms a step", milliseconds, alone)
LESS_REGRET: Pair = ("its regret, steps within", feasible_regret, ratio, times)
LESS_BEYOND: Pair = ("its share beyond, difference in points", share, difference, points)

COLUMNS: dict[str, tuple[list[Own], list[Pair]]] = {
    "static": (
        [BEYOND, ("value", value, number), FEASIBLE, ("simple regret", simple_regret, number), TIME],
        [
            LESS_BEYOND,
            LESS_REGRET,
            ("its simple regret", simple_regret, ratio, times),
            ("its time", milliseconds, ratio, times),
        ],
    ),
    "changing": (
        [
            BEYOND,
            ("jumps", jumps, alone),
            ("beyond, without the first step after a jump, %", share_but_first, percent),
            FEASIBLE,
            ("regret, all steps", regret, number),
            TIME,
        ],
        [LESS_BEYOND, LESS_REGRET],
    ),
    "optuna": (
        [("within all limits, %", within, percent), FEASIBLE, TIME],
        [("its share within", within, ratio, times), LESS_REGRET],
    ),
}


def common(runs: Sequence[Row], world: str, rivals: Sequence[str]) -> list[int]:
    """The seeds of a world that all rivals have finished who have finished any."""
    seeds = [{run["seed"] for run in runs if (run["world"], run["rival"]) == (world, r)} for r in rivals]
    return sorted(set.intersection(*filter(None, seeds))) if any(seeds) else []


def paired(
    ours: np.ndarray, theirs: np.ndarray, compare: Callable[[np.ndarray, np.ndarray], Interval]
) -> Interval:
    """Over the seeds for which both have the figure."""
    both = np.isfinite(ours) & np.isfinite(theirs)
    return compare(ours[both], theirs[both])


def table(part: str, runs: Sequence[Row], worlds: Sequence[str], rivals: Sequence[str], ours: str) -> str:
    """A row for each world and rival; the last columns compare one rival with the others, seed by seed."""
    own, pairs = COLUMNS[part]
    pairs = pairs if ours in rivals else []
    head = ["world", "rival", "runs", *(name for name, *_ in own), *(f"{ours}: {name}" for name, *_ in pairs)]
    lines = ["| " + " | ".join(head) + " |", "|:--|:--|" + "--:|" * (len(head) - 2)]
    for world in worlds:
        seeds = common(runs, world, rivals)
        by = {(run["rival"], run["seed"]): run for run in runs if run["world"] == world}

        def figures(rival: str, figure: Figure, by: dict = by, seeds: list[int] = seeds) -> np.ndarray:
            return np.array([figure(by[rival, seed]) for seed in seeds])

        for rival in rivals:
            cells = [world if rival == rivals[0] else "", RIVALS[rival][0]]
            if not seeds or (rival, seeds[0]) not in by:
                lines.append("| " + " | ".join([*cells, "0", *[""] * (len(head) - 3)]) + " |")
                continue
            cells.append(str(len(seeds)))
            for _, figure, show in own:
                found = figures(rival, figure)
                cells.append(show(mean(found[np.isfinite(found)])))
            for _, figure, compare, show in pairs:
                alike = rival == ours or (ours, seeds[0]) not in by
                theirs = figures(rival, figure)
                cells.append("" if alike else show(paired(figures(ours, figure), theirs, compare)))
            lines.append("| " + " | ".join(cells) + " |")
    said = "; ".join(f"{world}: {WORLDS[world][0]}" for world in worlds)
    lines += [
        "",
        f"{said}.",
        "In brackets 95 % intervals by bootstrap over seeds, paired where two are compared.",
    ]
    return "\n".join(lines) + "\n"


def cost_table(runs: Sequence[Row]) -> str:
    """Milliseconds a step without limits, with two, and with two in safe mode: medians over repeats."""
    lines = ["| | mean step, ms | times none | median step, ms | times none |", "|:--|--:|--:|--:|--:|"]
    figures = {name: {} for name in MODES}
    for average in (np.mean, np.median):
        for name in MODES:
            figures[name][average] = np.array([1e3 * average(run[name]) for run in runs])
    for name in MODES:
        cells = []
        for average in (np.mean, np.median):
            mine, none = figures[name][average], figures["none"][average]
            each = mine / none
            cells.append(f"{np.median(mine):.2f}")
            cells.append(f"{np.median(each):.2f} ({each.min():.2f} to {each.max():.2f})")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    steps = sorted({run["steps"] for run in runs})
    lines += [
        "",
        f"{len(runs)} repeats of {', '.join(map(str, steps))} steps with two constraints, d = 2, the three "
        "taking turns at every step; medians over repeats, in brackets the least and the most. "
        f"At most {WANTED} is wanted.",
    ]
    return "\n".join(lines) + "\n"
