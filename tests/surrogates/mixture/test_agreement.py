"""Outliers that agree, and what was rounded off."""

import math

import numpy as np
import pytest

from windvane.data import Dataset
from windvane.surrogates.mixture.agreement import agreeing
from windvane.surrogates.mixture.resolution import rounding_std


def data(X, y):
    X, y = np.asarray(X, float), np.asarray(y, float)
    return Dataset(X if X.ndim > 1 else X[:, None], y, np.arange(1.0, len(y) + 1), np.arange(1, len(y) + 1))


def test_outliers_that_differ_as_much_as_they_are_off_do_not_agree():
    some = data(np.zeros(10), [0, 0, 0, 0, 0, 25, -25, 25, -25, 25])
    assert not len(agreeing(some, np.arange(6, 11), 0.0))
    same = data(np.zeros(10), [0, 0, 0, 0, 0, 25, 24, 25, 26, 25])
    assert agreeing(same, np.arange(6, 11), 0.0).tolist() == [5, 6, 7, 8, 9]
    assert not len(agreeing(same, np.array([6, 7, 9, 10]), 0.0))  # a usual one in between


def test_rounding_is_a_twelfth_of_a_step_squared():
    """Var of what is uniform on one step; the step is found among values that are multiples of it."""
    rng = np.random.default_rng(0)
    x, y = rng.random(200), 0.5 * rng.integers(0, 5, 200)
    assert rounding_std(data(x, y)) == pytest.approx(0.5 / math.sqrt(12.0))
    assert rounding_std(data(x, 0.1 * rng.integers(0, 5, 200))) == pytest.approx(0.1 / math.sqrt(12.0))


def test_values_that_are_equal_because_the_place_is_are_not_rounded():
    x = np.repeat(np.linspace(0, 1, 15), 10)
    assert rounding_std(data(x, np.sin(9.0 * x))) == 0.0


def test_equal_values_have_no_step():
    assert rounding_std(data(np.linspace(0, 1, 30), np.ones(30))) == 0.0
