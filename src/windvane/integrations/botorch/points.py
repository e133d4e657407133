"""Points and values as people hand them over, checked at the door; and points to begin with."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.quasirandom import SobolEngine

from windvane.checks import Array, real
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Box

LARGEST = 1e100  # of |y|: squares must not overflow
ROUNDING = 2.0**-23  # of a bound: what single precision does to it is not outside


def read_point(name: str, x: Any, box: Box) -> Array:
    """d coordinates inside the box, from a tensor or an array of shape d or 1 x d.

    >>> read_point("x", torch.tensor([[0.25]]), Box([(0, 1)]))
    array([0.25])
    """
    values = x.detach().cpu().double().numpy() if isinstance(x, Tensor) else np.asarray(x)
    if values.dtype.kind not in "iuf":
        raise InvalidType(f"{name}={x!r}: must be {box.dim} numbers")
    if values.ndim == 2 and len(values) == 1:
        values = values[0]
    if values.shape != (box.dim,):
        got = " x ".join(map(str, values.shape)) or "a single number"
        raise InvalidArgument(f"{name}: must have shape {box.dim} or 1 x {box.dim}, got {got}")
    values = values.astype(np.float64)
    for i, (low, high) in enumerate(box.bounds):
        nearest = min(max(float(values[i]), low), high) if math.isfinite(values[i]) else values[i]
        if abs(values[i] - nearest) <= ROUNDING * max(abs(low), abs(high)):
            values[i] = nearest
        real(f"{name}[{i}]", float(values[i]), at_least=low, at_most=high)
    return values


def read_value(y: Any) -> float:
    """One finite number, from a number or a tensor with one element."""
    if isinstance(y, Tensor):
        if y.numel() != 1:
            raise InvalidArgument(f"y: must be one number, got a tensor of shape {tuple(y.shape)}")
        y = y.item()
    return real("y", y, at_least=-LARGEST, at_most=LARGEST)


def sobol_point(box: Box, seed: int, number: int) -> Array:
    """The point with this number, from 1, of a scrambled Sobol sequence in the box."""
    sequence = SobolEngine(box.dim, scramble=True, seed=seed).fast_forward(number - 1)
    return box.decode(sequence.draw(1, dtype=torch.float64)[0].numpy())
