"""Figures of runs: each function returns a matplotlib Figure, made without pyplot. Needs the extra `plots`.

>>> from windvane import plots
>>> page = plots.reset_times({"et-gp-ucb": [[27, 80], [31, 77]]})
>>> page.savefig("resets.png")  # doctest: +SKIP
"""

from windvane.plots import style
from windvane.plots.leaderboard import leaderboard
from windvane.plots.regret import regret
from windvane.plots.reset_times import reset_times
from windvane.plots.settings import settings
from windvane.plots.slices import slices
from windvane.plots.snapshots import Snapshot, Snapshots
from windvane.plots.trigger import trigger

__all__ = [
    "Snapshot",
    "Snapshots",
    "leaderboard",
    "regret",
    "reset_times",
    "settings",
    "slices",
    "style",
    "trigger",
]
