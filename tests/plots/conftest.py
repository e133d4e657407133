"""Runs to draw: real ones, made once, and made-up ones whose figures are known."""

import numpy as np
import pytest

import windvane as wv


def made_event(step, **changes):
    values = {
        "step": step,
        "time": float(step),
        "x": np.array([0.5]),
        "y": 0.1 * step,
        "mean": 0.0,
        "std": 0.3,
        "noise_variance": 0.16,
        "log_density": -1.0,
        "statistic": 0.5,
        "threshold": 1.0,
        "monitored": True,
        "elapsed": step,
        "reset": False,
        "reason": "",
        "kept": 0,
        "size": step,
    }
    return wv.Event(**{**values, **changes})


@pytest.fixture
def event():
    return made_event


@pytest.fixture(scope="session")
def jumps():
    return wv.task("jumps", horizon=60, count=1, seed=1)


@pytest.fixture(scope="session")
def traces(jumps):
    """By name, two runs each."""
    known = {"kernel": jumps.kernel, "noise_variance": jumps.noise_variance}
    return {
        name: [
            wv.simulate(wv.make(name, jumps.space, seed=seed, **known), jumps, seed=seed) for seed in range(2)
        ]
        for name in ("et-gp-ucb", "gp-ucb")
    }
