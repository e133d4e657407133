"""The paper's theory as pure functions: no kernel, no model, no state.

Symbols used throughout: t steps in all, t_r steps since the last reset (`elapsed`, starting at 1),
ε the rate of change (`rate`), T the horizon, N_low and N_high the reset window, γ the maximum
information gain, d the dimension (`dim`), ν the smoothness of a Matérn kernel (`nu`, None for the
squared exponential), σ_n² the noise variance. Where the paper contradicts itself, the function's
docstring says so and says what is computed instead.
"""

from windvane.theory.confidence import noise_width, observation_bound, pi_t, rho, trigger_widths
from windvane.theory.information import (
    GreedyGain,
    gain_exponent,
    gain_upper_bound,
    greedy_information_gain,
    information_gain,
)
from windvane.theory.regret import (
    RegretBound,
    RegretOrder,
    corollary1_order,
    sublinear_region,
    theorem1_bound,
)
from windvane.theory.schedules import igp_multiplier, log_beta, theorem1_beta
from windvane.theory.windows import reset_time, reset_window, window_exponent

__all__ = [
    "GreedyGain",
    "RegretBound",
    "RegretOrder",
    "corollary1_order",
    "gain_exponent",
    "gain_upper_bound",
    "greedy_information_gain",
    "igp_multiplier",
    "information_gain",
    "log_beta",
    "noise_width",
    "observation_bound",
    "pi_t",
    "reset_time",
    "reset_window",
    "rho",
    "sublinear_region",
    "theorem1_beta",
    "theorem1_bound",
    "trigger_widths",
    "window_exponent",
]
