"""The options of the algorithms, each declared once: what it is for, what is allowed, how it is checked.

An algorithm takes the options that its signature names (`algorithms`); `windvane list --options` and
docs/reference/algorithms.md show this table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import Parameter
from typing import Any, TypeAlias

import numpy as np

from windvane.acquisition import Acquisition, ConstantBeta, LogBeta, Schedule
from windvane.checks import bounds_text, integer, one_of, real
from windvane.constraints import constraint_names
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import Kernel, SpaceTime
from windvane.retention.evidence_window import ladder
from windvane.surrogates import HYPOTHESES, Hypothesis, Learning, Scaling
from windvane.triggers import ResetWindow, Trigger

Exclusions: TypeAlias = tuple[tuple[str, str], ...]
RESERVED = (
    "self",
    "x",
    "y",
    "time",
    "noise_variance",
    "std",
    "outcomes",
    "key",
    "trial",
    "metadata",
    "reason",
)
"""Arguments of `tell`, here and in a study, that a constraint cannot be told by."""
NEEDED = Parameter.empty  # the default of an option that has none


@dataclass(frozen=True)
class Option:
    """One option: `check` returns the value to use, or raises an error that names the option.

    >>> OPTIONS["delta"].check("delta", 1.5)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: delta=1.5: must be a finite number above 0 and below 1
    """

    purpose: str
    allowed: str
    check: Callable[[str, Any], Any]
    unset: str = ""  # what is done if it is left out and has no default value
    excludes: Exclusions = ()  # options that it cannot go with, and why
    default: Any = None  # of the algorithm that takes it, from its signature

    @property
    def default_text(self) -> str:
        """What happens if it is left out, in words."""
        if self.default is NEEDED:
            return "needed"
        return self.unset if self.default is None else f"{self.default}"


def _number(purpose: str, unset: str = "", excludes: Exclusions = (), **bounds: Any) -> Option:
    return Option(
        purpose,
        f"a number {bounds_text(**bounds)}",
        lambda name, value: real(name, value, **bounds),
        unset,
        excludes,
    )


def _count(purpose: str, unset: str = "", at_least: int = 1) -> Option:
    return Option(
        purpose,
        f"an integer at least {at_least}",
        lambda name, value: integer(name, value, at_least=at_least),
        unset,
    )


def _kernel(name: str, value: Any) -> Kernel | SpaceTime:
    if not isinstance(value, Kernel | SpaceTime):
        raise InvalidType(f"{name}={value!r}: must be a kernel such as wv.RBF(0.2)")
    return value


def _has(value: Any, *methods: str) -> bool:
    return not isinstance(value, type) and all(hasattr(value, method) for method in methods)


def _learning(name: str, value: Any) -> Learning:
    if not _has(value, "due", "monitors", "search"):
        raise InvalidType(f"{name}={value!r}: must be wv.LearnThenMonitor, wv.LearnOnline or wv.Given")
    return value  # type: ignore[no-any-return]


def _scaling(name: str, value: Any) -> Scaling:
    if not isinstance(value, Scaling):
        raise InvalidType(f"{name}={value!r}: must be a wv.Scaling(offset, scale)")
    return value


def _schedule(name: str, value: Any) -> Schedule:
    """A schedule, a number (constant beta), or a pair (c1, c2)."""
    if _has(value, "multiplier"):
        return value  # type: ignore[no-any-return]
    if isinstance(value, tuple | list) and len(value) == 2:
        return LogBeta(*value)
    return ConstantBeta(real(name, value, at_least=0.0))


def _acquisition(name: str, value: Any) -> Acquisition:
    if not _has(value, "propose"):
        raise InvalidType(f"{name}={value!r}: must be an instance such as wv.UCB(wv.LogBeta(0.4, 4.0))")
    return value  # type: ignore[no-any-return]


def _trigger(name: str, value: Any) -> Trigger:
    if isinstance(value, type) or not isinstance(value, Trigger):
        raise InvalidType(f"{name}={value!r}: must be an instance such as wv.PosteriorBound(0.1)")
    return value


def _pair(name: str, value: Any) -> tuple[Any, Any]:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidArgument(f"{name}={value!r}: must be a pair (low, high)")
    return value[0], value[1]


def _reset_window(name: str, value: Any) -> ResetWindow:
    return ResetWindow(*_pair(name, value))


def _rate_bounds(name: str, value: Any) -> tuple[float, float]:
    low, high = (real(name, side, at_least=0.0, at_most=1.0) for side in _pair(name, value))
    if low > high:
        raise InvalidArgument(f"{name}={value!r}: low must not be above high")
    return low, high


def _hypotheses(name: str, value: Any) -> tuple[Hypothesis, ...]:
    if not isinstance(value, tuple | list) or not value or not all(isinstance(v, Hypothesis) for v in value):
        raise InvalidType(f"{name}={value!r}: must be a list of one wv.Hypothesis or more")
    return tuple(value)


def _movement(name: str, value: Any) -> Any:
    """The rest depends on the space."""
    if isinstance(value, str) or not (np.ndim(value) <= 1 or isinstance(value, dict)):
        raise InvalidType(f"{name}={value!r}: must be a number, a dict by parameter, or of a box a list")
    return value


def _settings(name: str, value: Any) -> Any:
    """The rest depends on the space."""
    if not isinstance(value, list | tuple | np.ndarray) or not len(value):
        raise InvalidType(f"{name}={value!r}: must be a list of one point or more, such as [{{'gain': 0.5}}]")
    return value


_TRIGGERS_OWN = (("trigger", "the trigger has its own"),)
_ACQUISITIONS_OWN = (("acquisition", "the acquisition decides how much to explore"),)

OPTIONS: dict[str, Option] = {
    "kernel": Option(
        "how alike two points are",
        "a kernel such as wv.RBF(0.2), or wv.RBF(0.2) * wv.Markov(0.03) with time",
        _kernel,
        "an RBF kernel whose lengthscales are learned; of arms, how much they have in common is learned",
    ),
    "noise_variance": Option(
        "the variance of the noise of an observation",
        "a number at least 1e-10 of the variance of the kernel",
        lambda name, value: real(name, value),  # the rest of the range depends on the kernel
        "learned",
    ),
    "scaling": Option(
        "the zero and the unit of y: the model sees (y - offset) / scale",
        "a wv.Scaling(offset, scale)",
        _scaling,
        "learned if neither kernel= nor noise_variance= is given, else none",
    ),
    "learning": Option(
        "when hyperparameters are learned, and which",
        "wv.Given(), wv.LearnOnline(...) or wv.LearnThenMonitor(...)",
        _learning,
        "what was not given is learned: before a trigger watches, else again and again",
    ),
    "beta": Option(
        "how much to explore: the multiplier of the standard deviation is sqrt(beta)",
        "a number at least 0, a pair (c1, c2) for c1 ln(c2 t), or a schedule such as wv.LogBeta(0.4, 4)",
        _schedule,
        "the schedule of the algorithm: 0.4 ln(4 t) unless it has its own",
        excludes=_ACQUISITIONS_OWN,
    ),
    "acquisition": Option(
        "what is maximised to choose the next point",
        "an acquisition such as wv.UCB(wv.ConstantBeta(2.0))",
        _acquisition,
        "wv.UCB with the schedule of beta=",
    ),
    "max_points": _count("the most observations in use at a time", "no limit"),
    "max_step": Option(
        "how far the next point may be from the last one; choices are not limited",
        "a number above 0, the share of each range; or in the units of the parameters: a dict such as "
        "{'gain': 0.5}, of a box a list",
        _movement,
        "no limit",
    ),
    "move_cost": Option(
        "the price of moving, in units of y: weighed against what a point may be worth; choices are free",
        "a number above 0, the price of crossing each range; or per unit of a parameter: a dict such as "
        "{'gain': 0.5}, of a box a list",
        _movement,
        "moving is free",
    ),
    "constraints": Option(
        "what must hold beside the objective: quantities that are told with each value, and their limits",
        "a dict such as {'heat': wv.AtMost(90), 'purity': wv.AtLeast(0.8)}",
        lambda _, value: constraint_names(value, RESERVED),
        "nothing but the objective counts",
    ),
    "safe": _number(
        "ask only for points at which each constraint holds with this probability, as believed now",
        "points are preferred that probably meet the constraints",
        at_least=0.5,
        below=1.0,
    ),
    "start": Option(
        "settings that are known to meet the constraints: where safe= begins, and what it falls back on",
        "a list of points, without contexts",
        _settings,
        "needed with safe=",
    ),
    "rate": _number(
        "the rate of change eps per step",
        "needed, unless period= is given",
        at_least=0.0,
        at_most=1.0,
    ),
    "rate_bounds": Option(
        "the lowest and the highest rate of change; Corollary 1 makes a reset window of them",
        "a pair (low, high), 0 <= low <= high <= 1",
        _rate_bounds,
        "no reset window",
    ),
    "reset_window": Option(
        "the fewest and the most steps between two resets",
        "a pair (N_low, N_high) of integers at least 1; N_high may be None",
        _reset_window,
        "from rate_bounds=, else none",
        excludes=(("rate_bounds", ""),),
    ),
    "horizon": _count("the number of steps T, if there is an end: no block of data is longer", "no end"),
    "period": _count(
        "the steps between two resets",
        "from rate=, rate_bounds= or variation=",
    ),
    "delta": _number(
        "the probability of a false alarm, over all steps until a reset (Lemma 3)",
        excludes=_TRIGGERS_OWN,
        above=0.0,
        below=1.0,
    ),
    "noise_cap": _number("the most that the noise may add to the bound", "no cap", _TRIGGERS_OWN, above=0.0),
    "trigger": Option(
        "what decides that an observation contradicts the model",
        "a trigger such as wv.ExactBound(0.05)",
        _trigger,
        "the posterior bound at delta= (Lemma 3)",
    ),
    "forced": Option(
        "what a reset keeps that the end of the reset window forces",
        "'empty' or 'last'",
        lambda name, value: one_of(name, value, ("empty", "last")),
    ),
    "cap": _count("the most points that backtracking keeps", "2 d, for d parameters"),
    "cooldown": _count("the steps after a reset in which no alarm is heeded", at_least=0),
    "min_samples": _count("the observations to be watched before an alarm is heeded", at_least=0),
    "patience": _count("the steps without improvement before a reset", "d, the number of parameters"),
    "bound": _number(
        "B, the largest norm that f may have in the kernel's space", excludes=_ACQUISITIONS_OWN, at_least=0.0
    ),
    "variation": _number(
        "B_T, the budget of the change over all steps",
        "needed, unless the length that follows from it is given",
        above=0.0,
    ),
    "window": _count("the observations in use at a time", "from variation= and horizon="),
    "windows": Option(
        "the lengths of window to choose from",
        "a list of integers, each larger than the one before, such as (8, 16, 32)",
        ladder,
    ),
    "forgetting": _number(
        "the factor by which the weight of an observation falls per step",
        "from variation= and horizon=",
        above=0.0,
        at_most=1.0,
    ),
    "alpha": _number(
        "how fast the budget for dropping observations grows: 1 + alpha per lengthscale", at_least=0.0
    ),
    "initial": _count(
        "how many points, at the start and after a reset, are spread over the space first",
        at_least=0,
    ),
    "hypotheses": Option(
        "what may be true about time, with prior weights",
        "a list of wv.Hypothesis",
        _hypotheses,
        f"{len(HYPOTHESES)} of them: {'; '.join(one.label for one in HYPOTHESES)}; on arms without levels, "
        "and where their kernel is told with parts of their own",
    ),
    "hazard": _number("the probability of a sudden change per step", at_least=0.0, at_most=0.5),
    "outliers": _number("the probability that an observation is an outlier", at_least=0.0, at_most=0.5),
}

# Where an option means something else, or is needed, the signature is annotated with one of these.
RATE_BOUNDS_NEEDED = replace(OPTIONS["rate_bounds"], unset="needed, unless period= is given")
HORIZON_OF_VARIATION = replace(
    OPTIONS["horizon"],
    purpose="the number of steps T, for the length of its memory",
    unset="needed, unless the length that follows from it is given",
)
INJECTED_VARIANCE = _number("the variance s2 injected per step", at_least=0.0)
IGP_DELTA = replace(
    OPTIONS["delta"],
    purpose="the probability that IGP-UCB's confidence bound does not hold",
    excludes=_ACQUISITIONS_OWN,
)
SEASON_PERIOD = _number(
    "how long it takes, by the caller's clock, until a season comes back",
    "looked for in the data, unless hypotheses= is given",
    above=0.0,
)
AUTO_TRIGGER = replace(OPTIONS["trigger"], unset="a sudden change that the hypotheses believe in")
