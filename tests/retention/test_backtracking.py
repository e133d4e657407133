"""Backtracking against a literal transcription of Alg. 2."""

from __future__ import annotations

import hashlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windvane.data import Dataset
from windvane.retention import Backtracking


def dataset(size, dim):
    steps = np.arange(1, size + 1)
    return Dataset(np.full((size, dim), 0.5), 10.0 * steps, steps + 0.5, steps)


def algorithm_2(d, event_trigger, cap):
    """Alg. 2 line by line, on lists of observations; returns the steps in the order they were added."""
    d_keep = []
    for i in range(len(d) - 1, -1, -1):
        observation = d[i]
        reset = event_trigger(d_keep, observation)
        if reset or len(d_keep) >= cap:
            break
        d_keep = [*d_keep, observation]
    return [observation.step for observation in d_keep]


def arbitrary(salt, percent):
    """A trigger that fires in `percent` of cases, by what is kept and what is tested alone."""

    def fires(kept_steps, step):
        key = f"{salt}:{sorted(kept_steps)}:{step}".encode()
        return hashlib.sha256(key).digest()[0] < percent * 2.56

    return fires


@given(
    size=st.integers(0, 12),
    dim=st.integers(1, 3),
    cap=st.none() | st.integers(1, 14),
    salt=st.integers(0, 10**6),
    percent=st.sampled_from([0, 10, 30, 100]),
)
def test_against_algorithm_2(size, dim, cap, salt, percent):
    data, fires = dataset(size, dim), arbitrary(salt, percent)
    wanted = algorithm_2(
        [data[i] for i in range(size)],
        lambda kept, observation: fires([each.step for each in kept], observation.step),
        2 * dim if cap is None else cap,
    )
    kept = Backtracking(cap).keep(
        data, lambda kept, observation: fires(kept.steps.tolist(), observation.step)
    )
    assert kept.steps.tolist() == wanted[::-1]
    assert kept.y.tolist() == [10.0 * step for step in wanted[::-1]]
    assert kept.dim == dim


def test_each_observation_is_tested_against_the_newer_ones_kept():
    calls = []

    def silent(kept, observation):
        calls.append((kept.steps.tolist(), observation.step))
        return False

    Backtracking(cap=3).keep(dataset(5, 2), silent)
    assert calls == [([], 5), ([5], 4), ([4, 5], 3)]  # full at 3: no fourth test


def test_nothing_is_kept_if_the_newest_contradicts_the_prior():
    kept = Backtracking().keep(dataset(5, 2), lambda kept, observation: len(kept) == 0)
    assert (len(kept), kept.dim) == (0, 2)
