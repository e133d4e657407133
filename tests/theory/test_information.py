"""Information gain against eigenvalues, the chain rule and full enumeration."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.errors import InvalidArgument, InvalidType
from windvane.theory import gain_exponent, gain_upper_bound, greedy_information_gain, information_gain

INDEFINITE = [[1.0, 2.0], [2.0, 1.0]]


def random_gram(seed: int, size: int, rank: int = 3) -> np.ndarray:
    features = np.random.default_rng(seed).normal(size=(size, rank))
    return features @ features.T


def gain_by_eigenvalues(gram: np.ndarray, noise: float) -> float:
    return 0.5 * float(np.log1p(np.maximum(np.linalg.eigvalsh(gram), 0.0) / noise).sum())


def best_by_enumeration(gram: np.ndarray, noise: float, count: int) -> float:
    sets = combinations_with_replacement(range(len(gram)), count)
    return max(gain_by_eigenvalues(gram[np.ix_(rows, rows)], noise) for rows in sets)


@pytest.mark.parametrize("noise", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("seed", range(5))
def test_gain_is_that_of_the_eigenvalues(seed: int, noise: float) -> None:
    gram = random_gram(seed, 6)
    assert information_gain(gram, noise) == pytest.approx(gain_by_eigenvalues(gram, noise), rel=1e-9)


def test_gain_is_the_sum_over_posterior_variances() -> None:
    gram, noise = random_gram(0, 6), 0.1
    total = 0.0
    for n in range(6):
        k = gram[:n, n]
        variance = gram[n, n] - k @ np.linalg.solve(gram[:n, :n] + noise * np.eye(n), k)
        total += 0.5 * math.log(1 + variance / noise)
    assert information_gain(gram, noise) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("count", [1, 4, 50])
def test_repeating_a_point_averages_its_noise(count: int) -> None:
    expected = 0.5 * math.log(1 + count / 0.5)
    assert information_gain(np.ones((count, count)), 0.5) == pytest.approx(expected, rel=1e-9)
    assert greedy_information_gain([[1.0]], 0.5, count).gain == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3), st.floats(0.01, 10.0))
def test_greedy_keeps_its_guarantee(seed: int, size: int, count: int, noise: float) -> None:
    gram = random_gram(seed, size, rank=2)
    greedy = greedy_information_gain(gram, noise, count)
    best = best_by_enumeration(gram, noise, count)
    assert greedy.gain * (1 - 1e-9) <= best <= gain_upper_bound(greedy.gain) * (1 + 1e-9)
    for n in range(1, count + 1):
        rows = greedy.chosen[:n]
        assert greedy.curve[n - 1] == pytest.approx(gain_by_eigenvalues(gram[np.ix_(rows, rows)], noise))


def test_greedy_is_not_optimal_and_the_guarantee_is_needed() -> None:
    """The middle is the most uncertain, but the two ends together tell all about it."""
    ends = np.eye(2)
    features = np.vstack([ends, 0.75 * ends.sum(axis=0)])
    gram = features @ features.T
    greedy = greedy_information_gain(gram, 0.1, 2)
    best = best_by_enumeration(gram, 0.1, 2)
    assert greedy.chosen[0] == 2
    assert greedy.gain < best - 0.1
    assert best < gain_upper_bound(greedy.gain)


@given(st.integers(0, 10**6), st.floats(0.01, 10.0))
def test_each_further_point_tells_less(seed: int, noise: float) -> None:
    curve = greedy_information_gain(random_gram(seed, 8), noise, 12).curve
    gains = np.diff(curve, prepend=0.0)
    assert (gains > 0).all()
    assert (np.diff(gains) <= 1e-9).all()


def test_a_known_function_has_nothing_to_tell() -> None:
    assert information_gain(np.zeros((3, 3)), 0.1) == 0.0
    assert greedy_information_gain(np.zeros((3, 3)), 0.1, 2).gain == 0.0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_rounding_is_forgiven_at_every_scale(scale: float) -> None:
    """Forty points of a rank-two function, nearly free of noise: every variance ends at rounding error."""
    gram = scale * random_gram(4, 40, rank=2)
    rounded = gram * (1 + 1e-14 * np.triu(np.ones((40, 40))))
    noise = 1e-11 * scale
    greedy = greedy_information_gain(rounded, noise, 6)
    assert greedy.gain == pytest.approx(greedy_information_gain(gram / scale, 1e-11, 6).gain, rel=1e-3)
    with pytest.raises(InvalidArgument, match="symmetric"):
        information_gain(gram * (1 + 1e-4 * np.triu(np.ones((40, 40)))), noise)


def test_arguments_are_left_alone() -> None:
    gram = random_gram(3, 5)
    before = gram.copy()
    greedy_information_gain(gram, 0.1, 4)
    information_gain(gram, 0.1)
    np.testing.assert_array_equal(gram, before)


def test_upper_bound_by_hand() -> None:
    assert gain_upper_bound(math.e - 1) == pytest.approx(math.e)


@pytest.mark.parametrize(
    ("nu", "dim", "expected"), [(None, None, 0), (None, 7, 0), (3, 2, 1 / 2), (2.5, 1, 2 / 7)]
)
def test_gain_exponent_by_hand(nu: float | None, dim: int | None, expected: float) -> None:
    assert gain_exponent(nu, dim) == pytest.approx(expected)


@given(st.floats(2.01, 1e4), st.integers(1, 50))
def test_rougher_and_higher_dimensional_kernels_have_more_to_tell(nu: float, dim: int) -> None:
    assert 0 < gain_exponent(2 * nu, dim) < gain_exponent(nu, dim) < gain_exponent(nu, dim + 1) < 1


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: information_gain([[1.0, 0.0]], 0.1), "gram: must be square"),
        (lambda: information_gain([[1.0, 0.5], [0.4, 1.0]], 0.1), "gram: must be symmetric"),
        (lambda: information_gain([[-1.0]], 0.1), "gram: must have no negative"),
        (lambda: information_gain(INDEFINITE, 0.1), "gram: must be positive semi-definite"),
        (lambda: information_gain([[math.nan]], 0.1), "gram: must be finite"),
        (lambda: information_gain("x", 0.1), "gram: must be numbers"),
        (lambda: information_gain([[1.0]], 0.0), "noise_variance=0.0"),
        (lambda: greedy_information_gain(INDEFINITE, 0.1, 2), "gram: must be positive semi-definite"),
        (lambda: greedy_information_gain([[1.0]], -1.0, 2), "noise_variance=-1.0"),
        (lambda: greedy_information_gain([[1.0]], 0.1, 0), "count=0"),
        (lambda: gain_upper_bound(-1.0), "greedy_gain=-1.0"),
        (lambda: gain_exponent(2.0, 1), "nu=2.0"),
        (lambda: gain_exponent(1.5, 1), "nu=1.5"),
        (lambda: gain_exponent(2.5), "dim=None"),
        (lambda: gain_exponent(2.5, 0), "dim=0"),
    ],
)
def test_errors_name_the_argument(call, named: str) -> None:
    with pytest.raises((InvalidArgument, InvalidType), match=f"^{named}"):
        call()
