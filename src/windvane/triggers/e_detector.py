"""The trigger that lets evidence add up over many steps, with a guarantee at every one of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from windvane import checks
from windvane.codec import component
from windvane.data import Prediction, Verdict
from windvane.errors import InvalidArgument, InvalidType
from windvane.triggers.base import Memory, exceeds, since

_FARTHEST = 1e6  # residuals beyond are taken as this large: all logarithms stay finite


class Alternative(NamedTuple):
    """A law of e_t after a change; ln of its density over that of N(0, 1) is a quadratic in e_t."""

    constant: float
    linear: float
    quadratic: float
    words: str


@component
@dataclass(frozen=True)
class EDetector:
    """Fires if the evidence that something changed, at whatever step, is larger than the promise allows.

    While the objective stands still and the model is right, e_t = (y - mean) / sqrt(std^2 + sigma_n^2)
    are independent standard normals, however the queries were chosen. Each alternative says what they
    are after a change: N(0, c^2) for c in `spreads`, N(m, 1) and N(-m, 1) for m in `shifts`. Its
    likelihood ratio up to now is L_t = LR_t (L_{t-1} + p_t), where LR_t is that of e_t alone and p_t the
    weight of a change at step t; the statistic is the logarithm of the mean over the alternatives.

    `delta`, by default 0.1: the weights p_t are a prior over the steps, 1/sqrt(t) - 1/sqrt(t + 1), and the
    mean over the alternatives, with the prior's rest 1/sqrt(t + 1) added, is a martingale that starts
    at 1. By Ville's inequality the probability that it is ever above 1 / delta is at most `delta`, over a
    run without end.

    `run_length` in place of `delta`: all p_t are 1, a Shiryaev-Roberts e-detector (Shin, Ramdas &
    Rinaldo, 2024). A false alarm is then a matter of time, but takes at least `run_length` steps on
    average, and comes within T steps with a probability of at most T / run_length. In return
    it does not grow deaf: a change is noticed as quickly after a million quiet steps as after ten.

    Both promises hold for a stretch that starts from unselected data: a point that is kept because
    it fired the last trigger was selected for being surprising. The memory is ln L_t of each
    alternative, and then how many steps ago, on average, each would have begun.

    >>> from windvane.triggers import replay
    >>> model = Prediction(mean=0.0, std=0.0, noise_variance=1.0)
    >>> verdicts = replay(EDetector(delta=0.1), [(model, y) for y in (0.5, -0.7, 0.1) * 3 + (-1.6,) * 7])
    >>> [t for t, verdict in enumerate(verdicts, start=1) if verdict.fired]
    [15, 16]
    >>> verdicts[14].reason
    'evidence of change: ln e-value = 2.7 > 2.3, mostly for observations 1.5 standard deviations worse than
    predicted over about the last 7 steps, 15 steps after the last reset or start'
    """

    delta: float | None = None
    run_length: float | None = None
    spreads: tuple[float, ...] = (1.5, 3.0)
    shifts: tuple[float, ...] = (0.5, 1.5)

    def __post_init__(self) -> None:
        if self.delta is not None and self.run_length is not None:
            raise InvalidArgument(
                f"delta={self.delta!r} with run_length={self.run_length!r}: give one of the two; delta "
                "bounds the probability of any false alarm, run_length the mean time until one"
            )
        if self.run_length is not None:
            object.__setattr__(self, "run_length", checks.real("run_length", self.run_length, above=1.0))
        else:
            delta = 0.1 if self.delta is None else self.delta
            object.__setattr__(self, "delta", checks.probability("delta", delta))
        object.__setattr__(self, "spreads", _numbers("spreads", self.spreads, above=1.0, at_most=1e3))
        object.__setattr__(self, "shifts", _numbers("shifts", self.shifts, above=0.0, at_most=1e3))
        if not self.spreads and not self.shifts:
            raise InvalidArgument("spreads=() with shifts=(): there must be at least one alternative")

    @cached_property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The laws that are mixed, equally weighted."""
        wider = [
            Alternative(-math.log(c), 0.0, 0.5 - 0.5 / (c * c), f"a spread {c:g} times the expected one")
            for c in self.spreads
        ]
        moved = [
            Alternative(-0.5 * m * m, sign * m, 0.0, f"observations {m:g} standard deviations {how}")
            for m in self.shifts
            for sign, how in ((1.0, "better than predicted"), (-1.0, "worse than predicted"))
        ]
        return (*wider, *moved)

    def start(self) -> Memory:
        """No evidence yet."""
        return ()

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:
        """One step of the recursion, in logarithms."""
        e = _standardised(prediction, y)
        count = len(self.alternatives)
        weight, rest = (0.0, -math.inf) if self.delta is None else _prior(elapsed)
        evidence, ages = [], []
        for number, (constant, linear, quadratic, _) in enumerate(self.alternatives):
            before, age = (memory[number], memory[count + number]) if memory else (-math.inf, 0.0)
            total = _log_add(before, weight)
            evidence.append(total + constant + linear * e + quadratic * e * e)
            ages.append(1.0 + age * math.exp(before - total))  # the present step too; LR_t cancels
        statistic = _log_add(_log_sum(evidence) - math.log(count), rest)
        threshold = self._threshold
        reason = ""
        if statistic > threshold:
            most = max(range(count), key=evidence.__getitem__)
            reason = self._reason(statistic, most, ages[most], elapsed)
        return Verdict(statistic > threshold, statistic, threshold, reason), (*evidence, *ages)

    @cached_property
    def _threshold(self) -> float:
        if self.run_length is not None:
            return math.log(self.run_length)
        assert self.delta is not None
        return -math.log(self.delta)

    def _reason(self, statistic: float, alternative: int, age: float, elapsed: int) -> str:
        figures = f"ln e-value = {exceeds(statistic, self._threshold)}"
        when = "at this step" if age < 1.5 else f"over about the last {age:.0f} steps"
        words = self.alternatives[alternative].words
        return f"evidence of change: {figures}, mostly for {words} {when}, {since(elapsed)}"


def _numbers(name: str, given: Any, above: float, at_most: float) -> tuple[float, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidType(f"{name}={given!r}: must be a sequence of numbers")
    return tuple(checks.real(name, value, above=above, at_most=at_most) for value in given)


def _standardised(prediction: Prediction, y: float) -> float:
    """e_t; what a certain prediction did not predict is infinitely far off, and so as far as can be."""
    off = y - prediction.mean
    spread = math.hypot(prediction.std, math.sqrt(prediction.noise_variance))
    if abs(off) >= _FARTHEST * spread:
        return math.copysign(_FARTHEST, off) if off else 0.0
    return off / spread


def _prior(step: int) -> tuple[float, float]:
    """ln of the weights of a change at this step, 1/sqrt(t) - 1/sqrt(t + 1), and at a later one."""
    now, later = math.sqrt(step), math.sqrt(step + 1)
    return -math.log(now * later * (now + later)), -math.log(later)


def _log_add(one: float, other: float) -> float:
    """ln(exp(one) + exp(other)); one of the two may be -inf."""
    more, less = (one, other) if one > other else (other, one)
    return more + math.log1p(math.exp(less - more))


def _log_sum(terms: Sequence[float]) -> float:
    """ln of the sum of exponentials."""
    most = max(terms)
    return most + math.log(sum([math.exp(term - most) for term in terms]))
