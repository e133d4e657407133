"""From the caller's units to a mean of 0 and a variance of about 1, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import overload

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component
from windvane.data import Dataset
from windvane.kernels import Kernel, Temporal
from windvane.surrogates.factor import Factor
from windvane.units import inward, inward_one

GUESS = 4.0  # observations that the plain standard deviation is worth


@component
@dataclass(frozen=True)
class Scaling:
    """y = offset + scale * (the model's value).

    >>> import numpy as np
    >>> Scaling.of(np.array([10.0, 14.0]))
    Scaling(offset=12.0, scale=2.0)
    """

    offset: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", real("scaling(offset)", self.offset))
        object.__setattr__(self, "scale", real("scaling(scale)", self.scale, above=0.0))

    @staticmethod
    def of(y: Array) -> Scaling:
        """Mean and standard deviation of y; equal values are given the scale of their size, or 1."""
        size = float(np.abs(y).max()) or 1.0  # so that large values do not overflow when squared
        offset, scale = size * float((y / size).mean()), size * float((y / size).std())
        if not scale > 1e-12 * max(abs(offset), 1e-300):
            scale = abs(offset) if offset else 1.0
        return Scaling(offset, scale)

    @overload
    def inward(self, y: float) -> float: ...
    @overload
    def inward(self, y: Array) -> Array: ...
    def inward(self, y: float | Array) -> float | Array:
        """To the model's units."""
        if isinstance(y, float):
            return inward_one(y, self.offset, self.scale)
        return inward(y, self.offset, self.scale)


def generalised(
    data: Dataset,
    kernel: Kernel,
    temporal: Temporal,
    noise_variance: float,
    interval: float = 1.0,
    W: Array | None = None,
) -> Scaling:
    """Offset and scale by generalised least squares: under the model, y - offset ~ N(0, scale^2 K~).

    An optimiser measures again and again where values are high. Their plain mean is then far above what
    is to be expected elsewhere; here observations that the kernel takes for nearly the same count as one.
    `W` is the inverse Cholesky factor of K~, if somebody has it.

    >>> from windvane.kernels import RBF, Static
    >>> x = np.array([[0.1], [0.5], [0.9], [0.9], [0.9], [0.9]])
    >>> data = Dataset(x, np.array([0.0, 1.0, 5.0, 5.0, 5.0, 5.0]), np.arange(6.0), np.arange(6))
    >>> generalised(data, RBF(0.1), Static(), 0.01).offset.__round__(1), data.y.mean()
    (2.0, np.float64(3.5))
    """
    plain = Scaling.of(data.y)
    y = plain.inward(data.y)
    if W is None:
        times = data.times / interval
        K = kernel.matrix(data.X, data.X) * temporal.matrix(times, times)
        K.reshape(-1)[:: len(K) + 1] += noise_variance
        W = Factor.of(K, np.full(len(y), noise_variance)).W
    z, ones = W @ y, W.sum(axis=1)
    offset = float(ones @ z) / float(ones @ ones)
    z -= offset * ones
    scale = math.sqrt((float(z @ z) + GUESS) / (len(y) + GUESS))
    return Scaling(plain.offset + plain.scale * offset, plain.scale * scale)
