"""From the caller's units to a mean of 0 and a variance of about 1, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import overload

import numpy as np

from windvane.accuracy import Accuracies
from windvane.checks import Array, real
from windvane.codec import component
from windvane.data import Dataset
from windvane.errors import InvalidType
from windvane.kernels import Kernel, Temporal
from windvane.surrogates.factor import Factor
from windvane.units import inward, inward_one

GUESS = 4.0  # observations that the plain standard deviation is worth
SMALLEST = 0.03  # of the standard deviation of y: what is left for f, at least, beside noise that is known
HALVINGS = 20  # of a bisection
PASSES, ENOUGH = 20, 0.01  # of a scale beside noise that is known, and the change that is none


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
    held: bool = field(
        default=False, repr=False, metadata={"if_used": True}
    )  # the offset stays, whatever the values
    floor: float | None = field(
        default=None, repr=False, metadata={"if_used": True}
    )  # in the caller's units: what is below is taken for it

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", real("scaling(offset)", self.offset))
        object.__setattr__(self, "scale", real("scaling(scale)", self.scale, above=0.0))
        if self.floor is not None:
            object.__setattr__(self, "floor", real("scaling(floor)", self.floor))
        if not isinstance(self.held, bool):
            raise InvalidType(f"scaling(held)={self.held!r}: must be true or false")

    def raised(self, by: float) -> Scaling:
        """About another level, unless it is held; the floor moves as well."""
        floor = None if self.floor is None else self.floor + by
        return self if self.held else replace(self, offset=self.offset + by, floor=floor)

    def of_values(self, y: Array, accuracy: Accuracies | None = None) -> Scaling:
        """That of other values; about the same offset, if it is held.

        >>> import numpy as np
        >>> Scaling(90.0, 1.0, held=True).of_values(np.array([80.0, 76.0])).scale.__round__(2)
        12.17
        """
        if not self.held:
            return Scaling.of(y, accuracy)
        away = y - self.offset
        size = float(np.abs(away).max())
        return replace(self, scale=size * math.sqrt(float(np.mean((away / size) ** 2)))) if size else self

    @staticmethod
    def of(y: Array, accuracy: Accuracies | None = None) -> Scaling:
        """Mean and standard deviation of y; equal values are given the scale of their size, or 1.

        Noise that is known is not counted in the standard deviation, and what has much of it not in full.
        """
        size = float(np.abs(y).max()) or 1.0  # so that large values do not overflow when squared
        offset, scale = size * float((y / size).mean()), size * float((y / size).std())
        if accuracy is not None and accuracy.known.any() and scale:
            centre, spread = _beside_noise((y - offset) / scale, accuracy.noises(0.0, scale, 0.0))
            offset, scale = offset + scale * centre, scale * spread
        if not scale > 1e-12 * max(abs(offset), 1e-300):
            scale = abs(offset) if offset else 1.0
        return Scaling(offset, scale)

    @overload
    def inward(self, y: float) -> float: ...
    @overload
    def inward(self, y: Array) -> Array: ...
    def inward(self, y: float | Array) -> float | Array:
        """To the model's units.

        >>> Scaling(10.0, 2.0, floor=0.0).inward(np.array([14.0, 0.0, -1e6])).tolist()
        [2.0, -5.0, -5.0]
        """
        if isinstance(y, float):
            y = y if self.floor is None else max(y, self.floor)
            return inward_one(y, self.offset, self.scale)
        y = y if self.floor is None else np.maximum(y, self.floor)
        return inward(y, self.offset, self.scale)


def _beside_noise(y: Array, noises: Array) -> tuple[float, float]:
    """Mean and standard deviation of what has this noise besides, for y with a variance of 1.

    That of the largest likelihood, by bisection: what is mostly noise hardly counts. At least `SMALLEST`,
    where the noise explains all there is.
    """
    low, high = SMALLEST * SMALLEST, 1.0
    for _ in range(HALVINGS):
        variance = math.sqrt(low * high)
        weights = 1.0 / (variance + noises)
        centre = float(weights @ y) / float(weights.sum())
        if float(weights**2 @ (y - centre) ** 2) > float(weights.sum()):
            low = variance
        else:
            high = variance
    return centre, math.sqrt(variance)


def generalised(
    data: Dataset,
    kernel: Kernel,
    temporal: Temporal,
    noise_variance: float,
    interval: float = 1.0,
    W: Array | None = None,
    old: Scaling | None = None,
) -> Scaling:
    """Offset and scale by generalised least squares: under the model, y - offset ~ N(0, scale^2 K~).

    An optimiser measures again and again where values are high. Their plain mean is then far above what
    is to be expected elsewhere; here observations that the kernel takes for nearly the same count as one.
    `W` is the inverse Cholesky factor of K~, if somebody has it. Where noise is known, which does not grow
    with the scale, K~ = S + N depends on it: the scale of the largest likelihood has alpha' S alpha =
    scale^2 tr(K~^-1 S), and is found step by step. An offset that is held in the `old` scaling stays.

    >>> from windvane.kernels import RBF, Static
    >>> x = np.array([[0.1], [0.5], [0.9], [0.9], [0.9], [0.9]])
    >>> data = Dataset(x, np.array([0.0, 1.0, 5.0, 5.0, 5.0, 5.0]), np.arange(6.0), np.arange(6))
    >>> generalised(data, RBF(0.1), Static(), 0.01).offset.__round__(1), data.y.mean()
    (2.0, np.float64(3.5))
    """
    plain = (old or Scaling()).of_values(data.y, data.accuracy)
    y = plain.inward(data.y)
    known = data.accuracy is not None and bool(data.accuracy.known.any())
    K = None
    if W is None or known:
        times = data.times / interval
        K = kernel.matrix(data.X, data.X) * temporal.matrix(times, times)
    scale = 1.0
    for _ in range(PASSES if known else 1):
        if K is not None:
            noises = data.noises(noise_variance, scale * plain.scale, np.diagonal(K))
            noisy = K.copy()
            noisy.reshape(-1)[:: len(K) + 1] += noises
            W = Factor.of(noisy, noises).W
        assert W is not None
        z, ones = W @ y, W.sum(axis=1)
        offset = 0.0 if plain.held else float(ones @ z) / float(ones @ ones)
        z -= offset * ones
        squares, count = float(z @ z), float(len(y))
        if known and data.accuracy is not None:  # alpha' S alpha and tr(K~^-1 S)
            N = np.where(data.accuracy.known, noises, 0.0)
            squares -= float(N @ (z @ W) ** 2)
            count -= float(N @ np.einsum("ij,ij->j", W, W))
        before, scale = scale, math.sqrt((max(squares, 0.0) + GUESS) / (max(count, 0.0) + GUESS))
        if abs(scale / before - 1.0) < ENOUGH:
            break
    return replace(plain, offset=plain.offset + plain.scale * offset, scale=plain.scale * scale)
