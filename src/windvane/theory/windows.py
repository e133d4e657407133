"""Reset windows: how long a block of data may and must last, from what is known of the rate ε.

A block is reset no earlier than N_low and no later than N_high steps after the last reset.
"""

from __future__ import annotations

import math

from windvane import checks
from windvane.errors import InvalidArgument, InvalidType
from windvane.theory.information import gain_exponent

_ROUNDING = 1e-12  # 12 * 1e-4 ** -0.25 is 120 and a rounding error, whose ceiling must not be 121
_LOG_MAX = 700.0  # exp of more is no float


def window_exponent(nu: float | None = None, dim: int | None = None) -> float:
    """a in N = Θ(min{T, ε^-a}), Corollary 1: 1/4 for the squared exponential, 1/(4 - ξ) for Matérn.

    >>> window_exponent(), round(window_exponent(nu=2.5, dim=2), 4)
    (0.25, 0.2895)
    """
    return 1.0 / (4.0 - gain_exponent(nu, dim))


def reset_time(
    rate: float, horizon: int | None = None, *, constant: float = 12.0, exponent: float = 0.25
) -> int:
    """The period of R-GP-UCB: N = ceil(min(T, 12 ε^-1/4)).

    At T = 400 and ε = 0.01, 0.03, 0.05, 0.001 this gives the paper's 38, 29, 26, 68. For ε = 0.2 it
    gives 18, while the paper's hyperparameter table says 17.

    >>> [reset_time(rate, 400) for rate in (0.01, 0.03, 0.05, 0.001, 0.2)]
    [38, 29, 26, 68, 18]
    """
    rate = checks.real("rate", rate, at_least=0.0, at_most=1.0)
    length = _block(rate, _horizon(horizon), *_shape(constant, exponent))
    if length is None:
        raise InvalidArgument(f"rate={rate!r}: too small for a finite reset time without a horizon")
    return length


def reset_window(
    rate_bounds: tuple[float, float],
    horizon: int | None = None,
    *,
    nu: float | None = None,
    dim: int | None = None,
    constant: float = 12.0,
) -> tuple[int, int | None]:
    """(N_low, N_high) of Corollary 1 for a rate of change within `rate_bounds`.

    N_low = ceil(min(T, c ε_high^-a)) and N_high = ceil(min(T, c ε_low^-a)) with `window_exponent`'s a:
    the squared exponential by default, Matérn with `nu` and `dim`. The corollary leaves c free; 12 is
    what the paper's experiments use. A lower bound of 0 gives N_high = T, or None without a horizon.
    An upper bound of 1 says nothing, so N_low = 1: with (0, 1) the window restricts nothing, as in
    the paper's ET [0, 1].

    >>> reset_window((0.001, 0.1), 400), reset_window((0, 1), 400), reset_window((0, 0.1))
    ((22, 68), (1, 400), (22, None))
    """
    try:
        low_rate, high_rate = rate_bounds
    except (TypeError, ValueError):
        raise InvalidType(f"rate_bounds={rate_bounds!r}: must be a pair (lowest, highest)") from None
    low_rate = checks.real("rate_bounds[0]", low_rate, at_least=0.0, at_most=1.0)
    high_rate = checks.real("rate_bounds[1]", high_rate, at_least=0.0, at_most=1.0)
    if low_rate > high_rate:
        raise InvalidArgument(f"rate_bounds={rate_bounds!r}: the lower bound must not exceed the upper")
    shape = _shape(constant, window_exponent(nu, dim))
    steps = _horizon(horizon)
    shortest = 1 if high_rate == 1.0 else _block(high_rate, steps, *shape)
    if shortest is None:
        raise InvalidArgument(f"rate_bounds={rate_bounds!r}: the upper bound is too small without a horizon")
    return shortest, _block(low_rate, steps, *shape)


def _horizon(horizon: int | None) -> int | None:
    return None if horizon is None else checks.integer("horizon", horizon, at_least=1)


def _shape(constant: float, exponent: float) -> tuple[float, float]:
    return checks.real("constant", constant, above=0.0), checks.real("exponent", exponent, above=0.0)


def _block(rate: float, horizon: int | None, constant: float, exponent: float) -> int | None:
    """ceil(min(T, c ε^-a)), at least 1; None if that is no finite number."""
    log_length = math.log(constant) - exponent * math.log(rate) if rate > 0.0 else math.inf
    if horizon is not None and log_length >= math.log(horizon):
        return horizon
    if log_length > _LOG_MAX:
        return None
    return max(1, math.ceil(math.exp(log_length) * (1.0 - _ROUNDING)))
