"""Observations in a surrogate's state: to JSON, and back with every value checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from windvane.accuracy import Accuracies, Accuracy
from windvane.checks import Array, array, integer, real
from windvane.data import Dataset, Observation
from windvane.errors import CorruptState
from windvane.spaces.base import Domain


def plain(row: Observation) -> list[Any]:
    """An observation for JSON."""
    return [row.x.tolist(), row.y, row.time, row.step, *plain_accuracy(row.accuracy)]


def plain_accuracy(accuracy: Accuracy | None) -> list[Any]:
    """What is known of an observation's noise; if that is nothing, as in the states of earlier versions."""
    return [] if accuracy is None else list(accuracy)


def observation(row: Any, domain: Domain) -> Observation:
    """An observation from JSON."""
    x, y, time, step, *known = row
    return Observation(
        feasible("state(x)", x, domain),
        real("state(y)", y),
        real("state(time)", time),
        integer("state(step)", step, at_least=1),
        accuracy(known),
    )


def accuracy(known: Any) -> Accuracy | None:
    """What is known of an observation's noise, as `plain_accuracy` wrote it."""
    if not known:
        return None
    variance, repeats, scatter, farthest = known
    return Accuracy(
        None if variance is None else real("state(variance)", variance, above=0.0),
        integer("state(repeats)", repeats, at_least=1),
        real("state(scatter)", scatter, at_least=0.0),
        real("state(farthest)", farthest, at_least=0.0, at_most=scatter),
    )


def dataset(rows: Iterable[Any], domain: Domain) -> Dataset:
    """Observations from JSON, oldest first."""
    found = [observation(row, domain) for row in rows]
    if not found:
        return Dataset.empty(domain.dim)
    x, y, times, steps, known = zip(*found, strict=True)
    return Dataset(
        np.stack(x), np.array(y), np.array(times), np.array(steps, dtype=np.int64), Accuracies.of(known)
    )


def feasible(name: str, x: Any, domain: Domain) -> Array:
    """An encoded point that the domain could have encoded."""
    point = array(name, x, (domain.dim,)) if domain.dim else np.empty(0)
    if not np.allclose(domain.snap(point[None, :])[0], point, rtol=0.0, atol=1e-9):
        raise CorruptState(f"{name}: {x!r} is not a point of this space")
    return point
