"""Table 1: dynamic regret within the model, R_T / T after 400 steps."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from windvane.algorithms import make
from windvane.simulate import simulate
from windvane.tasks import task

RATES = (0.01, 0.03, 0.05)
HORIZON = 400


class Row(NamedTuple):
    """What an algorithm is told beside the model, and the paper's medians at each of `RATES`."""

    told: tuple[str, ...]
    medians: tuple[float, float, float]


ROWS = {
    "gp-ucb": Row((), (0.748, 1.051, 1.276)),
    "r-gp-ucb": Row(("rate", "horizon"), (0.622, 0.831, 0.985)),
    "et-gp-ucb[0.01,0.05]": Row(("horizon",), (0.604, 0.778, 0.879)),
    "et-gp-ucb[0.001,0.1]": Row(("horizon",), (0.507, 0.688, 0.866)),
    "et-gp-ucb": Row((), (0.483, 0.686, 0.849)),
    "tv-gp-ucb": Row(("rate",), (0.299, 0.500, 0.622)),
    "ui-tvbo": Row(("rate",), (0.351, 0.647, 0.868)),
}


class Result(NamedTuple):
    """One run."""

    regret: float  # R_T / T
    resets: int
    milliseconds: float  # a step


def run(name: str, rate: float, seed: int) -> Result:
    """One algorithm on one sample of the drifting objective; objective and noise depend on the seed only."""
    drifting = task("within-model", rate=rate, horizon=HORIZON, seed=seed)
    known: dict[str, Any] = {
        "kernel": drifting.kernel,
        "noise_variance": drifting.noise_variance,
        "rate": rate,
        "horizon": HORIZON,
    }
    options = {option: known[option] for option in ("kernel", "noise_variance", *ROWS[name].told)}
    optimizer = make(name, drifting.space, seed=seed, **options)
    start = time.perf_counter()
    trace = simulate(optimizer, drifting, seed=seed)
    return Result(trace.average, len(trace.resets), 1e3 * (time.perf_counter() - start) / HORIZON)
