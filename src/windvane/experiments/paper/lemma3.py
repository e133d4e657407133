"""Lemma 3 by simulation: how often the bound is broken while nothing changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.experiment import Cell, Experiment, Setting
from windvane.experiments.figures import GREY, VERMILION, sheet
from windvane.experiments.results import Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import call

DELTAS = (0.05, 0.1, 0.5)
STEPS = 200
CELL = ("Lemma 3", "static")


def cells(_: Setting) -> list[Cell]:
    """One run of GP-UCB on an objective that stands still answers for every delta."""
    measure = call("alarms", deltas=DELTAS, until=1, steps=STEPS)
    return [Cell(*CELL, call("within-model", rate=0.0, horizon=STEPS), call("gp-ucb"), measure=measure)]


def shares(results: Results) -> list[float]:
    """The share of runs with any alarm, a delta."""
    return [
        float(np.mean([run[f"alarms {delta:g}"].size > 0 for run in results[CELL].runs])) for delta in DELTAS
    ]


def table(results: Results) -> TextTable:
    """The promised and the measured share."""
    rows = [
        (f"{delta:g}", f"at most {delta:.0%}", f"**{share:.1%}**")
        for delta, share in zip(DELTAS, shares(results), strict=True)
    ]
    about = f"Share of {results.runs} static runs of {STEPS} steps in which the bound is ever broken."
    return TextTable(("delta_B", "Lemma 3", "here"), rows, (about,))


def figure(results: Results) -> Any:
    """Promise and measurement side by side."""
    page, axes = sheet(1, 1, (6.5, 3.6))
    panel, places = axes[0, 0], np.arange(len(DELTAS))
    panel.bar(places - 0.2, DELTAS, 0.38, color=GREY, label="allowed by Lemma 3")
    found = shares(results)
    panel.bar(places + 0.2, found, 0.38, color=VERMILION, label="measured")
    for place, share in zip(places, found, strict=True):
        panel.annotate(f"{share:.1%}", (place + 0.2, share), ha="center", va="bottom", fontsize=9)
    panel.set_xticks(places, [f"$\\delta_B$ = {delta:g}" for delta in DELTAS])
    panel.set_ylabel("share of static runs with an alarm")
    panel.legend(frameon=False, loc="upper left")
    return page


def claims(results: Results) -> list[Claim]:
    """The lemma itself."""
    found = shares(results)
    evidence = ", ".join(f"{share:.1%} at {delta:g}" for delta, share in zip(DELTAS, found, strict=True))
    return [
        Claim(
            "While nothing changes, the bound is broken with probability at most delta_B.",
            verdict_of(share <= delta for delta, share in zip(DELTAS, found, strict=True)),
            f"shares of runs with an alarm: {evidence}",
        )
    ]


EXPERIMENT = Experiment(
    name="lemma3",
    source="Lemma 3",
    title="False alarms while nothing changes",
    runs=1000,
    quick=100,
    cells=cells,
    table=table,
    figure=figure,
    claims=claims,
)
