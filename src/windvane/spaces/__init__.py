"""Domains: the points an optimiser may ask for, and their encoding as rows of numbers."""

from __future__ import annotations

from windvane.spaces.arms import Arms
from windvane.spaces.base import Domain, Parameter
from windvane.spaces.box import Box
from windvane.spaces.candidates import Candidates
from windvane.spaces.context import Context
from windvane.spaces.parameters import Choice, Integer, Real
from windvane.spaces.region import Region
from windvane.spaces.space import Space

__all__ = [
    "Arms",
    "Box",
    "Candidates",
    "Choice",
    "Context",
    "Domain",
    "Integer",
    "Parameter",
    "Real",
    "Region",
    "Space",
]
