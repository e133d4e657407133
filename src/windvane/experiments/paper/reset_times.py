"""Fig. 2 (left) and the figure of Appendix D: when ET-GP-UCB resets first, by the size of the window.

Until its first reset ET-GP-UCB is GP-UCB, so one run of GP-UCB answers for every window. The figure of the
appendix has three rows and the table of hyperparameters two rates; the third, 0.01, is our guess: the lowest
rate of Table 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.checks import Array
from windvane.experiments.claims import ANYWHERE, ENOUGH, Check, Claim, Interval, judged, mean_of, share_of
from windvane.experiments.experiment import Cell, Setting
from windvane.experiments.paper.rates import column
from windvane.experiments.paper.windows import HORIZON, Window, objective, period, window
from windvane.experiments.paper.windows import RATES as KNOWN
from windvane.experiments.results import Group, Results
from windvane.experiments.tables import TextTable
from windvane.experiments.trial import call
from windvane.late import stats
from windvane.plots.style import BLACK, GREY, ramp, sheet

GUESSED = 0.01
RATES = (GUESSED, *KNOWN)
DELTA = 0.1
SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
ROW = "first reset"
NEVER = np.iinfo(np.int64).max
FAMILIES: dict[str, tuple[str, dict[str, float]]] = {  # SciPy's, two parameters each, by maximum likelihood
    "inverse gamma": ("invgamma", {"floc": 0.0}),
    "lognormal": ("lognorm", {"floc": 0.0}),
    "gamma": ("gamma", {"floc": 0.0}),
    "normal": ("norm", {}),
}
CLOSE = 0.05  # Kolmogorov-Smirnov distance that the eye takes for the same shape
KOLMOGOROV = 1.36  # over the root of the number of runs: the distance that chance alone may give
TAIL = 0.05  # of the first resets: what we call a tail that is cut off
Steps = npt.NDArray[np.int64]


def cells(_: Setting) -> list[Cell]:
    """A run ends with the first alarm from N on: the narrowest window needs no more."""
    return [
        Cell(
            ROW,
            column(rate),
            objective(rate),
            call("gp-ucb"),
            measure=call("alarms", deltas=(DELTA,), until=period(rate), steps=HORIZON),
        )
        for rate in RATES
    ]


def first_resets(group: Group, limits: Window) -> tuple[Steps, npt.NDArray[np.bool_]]:
    """The step of each run's first reset, and whether N_high forced it (at T: not yet reset)."""
    low, high = limits
    found = [run[f"alarms {DELTA:g}"] for run in group.runs]
    alarms = np.full((len(found), max(1, *(len(steps) for steps in found))), NEVER)
    for line, steps in zip(alarms, found, strict=True):
        line[: len(steps)] = steps
    first = np.where(alarms >= low, alarms, NEVER).min(axis=1)
    return np.minimum(first, high), first > high


def distances(steps: Steps) -> dict[str, float]:
    """Kolmogorov-Smirnov distance of each family, fitted to whole steps, from their distribution."""
    places = np.arange(1, HORIZON + 1)
    empirical = np.searchsorted(np.sort(steps), places, side="right") / len(steps)
    found = {}
    for family, (name, fixed) in FAMILIES.items():
        distribution = getattr(stats, name)
        fitted = distribution.cdf(places + 0.5, *distribution.fit(steps, **fixed))
        found[family] = float(np.abs(empirical - fitted).max())
    return found


def table(results: Results) -> TextTable:
    """A row a rate and window."""
    rows = []
    for rate in RATES:
        for share in SHARES:
            low, high = limits = window(rate, share)
            steps, forced = first_resets(results[ROW, column(rate)], limits)
            lower, median, upper = np.percentile(steps, (25, 50, 75))
            numbers = (
                f"{steps.mean():.1f}",
                f"{median:.0f}",
                f"{lower:.0f}–{upper:.0f}",
                f"{forced.mean():.1%}",
            )
            rows.append((column(rate), str(high - low), str(low), str(high), *numbers))
    return TextTable(
        ("rate", "W", "N_low", "N_high", "mean", "median", "quartiles", "forced at N_high"),
        rows,
        (
            f"Step of the first reset; {results.runs} objectives a rate, the same for every window. At "
            f"N_high = {HORIZON} `forced` means: not reset by the end. The third rate of Fig. 14 is not in "
            f"the text; {GUESSED:g} is our guess.",
        ),
    )


def figure(results: Results) -> Any:
    """Ridges on the left, distribution functions on the right, one row per rate."""
    page, axes = sheet(len(RATES), 2, (11.5, 12.0), sharex=True)
    for (ridges, curves), rate in zip(axes, RATES, strict=True):
        group = results[ROW, column(rate)]
        for number, share in enumerate(SHARES):
            limits = window(rate, share)
            steps, forced = first_resets(group, limits)
            shade = ramp(number / (len(SHARES) - 1))
            _ridge(ridges, number, limits, steps, forced, shade)
            _distribution(curves, limits, steps, forced, shade)
        sizes = [high - low for low, high in (window(rate, share) for share in SHARES)]
        ridges.set_yticks(np.arange(len(SHARES)), [f"W = {size}" for size in sizes])
        ridges.set_ylim(-0.15, len(SHARES) + 0.3)
        ridges.set_xlim(0, HORIZON + 14)
        guess = " (a guess)" if rate == GUESSED else ""
        ridges.set_title(
            f"$\\varepsilon$ = {rate:g}{guess}: histograms, each scaled to its highest bar",
            loc="left",
            fontsize=10,
        )
        curves.set_title(
            f"$\\varepsilon$ = {rate:g}: share of runs that were reset by then", loc="left", fontsize=10
        )
        curves.set_ylim(0.0, 1.04)
        curves.grid(axis="y", lw=0.4, alpha=0.4)
        curves.legend(frameon=False, fontsize=8, loc="lower right", title="W")
    for panel in axes[-1]:
        panel.set_xlabel("step of the first reset")
    return page


