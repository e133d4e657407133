"""Options that several algorithms share: when to reset, how long to remember, IGP-UCB's constants."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

from windvane.acquisition import IGPBeta
from windvane.errors import InvalidArgument
from windvane.kernels import (
    RBF,
    Empirical,
    Exchangeable,
    Independent,
    Kernel,
    Matern32,
    Matern52,
    Product,
    Sum,
)
from windvane.options.common import CommonOptions
from windvane.options.declared import HORIZON_OF_VARIATION, IGP_DELTA
from windvane.retention import Empty, LastPoint, Retention
from windvane.theory import greedy_information_gain, reset_time, reset_window
from windvane.triggers import PosteriorBound, ResetWindow, Trigger

GAIN_POINTS = 256  # candidates on which the maximum information gain is computed greedily
SMOOTHNESS: dict[type[Kernel], float] = {RBF: math.inf, Matern52: 2.5, Matern32: 1.5}  # nu
LEAST_SMOOTH = 2.0  # Corollary 1 is about nu above it
FORCED: dict[str, Retention] = {"empty": Empty(), "last": LastPoint()}


@dataclass(frozen=True, kw_only=True)
class EventOptions:
    """When ET-GP-UCB resets: on an alarm inside [N_low, N_high], and at N_high without one (Alg. 1)."""

    delta: float = 0.1
    noise_cap: float | None = None
    trigger: Trigger | None = None
    horizon: int | None = None
    forced: str = "empty"
    reset_window: ResetWindow | None = None
    rate_bounds: tuple[float, float] | None = None

    @property
    def alarm(self) -> Trigger:
        """The caller's trigger, or Lemma 3's."""
        return PosteriorBound(self.delta, self.noise_cap) if self.trigger is None else self.trigger

    def limits(self, common: CommonOptions) -> dict[str, Any]:
        """The window, and what a reset keeps that its end forces."""
        window = ResetWindow() if self.reset_window is None else self.reset_window
        if self.rate_bounds is not None:
            instead = "reset_window=(N_low, N_high) to 'et-gp-ucb'"
            window = window_of_rates(common, self.rate_bounds, self.horizon, instead)
        return {"window": window, "on_forced": FORCED[self.forced]}


@dataclass(frozen=True, kw_only=True)
class IGPOptions:
    """The constants of IGP-UCB's beta (Chowdhury & Gopalan 2017)."""

    bound: float = 1.0
    delta: Annotated[float, IGP_DELTA] = 0.1

    def schedule(self, common: CommonOptions) -> IGPBeta:
        """With B = `bound` and R = sqrt(noise variance)."""
        return IGPBeta(self.bound, math.sqrt(common.noise), self.delta)


@dataclass(frozen=True, kw_only=True)
class VariationOptions:
    """The budget of the change, from which SW-, BR- and W-GP-UCB have the length of their memory."""

    variation: float | None = None
    horizon: Annotated[int | None, HORIZON_OF_VARIATION] = None

    def length(self, common: CommonOptions) -> float:
        """gamma_T^(1/4) (T / B_T)^(1/2) (Zhou & Shroff 2021)."""
        horizon = common.need("horizon", self.horizon, "T, for the length of its memory")
        variation = common.need("variation", self.variation, "the budget B_T of the change")
        points = common.space.candidates(GAIN_POINTS)
        gram = common.spatial.matrix(points, points)
        gain = greedy_information_gain(gram, common.noise, horizon).gain
        return float(max(gain, 1e-12) ** 0.25 * math.sqrt(horizon / variation))

    def steps(self, common: CommonOptions, given: int | None) -> int:
        """The length in steps: given, or from the budget."""
        return max(1, math.ceil(self.length(common))) if given is None else given


def window_of_rates(
    common: CommonOptions, rate_bounds: tuple[float, float], horizon: int | None, instead: str
) -> ResetWindow:
    """[N_low, N_high] from bounds on eps, by Corollary 1; `instead` is what else the caller can give."""
    if rate_bounds == (0.0, 1.0):  # says nothing, so it restricts nothing
        return ResetWindow(*reset_window(rate_bounds, horizon))
    nu = _smoothness(common.spatial)
    if nu is None or nu <= LEAST_SMOOTH:
        raise InvalidArgument(
            f"kernel={common.spatial!r}: Corollary 1, which makes a reset window of bounds on the rate, "
            f"covers wv.RBF, wv.Matern52 and wv.Empirical; give {instead} instead"
        )
    if math.isinf(nu):
        return ResetWindow(*reset_window(rate_bounds, horizon))
    return ResetWindow(*reset_window(rate_bounds, horizon, nu=nu, dim=common.space.parameter_count))


def _smoothness(kernel: Kernel) -> float | None:
    """nu, of the roughest part of a sum or product; None of a kernel that Corollary 1 does not know.

    The information gain of n arms grows with ln T, slower than that of the squared exponential.
    """
    if isinstance(kernel, Sum | Product):
        parts = [_smoothness(kernel.left), _smoothness(kernel.right)]
        known = [nu for nu in parts if nu is not None]
        return min(known) if len(known) == len(parts) else None
    return (
        math.inf
        if isinstance(kernel, Empirical | Exchangeable | Independent)
        else SMOOTHNESS.get(type(kernel))
    )


def period_of_rate(common: CommonOptions, rate: float | None, horizon: int | None) -> int:
    """R-GP-UCB's N = ceil(min(T, 12 eps^-1/4))."""
    why = "the rate of change eps per step (or period=, the steps between two resets)"
    known = common.need("rate", rate, why)
    if known == 0.0 and horizon is None:
        raise InvalidArgument("rate=0.0: without a horizon= a static objective is never reset; use 'gp-ucb'")
    return reset_time(known, horizon)
