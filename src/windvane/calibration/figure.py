"""The figure of a calibration: false alarms on the left, delays on the right, one line per contestant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from windvane.calibration.rows import CalibrationRow
from windvane.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, sheet

if TYPE_CHECKING:
    from windvane.calibration.safety_report import SafetyRow

COLOURS = (SKY, GREEN, VERMILION, BLUE, ORANGE, PURPLE, BLACK)  # of the jumps, in the order given
SPREAD = 0.5  # of a line's height is for its jumps
MARKS = [mantissa * 10**power for power in range(7) for mantissa in (1, 2, 5)]


def draw(rows: Sequence[CalibrationRow], *, kind: str, steps: int) -> Any:
    """Made without pyplot: no window, no global state, nothing to close."""
    longest = max(len(row.label) for row in rows)
    size = (8.0 + 0.075 * longest, 1.6 + 0.42 * len(rows))  # inches, with room for the labels
    figure, axes = sheet(1, 2, size, sharey=True, width_ratios=(2, 3))
    left, right = axes[0]
    for panel in (left, right):
        panel.grid(axis="x", lw=0.4, alpha=0.4)
    _false_alarms(left, rows, kind, steps)
    _delays(right, rows, "-" if kind == "delta" else "none")  # deltas have an order, triggers have none
    figure.legend(loc="outside upper right", ncols=len(rows[0].jumps), frameon=False, fontsize=9)
    return figure


def _false_alarms(panel: Any, rows: Sequence[CalibrationRow], kind: str, steps: int) -> None:
    places = range(len(rows))
    for place, row in zip(places, rows, strict=True):
        ends = [100.0 * end for end in row.false_alarms_interval]
        panel.plot(ends, (place, place), color=GREY, lw=2.0, solid_capstyle="butt")
    shares = [100.0 * row.false_alarms for row in rows]
    panel.plot(shares, places, "o", color=BLACK, ms=5)
    names = [f"$\\delta$ = {row.label}" if kind == "delta" else row.label for row in rows]
    panel.set_yticks(places, names)
    panel.set_ylim(len(rows) - 0.5, -0.5)
    widest = max(100.0 * row.false_alarms_interval[1] for row in rows)
    panel.set_xlim(-0.03 * widest, 1.05 * widest)
    panel.set_title(f"runs with a false alarm in {steps} steps", loc="left", fontsize=10)
    panel.set_xlabel(f"% of {len(rows[0].alarms)} runs, 95 % interval", fontsize=9)


def _delays(panel: Any, rows: Sequence[CalibrationRow], style: str) -> None:
    jumps, rest = rows[0].jumps, rows[0].rest
    never = 1.35 * rest  # where what was not noticed is shown
    shift = SPREAD / max(len(jumps) - 1, 1)
    for number, jump in enumerate(jumps):
        colour = COLOURS[number % len(COLOURS)]
        offset = (number - (len(jumps) - 1) / 2.0) * shift
        places = [place + offset for place in range(len(rows))]
        found = [row.delay(jump) for row in rows]
        for place, delay in zip(places, found, strict=True):
            ends = [min(end, never) for end in (delay.low, delay.high)]
            panel.plot(ends, (place, place), color=colour, lw=2.5, alpha=0.4, solid_capstyle="butt")
        medians = [min(delay.median, never) for delay in found]
        panel.plot(medians, places, color=colour, lw=1.0, ls=style)
        for mark, size, late in (("o", 5, False), (">", 7, True)):
            shown = [(x, y) for x, y in zip(medians, places, strict=True) if (x == never) is late]
            panel.plot([x for x, _ in shown], [y for _, y in shown], mark, color=colour, ms=size)
        panel.plot([], [], "o", color=colour, ms=5, label=f"jump {jump:g}")  # for the legend
    panel.axvline(rest, color=GREY, lw=0.9, ls=":")
    panel.set_xscale("log")
    panel.set_xlim(0.85, 1.1 * never)
    marks = [mark for mark in MARKS if mark < rest / 1.5]
    panel.set_xticks([*marks, never], [*map(str, marks), f">{rest}"])
    panel.minorticks_off()
    panel.set_title("observations until a jump is noticed", loc="left", fontsize=10)
    panel.set_xlabel("median and quartiles", fontsize=9)


def draw_safety(rows: Sequence[SafetyRow], *, runs: int, steps: int) -> Any:
    """The share of points that violate against what was allowed, a line for each jump."""
    figure, axes = sheet(1, 1, (6.0, 4.2))
    panel = axes[0][0]
    panel.grid(lw=0.4, alpha=0.4)
    widest = 100.0 * max(1.0 - row.safe for row in rows)
    panel.plot((0.0, widest), (0.0, widest), color=GREY, lw=1.0, ls="--", label="as many as allowed")
    for number, jump in enumerate(dict.fromkeys(row.jump for row in rows)):
        colour = COLOURS[number % len(COLOURS)]
        own = sorted((row for row in rows if row.jump == jump), key=lambda row: row.safe)
        panel.errorbar(
            [100.0 * (1.0 - row.safe) for row in own],
            [100.0 * row.share for row in own],
            yerr=[100.0 * row.share_error for row in own],
            color=colour,
            fmt="o-",
            lw=1.0,
            capsize=2.0,
            label=f"jump {jump:g}" if jump else "no jump",
        )
    panel.set_ylim(bottom=0.0)
    panel.set_title(f"points that violate, % of {runs} runs of {steps} steps", loc="left", fontsize=10)
    panel.set_xlabel("allowed: 1 - safe, %", fontsize=9)
    panel.legend(frameon=False, fontsize=9)
    return figure
