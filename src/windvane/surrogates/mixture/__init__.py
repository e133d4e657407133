"""The surrogate of `auto`: a mixture of hypotheses about time, one room for each idea.

`hypotheses` says what may be going on, `member` is one hypothesis with its data, `weights` how much each is
believed and how sudden changes are born, `outliers` how noisy observations are and which of them to doubt,
`posterior` what all of them say together, `starts` how everything begins afresh, `saved` how it is written
down. `surrogate` is where they meet; `tuning` has the constants, each with what chose it.
"""

from windvane.surrogates.mixture.hypotheses import HYPOTHESES, LOCAL, Hypothesis, LocalHypothesis
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.surrogate import MixtureSurrogate

__all__ = ["HYPOTHESES", "LOCAL", "Hypothesis", "LocalHypothesis", "Mixture", "MixtureSurrogate"]
