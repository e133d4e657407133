"""Theorem 1 and Corollary 1 in figures: windows, terms, and whether the bound says anything.

The domain is the cube [0, 1]^d and the kernel has unit variance, as everywhere in the paper's analysis.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.optimize import brentq
from scipy.special import ndtr

from windvane.checks import Array, integer, one_of, probability, real
from windvane.errors import InvalidArgument, StorageFailure
from windvane.experiments import figures
from windvane.experiments.tables import Table
from windvane.kernels import RBF, Matern52
from windvane.spaces import Box
from windvane.theory import (
    RegretBound,
    RegretOrder,
    corollary1_order,
    gain_upper_bound,
    greedy_information_gain,
    pi_t,
    reset_window,
    sublinear_region,
    theorem1_bound,
)

KERNELS = ("rbf", "matern52")
POINTS = 512  # candidates among which the information gain is greedily maximised
MOST_STEPS = 2048  # of the greedy choice; from there on its last increment is an upper bound on every next
GRID = 120  # points a curve of the figure
TERMS = {"exploration": figures.BLUE, "variance_mismatch": figures.GREEN, "mean_mismatch": figures.PURPLE}
SPREAD = 2.0  # b0, and b1 times a lengthscale: any number above sqrt(2) has its a0 and a1
# Var(f') l^2, and Var(d_i d_j f) l^2 / Var(d_j f) for i = j and i != j, of a kernel with lengthscale l.
SMOOTHNESS = {"rbf": (1.0, 3.0, 1.0), "matern52": (5.0 / 3.0, 15.0, 5.0)}


@dataclass(frozen=True)
class Constants:
    """a0, b0 and a1, b1 of Assumption 3: P{sup |f| > L} <= a0 exp(-(L / b0)^2), and so for derivatives."""

    a0: float
    b0: float
    a1: float
    b1: float


def assumption3(kernel: str, lengthscale: float, dim: int) -> Constants:
    """Constants that hold for a kernel of unit variance on the unit cube.

    The expected Euler characteristic of {x: f(x) > L} (Adler and Taylor, 2007, Theorem 12.4.2) is the tail
    of a smooth field's maximum up to an error that is exponentially smaller than the tail itself:

        P{max f > L} ~ P{Z > L} + sum_j e_j (2 pi)^(-(j+1)/2) He_(j-1)(L) exp(-L^2 / 2)

    with e_j the elementary symmetric polynomials of the sides of the cube, each times the root of the
    second spectral moment in its direction. Twice that bounds both tails. With b = 2 the factor a is the
    smallest for which a exp(-(L / b)^2) is above it at every L (and above 1 where the tail is).

    >>> found = assumption3("rbf", 0.2, 2)
    >>> round(found.a0, 2), found.b0, round(found.a1, 2), found.b1
    (3.22, 2.0, 4.22, 10.0)
    """
    slope, along, across = SMOOTHNESS[kernel]
    a0 = _factor([math.sqrt(slope) / lengthscale] * dim)
    a1 = _factor([math.sqrt(along) / lengthscale, *[math.sqrt(across) / lengthscale] * (dim - 1)])
    return Constants(a0, SPREAD, a1, SPREAD * math.sqrt(slope) / lengthscale)


def _factor(sides: Sequence[float]) -> float:
    """a of a field of unit variance, from the sides of its domain in units of its own correlation length."""
    volumes = np.poly(-np.array(sides))[1:]  # e_1 .. e_d: the coefficients of (z + side) .. (z + side)
    levels = np.linspace(0.0, 12.0 + 2.0 * math.log1p(float(volumes.max())), 20_001)
    tail = 2.0 * ndtr(-levels)
    for j, volume in enumerate(volumes, start=1):
        density = hermeval(levels, [0.0] * (j - 1) + [1.0]) * np.exp(-0.5 * levels**2)
        tail += 2.0 * volume * (2.0 * math.pi) ** (-0.5 * (j + 1)) * density
    above_one = np.flatnonzero(tail >= 1.0)
    tail[: above_one[-1] + 1 if above_one.size else 0] = 1.0
    return float((tail * np.exp((levels / SPREAD) ** 2)).max())


@dataclass(frozen=True)
class Problem:
    """What Theorem 1 is asked about; `rates` are the bounds on eps that set the window."""

    rate: float
    rates: tuple[float, float]
    horizon: int
    kernel: str
    lengthscale: float
    dim: int
    noise_variance: float
    delta: float
    constants: Constants

    @classmethod
    def of(
        cls,
        *,
        rate: float = 0.03,
        rates: tuple[float, float] | None = None,
        horizon: int = 400,
        kernel: str = "rbf",
        lengthscale: float = 0.2,
        dim: int = 2,
        noise_variance: float = 0.02,
        delta: float = 0.1,
        a0: float | None = None,
        b0: float | None = None,
        a1: float | None = None,
        b1: float | None = None,
    ) -> Problem:
        """Checked; constants that are not given are derived from the kernel, bounds from the rate itself."""
        rate = real("rate", rate, at_least=0.0, at_most=1.0)
        low, high = (rate, rate) if rates is None else rates
        low, high = (
            real("rates", low, at_least=0.0, at_most=1.0),
            real("rates", high, at_least=0.0, at_most=1.0),
        )
        if not low <= rate <= high:
            raise InvalidArgument(
                f"rates={low:g} {high:g}: must enclose the rate, lowest first; "
                f"rate={rate:g} is not between them"
            )
        if kernel == "matern32":
            raise InvalidArgument(
                "kernel='matern32': Theorem 1 and Corollary 1 need nu > 2, and Matern 3/2 has nu = 1.5; "
                "use matern52 or rbf"
            )
        kernel = one_of("kernel", kernel, KERNELS)
        lengthscale = real("lengthscale", lengthscale, at_least=1e-3, at_most=1e3)
        dim = integer("dim", dim, at_least=1, at_most=30)
        own = assumption3(kernel, lengthscale, dim)
        given = {"a0": a0, "b0": b0, "a1": a1, "b1": b1}
        chosen = {
            name: getattr(own, name) if value is None else real(name, value, at_least=0.0)
            for name, value in given.items()
        }
        return cls(
            rate,
            (low, high),
            integer("horizon", horizon, at_least=1),
            kernel,
            lengthscale,
            dim,
            real("noise_variance", noise_variance, above=0.0),
            probability("delta", delta),
            Constants(**chosen),
        )

    @property
    def smoothness(self) -> dict[str, Any]:
        """nu and dim, as the functions of `theory` want them; none for the squared exponential."""
        return {} if self.kernel == "rbf" else {"nu": 2.5, "dim": self.dim}

    @property
    def lambdas(self) -> tuple[float, float] | None:
        """lambda_1 and lambda_2, eps_low / eps and eps_high / eps; None for a rate of 0."""
        return None if self.rate == 0.0 else (self.rates[0] / self.rate, self.rates[1] / self.rate)

    def window(self, rates: tuple[float, float] | None = None, horizon: int | None = None) -> tuple[int, int]:
        """[N_low, N_high] of Corollary 1."""
        steps = self.horizon if horizon is None else horizon
        low, high = reset_window(self.rates if rates is None else rates, steps, **self.smoothness)
        return low, steps if high is None else high

    def gain(self, count: int) -> float:
        """The greedy information gain of `count` observations among Sobol points of the cube."""
        steps = min(MOST_STEPS, 1 << max(6, (count - 1).bit_length()))  # a power of two, to be used again
        curve = _gains(self.kernel, self.lengthscale, self.dim, self.noise_variance, steps)
        if count <= len(curve):
            return float(curve[count - 1])
        return float(curve[-1] + (count - len(curve)) * (curve[-1] - curve[-2]))

    def bound(
        self, rate: float | None = None, rates: tuple[float, float] | None = None, horizon: int | None = None
    ) -> RegretBound:
        """Theorem 1, for this problem or with another rate or horizon."""
        steps = self.horizon if horizon is None else horizon
        window = self.window(rates, steps)
        return theorem1_bound(
            steps,
            self.rate if rate is None else rate,
            window,
            gain_upper_bound(self.gain(window[1])),
            self.noise_variance,
            self.delta,
            self.dim,
            **asdict(self.constants),
        )

    def trivial(self, horizon: int | None = None) -> float:
        """What no algorithm can exceed, with probability 1 - delta: 2 T sup |f| over all steps.

        Assumption 3 at delta / pi_t gives sup |f_t| <= b0 sqrt(ln(a0 pi_t / delta)) at every step, and a
        step costs at most the difference of two values.
        """
        steps = self.horizon if horizon is None else horizon
        logarithm = math.log(max(1.0, self.constants.a0 * pi_t(steps) / self.delta))
        return 2.0 * steps * self.constants.b0 * math.sqrt(logarithm)

    @property
    def order(self) -> RegretOrder | None:
        """Corollary 1's terms; None where it does not apply (see `no_order`)."""
        if self.no_order is not None or self.lambdas is None:
            return None
        return corollary1_order(self.rate, self.horizon, *self.lambdas, **self.smoothness)

    @property
    def no_order(self) -> str | None:
        """Why Corollary 1's orders do not apply, if they do not."""
        if self.rate == 0.0:
            return "the rate is 0: nothing changes, and Theorem 1's exploration term is all there is"
        if self.rates[0] == 0.0:
            return "the lower bound on the rate is 0, so N_high = T; Corollary 1 needs one above 0"
        if self.rates[1] >= 1.0:
            return "the upper bound on the rate is 1; Corollary 1 needs one below 1"
        return None

    @property
    def region(self) -> float | None:
        """The largest rate with sub-linear regret by Corollary 1, for the same lambdas."""
        if self.lambdas is None or self.lambdas[0] == 0.0:
            return None
        return sublinear_region(self.horizon, *self.lambdas, **self.smoothness)

    @cached_property
    def informative(self) -> float | None:
        """The largest rate at which Theorem 1 is below the trivial bound; None if it is not even at 0.

        The window moves with the rate, as the lambdas say.
        """
        low, high = self.lambdas or (1.0, 1.0)

        def excess(log_rate: float) -> float:
            rate = 10.0**log_rate
            rates = (low * rate, min(high * rate, 1.0))
            return math.log(self.bound(rate, rates).total / self.trivial())

        if excess(-60.0) > 0.0:
            return None
        end = -math.log10(high)
        return float(10.0 ** (end if excess(end) < 0.0 else brentq(excess, -60.0, end, xtol=1e-6)))


