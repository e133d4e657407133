"""The algorithms, as compositions: this file reads like the table of the design.

Each is surrogate x acquisition x trigger x retention, as a short function. Its arguments are its options:
first the groups that it shares with others, then, as keywords, those of its own. `options` says what each
is for. Nothing subclasses an algorithm.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from windvane.acquisition import ConstantBeta, SpreadFirst, Uniform
from windvane.checks import goal_name, integer, one_of
from windvane.composition import Composition
from windvane.errors import InvalidType
from windvane.kernels import Markov, SpaceTime, TimeMatern32, Wiener
from windvane.optimizer import Optimizer
from windvane.options import auto_model
from windvane.options.common import CommonOptions
from windvane.options.declared import AUTO_TRIGGER, INJECTED_VARIANCE, RATE_BOUNDS_NEEDED, SEASON_PERIOD
from windvane.options.groups import (
    FORCED,
    EventOptions,
    IGPOptions,
    VariationOptions,
    period_of_rate,
    window_of_rates,
)
from windvane.options.registry import ALGORITHMS, Algorithm, algorithm
from windvane.retention import (
    Backtracking,
    Empty,
    EvidenceWindow,
    InBatches,
    LastPoint,
    Relevance,
    SinceChange,
    SlidingWindow,
)
from windvane.retention.wasserstein import relevant
from windvane.spaces.base import Domain
from windvane.surrogates import Hypothesis, LearnOnline, Mixture
from windvane.triggers import BelievedChange, Confirmed, NoImprovement, Periodic, ResetWindow, Trigger

__all__ = ["ALGORITHMS", "Algorithm", "algorithms", "fresh_seed", "make"]

EXACT_IN_JSON = 2**53  # many readers of JSON hold integers as floats
WINDOW = ("reset_window", "rate_bounds")
LIMIT = ("max_points",)


@algorithm("auto", "the default: weighs hypotheses about time, noise and outliers; needs to be told nothing")
def auto(
    common: CommonOptions,
    *,
    hypotheses: tuple[Hypothesis, ...] | None = None,
    period: Annotated[float | None, SEASON_PERIOD] = None,
    hazard: float = Mixture.hazard,
    outliers: float = Mixture.outliers,
    initial: int = 5,
    trigger: Annotated[Trigger | None, AUTO_TRIGGER] = None,
    reset_window: ResetWindow | None = None,
    forced: str = "last",
    max_points: int = 300,
) -> Composition:
    """A mixture of hypotheses about time; its trigger is a change that it believes in."""
    model = auto_model.mixture(common, hypotheses, period, hazard, outliers)
    return common.compose(
        model=model,
        acquisition=SpreadFirst(min(initial, max_points // 2), common.explore(auto_model.schedule(common))),
        trigger=BelievedChange() if trigger is None else trigger,
        on_trigger=SinceChange(),
        window=reset_window or ResetWindow(),
        on_forced=FORCED[forced],
        limit=InBatches(max_points),
        learning=auto_model.learning(common, trigger, model.seeks),
    )


@algorithm("gp-ucb", "static GP, never resets (Srinivas 2010)")
def gp_ucb(common: CommonOptions) -> Composition:
    return common.compose()


@algorithm("r-gp-ucb", "resets every N = 12 eps^-1/4 steps (Bogunovic 2016)")
def r_gp_ucb(
    common: CommonOptions, *, rate: float | None = None, period: int | None = None, horizon: int | None = None
) -> Composition:
    steps = period or period_of_rate(common, rate, horizon)
    return common.compose(trigger=Periodic(steps), on_trigger=Empty())


@algorithm("et-gp-ucb", "resets when an observation breaks the posterior bound (Alg. 1)")
def et_gp_ucb(common: CommonOptions, event: EventOptions) -> Composition:
    return common.compose(trigger=event.alarm, on_trigger=LastPoint(), **event.limits(common))


@algorithm("et-gp-ucb-confirmed", "ET-GP-UCB that asks again before it resets: outliers reset nothing")
def et_gp_ucb_confirmed(
    common: CommonOptions, event: EventOptions, *, cooldown: int = 0, min_samples: int = 0
) -> Composition:
    trigger = Confirmed(event.alarm, cooldown=cooldown, min_samples=min_samples)
    return common.compose(trigger=trigger, on_trigger=LastPoint(), **event.limits(common))


@algorithm("et-gp-ucb-backtracking", "ET-GP-UCB that keeps the recent points that still fit (Alg. 2)")
def et_gp_ucb_backtracking(
    common: CommonOptions, event: EventOptions, *, cap: int | None = None
) -> Composition:
    kept = Backtracking(cap or 2 * common.space.parameter_count)
    return common.compose(trigger=event.alarm, on_trigger=kept, **event.limits(common))


@algorithm(
    "et-gp-ucb[0.01,0.05]", "ET-GP-UCB, reset window from 0.01 <= eps <= 0.05 (Table 1)", without=WINDOW
)
def et_gp_ucb_narrow(common: CommonOptions, event: EventOptions) -> Composition:
    return et_gp_ucb(common, replace(event, rate_bounds=(0.01, 0.05)))


@algorithm(
    "et-gp-ucb[0.001,0.1]", "ET-GP-UCB, reset window from 0.001 <= eps <= 0.1 (Table 1)", without=WINDOW
)
def et_gp_ucb_wide(common: CommonOptions, event: EventOptions) -> Composition:
    return et_gp_ucb(common, replace(event, rate_bounds=(0.001, 0.1)))


@algorithm("et-gp-ucb[0,1]", "ET-GP-UCB, nothing known of eps: no window (Table 1)", without=WINDOW)
def et_gp_ucb_unbounded(common: CommonOptions, event: EventOptions) -> Composition:
    return et_gp_ucb(common, replace(event, rate_bounds=(0.0, 1.0)))


@algorithm("always-n-low", "resets whenever the window allows it, at N_low (Fig. 2)")
def always_n_low(
    common: CommonOptions,
    *,
    rate_bounds: Annotated[tuple[float, float] | None, RATE_BOUNDS_NEEDED] = None,
    period: int | None = None,
    horizon: int | None = None,
) -> Composition:
    if period is None:
        bounds = common.need("rate_bounds", rate_bounds, "whose upper end sets N_low (or period=)")
        period = window_of_rates(common, bounds, horizon, "period=").low
    return common.compose(trigger=Periodic(period), on_trigger=Empty())


@algorithm("r-gp-ucb-average", "R-GP-UCB with ET-GP-UCB's average time between resets (ablation)")
def r_gp_ucb_average(
    common: CommonOptions, *, rate: float | None = None, period: int | None = None, horizon: int | None = None
) -> Composition:
    del horizon  # so that it is called as R-GP-UCB is
    if period is None:
        period = _average_period(common.need("rate", rate, "the rate of change eps per step (or period=)"))
    return common.compose(trigger=Periodic(period), on_trigger=Empty())


def _average_period(rate: float) -> int:
    """The mean time between ET-GP-UCB's resets in the paper's ablation, between them on log-log axes."""
    rates, steps = (0.01, 0.03, 0.05), (100.0, 45.0, 32.0)
    if rate in rates:
        return int(steps[rates.index(rate)])
    slope = np.polyfit(np.log(rates), np.log(steps), 1)
    return max(1, round(float(np.exp(np.polyval(slope, np.log(max(rate, 1e-6)))))))


@algorithm("tv-gp-ucb", "GP that forgets at a known rate, (1-eps)^(dt/2) (Bogunovic 2016)")
def tv_gp_ucb(common: CommonOptions, *, rate: float) -> Composition:
    return common.compose(temporal=Markov(rate))


@algorithm(
    "tv-gp-ucb-constant", "TV-GP-UCB that explores as much at the end as at the start: beta is constant"
)
def tv_gp_ucb_constant(common: CommonOptions, *, rate: float) -> Composition:
    return common.compose(schedule=ConstantBeta(3.0), temporal=Markov(rate))


@algorithm("tv-gp-ucb-mle", "TV-GP-UCB with eps by maximum likelihood at every step")
def tv_gp_ucb_mle(common: CommonOptions, *, rate: float = 0.01) -> Composition:
    every_step = LearnOnline(growth=1.0, search=replace(common.search("rate"), starts=3))
    return common.compose(temporal=Markov(rate), learning=every_step)


@algorithm("ui-tvbo", "GP with variance injected at every step, 1 + s2 min(t, t') (Brunzema 2022)")
def ui_tvbo(common: CommonOptions, *, rate: Annotated[float, INJECTED_VARIANCE]) -> Composition:
    return common.compose(temporal=Wiener(rate))


@algorithm("igp-ucb", "static GP with IGP-UCB's beta (Chowdhury & Gopalan 2017)")
def igp_ucb(common: CommonOptions, igp: IGPOptions) -> Composition:
    return common.compose(schedule=igp.schedule(common))


@algorithm("sw-gp-ucb", "static GP on a sliding window (Zhou & Shroff 2021)", without=LIMIT)
def sw_gp_ucb(
    common: CommonOptions, igp: IGPOptions, change: VariationOptions, *, window: int | None = None
) -> Composition:
    limit = SlidingWindow(change.steps(common, window))
    return common.compose(schedule=igp.schedule(common), limit=limit)


@algorithm(
    "sw-gp-ucb-evidence",
    "static GP on a sliding window whose length is the one that predicted best",
    without=LIMIT,
)
def sw_gp_ucb_evidence(
    common: CommonOptions, *, windows: tuple[int, ...] = EvidenceWindow.windows
) -> Composition:
    return common.compose(limit=EvidenceWindow(windows))


@algorithm(
    "w-dbo",
    "drops what no longer matters to the future, in Wasserstein distance (Bardou 2024)",
    without=LIMIT,
)
def w_dbo(common: CommonOptions, *, alpha: float = Relevance.alpha) -> Composition:
    """Space and time learned by maximum likelihood as they change, unless `kernel` brings its own time."""
    if isinstance(common.kernel, SpaceTime):
        relevant(common.spatial, common.temporal)
        return common.compose(limit=Relevance(alpha))
    temporal = TimeMatern32(100.0)
    relevant(common.spatial, temporal)
    online = LearnOnline(search=replace(common.search("rate"), starts=2))
    return common.compose(temporal=temporal, learning=online, limit=Relevance(alpha))


@algorithm("br-gp-ucb", "restarts at a fixed interval (Zhou & Shroff 2021)")
def br_gp_ucb(
    common: CommonOptions, igp: IGPOptions, change: VariationOptions, *, period: int | None = None
) -> Composition:
    trigger = Periodic(change.steps(common, period))
    return common.compose(schedule=igp.schedule(common), trigger=trigger, on_trigger=Empty())


@algorithm("w-gp-ucb", "GP whose observations grow noisier with age (Deng 2022)")
def w_gp_ucb(
    common: CommonOptions, igp: IGPOptions, change: VariationOptions, *, forgetting: float | None = None
) -> Composition:
    """g = 1 - gamma_T^(-1/4) (B_T / T)^(1/2), unless it is given."""
    factor = forgetting or max(1.0 - 1.0 / change.length(common), 0.01)
    return common.compose(schedule=igp.schedule(common), forgetting=factor)


@algorithm("turbo-trigger", "resets after d steps without improvement (the TuRBO trigger)")
def turbo_trigger(common: CommonOptions, *, patience: int | None = None) -> Composition:
    trigger = NoImprovement(patience or common.space.parameter_count)
    return common.compose(trigger=trigger, on_trigger=LastPoint())


@algorithm(
    "random", "uniform random points: the baseline of baselines", without=("beta", "acquisition", "move_cost")
)
def random(common: CommonOptions) -> Composition:
    return common.compose(acquisition=Uniform())


def algorithms() -> list[str]:
    """The names that `make` knows.

    >>> "et-gp-ucb" in algorithms()
    True
    """
    return list(ALGORITHMS)


def fresh_seed() -> int:
    """A seed that nobody had before."""
    return secrets.randbelow(EXACT_IN_JSON)


def make(
    name: str | Domain = "auto",
    space: Domain | None = None,
    *,
    goal: str = "maximize",
    seed: int | None = None,
    **options: Any,
) -> Optimizer:
    """An optimiser by name; `windvane list --options` shows the names and what each option is for.

    `make(space)` makes `auto`, which needs to be told nothing else.

    Common options: `kernel`, `noise_variance` (learned when left out), `beta` (a schedule, a number,
    or a pair (c1, c2)) or `acquisition`, `max_points`, `learning`, `scaling`, `max_step` and `move_cost`.
    ET-GP-UCB adds `delta`, `noise_cap`, `trigger`, `reset_window` or `rate_bounds` with `horizon`, and
    `forced` ("empty" or "last").

    >>> import windvane as wv
    >>> make(wv.Box([(0, 1)]))
    <auto on Box(bounds=((0.0, 1.0),)): step 1, 0 observations in use>
    >>> make("tv-gp-ucb", wv.Box([(0, 1)]), rate=0.03, kernel=wv.RBF(0.2), noise_variance=0.02).model.temporal
    Markov(rate=0.03)
    >>> make("gp-ucb", wv.Box([(0, 1)]), rate=0.03)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: make('gp-ucb'): does not use rate=; its options are ...
    """
    if isinstance(name, Domain):
        if space is not None:
            raise InvalidType(
                f"make({name!r}, {space!r}): the name of the algorithm comes first, then the space; or "
                "give a space alone"
            )
        return make("auto", name, goal=goal, seed=seed, **options)
    if not isinstance(name, str):
        raise InvalidType(
            f"name={name!r}: must be the name of an algorithm such as 'auto', or a space such as "
            "wv.Space(gain=wv.Real(0, 1))"
        )
    algorithm = ALGORITHMS[one_of("name", name, ALGORITHMS)]
    if not isinstance(space, Domain):
        raise InvalidType(f"space={space!r}: must be a wv.Box, wv.Arms, wv.Candidates or wv.Space")
    given = {option: value for option, value in options.items() if value is not None}
    goal = goal_name(goal)
    composition = algorithm.compose(name, space, goal, given)
    seed = fresh_seed() if seed is None else integer("seed", seed, at_least=0)
    return Optimizer(space, composition, goal=goal, seed=seed)
