"""Tables drawn from the seed, with rows to train on: fast change in one arm alone, slow drift of all."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from windvane.checks import Array, integer
from windvane.tasks.table import Tabular

LOCAL_ARMS, LOCAL_TRAIN = 61, 250
HUMID_ARMS, HUMID_TRAIN = 44, 288
STAND_IN = "synthetic stand-in"


@final
class LocalChange(Tabular):
    """61 arms in a square: a part that neighbours share and that drifts slowly, and a part of each arm alone.

    The value of an arm is the sum of a level (1), a field that is smooth in space and lasts about 150 steps
    (0.7), both with an SE kernel of lengthscale 0.3, and a part of its own (0.8) that lasts 5 to 30 steps,
    both parts Markov in time; the numbers are standard deviations. Noise is tiny. The first 250 rows are the
    training set. The kernel is their covariance: how much an arm varies, but not how fast which part of it.

    >>> task = LocalChange(seed=1)
    >>> task.space, task.horizon, task.noise_variance
    (Arms(n=61), 250, 0.0001)
    """

    name = "local-change"

    def __init__(self, *, horizon: int = 250, noise_variance: float = 1e-4, seed: int = 0) -> None:
        rows = LOCAL_TRAIN + integer("horizon", horizon, at_least=1)
        rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
        n = LOCAL_ARMS
        smooth = _smooth(rng.random((n, 2)), 0.3)
        level = smooth @ rng.standard_normal(n)
        lasting = np.exp(rng.uniform(math.log(5.0), math.log(30.0), n))
        common = _markov(rng, rows, np.full(n, 150.0)) @ smooth.T
        values = 12.0 + 3.0 * (level + 0.7 * common + 0.8 * _markov(rng, rows, lasting))
        super().__init__(values[:LOCAL_TRAIN], values[LOCAL_TRAIN:], **_drawn(n, noise_variance, seed))


@final
class Humid(Tabular):
    """44 arms with levels that drift slowly, a common trend and small noise: a stand-in for humidity.

    The value of an arm, in per cent, is 45 plus a level (4) that neighbours share, a drift of its own (1.5)
    that lasts 150 to 500 steps, a drift that neighbours share (2) and lasts 300, and the trend: a wave of 144
    steps, in which arms differ by a fifth, and a part that is common to all (3) and lasts 200. The first 288
    rows are the training set, whose covariance is the kernel.

    >>> task = Humid(seed=1)
    >>> task.space, task.horizon, task.source
    (Arms(n=44), 250, 'synthetic stand-in')
    """

    name = "humid"

    def __init__(self, *, horizon: int = 250, noise_variance: float = 1e-3, seed: int = 0) -> None:
        rows = HUMID_TRAIN + integer("horizon", horizon, at_least=1)
        rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
        n = HUMID_ARMS
        smooth = _smooth(rng.random((n, 2)), 0.4)
        level = smooth @ rng.standard_normal(n)
        own = _markov(rng, rows, rng.uniform(150.0, 500.0, n))
        near = _markov(rng, rows, np.full(n, 300.0)) @ smooth.T
        trend = 3.0 * _markov(rng, rows, np.array([200.0]))
        phase = rng.uniform(0.0, 2.0 * math.pi)
        wave = np.sin(2.0 * math.pi * np.arange(rows) / 144.0 + phase)
        daily = np.outer(wave, 3.0 + 0.6 * (smooth @ rng.standard_normal(n)))
        values = 45.0 + 4.0 * level + 1.5 * own + 2.0 * near + trend + daily
        super().__init__(values[:HUMID_TRAIN], values[HUMID_TRAIN:], **_drawn(n, noise_variance, seed))


def _drawn(arms: int, noise_variance: Any, seed: Any) -> dict[str, Any]:
    return {
        "arms": tuple(map(str, range(arms))),
        "source": STAND_IN,
        "noise_variance": noise_variance,
        "seed": seed,
    }


def _smooth(places: Array, lengthscale: float) -> Array:
    """A root of the SE covariance of n places, n x n."""
    distance2 = ((places[:, None] - places) ** 2).sum(axis=-1)
    values, vectors = np.linalg.eigh(np.exp(-0.5 * distance2 / lengthscale**2))
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _markov(rng: np.random.Generator, rows: int, lasting: Array) -> Array:
    """Independent processes of variance 1 and correlation exp(-lag / lasting), one per column: rows x n."""
    stay = np.exp(-1.0 / lasting)
    move = np.sqrt(1.0 - stay * stay)
    path = rng.standard_normal((rows, len(lasting)))
    for t in range(1, rows):
        path[t] = stay * path[t - 1] + move * path[t]
    return path
