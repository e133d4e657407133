"""Lemma 3 by simulation: how often the bound is broken while nothing changes.

Before the first reset the trigger does not influence what is asked, so one run of GP-UCB answers for
every delta: its predictions and observations are replayed through each trigger.
"""

from __future__ import annotations

from windvane.algorithms import make
from windvane.data import Prediction
from windvane.simulate import simulate
from windvane.tasks import task
from windvane.triggers import PosteriorBound
from windvane.triggers.base import replay

DELTAS = (0.05, 0.1, 0.5)


def alarms(seed: int, steps: int = 200) -> list[bool]:
    """For each delta, whether the trigger fired in a run on an objective that does not change."""
    still = task("within-model", rate=0.0, horizon=steps, seed=seed)
    optimizer = make(
        "gp-ucb", still.space, kernel=still.kernel, noise_variance=still.noise_variance, seed=seed
    )
    trace = simulate(optimizer, still, seed=seed)
    stream = [(Prediction(event.mean, event.std, event.noise_variance), event.y) for event in trace.events]
    return [any(verdict.fired for verdict in replay(PosteriorBound(delta), stream)) for delta in DELTAS]
