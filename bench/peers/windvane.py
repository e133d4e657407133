"""Windvane, told neither kernel nor noise nor rate."""

from __future__ import annotations

from typing import Any

import windvane as wv
from peers import Bounds


def make(variant: str, bounds: Bounds, steps: int, seed: int) -> Any:  # noqa: ARG001 - it is not told the steps
    return wv.make(variant, wv.Box(bounds), seed=seed)
