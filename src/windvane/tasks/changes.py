"""When and how far things change: steps, stretches between them, and walks that stay within bounds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from windvane.checks import Array

WAVES = 3  # of a walk
SLOW, FAST = 0.3, 1.2  # waves per hundred steps


def random_steps(rng: np.random.Generator, horizon: int, count: int) -> tuple[int, ...]:
    """`count` steps between 2 and T, drawn so that every stretch has at least half of an equal share of T.

    Fewer where the horizon is too short for them.

    >>> random_steps(np.random.default_rng(1), 300, 2)
    (122, 178)
    """
    least = horizon // (2 * (count + 1))
    spare = horizon - least * (count + 1)
    late = np.sort(rng.integers(0, spare, size=count, endpoint=True))
    steps = 1 + least * np.arange(1, count + 1) + late
    return tuple(int(step) for step in np.unique(steps) if 2 <= step <= horizon)


def stretches(horizon: int, steps: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """The number of the stretch that each of the steps 1 .. T belongs to, from 0; `steps` are their first.

    >>> stretches(6, (3, 6))
    array([0, 0, 1, 1, 1, 2])
    """
    return np.searchsorted(steps, np.arange(1, horizon + 1), side="right").astype(np.intp)


def walk(rng: np.random.Generator, horizon: int, low: Array, high: Array) -> Array:
    """A smooth walk within the bounds, T x d: in each coordinate a sum of slow waves of random phase.

    A longer horizon goes on where a shorter one ends.

    >>> path = walk(np.random.default_rng(0), 200, np.array([0.0, -1.0]), np.array([1.0, 1.0]))
    >>> path.shape, bool((path >= [0.0, -1.0]).all()), bool((path <= 1.0).all())
    ((200, 2), True, True)
    """
    shape = (WAVES, len(low))
    frequency = 2.0 * math.pi / 100.0 * rng.uniform(SLOW, FAST, shape)
    phase = rng.uniform(0.0, 2.0 * math.pi, shape)
    share = rng.uniform(0.5, 1.0, shape)
    share /= share.sum(axis=0)
    steps = np.arange(horizon)[:, None, None]
    wave = (share * np.sin(frequency * steps + phase)).sum(axis=1)
    return np.asarray(np.clip(low + 0.5 * (1.0 + wave) * (high - low), low, high))