@lru_cache(maxsize=16)
def _gains(kernel: str, lengthscale: float, dim: int, noise_variance: float, steps: int) -> Array:
    points = Box([(0.0, 1.0)] * dim).candidates(POINTS)
    covariance = (RBF if kernel == "rbf" else Matern52)(lengthscale).matrix(points, points)
    return greedy_information_gain(covariance, noise_variance, steps).curve


# -- what people read ----------------------------------------------------------------------------------


def plain(problem: Problem) -> dict[str, Any]:
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


def tables(problem: Problem) -> list[tuple[str, Table]]:
    """The window and its ingredients, Theorem 1 term by term, Corollary 1."""
    found, (shortest, longest), steps = problem.bound(), problem.window(), problem.horizon
    low, high = problem.rates
    greedy = problem.gain(longest)
    beyond = ", beyond its last step by its last increment" if longest > MOST_STEPS else ""
    c = problem.constants
    first = Table(
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
    second = Table(
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
        third = Table(
            ("order", "of R_T", "of R_T / T"),
            [
                (name.replace("_", " "), f"{getattr(order, name):.4g}", f"{getattr(order, name) / steps:.3g}")
                for name in orders
            ],
        )
        shown.append(("Corollary 1: orders, without constants and logarithms", third))
    return shown


def verdicts(problem: Problem) -> list[str]:
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


def markdown(problem: Problem) -> str:
    """Tables and sentences."""
    parts = ["# Theorem 1 and Corollary 1"]
    for title, table in tables(problem):
        parts += [f"## {title}", table.markdown()]
    return "\n\n".join([*parts, *verdicts(problem)]) + "\n"


def figure(problem: Problem) -> Any:
    """The terms over the rate and over the horizon, log-log, beside the trivial bound."""
    page, axes = figures.sheet(1, 2, (10.5, 4.4), sharey=True)
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
    style = {"color": figures.VERMILION, "ls": "--", "label": "trivial bound"}
    axes[0, 0].loglog(rates, flat, **style)
    axes[0, 1].loglog(horizons, trivial, **style)
    axes[0, 0].set_title(f"T = {problem.horizon}, window from {_interval(problem)}", loc="left", fontsize=10)
    axes[0, 1].set_title(f"eps = {problem.rate:g}", loc="left", fontsize=10)
    axes[0, 0].set_xlabel("rate of change eps")
    axes[0, 1].set_xlabel("horizon T")
    axes[0, 0].set_ylabel("bound on the regret per step, $R_T / T$")
    for panel, here in ((axes[0, 0], problem.rate), (axes[0, 1], problem.horizon)):
        if here > 0.0:
            panel.axvline(here, color=figures.GREY, lw=0.9, ls=":")
    axes[0, 0].set_ylim(bottom=1e-2 * problem.trivial() / problem.horizon)
    figures.legend(page, axes[0, 0], columns=5)
    return page


def _interval(problem: Problem) -> str:
    if problem.lambdas is None or problem.rates[0] == problem.rates[1]:
        return "the rate itself"
    low, high = problem.lambdas
    return f"[{low:.2g} eps, {high:.2g} eps]"


def write(problem: Problem, folder: Path) -> None:
    """bound.md, bound.json, figure.png and figure.pdf."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "bound.md").write_text(markdown(problem), encoding="utf-8")
        (folder / "bound.json").write_text(json.dumps(plain(problem), indent=1) + "\n", encoding="utf-8")
        figures.save(figure(problem), folder)
    except OSError as error:
        raise StorageFailure(
            f"--out {folder}: {error.strerror or error}; choose a folder you can write to"
        ) from error
