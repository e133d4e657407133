"""From the caller's units to a mean of 0 and a variance of about 1, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windvane.checks import Array, real
from windvane.codec import component


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

    def inward(self, y: Array) -> Array:
        """To the model's units."""
        return (y - self.offset) / self.scale
