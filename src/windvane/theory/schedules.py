"""Schedules of the exploration weight in μ(x) + √β_t σ(x)."""

from __future__ import annotations

import math

from windvane import checks
from windvane.theory.confidence import pi_t


def log_beta(step: int, c1: float, c2: float) -> float:
    """β_t = c1 ln(c2 t), at least 0: the schedule of the paper's experiments.

    The within-model experiments use c1 = 0.4 and c2 = 4; temperature uses 0.8 and 0.4, which would
    make β negative for t <= 2.

    >>> round(log_beta(1, 0.4, 4.0), 4), log_beta(2, 0.8, 0.4)
    (0.5545, 0.0)
    """
    step = checks.integer("step", step, at_least=1)
    c1 = checks.real("c1", c1, at_least=0.0)
    c2 = checks.real("c2", c2, above=0.0)
    return max(0.0, c1 * math.log(c2 * step))


def theorem1_beta(step: int, delta: float, dim: int, a1: float, b1: float, r: float) -> float:
    """β_t of Theorem 1 on a domain inside [0, r]^d.

    β_t = 2 ln(2 π² t² / (3 δ)) + 2 d ln ϑ_t with ϑ_t = t² d b1 r √ln(2 d a1 π² t² / (3 δ)), where a1
    and b1 bound the derivatives of f as in Assumption 3: P{sup |∂f/∂x_j| > L} <= a1 exp(-(L / b1)²).

    ϑ_t is the number of grid points per side. It is taken as at least 1, where the formula as printed
    would lower β_t below what a single point needs. Lemma 8 states ϑ_t with 2 a1 d π_t / δ under
    the logarithm; Lemma 6 at δ / 4 needs 4, as in its own β_t and in Theorem 1, and so here.

    >>> round(theorem1_beta(1, 0.1, dim=2, a1=1.0, b1=1.0, r=1.0), 3)
    14.316
    """
    step = checks.integer("step", step, at_least=1)
    delta = checks.probability("delta", delta)
    dim = checks.integer("dim", dim, at_least=1)
    a1 = checks.real("a1", a1, at_least=0.0)
    b1 = checks.real("b1", b1, at_least=0.0)
    r = checks.real("r", r, above=0.0)
    events = 4.0 * pi_t(step) / delta  # four events at delta / 4 each; equals 2 pi^2 t^2 / (3 delta)
    lipschitz = b1 * math.sqrt(math.log(max(1.0, dim * a1 * events)))
    side = max(1.0, step * step * dim * r * lipschitz)
    return 2.0 * math.log(events) + 2.0 * dim * math.log(side)


def igp_multiplier(information_gain: float, bound: float, noise_scale: float, delta: float) -> float:
    """The multiplier of IGP-UCB (Chowdhury and Gopalan, 2017): B + R √(2 (γ + 1 + ln(1 / δ))).

    It multiplies σ itself, not under a root as β_t does. B (`bound`) bounds the RKHS norm of the
    objective, R (`noise_scale`) is the sub-Gaussian constant of the noise, and γ is the information
    gain of the steps before this one.

    >>> round(igp_multiplier(2.0, bound=1.0, noise_scale=0.1, delta=0.1), 4)
    1.3257
    """
    gamma = checks.real("information_gain", information_gain, at_least=0.0)
    bound = checks.real("bound", bound, at_least=0.0)
    noise_scale = checks.real("noise_scale", noise_scale, at_least=0.0)
    delta = checks.probability("delta", delta)
    return bound + noise_scale * math.sqrt(2.0 * (gamma + 1.0 - math.log(delta)))