def _ridge(panel: Any, base: int, limits: Window, steps: Steps, forced: Any, colour: Any) -> None:
    """The resets by trigger as a histogram; the share that N_high forced as a stem with its figure."""
    low, high = limits
    panel.axhline(base, color=GREY, lw=0.5, zorder=20 - 2 * base)
    label = f"{forced.mean():.0%} " + ("not reset" if high == HORIZON else "forced")
    if high == low:
        panel.vlines(high, base, base + 0.85, color=colour, lw=2.5, zorder=21 - 2 * base)
        label = "N of R-GP-UCB"
    else:
        width = 2 if len(steps) >= 3000 else 6
        edges = np.arange(low, high + width + 1, width) - 0.5
        heights = np.histogram(steps[~forced], edges)[0].astype(np.float64)
        heights *= 0.95 / max(heights.max(), 1.0)
        panel.stairs(
            base + heights, np.minimum(edges, high + 0.5), baseline=base, fill=True, alpha=0.75, color=colour,
            zorder=20 - 2 * base,
        )  # fmt: skip
        panel.vlines((low, high), base, base + 0.3, color=BLACK, lw=0.8, zorder=21 - 2 * base)
    panel.annotate(
        label, (high, base), (-4 if high == HORIZON else 4, 3), textcoords="offset points", fontsize=7.5,
        ha="right" if high == HORIZON else "left", color=BLACK, zorder=60,
    )  # fmt: skip


def _distribution(panel: Any, limits: Window, steps: Steps, forced: Any, colour: Any) -> None:
    """Jumps to one at N_high, but not at T, where a run without a reset has none."""
    low, high = limits
    ended = high == HORIZON
    places = np.arange(0, HORIZON + 1)
    seen = np.sort(steps[~forced] if ended else steps)
    share: Array = np.searchsorted(seen, places, side="right") / len(steps)
    panel.step(places, share, where="post", color=colour, lw=1.6, label=str(high - low))
    if ended:
        panel.plot(HORIZON, share[-1], "o", mfc="white", mec=colour, ms=5, clip_on=False)


def _shape(steps: Steps) -> tuple[list[Check], str]:
    """Whether they look like an inverse gamma distribution: skewed, close to one, closest of the families."""
    apart = distances(steps)
    standard = (steps - steps.mean()) / steps.std()
    ours, nearest = apart["inverse gamma"], min(d for family, d in apart.items() if family != "inverse gamma")
    chance = KOLMOGOROV / len(steps) ** 0.5
    decides = len(steps) >= ENOUGH
    distance = Interval(ours - chance, ours + chance) if decides else ANYWHERE
    gap = Interval(ours - nearest - 2 * chance, ours - nearest + 2 * chance) if decides else ANYWHERE
    listed = ", ".join(f"{family} {distance:.3f}" for family, distance in apart.items())
    checks = [mean_of(standard**3).above(0.0), distance.below(CLOSE), gap.below(0.0)]
    return checks, f"skewness {float(stats.skew(steps)):+.1f}; {listed}"


def claims(results: Results) -> list[Claim]:
    """What Section 6.1 says of the figure."""
    cut: list[Check] = []
    shape: list[Check] = []
    tails, fits = [], []
    for rate in RATES:
        group = results[ROW, column(rate)]
        widest, never = first_resets(group, window(rate, 1.0))
        found = [first_resets(group, window(rate, share)) for share in SHARES]
        spreads = [float(np.subtract(*np.percentile(steps, (99, 1)))) for steps, _ in found]
        forced = [float(late.mean()) for _, late in found]
        low, high = window(rate, SHARES[2])
        cut += [share_of(widest < low).above(TAIL), share_of(widest > high).above(TAIL)]
        tails.append(
            f"{column(rate)}: unrestricted, {np.mean(widest < low):.1%} of first resets come before "
            f"{low} and {np.mean(widest > high):.1%} after {high}, the window W = {high - low}; from the "
            f"narrowest window to the widest, 98% of the resets spread over {spreads[0]:.0f} to "
            f"{spreads[-1]:.0f} steps and {forced[0]:.0%} to {forced[-1]:.1%} are forced"
        )
        if np.unique(widest[~never]).size < 3:
            continue
        checks, evidence = _shape(widest[~never])
        shape += checks
        fits.append(f"{column(rate)}: {evidence}")
    return [
        judged(
            "Small windows cut off the tails of the distribution of reset times.",
            cut,
            f"{TAIL:.0%} on either side are asked for. " + "; ".join(tails),
        ),
        judged(
            "For large windows the reset times look like an inverse gamma distribution.",
            shape,
            "asked for: skewed to the right; Kolmogorov-Smirnov distance of the maximum-likelihood fit to "
            f"the widest window's resets at most {CLOSE}, and the smallest of the families. "
            + ". ".join(fits),
        ),
    ]
