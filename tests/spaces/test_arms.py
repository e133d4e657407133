"""Arms: the coordinate is the index itself."""

import math
from typing import Any

import numpy as np
import pytest

from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Arms


def test_the_index_is_not_scaled() -> None:
    arms = Arms(46)
    assert arms.dim == 1
    assert arms.free.tolist() == [False]
    assert arms.size == 46
    assert arms.encode(45).tolist() == [45.0]
    assert arms.encode(np.int64(3)).dtype == np.float64
    assert arms.encode_many(range(3)).tolist() == [[0.0], [1.0], [2.0]]
    assert arms.encode_many(np.array([7, 7])).tolist() == [[7.0], [7.0]]


@pytest.mark.parametrize(("unit", "arm"), [(-3.0, 0), (2.4, 2), (2.6, 3), (99.0, 4)])
def test_decode_takes_the_nearest_arm(unit: float, arm: int) -> None:
    assert Arms(5).decode(np.array([unit])) == arm


@pytest.mark.parametrize(("n", "count"), [(100, 99), (101, 2), (7, 1), (1000, 300)])
def test_candidates_of_many_arms_are_spread_out(n: int, count: int) -> None:
    indices = Arms(n).candidates(count)[:, 0]
    assert len(np.unique(indices)) == count
    assert indices[0] == 0
    if count > 1:
        assert indices[-1] == n - 1
        assert np.ptp(np.diff(indices)) <= 1


def test_every_arm_is_drawn_equally_often() -> None:
    drawn = Arms(4).sample(np.random.default_rng(0), 8000)[:, 0].astype(int)
    assert np.abs(np.bincount(drawn, minlength=4) / 2000 - 1).max() < 0.1


@pytest.mark.parametrize(
    ("n", "error"),
    [
        (0, InvalidArgument),
        (-1, InvalidArgument),
        (2**53 + 1, InvalidArgument),
        (True, InvalidType),
        (3.0, InvalidType),
        (math.nan, InvalidType),
        ("3", InvalidType),
        (None, InvalidType),
        ([3], InvalidType),
    ],
)
def test_bad_number_of_arms(n: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="n="):
        Arms(n)


BAD_POINTS = [
    (-1, InvalidArgument),
    (5, InvalidArgument),
    (True, InvalidType),
    (2.0, InvalidType),
    (math.nan, InvalidType),
    (math.inf, InvalidType),
    ("2", InvalidType),
    (None, InvalidType),
    ([2], InvalidType),
]


@pytest.mark.parametrize(("x", "error"), BAD_POINTS)
def test_bad_points(x: Any, error: type[Exception]) -> None:
    arms = Arms(5)
    with pytest.raises(error, match=r"^x=.*: must be an integer at least 0 and at most 4"):
        arms.encode(x)
    with pytest.raises(error, match=r"^points\[1\]=.*: must be an integer at least 0 and at most 4"):
        arms.encode_many([0, x])


@pytest.mark.parametrize(
    ("points", "error"),
    [
        ([], InvalidArgument),
        (3, InvalidType),
        ("12", InvalidType),
        (b"\x01", InvalidType),
        ({1, 2}, InvalidType),
        (np.array([0.0, 1.0]), InvalidType),
        (np.array([[0, 1]]), InvalidType),
        (np.array(2), InvalidType),
    ],
)
def test_bad_lists_of_points(points: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="points"):
        Arms(5).encode_many(points)
