"""Theorem 1 and Corollary 1 in figures: windows, terms, and whether the bound says anything.

The domain is the cube [0, 1]^d and the kernel has unit variance, as everywhere in the paper's analysis.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from windvane.experiments.regret_bounds import MOST_STEPS, BoundProblem
from windvane.experiments.tables import TextTable
from windvane.files import write_text, writing
from windvane.plots import style

GRID = 120  # points a curve of the figure
TERMS = {"exploration": style.BLUE, "variance_mismatch": style.GREEN, "mean_mismatch": style.PURPLE}


def plain(problem: BoundProblem) -> dict[str, Any]:
    """Everything, as JSON."""
    found, window, order = problem.bound(), problem.window(), problem.order
    low_gain = problem.gain(window[1])
    return {
        "problem": {**asdict(problem), "rates": list(problem.rates)},
        "window": list(window),
        "beta": found.beta,
        "gamma": {"greedy": low_gain, "upper": found.gamma, "observations": window[1]},
        "theorem1": {**{term: getattr(found, term) for term in TERMS}, "constant": found.constant},
        "total": found.total,
        "trivial": problem.trivial(),
        "vacuous": found.total >= problem.trivial(),
        "informative_below": problem.informative,
        "corollary1": None if order is None else {**asdict(order), "largest": order.largest},
        "sublinear_below": problem.region,
    }


def tables(problem: BoundProblem) -> list[tuple[str, TextTable]]:
    """The window and its ingredients, Theorem 1 term by term, Corollary 1."""
    found, (shortest, longest), steps = problem.bound(), problem.window(), problem.horizon
    low, high = problem.rates
    greedy = problem.gain(longest)
    beyond = ", beyond its last step by its last increment" if longest > MOST_STEPS else ""
    c = problem.constants
    first = TextTable(
        ("quantity", "value", "meaning"),
        (
            (
                "window",
                f"[{shortest}, {longest}]",
                f"N_low, N_high for {low:g} <= eps <= {high:g} (Corollary 1)",
            ),
            ("beta_T", f"{found.beta:.1f}", f"weight of exploration, delta = {problem.delta:g}"),
            (
                "gamma",
                f"{found.gamma:.1f}",
                f"of {longest} observations, at most; greedy {greedy:.1f}{beyond}",
            ),
            ("a0, b0", f"{c.a0:.3g}, {c.b0:.3g}", "P{sup |f| > L} <= a0 exp(-(L/b0)^2) (Assumption 3)"),
            ("a1, b1", f"{c.a1:.3g}, {c.b1:.3g}", "the same for derivatives"),
        ),
    )
    trivial = problem.trivial()
    terms = [(term.replace("_", " "), getattr(found, term)) for term in TERMS]
    lines = [*terms, ("constant", found.constant), ("Theorem 1", found.total), ("trivial bound", trivial)]
    second = TextTable(
        ("term", "R_T", "R_T / T", "share of the trivial bound"),
        [(name, f"{value:.4g}", f"{value / steps:.4g}", f"{value / trivial:.3g}") for name, value in lines],
    )
    shown = [
        ("Windows and constants", first),
        (
            f"Theorem 1 at eps = {problem.rate:g}, T = {steps}: regret, at most, with probability "
            f"{1.0 - problem.delta:g}",
            second,
        ),
    ]
    order = problem.order
    if order is not None:
        orders = ("static", "exploration", "variance_mismatch", "mean_mismatch")
        third = TextTable(
            ("order", "of R_T", "of R_T / T"),
            [
                (name.replace("_", " "), f"{getattr(order, name):.4g}", f"{getattr(order, name) / steps:.3g}")
                for name in orders
            ],
        )
        shown.append(("Corollary 1: orders, without constants and logarithms", third))
    return shown


def verdicts(problem: BoundProblem) -> list[str]:
    """What it all means, in sentences."""
    found, trivial = problem.bound(), problem.trivial()
    said = []
    if found.total >= trivial:
        said.append(
            f"Theorem 1 is VACUOUS here: it allows {found.total / trivial:.2g} times what any algorithm, "
            "however bad, could lose with the same probability. It shows how regret scales, "
            "not how large it is."
        )
    else:
        said.append(
            f"Theorem 1 says something here: {found.total / trivial:.2g} of what any algorithm could lose."
        )
    if problem.informative is None:
        said.append("At this horizon it is vacuous at every rate, even at 0.")
    else:
        said.append(f"At this horizon it says something for eps up to {problem.informative:.2g}.")
    if problem.no_order is not None:
        said.append(f"Corollary 1's orders: {problem.no_order}.")
    if problem.order is not None:
        power = problem.order.rate_exponent
        said.append(
            f"Corollary 1: the regret grows as T times eps^{power:.3g} (eps^{2 * power:.3g} where the mean "
            "mismatch rules) once change dominates."
        )
    if problem.region is not None:
        inside = "inside" if problem.rate <= problem.region else "outside"
        said.append(
            f"Sub-linear regret: for eps <= {problem.region:.2g} at T = {problem.horizon}; "
            f"eps = {problem.rate:g} is {inside}."
        )
    return said


def markdown(problem: BoundProblem) -> str:
    """Tables and sentences."""
    parts = ["# Theorem 1 and Corollary 1"]
    for title, table in tables(problem):
        parts += [f"## {title}", table.markdown()]
    return "\n\n".join([*parts, *verdicts(problem)]) + "\n"


def figure(problem: BoundProblem) -> Any:
    """The terms over the rate and over the horizon, log-log, beside the trivial bound."""
    page, axes = style.sheet(1, 2, (10.5, 4.4), sharey=True)
    low, high = problem.lambdas or (1.0, 1.0)
    least = min(problem.region or problem.horizon**-4.0, problem.informative or 1.0) / 30.0
    rates = np.geomspace(least, 0.98 / high, GRID)
    horizons = np.unique(
        np.logspace(1.0, max(4.0, math.log10(problem.horizon) + 1.0), GRID).round().astype(int)
    )
    over_rate = [problem.bound(rate, (low * rate, min(high * rate, 1.0))) for rate in rates.tolist()]
    over_horizon = [problem.bound(horizon=steps) for steps in horizons.tolist()]
    trivial = [problem.trivial(steps) / steps for steps in horizons.tolist()]
    for panel, x, found, steps in (
        (axes[0, 0], rates, over_rate, np.full(len(rates), problem.horizon)),
        (axes[0, 1], horizons, over_horizon, horizons),
    ):
        for term, shade in TERMS.items():
            values = np.array([getattr(bound, term) for bound in found]) / steps
            panel.loglog(x, np.where(values > 0.0, values, np.nan), color=shade, label=term.replace("_", " "))
        total = np.array([bound.total for bound in found]) / steps
        panel.loglog(x, total, color="#b5b5b5", lw=5.0, label="Theorem 1", zorder=1)
        panel.grid(lw=0.4, alpha=0.4)
    flat = np.full(len(rates), problem.trivial() / problem.horizon)
    dashed = {"color": style.VERMILION, "ls": "--", "label": "trivial bound"}
    axes[0, 0].loglog(rates, flat, **dashed)
    axes[0, 1].loglog(horizons, trivial, **dashed)
    axes[0, 0].set_title(f"T = {problem.horizon}, window from {_interval(problem)}", loc="left", fontsize=10)
    axes[0, 1].set_title(f"eps = {problem.rate:g}", loc="left", fontsize=10)
    axes[0, 0].set_xlabel("rate of change eps")
    axes[0, 1].set_xlabel("horizon T")
    axes[0, 0].set_ylabel("bound on the regret per step, $R_T / T$")
    for panel, here in ((axes[0, 0], problem.rate), (axes[0, 1], problem.horizon)):
        if here > 0.0:
            panel.axvline(here, color=style.GREY, lw=0.9, ls=":")
    axes[0, 0].set_ylim(bottom=1e-2 * problem.trivial() / problem.horizon)
    style.legend(page, axes[0, 0], columns=5)
    return page


def _interval(problem: BoundProblem) -> str:
    if problem.lambdas is None or problem.rates[0] == problem.rates[1]:
        return "the rate itself"
    low, high = problem.lambdas
    return f"[{low:.2g} eps, {high:.2g} eps]"


def write(problem: BoundProblem, folder: Path) -> None:
    """bound.md, bound.json, figure.png and figure.pdf."""
    with writing(f"--out {folder}", "choose a folder you can write to"):
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / "bound.md", markdown(problem))
        write_text(folder / "bound.json", json.dumps(plain(problem), indent=1) + "\n")
        style.save(figure(problem), folder)
