"""Information gain: what n noisy observations can say about f, in nats.

For observed points with Gram matrix K, I(y; f) = 1/2 ln det(I + K / σ_n²). The maximum over the
choice of n points is γ_n, the quantity in every regret bound. Points may repeat, since the noise
of each observation is new.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from windvane import checks
from windvane.errors import InvalidArgument
from windvane.late import linalg

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_SLACK = 1e-8  # how far rounding may push a Gram matrix from symmetric and positive semi-definite


def _gram(value: npt.ArrayLike) -> Array:
    gram = checks.array("gram", value, (None, None))
    if gram.shape[0] != gram.shape[1]:
        raise InvalidArgument(f"gram: must be square, got {gram.shape[0]}x{gram.shape[1]}")
    if np.abs(gram - gram.T).max() > _SLACK * np.abs(gram).max():
        raise InvalidArgument("gram: must be symmetric")
    if gram.diagonal().min() < 0.0:
        raise InvalidArgument("gram: must have no negative variance on its diagonal")
    return gram


def information_gain(gram: npt.ArrayLike, noise_variance: float) -> float:
    """I(y; f) = 1/2 ln det(I + K / σ_n²) for the n x n Gram matrix K of the observed points.

    >>> round(information_gain([[1.0, 0.0], [0.0, 1.0]], noise_variance=1.0), 4)
    0.6931
    """
    gram = _gram(gram)
    noise_variance = checks.real("noise_variance", noise_variance, above=0.0)
    try:
        factor = linalg.cholesky(np.eye(len(gram)) + gram / noise_variance, lower=True)
    except np.linalg.LinAlgError:
        raise InvalidArgument("gram: must be positive semi-definite") from None
    return float(np.log(factor.diagonal()).sum())


@dataclass(frozen=True, eq=False)
class GreedyGain:
    """The greedy choice among M candidates: rows in the order chosen, and the gain after each.

    >>> greedy = GreedyGain(chosen=np.array([0, 1]), curve=np.array([0.5, 0.9]))
    >>> greedy.gain
    0.9
    """

    chosen: IntArray
    curve: Array

    @property
    def gain(self) -> float:
        """The gain of all the chosen points together."""
        return float(self.curve[-1])


def greedy_information_gain(gram: npt.ArrayLike, noise_variance: float, count: int) -> GreedyGain:
    """Observe `count` times, always the candidate that is most uncertain now; repeats allowed.

    `gram` is M x M over the candidates. The gain is monotone and submodular in the set of
    observations, so each entry of the curve satisfies greedy_n <= γ_n <= greedy_n / (1 - 1/e)
    (Nemhauser et al., 1978), where γ_n is the maximum over these candidates: a grid's γ_n is below
    that of the continuous domain. See `gain_upper_bound`. Costs O(M count²).

    >>> greedy = greedy_information_gain([[1.0, 0.0], [0.0, 1.0]], noise_variance=1.0, count=3)
    >>> greedy.chosen.tolist(), greedy.curve.round(4).tolist()
    ([0, 1, 0], [0.3466, 0.6931, 0.8959])
    """
    gram = _gram(gram)
    noise_variance = checks.real("noise_variance", noise_variance, above=0.0)
    count = checks.integer("count", count, at_least=1)
    variance = gram.diagonal().copy()
    allowed = -_SLACK * variance.max()
    rows = np.empty((count, len(gram)))  # posterior covariance = gram - rows.T @ rows
    chosen = np.empty(count, dtype=np.int64)
    gains = np.empty(count)
    for n in range(count):
        best = int(variance.argmax())
        chosen[n] = best
        gains[n] = 0.5 * math.log1p(variance[best] / noise_variance)
        covariance = gram[best] - rows[:n, best] @ rows[:n]
        rows[n] = covariance / math.sqrt(variance[best] + noise_variance)
        variance -= rows[n] ** 2
        if variance.min() < allowed:
            raise InvalidArgument("gram: must be positive semi-definite")
        variance = np.maximum(variance, 0.0)
    return GreedyGain(chosen, np.cumsum(gains))


def gain_upper_bound(greedy_gain: float) -> float:
    """The most that γ_n can be when greedy reached `greedy_gain`: greedy_gain / (1 - 1/e).

    >>> round(gain_upper_bound(1.0), 4)
    1.582
    """
    return checks.real("greedy_gain", greedy_gain, at_least=0.0) / (1.0 - math.exp(-1.0))


def gain_exponent(nu: float | None = None, dim: int | None = None) -> float:
    """ξ in γ_n = Õ(n^ξ): 0 for the squared exponential (`nu` None), else that of Matérn in d dimensions.

    ξ = d (d + 1) / (2 ν + d (d + 1)) (Srinivas et al., 2010, Theorem 5), with ν > 2 as Corollary 1
    asks. For the squared exponential that theorem gives γ_n = O((ln n)^(d+1)); the paper's O(ln n)
    lacks the power, which the Õ hides.

    >>> gain_exponent(), gain_exponent(nu=2.5, dim=2)
    (0.0, 0.5454545454545454)
    """
    if dim is not None:
        dim = checks.integer("dim", dim, at_least=1)
    if nu is None:
        return 0.0
    nu = checks.real("nu", nu, above=2.0)
    if dim is None:
        raise InvalidArgument(f"dim=None: must be an integer at least 1 when nu={nu:g} is given")
    return dim * (dim + 1) / (2.0 * nu + dim * (dim + 1))
