"""Lemma 3 by simulation: how often the bound is broken while nothing changes, also after a reset.

After a reset Alg. 1 keeps the point that fired, which was selected for being surprising. Lemma 3 treats what
follows as if it had not been. So the runs that have had an alarm continue on an objective that stands still,
once with that point and once emptied. They are of two kinds: false alarms, for which the exact bound at a
large delta is used since Lemma 3's are too rare to be counted, and alarms after a jump that replaces all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from windvane.experiments.claims import Claim, judged, share_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.resets import Share
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import Call, call
from windvane.plots.style import GREY, SKY, VERMILION, sheet
from windvane.triggers import ExactBound, PosteriorBound, Trigger

DELTAS = (0.05, 0.1, 0.5)
STEPS = 200
CELL = ("Lemma 3", "static")


HORIZON = 500
JUMP = 1 + HORIZON // 2  # the step from which the second kind of objective is another one
KEPT, EMPTIED = "kept", "emptied"


class Aftermath(NamedTuple):
    """Alarms that are followed up: of which trigger, on which objective, from which step on."""

    trigger: Trigger
    delta: float
    task: Call
    since: int


STILL = call("within-model", rate=0.0, horizon=HORIZON)
JUMPING = call("jumps", share=1.0, count=1, horizon=HORIZON)
AFTER = {
    "a false alarm, ExactBound(0.5)": Aftermath(ExactBound(0.5), 0.5, STILL, 1),
    "a false alarm, ExactBound(0.1)": Aftermath(ExactBound(0.1), 0.1, STILL, 1),
    "a jump, Lemma 3 at 0.1": Aftermath(PosteriorBound(0.1), 0.1, JUMPING, JUMP),
    "a jump, Lemma 3 at 0.5": Aftermath(PosteriorBound(0.5), 0.5, JUMPING, JUMP),
}
ROW = "after a reset"


def cells(_: Setting) -> list[Cell]:
    """One run of GP-UCB on an objective that stands still answers for every delta."""
    measure = call("alarms", deltas=DELTAS, until=1, steps=STEPS)
    static = Cell(*CELL, call("within-model", rate=0.0, horizon=STEPS), call("gp-ucb"), measure=measure)
    after = [
        Cell(
            ROW,
            name,
            one.task,
            call("et-gp-ucb", trigger=one.trigger),
            measure=call("after alarm", since=one.since, steps=STEPS),
        )
        for name, one in AFTER.items()
    ]
    return [static, *after]


def hits(results: Results, delta: float) -> list[bool]:
    """Which runs have any alarm."""
    return [bool(run[f"alarms {delta:g}"].size) for run in results[CELL].runs]


def again(results: Results, name: str, way: str) -> list[bool]:
    """Of the runs that had a first alarm, which have another one."""
    return [bool(run[way].size) for run in results[ROW, name].runs if run["first"].size]


def shares(results: Results) -> list[float]:
    """The share of runs with any alarm, a delta."""
    return [float(np.mean(hits(results, delta))) for delta in DELTAS]


def table(results: Results) -> TextTable:
    """The promised and the measured share."""
    rows = [
        ("from the start", f"{delta:g}", f"at most {delta:.0%}", f"**{share:.1%}**", "–")
        for delta, share in zip(DELTAS, shares(results), strict=True)
    ]
    for name, one in AFTER.items():
        with_it, without = (again(results, name, way) for way in (KEPT, EMPTIED))
        measured = [str(Share(sum(found), len(found))) if found else "no run" for found in (with_it, without)]
        promise = f"{one.delta:.0%}" if isinstance(one.trigger, ExactBound) else f"at most {one.delta:.0%}"
        rows.append((f"after {name}", f"{one.delta:g}", promise, f"**{measured[0]}**", measured[1]))
    about = (
        f"Share of {results.runs} runs in which the bound is broken within {STEPS} steps during which "
        "nothing changes. After a reset: of those runs that had one, with the point that fired, as Alg. 1 "
        "keeps it, and with none (95 % intervals)."
    )
    header = ("counted", "delta_B", "promised", "here", "here, emptied")
    return TextTable(header, rows, (about,))


def figure(results: Results) -> Any:
    """Promise and measurement side by side: from the start, and after a reset."""
    page, axes = sheet(1, 2, (13.0, 3.9))
    panel, places = axes[0, 0], np.arange(len(DELTAS))
    panel.bar(places - 0.2, DELTAS, 0.38, color=GREY, label="allowed by Lemma 3")
    found = shares(results)
    panel.bar(places + 0.2, found, 0.38, color=VERMILION, label="measured")
    for place, share in zip(places, found, strict=True):
        panel.annotate(f"{share:.1%}", (place + 0.2, share), ha="center", va="bottom", fontsize=9)
    panel.set_xticks(places, [f"$\\delta_B$ = {delta:g}" for delta in DELTAS])
    panel.set_ylabel("share of static runs with an alarm")
    panel.legend(frameon=False, loc="upper left")
    panel, places = axes[0, 1], np.arange(len(AFTER))
    panel.bar(places - 0.27, [one.delta for one in AFTER.values()], 0.25, color=GREY, label="promised")
    for shift, way, shade in ((0.0, KEPT, VERMILION), (0.27, EMPTIED, SKY)):
        found = [float(np.mean(again(results, name, way) or [False])) for name in AFTER]
        panel.bar(places + shift, found, 0.25, color=shade, label=f"measured, {way}")
    panel.set_xticks(places, [f"after {name.replace(', ', ',' + chr(10))}" for name in AFTER], fontsize=8)
    panel.set_ylabel("share of runs with another alarm")
    panel.set_ylim(0.0, 0.8)  # the legend above the bars
    panel.legend(frameon=False, loc="upper right")
    return page


def claims(results: Results) -> list[Claim]:
    """The lemma itself, and what it says after a reset."""
    found = shares(results)
    evidence = ", ".join(f"{share:.1%} at {delta:g}" for delta, share in zip(DELTAS, found, strict=True))
    after = {name: again(results, name, KEPT) for name in AFTER}
    counted = ", ".join(
        f"{np.mean(hit):.0%} of {len(hit)} after {name}" for name, hit in after.items() if hit
    )
    return [
        judged(
            "While nothing changes, the bound is broken with probability at most delta_B.",
            [share_of(hits(results, delta)).below(delta) for delta in DELTAS],
            f"shares of runs with an alarm: {evidence}",
        ),
        judged(
            "The same after a reset, with the point that fired kept.",
            [share_of(hit).below(AFTER[name].delta) for name, hit in after.items()],
            f"another alarm within {STEPS} steps: {counted or 'no run had a first one'}",
        ),
    ]
