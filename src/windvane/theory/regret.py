"""Regret bounds of any algorithm that resets between N_low and N_high steps: Theorem 1, Corollary 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

from windvane import checks
from windvane.errors import InvalidArgument, InvalidType
from windvane.theory.confidence import observation_bound
from windvane.theory.information import gain_exponent
from windvane.theory.schedules import theorem1_beta


@dataclass(frozen=True)
class RegretBound:
    """Theorem 1 term by term; `total` bounds the regret R_T with probability 1 - δ.

    >>> RegretBound(exploration=5.0, variance_mismatch=2.0, mean_mismatch=1.0, beta=3.0, gamma=4.0).total
    10.0
    """

    exploration: float
    variance_mismatch: float
    mean_mismatch: float
    beta: float
    gamma: float
    constant: float = 2.0

    @property
    def total(self) -> float:
        """The sum of the four terms."""
        return self.exploration + self.constant + self.variance_mismatch + self.mean_mismatch


def theorem1_bound(
    horizon: int,
    rate: float,
    window: tuple[int, int],
    information_gain: float,
    noise_variance: float,
    delta: float,
    dim: int,
    *,
    a0: float,
    b0: float,
    a1: float,
    b1: float,
    r: float = 1.0,
) -> RegretBound:
    """The bound of Theorem 1 for blocks of N_low to N_high steps (`window`), kernels with k(x, x) <= 1.

    - exploration: √(C1 T β_T (T / N_low + 1) γ), C1 = 8 / ln(1 + σ_n^-2), γ = γ_{N_high}
    - the constant 2, which covers Σ 1/t²
    - variance mismatch: T 2 √(β_T (3 σ_n^-2 + σ_n^-4) N_high³ ε)
    - mean mismatch: T 2 (σ_n^-2 + σ_n^-4) N_high³ ε ȳ_T, with ȳ_T of Lemma 7 at δ / 4

    `information_gain` is γ_{N_high} or an upper bound on it, such as `gain_upper_bound` of the greedy
    gain. a0, b0, a1, b1 are those of Assumption 3 and r is the side of the domain.

    Two cautions. The paper's proof treats f_t given the block's data as the block's posterior, which
    holds if resets do not depend on discarded data; for a trigger that empties the data, a union bound over
    the start of the block mends it and adds 2 ln T to β_T, which is not included here; where a point is kept,
    as in Alg. 1, a cover over x is needed as well. And once ε > 0, the
    mismatch terms at usual T and σ_n exceed any regret one could suffer: use the bound for its scaling.

    >>> bound = theorem1_bound(400, 0.0, (400, 400), 10.0, 0.02, 0.1, 2, a0=1, b0=1, a1=1, b1=1)
    >>> round(bound.exploration, 1), bound.mean_mismatch, round(bound.total, 1)
    (1201.5, 0.0, 1203.5)
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    rate = checks.real("rate", rate, at_least=0.0, at_most=1.0)
    try:
        shortest, longest = window
    except (TypeError, ValueError):
        raise InvalidType(f"window={window!r}: must be a pair (N_low, N_high)") from None
    longest = checks.integer("window[1]", longest, at_least=1, at_most=horizon)
    shortest = checks.integer("window[0]", shortest, at_least=1, at_most=longest)
    gamma = checks.real("information_gain", information_gain, at_least=0.0)
    noise_variance = checks.real("noise_variance", noise_variance, above=0.0)
    beta = theorem1_beta(horizon, delta, dim, a1, b1, r)
    y_bar = observation_bound(horizon, delta / 4.0, noise_variance, a0, b0)
    precision = 1.0 / noise_variance
    c1 = 8.0 / math.log1p(precision)
    drift = longest**3 * rate
    return RegretBound(
        exploration=math.sqrt(c1 * horizon * beta * (horizon / shortest + 1.0) * gamma),
        variance_mismatch=2.0 * horizon * math.sqrt(beta * (3.0 * precision + precision * precision) * drift),
        mean_mismatch=2.0 * horizon * (precision + precision * precision) * drift * y_bar,
        beta=beta,
        gamma=gamma,
    )


