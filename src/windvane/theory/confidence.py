"""Confidence widths: how far an observation may stray from a static model.

All of them spend a probability δ over infinitely many steps, δ / π_t at step t, and bound a normal
tail by P{|r| > s} <= exp(-s² / (2 σ²)).

A trigger calls these on every `tell`, so they are scalar `math` and reject bad input with a bare
comparison; `checks` only words the error. That an `elapsed` is a whole number is left to the caller.
"""

from __future__ import annotations

import math

from windvane import checks

_PI_SQUARED_OVER_6 = math.pi**2 / 6.0


def pi_t(step: float) -> float:
    """π_t = π² t² / 6, whose reciprocals sum to one over t = 1, 2, ... (Remark 2).

    >>> round(pi_t(1), 4), round(pi_t(10), 2)
    (1.6449, 164.49)
    """
    if not step >= 1:
        checks.integer("step", step, at_least=1)
    return _PI_SQUARED_OVER_6 * step * step


def rho(elapsed: float, delta: float) -> float:
    """ρ of Lemma 1: |f(x_t) - μ(x_t)| <= √ρ σ(x_t) at every step since the reset, with probability 1 - δ.

    ρ = 2 ln(π_t / δ) at t = `elapsed`.

    >>> round(rho(1, 0.1), 4), round(rho(50, 0.1), 4)
    (5.6006, 21.2487)
    """
    if not elapsed >= 1:
        checks.integer("elapsed", elapsed, at_least=1)
    if not 0.0 < delta < 1.0:
        checks.probability("delta", delta)
    return 2.0 * math.log(_PI_SQUARED_OVER_6 * elapsed * elapsed / delta)


def noise_width(elapsed: float, delta: float, noise_variance: float) -> float:
    """w̄ of Lemma 2: |w_t| <= w̄ at every step since the reset, with probability 1 - δ.

    w̄² = 2 σ_n² ln(π_t / δ) at t = `elapsed`.

    >>> round(noise_width(1, 0.1, 0.02), 4)
    0.3347
    """
    if not 0.0 <= noise_variance < math.inf:
        checks.real("noise_variance", noise_variance, at_least=0.0)
    return math.sqrt(noise_variance * rho(elapsed, delta))


def trigger_widths(elapsed: float, delta: float, noise_variance: float) -> tuple[float, float]:
    """(√ρ, w̄) of Lemma 3: |y_t - μ(x_t)| <= √ρ σ(x_t) + w̄ with probability 1 - δ, for a static f.

    Lemmas 1 and 2 with δ / 2 each, that is ρ = 2 ln(2 π_t / δ) and w̄² = σ_n² ρ.

    The guarantee is for one stretch that starts from an unselected data set. A stretch that starts
    with the point that fired the last trigger is not covered by the lemma: that point was selected
    for being surprising. The bound is also loose, since y_t - μ(x_t) is itself normal with variance
    σ² + σ_n², for which ρ = 2 ln(π_t / δ) without the split would do.

    >>> sqrt_rho, w_bar = trigger_widths(1, 0.1, 0.02)
    >>> round(sqrt_rho, 4), round(w_bar, 4)
    (2.6433, 0.3738)
    """
    if not 0.0 < delta < 1.0:
        checks.probability("delta", delta)
    half = 0.5 * delta
    return math.sqrt(rho(elapsed, half)), noise_width(elapsed, half, noise_variance)


def observation_bound(step: int, delta: float, noise_variance: float, a0: float, b0: float) -> float:
    """ȳ_t of Lemma 7: |y_t| <= ȳ_t at every step with probability 1 - δ.

    ȳ_t = (b0 + √2 σ_n) √ln(2 (a0 + 1) π_t / δ), where a0 and b0 bound the supremum of |f| as in
    Assumption 3: P{sup |f| > L} <= a0 exp(-(L / b0)²). Theorem 1 uses it with δ / 4.

    >>> round(observation_bound(1, 0.1, 0.02, a0=1.0, b0=1.0), 4)
    2.4553
    """
    step = checks.integer("step", step, at_least=1)
    delta = checks.probability("delta", delta)
    noise_variance = checks.real("noise_variance", noise_variance, at_least=0.0)
    a0 = checks.real("a0", a0, at_least=0.0)
    b0 = checks.real("b0", b0, at_least=0.0)
    return (b0 + math.sqrt(2.0 * noise_variance)) * math.sqrt(math.log(2.0 * (a0 + 1.0) * pi_t(step) / delta))
