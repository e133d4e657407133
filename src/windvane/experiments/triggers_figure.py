"""The figure of the study of triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windvane.experiments.triggers import (
    DELTAS,
    DRIFT_STEPS,
    JUMP_STEPS,
    QUIET_STEPS,
    RATES,
    SIZES,
    WATCHING_CHANGE,
    WITH_DELTA,
    TriggerStudy,
    interval,
    label,
    median,
    noticed,
)
from windvane.plots import style

COLOURS = dict(
    zip(WATCHING_CHANGE, (style.VERMILION, style.ORANGE, style.BLUE, style.GREEN, style.PURPLE), strict=True)
)
MARKERS = dict(zip(WATCHING_CHANGE, "osD^v", strict=True))
WIDTHS = {label("Likelihood", 0.1): 4.5}  # it lies below ExactBound nearly everywhere, and should be seen


def figure(study: TriggerStudy) -> Any:
    """False alarms, jumps, drift by rate, and the slowest drift over time."""
    page, axes = style.sheet(2, 2, (10.5, 7.4))
    _promises(axes[0, 0], study)
    _by_value(axes[0, 1], study.delays, SIZES)
    axes[0, 1].set_xlabel("size s of the jump")
    axes[0, 1].set_ylabel(f"noticed within {JUMP_STEPS} steps")
    axes[0, 1].set_title(f"A jump after {QUIET_STEPS} quiet steps; delta = 0.1", loc="left", fontsize=10)
    _medians(axes[1, 0], study)
    _over_time(axes[1, 1], study, RATES[0])
    style.legend(page, axes[0, 1], columns=5)
    return page


def _style(name: str) -> dict[str, Any]:
    wide = WIDTHS.get(name)
    return {"color": COLOURS[name], "lw": wide or 1.6, "ms": 9 if wide else 5, "alpha": 0.6 if wide else 1.0}


def _promises(panel: Any, study: TriggerStudy) -> None:
    width = 0.19
    places = np.arange(len(DELTAS))
    for number, (name, shown) in enumerate(zip(WITH_DELTA, WATCHING_CHANGE, strict=False)):
        counts = [study.false_alarms(label(name, delta)) for delta in DELTAS]
        shares = np.array([count / runs for count, runs in counts])
        ends = np.array([interval(*pair) for pair in counts]).T
        at = places + (number - 1.5) * width
        panel.bar(at, shares, 0.9 * width, color=COLOURS[shown])
        panel.errorbar(at, shares, np.abs(ends - shares), fmt="none", ecolor=style.BLACK, lw=1, capsize=2)
    for place, delta in zip(places, DELTAS, strict=True):
        panel.hlines(delta, place - 0.45, place + 0.45, color=style.BLACK, ls="--", lw=1.2)
    panel.set_xticks(places, [f"delta = {delta:g}" for delta in DELTAS])
    panel.set_ylabel("static runs with an alarm")
    panel.set_title("False alarms; the dashes are the promise", loc="left", fontsize=10)
    panel.yaxis.set_major_formatter("{x:.0%}")
    panel.grid(axis="y", lw=0.4, alpha=0.4)


def _by_value(panel: Any, measure: Any, values: Sequence[float]) -> None:
    for name in WATCHING_CHANGE:
        shares = [noticed(measure(value, name)) for value in values]
        panel.plot(values, shares, marker=MARKERS[name], label=name.removesuffix("(0.1)"), **_style(name))
    panel.set_ylim(-0.02, 1.03)
    panel.yaxis.set_major_formatter("{x:.0%}")
    panel.grid(lw=0.4, alpha=0.4)


def _medians(panel: Any, study: TriggerStudy) -> None:
    for name in WATCHING_CHANGE:
        middle = np.array([median(study.times(rate, name)) for rate in RATES])
        shown = np.where(np.isfinite(middle), middle, np.nan)
        panel.plot(RATES, shown, marker=MARKERS[name], **_style(name))
    panel.set_xscale("log")
    panel.set_xticks(RATES, [f"{rate:g}" for rate in RATES])
    panel.minorticks_off()
    panel.set_ylim(bottom=0.0)
    panel.set_xlabel("rate of drift eps")
    panel.set_ylabel("median steps until noticed")
    panel.set_title("Drift from the start; no point: not noticed in most runs", loc="left", fontsize=10)
    panel.grid(lw=0.4, alpha=0.4)


def _over_time(panel: Any, study: TriggerStudy, rate: float) -> None:
    steps = np.arange(0, DRIFT_STEPS + 1)
    for name in WATCHING_CHANGE:
        times = study.times(rate, name)
        share = (times[:, None] <= steps).mean(axis=0)
        panel.plot(steps, share, drawstyle="steps-post", **_style(name))
    panel.set_xlim(0, DRIFT_STEPS)
    panel.set_ylim(-0.02, 1.03)
    panel.yaxis.set_major_formatter("{x:.0%}")
    panel.set_xlabel("step")
    panel.set_ylabel("noticed so far")
    panel.set_title(f"The slowest drift, eps = {rate:g}", loc="left", fontsize=10)
    panel.grid(lw=0.4, alpha=0.4)
