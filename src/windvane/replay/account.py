"""What one algorithm said about a log, and how well it said it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, real
from windvane.data import Best, Event, IntArray
from windvane.errors import InvalidArgument
from windvane.late import special
from windvane.replay.limits import ConstraintAccount
from windvane.spelling import plain
from windvane.theory.proportion import wilson

LEVELS = (0.5, 0.8, 0.95)  # of the central intervals whose coverage is reported
CONFIDENCE = 0.95


class EstimateWithError(NamedTuple):
    """An estimate with its standard error, NaN where there is too little to tell."""

    value: float
    error: float


class Coverage(NamedTuple):
    """How many of `total` values lay inside the central interval of this level; Wilson's 95 % interval."""

    level: float
    inside: int
    total: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Account:
    """One algorithm's account of a log: one event per measurement, and what it believes in the end.

    Scores leave out the first `warmup` measurements; `seconds` is the time that each `tell` took. Of
    `constraints` there is one account each.
    """

    label: str
    events: tuple[Event, ...]
    best: Best
    seconds: Array
    warmup: int = 0
    constraints: Mapping[str, ConstraintAccount] = field(default_factory=dict)

    @property
    def resets(self) -> IntArray:
        """The steps at which it would have reset."""
        return np.array([event.step for event in self.events if event.reset], dtype=np.int64)

    @property
    def reset_events(self) -> tuple[Event, ...]:
        """The events at which it would have reset, with their times and reasons."""
        return tuple(event for event in self.events if event.reset)

    @cached_property
    def errors(self) -> Array:
        """y minus its prediction, of every measurement."""
        return np.array([event.y - event.mean for event in self.events])

    @cached_property
    def spreads(self) -> Array:
        """The standard deviation of y that went with the prediction: posterior and noise together."""
        return np.array([math.hypot(e.std, math.sqrt(e.noise_variance)) for e in self.events])

    @cached_property
    def log_densities(self) -> Array:
        """ln p(y), of every measurement."""
        return np.array([event.log_density for event in self.events])

    @cached_property
    def residuals(self) -> Array:
        """Standardised errors of what is scored: independent and N(0, 1) if the model is right."""
        errors, spreads = self.errors[self.warmup :], self.spreads[self.warmup :]
        with np.errstate(divide="ignore"):
            return np.where(errors == 0.0, 0.0, errors / np.where(errors == 0.0, 1.0, spreads))

    # -- scores ----------------------------------------------------------------------------------------

    @cached_property
    def log_density(self) -> EstimateWithError:
        """The mean of ln p(y), the larger the better: on average nothing scores higher than the truth."""
        return mean_of(self.log_densities[self.warmup :])

    @cached_property
    def rmse(self) -> float:
        """The root mean square error of the prediction of y."""
        return float(np.sqrt(np.mean(self.errors[self.warmup :] ** 2)))

    @cached_property
    def residual_mean(self) -> EstimateWithError:
        """0 if the model is right."""
        return mean_of(self.residuals)

    @cached_property
    def residual_variance(self) -> EstimateWithError:
        """1 if the model is right; above if it is too sure of itself, below if not sure enough."""
        e = self.residuals
        if len(e) < 2 or not np.isfinite(e).all():
            return EstimateWithError(math.nan, math.nan)
        centred = e - e.mean()
        variance = float(e.var(ddof=1))
        fourth = float(np.mean(centred**4))
        return EstimateWithError(variance, math.sqrt(max(fourth - float(e.var()) ** 2, 0.0) / len(e)))

    def coverage(self, level: float) -> Coverage:
        """The share of y inside the central interval of this level, mean +- z sqrt(std^2 + noise)."""
        if not 0.0 < real("level", level) < 1.0:
            raise InvalidArgument(f"level={level!r}: must be a finite number above 0 and below 1")
        return coverage_of(self.residuals, level)

    def ahead_of(self, other: Account) -> EstimateWithError:
        """How much larger its mean ln p(y) is than the other's, on the same measurements, pair by pair."""
        return mean_of(self.log_densities[self.warmup :] - other.log_densities[self.warmup :])

    # -- as data ---------------------------------------------------------------------------------------

    def as_dict(self, events: bool = True) -> dict[str, Any]:
        """Plain JSON: the scores, the resets, the belief, and all events unless they are not wanted."""
        best = self.best
        found: dict[str, Any] = {
            "algorithm": self.label,
            "observations": len(self.events),
            "scored": len(self.events) - self.warmup,
            "resets": [
                {"step": e.step, "time": e.time, "reason": e.reason, "kept": e.kept}
                for e in self.reset_events
            ],
            "log_density": _figure(self.log_density),
            "rmse": finite(self.rmse),
            "residual_mean": _figure(self.residual_mean),
            "residual_variance": _figure(self.residual_variance),
            "coverage": [self.coverage(level)._asdict() for level in LEVELS],
            "best": {"x": plain(best.x), "mean": best.mean, "std": best.std},
            "points_in_use": self.events[-1].size,
            "seconds_a_step": {"mean": float(self.seconds.mean()), "longest": float(self.seconds.max())},
        }
        if self.constraints:
            found["best"]["feasible"] = best.feasible
            found["constraints"] = {name: each.as_dict() for name, each in self.constraints.items()}
        if events:
            found["events"] = [event.as_dict() for event in self.events]
        return found


def finite(value: Any) -> Any:
    """JSON has neither infinity nor NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def mean_of(values: Array) -> EstimateWithError:
    """A mean with its standard error."""
    if not len(values):
        return EstimateWithError(math.nan, math.nan)
    mean = float(values.mean())
    if len(values) < 2 or not math.isfinite(mean):
        return EstimateWithError(mean, math.nan)
    return EstimateWithError(mean, float(values.std(ddof=1)) / math.sqrt(len(values)))


def coverage_of(residuals: Array, level: float) -> Coverage:
    """The share of standardised residuals within the central interval of the standard normal.

    >>> share = coverage_of(np.array([0.1, -0.3, 2.5, 0.6]), 0.95)
    >>> share.inside, share.total, round(share.low, 2), round(share.high, 2)
    (3, 4, 0.3, 0.95)
    """
    limit = float(special.ndtri(0.5 + 0.5 * level))
    count = len(residuals)
    inside = int(np.count_nonzero(np.abs(residuals) <= limit))
    if not count:
        return Coverage(level, 0, 0, math.nan, 0.0, 1.0)
    return Coverage(level, inside, count, inside / count, *wilson(inside, count, CONFIDENCE))


def _figure(figure: EstimateWithError) -> dict[str, float | None]:
    return {"value": finite(figure.value), "error": finite(figure.error)}
