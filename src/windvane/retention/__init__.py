"""Retention: what survives a reset (`Retention`), and how much is in use at most (`Limit`)."""

from windvane.retention.backtracking import Backtracking
from windvane.retention.base import Limit, Retention, Test
from windvane.retention.budget import Budget
from windvane.retention.empty import Empty
from windvane.retention.full import Full
from windvane.retention.last_point import LastPoint
from windvane.retention.window import SlidingWindow

__all__ = [
    "Backtracking",
    "Budget",
    "Empty",
    "Full",
    "LastPoint",
    "Limit",
    "Retention",
    "SlidingWindow",
    "Test",
]
