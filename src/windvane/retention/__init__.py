"""Retention: what survives a reset (`Retention`), and how much is in use at most (`Limit`)."""

from windvane.retention.backtracking import Backtracking
from windvane.retention.base import Belief, Limit, Memory, Retention, Test
from windvane.retention.budget import Budget
from windvane.retention.empty import Empty
from windvane.retention.evidence_window import EvidenceWindow
from windvane.retention.full import Full
from windvane.retention.in_batches import InBatches
from windvane.retention.last_point import LastPoint
from windvane.retention.since_change import SinceChange
from windvane.retention.wasserstein import Relevance
from windvane.retention.window import SlidingWindow

__all__ = [
    "Backtracking",
    "Belief",
    "Budget",
    "Empty",
    "EvidenceWindow",
    "Full",
    "InBatches",
    "LastPoint",
    "Limit",
    "Memory",
    "Relevance",
    "Retention",
    "SinceChange",
    "SlidingWindow",
    "Test",
]
