"""Kernel and noise from data collected beforehand (the paper's advice, Section 6.3).

A trigger compares each surprise with the noise it was told of. Noise learned while the objective
changes soaks the change up; noise learned from hold-out data, taken while the system stood still or
over a time short against its drift, does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import array, integer
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import RBF, Kernel, Static, Stationary
from windvane.spaces import Arms
from windvane.spaces.base import Domain
from windvane.surrogates.fit import Search, map_estimate
from windvane.surrogates.noise import Noise
from windvane.surrogates.scaling import Scaling


@dataclass(frozen=True)
class Fit:
    """What hold-out data say, in the units of y; hand `**fit.options` to `make`."""

    kernel: Kernel
    noise_variance: float
    offset: float
    log_posterior: float

    @property
    def options(self) -> dict[str, Any]:
        """The arguments for `make`."""
        return {
            "kernel": self.kernel,
            "noise_variance": self.noise_variance,
            "scaling": Scaling(self.offset, 1.0),
        }


def fit(
    space: Domain,
    X: Any,
    y: Any,
    *,
    kernel: Stationary | None = None,
    search: Search | None = None,
    max_points: int = 500,
    seed: int = 0,
) -> Fit:
    """Lengthscales, signal variance and noise by maximum a posteriori from hold-out data.

    `kernel` sets the family and the first guess (default: RBF with one lengthscale per coordinate);
    `search` the bounds and priors, on standardised y. Of more than `max_points` rows, that many are
    drawn at random from the seed.

    >>> import windvane as wv
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(60, 1))
    >>> y = 10 + 3 * np.sin(9 * X[:, 0]) + 0.3 * rng.normal(size=60)
    >>> found = fit(wv.Box([(0, 1)]), X, y)
    >>> 0.05 < found.noise_variance < 0.15  # the truth is 0.09
    True
    """
    if not isinstance(space, Domain):
        raise InvalidType(f"space={space!r}: must be a wv.Box, wv.Arms, wv.Candidates or wv.Space")
    points = space.encode_many(X)
    values = array("y", y, (None,))
    if len(points) != len(values):
        raise InvalidArgument(f"X, y: must have the same length, got {len(points)} and {len(values)}")
    if len(values) < 3:
        raise InvalidArgument(f"y: at least 3 observations are needed, got {len(values)}")
    if isinstance(space, Arms):
        raise InvalidArgument(
            "space: arms have no lengthscale to learn; use wv.Empirical on their covariance"
        )
    first = kernel if kernel is not None else RBF([0.3] * space.dim)
    if not isinstance(first, Stationary):
        raise InvalidType(f"kernel={kernel!r}: must be wv.RBF, wv.Matern32 or wv.Matern52")
    integer("seed", seed, at_least=0)
    if search is not None and not isinstance(search, Search):
        raise InvalidType(f"search={search!r}: must be a wv.Search")
    limit = integer("max_points", max_points, at_least=3)
    if len(values) > limit:
        rows = np.sort(np.random.default_rng(seed).choice(len(values), limit, replace=False))
        points, values = points[rows], values[rows]
    scaling = Scaling.of(values)
    wanted = search or Search(learn=("lengthscale", "variance", "noise"))
    data = (points, scaling.inward(values), np.zeros(len(values)))
    found = map_estimate(first, Static(), Noise(0.01), data, wanted, seed)
    unit = scaling.scale**2
    learned = found.kernel
    assert isinstance(learned, Stationary)
    in_units = type(learned)(learned.lengthscale, learned.variance * unit)
    return Fit(in_units, found.noise.variance * unit, scaling.offset, found.log_posterior)