@dataclass(frozen=True)
class RegretOrder:
    """The terms of Corollary 1 without constants and logarithms; the regret is of the order of the largest.

    `static` is the regret of a problem that does not change, the others are the price of change.

    >>> RegretOrder(static=20.0, exploration=90.0, variance_mismatch=80.0, mean_mismatch=10.0, xi=0.0).largest
    90.0
    """

    static: float
    exploration: float
    variance_mismatch: float
    mean_mismatch: float
    xi: float

    @property
    def largest(self) -> float:
        """The maximum of the four terms."""
        return max(self.static, self.exploration, self.variance_mismatch, self.mean_mismatch)

    @property
    def rate_exponent(self) -> float:
        """(1 - ξ) / (2 (4 - ξ)): the power of ε in exploration and variance; the mean's is twice that."""
        return (1.0 - self.xi) / (2.0 * (4.0 - self.xi))


def corollary1_order(
    rate: float,
    horizon: int,
    lambda1: float = 1.0,
    lambda2: float = 1.0,
    *,
    nu: float | None = None,
    dim: int | None = None,
) -> RegretOrder:
    """Corollary 1's terms when ε is only known to lie in [λ1 ε, λ2 ε]; Matérn with `nu` and `dim`.

    With q = 4 - ξ and ξ = 0 for the squared exponential:

    - static: √(T^(1+ξ))
    - exploration: λ1^(-ξ/2q) λ2^(1/2q) ε^((1-ξ)/2q) T
    - variance mismatch: λ1^(-3/2q) ε^((1-ξ)/2q) T
    - mean mismatch: λ1^(-3/q) ε^((1-ξ)/q) T

    The paper prints √(T^(1-ξ)) for the static term. Theorem 1 with N_low = N_high = T and γ_T = Õ(T^ξ)
    gives √(T^(1+ξ)), as it must: the other would beat GP-UCB's √(T γ_T). The plus sign is used here.

    >>> order = corollary1_order(0.01, 400)
    >>> round(order.static), round(order.exploration), round(order.mean_mismatch)
    (20, 225, 126)
    """
    rate = checks.real("rate", rate, above=0.0, below=1.0)
    horizon = checks.integer("horizon", horizon, at_least=1)
    lambda1, lambda2 = _lambdas(lambda1, lambda2)
    if rate * lambda2 >= 1.0:
        raise InvalidArgument(f"lambda2={lambda2!r}: must be below 1/rate = {1.0 / rate:g}")
    xi = gain_exponent(nu, dim)
    q = 4.0 - xi
    drift = lambda1 ** (-3.0 / q) * rate ** ((1.0 - xi) / q)
    return RegretOrder(
        static=horizon ** ((1.0 + xi) / 2.0),
        exploration=horizon * (lambda2 * lambda1**-xi * rate ** (1.0 - xi)) ** (0.5 / q),
        variance_mismatch=horizon * math.sqrt(drift),
        mean_mismatch=horizon * drift,
        xi=xi,
    )


def sublinear_region(
    horizon: int,
    lambda1: float = 1.0,
    lambda2: float = 1.0,
    *,
    nu: float | None = None,
    dim: int | None = None,
) -> float:
    """The largest ε for which the static term dominates Corollary 1, so that R_T = Õ(√(T^(1+ξ))).

    Solving `corollary1_order`'s terms for ε gives min{(λ1^ξ / λ2)^(1/(1-ξ)), λ1^(3/(1-ξ))} T^-(4-ξ);
    the mean mismatch never binds. For the squared exponential this is the paper's
    min{1 / λ2, λ1³} T^-4. For Matérn the paper prints λ1^ξ / λ2^(1-ξ) and λ1^(3(1-ξ)), multiplying by
    1 - ξ where one must divide, which makes the region too large unless λ1 = λ2 = 1.

    The region is sufficient. Since blocks never outlast T, ε <= T^-(4-ξ) / λ2 is already enough in
    Theorem 1 with N_low = N_high = T, whatever λ1: the corollary drops that N_high <= T.

    >>> sublinear_region(10), round(sublinear_region(10, 0.5, 2.0) / 1e-4, 6)
    (0.0001, 0.125)
    """
    horizon = checks.integer("horizon", horizon, at_least=1)
    lambda1, lambda2 = _lambdas(lambda1, lambda2)
    xi = gain_exponent(nu, dim)
    power = 1.0 / (1.0 - xi)
    return float(min(lambda1**xi / lambda2, lambda1**3) ** power * horizon ** -(4.0 - xi))


def _lambdas(lambda1: float, lambda2: float) -> tuple[float, float]:
    return (
        checks.real("lambda1", lambda1, above=0.0, at_most=1.0),
        checks.real("lambda2", lambda2, at_least=1.0),
    )
