"""The algorithms, as compositions: this file reads like the table of the design.

Each row is surrogate x acquisition x trigger x retention. Nothing subclasses an algorithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from windvane.acquisition import ConstantBeta, Uniform
from windvane.checks import integer, one_of
from windvane.composition import Composition
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import Markov, SpaceTime, TimeMatern32, Wiener
from windvane.optimizer import Optimizer
from windvane.retention import Backtracking, Empty, EvidenceWindow, LastPoint, Relevance, SlidingWindow
from windvane.retention.wasserstein import relevant
from windvane.settings import Settings
from windvane.spaces.base import Domain
from windvane.surrogates import LearnOnline
from windvane.triggers import Never, NoImprovement, Periodic, Trigger

COMMON = ("kernel", "noise_variance", "beta", "max_points", "learning", "scaling")
ET_FIXED = ("delta", "noise_cap", "trigger", "horizon", "forced")  # the window is in the name
ET = (*ET_FIXED, "reset_window", "rate_bounds")
UNLIMITED = tuple(option for option in COMMON if option != "max_points")


@dataclass(frozen=True)
class Algorithm:
    """A row of the table: a line of help, the options it understands, and how it is composed."""

    summary: str
    options: tuple[str, ...]
    compose: Callable[[Settings], Composition]


def _event_triggered(
    s: Settings,
    kept: Any,
    rate_bounds: tuple[float, float] | None = None,
    trigger: Trigger | None = None,
) -> Composition:
    forced = LastPoint() if s.get("forced") == "last" else Empty()
    chosen = s.trigger() if trigger is None else trigger
    return s.compose(trigger=chosen, window=s.window(rate_bounds), on_trigger=kept, on_forced=forced)


def _backtracking(s: Settings) -> Backtracking:
    cap = s.get("cap")
    return Backtracking(2 * s.space.parameter_count if cap is None else cap)


def _mle(s: Settings) -> Composition:
    rate = 0.01 if s.get("rate") is None else s.rate
    search = replace(s.search(("rate", *s.unknown)), starts=3)
    every_step = LearnOnline(growth=1.0, search=search)
    learning = every_step if s.get("learning") is None else s.learning(Never())
    return s.compose(temporal=Markov(rate), learning=learning)


def _w_dbo(s: Settings) -> Composition:
    """Space and time learned by maximum likelihood as they change, unless `kernel` brings its own time."""
    known = isinstance(s.get("kernel"), SpaceTime)
    temporal = s.temporal() if known else TimeMatern32(100.0)
    relevant(s.kernel(), temporal)
    search = replace(s.search(("rate", *s.unknown)), starts=2)
    online = s.get("learning") is None and not known
    return s.compose(
        temporal=None if known else temporal,
        learning=LearnOnline(search=search) if online else None,
        limit=Relevance() if s.get("alpha") is None else Relevance(s.get("alpha")),
    )


def _evidence(s: Settings) -> Composition:
    windows = s.get("windows")
    return s.compose(limit=EvidenceWindow() if windows is None else EvidenceWindow(windows))


def _average_period(s: Settings) -> Periodic:
    """The mean time between ET-GP-UCB's resets in the paper's ablation, between them on log-log axes."""
    if s.get("period") is not None:
        return Periodic(s.period())
    rates, steps = (0.01, 0.03, 0.05), (100.0, 45.0, 32.0)
    slope = np.polyfit(np.log(rates), np.log(steps), 1)
    if s.rate in rates:
        return Periodic(int(steps[rates.index(s.rate)]))
    return Periodic(max(1, round(float(np.exp(np.polyval(slope, np.log(max(s.rate, 1e-6))))))))


def _always_low(s: Settings) -> Periodic:
    if s.get("period") is not None:
        return Periodic(s.period())
    s.need("rate_bounds", "whose upper end sets N_low (or period=)")
    return Periodic(s.window().low)


ALGORITHMS: dict[str, Algorithm] = {
    "auto": Algorithm(
        "the default: weighs hypotheses about time, noise and outliers; needs to be told nothing",
        (*COMMON, "hypotheses", "hazard", "outliers"),
        lambda s: s.compose_mixture(),
    ),
    "gp-ucb": Algorithm(
        "static GP, never resets (Srinivas 2010)",
        COMMON,
        lambda s: s.compose(),
    ),
    "r-gp-ucb": Algorithm(
        "resets every N = 12 eps^-1/4 steps (Bogunovic 2016)",
        (*COMMON, "rate", "period", "horizon"),
        lambda s: s.compose(trigger=Periodic(s.period()), on_trigger=Empty()),
    ),
    "et-gp-ucb": Algorithm(
        "resets when an observation breaks the posterior bound (Alg. 1)",
        (*COMMON, *ET),
        lambda s: _event_triggered(s, LastPoint()),
    ),
    "et-gp-ucb-confirmed": Algorithm(
        "ET-GP-UCB that asks again before it resets: outliers reset nothing",
        (*COMMON, *ET, "cooldown", "min_samples"),
        lambda s: _event_triggered(s, LastPoint(), trigger=s.confirmed()),
    ),
    "et-gp-ucb-backtracking": Algorithm(
        "ET-GP-UCB that keeps the recent points that still fit (Alg. 2)",
        (*COMMON, *ET, "cap"),
        lambda s: _event_triggered(s, _backtracking(s)),
    ),
    "et-gp-ucb[0.01,0.05]": Algorithm(
        "ET-GP-UCB, reset window from 0.01 <= eps <= 0.05 (Table 1)",
        (*COMMON, *ET_FIXED),
        lambda s: _event_triggered(s, LastPoint(), (0.01, 0.05)),
    ),
    "et-gp-ucb[0.001,0.1]": Algorithm(
        "ET-GP-UCB, reset window from 0.001 <= eps <= 0.1 (Table 1)",
        (*COMMON, *ET_FIXED),
        lambda s: _event_triggered(s, LastPoint(), (0.001, 0.1)),
    ),
    "et-gp-ucb[0,1]": Algorithm(
        "ET-GP-UCB, nothing known of eps: no window (Table 1)",
        (*COMMON, *ET_FIXED),
        lambda s: _event_triggered(s, LastPoint(), (0.0, 1.0)),
    ),
    "always-n-low": Algorithm(
        "resets whenever the window allows it, at N_low (Fig. 2)",
        (*COMMON, "rate_bounds", "period", "horizon"),
        lambda s: s.compose(trigger=_always_low(s), on_trigger=Empty()),
    ),
    "r-gp-ucb-average": Algorithm(
        "R-GP-UCB with ET-GP-UCB's average time between resets (ablation)",
        (*COMMON, "rate", "period", "horizon"),
        lambda s: s.compose(trigger=_average_period(s), on_trigger=Empty()),
    ),
    "tv-gp-ucb": Algorithm(
        "GP that forgets at a known rate, (1-eps)^(dt/2) (Bogunovic 2016)",
        (*COMMON, "rate"),
        lambda s: s.compose(temporal=s.markov()),
    ),
    "tv-gp-ucb-constant": Algorithm(
        "TV-GP-UCB that explores as much at the end as at the start: beta is constant",
        (*COMMON, "rate"),
        lambda s: s.compose(schedule=s.schedule(ConstantBeta(3.0)), temporal=s.markov()),
    ),
    "tv-gp-ucb-mle": Algorithm(
        "TV-GP-UCB with eps by maximum likelihood at every step",
        (*COMMON, "rate"),
        _mle,
    ),
    "ui-tvbo": Algorithm(
        "GP with variance injected at every step, 1 + s2 min(t, t') (Brunzema 2022)",
        (*COMMON, "rate"),
        lambda s: s.compose(temporal=Wiener(s.injected)),
    ),
    "igp-ucb": Algorithm(
        "static GP with IGP-UCB's beta (Chowdhury & Gopalan 2017)",
        (*COMMON, "bound", "delta"),
        lambda s: s.compose(schedule=s.igp()),
    ),
    "sw-gp-ucb": Algorithm(
        "static GP on a sliding window (Zhou & Shroff 2021)",
        (*UNLIMITED, "bound", "delta", "window", "variation", "horizon"),
        lambda s: s.compose(schedule=s.igp(), limit=SlidingWindow(s.length("window"))),
    ),
    "sw-gp-ucb-evidence": Algorithm(
        "static GP on a sliding window whose length is the one that predicted best",
        (*UNLIMITED, "windows"),
        _evidence,
    ),
    "w-dbo": Algorithm(
        "drops what no longer matters to the future, in Wasserstein distance (Bardou 2024)",
        (*UNLIMITED, "alpha"),
        _w_dbo,
    ),
    "br-gp-ucb": Algorithm(
        "restarts at a fixed interval (Zhou & Shroff 2021)",
        (*COMMON, "bound", "delta", "period", "variation", "horizon"),
        lambda s: s.compose(schedule=s.igp(), trigger=Periodic(s.length("period")), on_trigger=Empty()),
    ),
    "w-gp-ucb": Algorithm(
        "GP whose observations grow noisier with age (Deng 2022)",
        (*COMMON, "bound", "delta", "forgetting", "variation", "horizon"),
        lambda s: s.compose(schedule=s.igp(), forgetting=s.forgetting()),
    ),
    "turbo-trigger": Algorithm(
        "resets after d steps without improvement (the TuRBO trigger)",
        (*COMMON, "patience"),
        lambda s: s.compose(
            trigger=NoImprovement(s.get("patience") or s.space.parameter_count),  # patience=0 was refused
            on_trigger=LastPoint(),
        ),
    ),
    "random": Algorithm(
        "uniform random points: the baseline of baselines",
        tuple(option for option in COMMON if option != "beta"),
        lambda s: s.compose(acquisition=Uniform()),
    ),
}


def algorithms() -> list[str]:
    """The names that `make` knows.

    >>> "et-gp-ucb" in algorithms()
    True
    """
    return list(ALGORITHMS)


def make(
    name: str | Domain = "auto",
    space: Domain | None = None,
    *,
    goal: str = "maximize",
    seed: int | None = None,
    **options: Any,
) -> Optimizer:
    """An optimiser by name; `windvane list` shows the names and what each option is for.

    `make(space)` makes `auto`, which needs to be told nothing else.

    Common options: `kernel`, `noise_variance` (learned when left out), `beta` (a schedule, a number,
    or a pair (c1, c2)), `max_points`, `learning`, `scaling`. ET-GP-UCB adds `delta`, `noise_cap`,
    `trigger`, `reset_window` or `rate_bounds` with `horizon`, and `forced` ("empty" or "last").

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
        raise InvalidType(f"space={space!r}: must be a wv.Box, wv.Arms or wv.Space")
    given = {option: value for option, value in options.items() if value is not None}
    unused = sorted(set(given) - set(algorithm.options))
    if unused:
        known = ", ".join(sorted({*algorithm.options, "goal", "seed"}))
        raise InvalidArgument(f"make({name!r}): does not use {unused[0]}=; its options are {known}")
    if seed is None:
        seed = int(np.random.SeedSequence().entropy)  # type: ignore[arg-type]
    goal = one_of("goal", goal, ("maximize", "minimize"))
    composition = algorithm.compose(Settings(name, space, goal, given))
    return Optimizer(space, composition, goal=goal, seed=integer("seed", seed, at_least=0))
