"""Shapes against their published values and against the formulas written out coordinate by coordinate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.tasks.shapes import bells, branin, hartmann3, levy, lopsided

COORDINATE = st.floats(-3.0, 4.0)


def at(shape, low, high, x):
    """The function at a point given in the usual coordinates."""
    return float(shape.function((np.asarray(x) - low) / (np.asarray(high) - low)))


def test_branin_has_its_three_published_minima():
    low, high = np.array([-5.0, 0.0]), np.array([10.0, 15.0])
    for x in ([-math.pi, 12.275], [math.pi, 2.275], [9.42478, 2.475]):
        assert at(branin(), low, high, x) == pytest.approx(-0.397887, abs=1e-6)
    assert at(branin(), low, high, [0.0, 0.0]) == pytest.approx(-55.602113, abs=1e-6)
    assert at(branin(), low, high, [2.5, 7.5]) == pytest.approx(-24.129964, abs=1e-6)


def test_hartmann_has_its_published_maximum():
    shape = hartmann3()
    np.testing.assert_allclose(shape.peak, [0.114614, 0.555649, 0.852547], atol=3e-5)  # flat in the first
    for step in 1e-4 * np.vstack((np.eye(3), -np.eye(3))):
        assert float(shape.function(shape.peak + step)) < float(shape.function(shape.peak))
    published = np.array([0.114614, 0.555649, 0.852547])
    assert float(shape.function(published)) <= float(shape.function(shape.peak))
    assert float(shape.function(shape.peak)) == pytest.approx(3.86278, abs=5e-6)


def textbook_levy(x):
    w = [1.0 + (v - 1.0) / 4.0 for v in x]
    total = math.sin(math.pi * w[0]) ** 2
    for v in w[:-1]:
        total += (v - 1.0) ** 2 * (1.0 + 10.0 * math.sin(math.pi * v + 1.0) ** 2)
    return total + (w[-1] - 1.0) ** 2 * (1.0 + math.sin(2.0 * math.pi * w[-1]) ** 2)


@pytest.mark.parametrize("dim", [1, 2, 4, 6])
def test_levy_is_the_textbook_function(dim):
    for x in np.random.default_rng(dim).uniform(-10.0, 10.0, (50, dim)):
        assert at(levy(dim), -10.0, 10.0, x) == pytest.approx(-textbook_levy(x), abs=1e-10)
    assert at(levy(dim), -10.0, 10.0, np.ones(dim)) == 0.0


def test_bells_one_by_one():
    rng = np.random.default_rng(0)
    heights, centres, roots = rng.random(3), rng.random((3, 2)), rng.standard_normal((3, 2, 2))
    shape = bells(heights, centres, roots)
    points = rng.random((20, 2))
    for z, found in zip(points, shape.function(points), strict=True):
        by_hand = max(
            h * math.exp(-0.5 * (z - c) @ (root.T @ root) @ (z - c))
            for h, c, root in zip(heights, centres, roots, strict=True)
        )
        assert found == pytest.approx(by_hand)
        assert float(shape.function(z)) == found


SHAPES = {
    "branin": branin(),
    "hartmann": hartmann3(),
    "levy": levy(2),
    "bells": bells(np.array([2.0, 3.0]), np.array([[0.2, 0.2], [0.7, 0.4]]), np.stack([4.0 * np.eye(2)] * 2)),
    "lopsided": lopsided(np.array([0.4, 0.6]), np.array([[5.0, 1.0], [0.0, 5.0]]), -0.7),
}


@pytest.mark.parametrize("name", SHAPES)
@given(st.lists(COORDINATE, min_size=3, max_size=3))
def test_nowhere_is_higher_than_the_peak(name, z):
    """In all of R^d, which is why they may be moved."""
    function, peak = SHAPES[name]
    assert float(function(np.array(z[: peak.size]))) <= float(function(peak)) + 1e-12


@pytest.mark.parametrize("name", SHAPES)
def test_many_points_at_once(name):
    function, peak = SHAPES[name]
    points = np.random.default_rng(0).random((7, peak.size))
    np.testing.assert_allclose(function(points), [float(function(z)) for z in points], rtol=1e-14)
