"""Means over seeds and their 95 % intervals, by the bootstrap; two rivals are drawn with the same seeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RESAMPLES = 10_000
Interval = tuple[float, float, float]  # the figure, and the ends of its interval


def mean(values: np.ndarray) -> Interval:
    """The mean over seeds."""
    return _drawn(len(values), lambda at: values[at].mean(axis=-1))


def ratio(ours: np.ndarray, theirs: np.ndarray) -> Interval:
    """Mean over mean, the seeds the same for both."""
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 is nan: nothing can be said
        return _drawn(len(ours), lambda at: ours[at].mean(axis=-1) / theirs[at].mean(axis=-1))


def difference(ours: np.ndarray, theirs: np.ndarray) -> Interval:
    """Mean less mean, the seeds the same for both."""
    return mean(ours - theirs)


def _drawn(count: int, figure: Callable[[np.ndarray], np.ndarray]) -> Interval:
    if not count:
        return float("nan"), float("nan"), float("nan")
    rng = np.random.default_rng(0)
    spread = figure(rng.integers(count, size=(RESAMPLES, count)))
    low, high = np.quantile(spread, (0.025, 0.975))
    return float(figure(np.arange(count))), float(low), float(high)
