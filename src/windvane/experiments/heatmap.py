"""The heat map of a leaderboard's ratios to the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from windvane.experiments.leaderboard import Leaderboard
from windvane.plots import leaderboard
from windvane.plots.leaderboard import DARKEST, SUMMARY, WHITE_INK_FROM

__all__ = ["DARKEST", "SUMMARY", "WHITE_INK_FROM", "figure"]


def figure(board: Leaderboard, bold: Sequence[str] = ()) -> Any:
    """One row per task and, apart from them, the worst ratio; one column per algorithm, from first to last.

    The names of `bold` algorithms stand out.
    """
    return leaderboard(board, bold=bold)
