"""Boxes: exact bounds, and errors that name the coordinate."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Box

BOX = Box([(0, 1), (-5, 5)])


def test_bounds_become_float_tuples() -> None:
    assert Box([(0, 1), (2, 3)]).bounds == ((0.0, 1.0), (2.0, 3.0))
    assert Box(np.array([[0, 1], [2, 3]])) == Box([(0, 1), (2, 3)])
    assert all(type(end) is float for pair in Box(np.array([[0, 1]])).bounds for end in pair)
    with pytest.raises(AttributeError):
        BOX.bounds = ()  # type: ignore[misc]


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.floats(0, 1) | st.just(math.nextafter(1, 0)))
def test_bounds_are_exact(a: float, b: float, u: float) -> None:
    lo, hi = min(a, b), max(a, b)
    if lo == hi:
        hi = math.nextafter(lo, math.inf)
    box = Box([(lo, hi)])
    assert box.encode([lo])[0] == 0.0
    assert box.encode([hi])[0] == 1.0
    assert box.decode(np.array([0.0]))[0] == lo
    assert box.decode(np.array([1.0]))[0] == hi
    assert lo <= box.decode(np.array([u]))[0] <= hi


def test_one_rounding_error_outside_is_outside() -> None:
    box = Box([(-1e6, 1.0)])
    with pytest.raises(InvalidArgument, match=r"x\[0\]="):
        box.encode(np.array([math.nextafter(1.0, 2.0)]))


def test_decode_clips_and_returns_a_fresh_array() -> None:
    unit = np.array([-1e308, 1e308])
    point = BOX.decode(unit)
    assert point.tolist() == [0.0, 5.0]
    point[:] = 9.0
    assert BOX.decode(np.array([0.0, 1.0])).tolist() == [0.0, 5.0]
    assert unit.tolist() == [-1e308, 1e308]


def test_arguments_are_left_alone() -> None:
    x = np.array([0.5, 5.0])
    BOX.encode(x)[:] = 9.0
    BOX.snap(x[None])[:] = 9.0
    assert x.tolist() == [0.5, 5.0]


@pytest.mark.parametrize(
    "x", [[0, 5], (0, 5), np.array([0, 5]), np.array([0, 5], dtype=np.float32), [np.int64(0), 5.0]]
)
def test_encode_takes_any_array_of_numbers(x: Any) -> None:
    assert BOX.encode(x).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("count", [1, 2, 3, 100])
def test_candidates_fill_the_cube(count: int) -> None:
    units = BOX.candidates(count)
    assert units.shape == (count, 2)
    if count == 100:
        assert set(map(tuple, np.floor(units * 4).astype(int))) == {
            (i, j) for i in range(4) for j in range(4)
        }


def test_a_box_has_one_configuration_and_no_list() -> None:
    assert BOX.configurations(1).tolist() == [[0.5, 0.5]]
    assert BOX.configurations(0) is None
    assert BOX.size is None
    with pytest.raises(InvalidArgument, match="continuous"):
        BOX.everything()


@pytest.mark.parametrize(
    ("bounds", "error", "message"),
    [
        ([], InvalidArgument, "bounds"),
        (np.empty((0, 2)), InvalidArgument, "bounds"),
        (3, InvalidType, "bounds=3"),
        (None, InvalidType, "bounds=None"),
        ("ab", InvalidType, "bounds='ab'"),
        ({(0, 1)}, InvalidType, "bounds="),
        (np.array(3.0), InvalidType, "bounds="),
        ((0, 1), InvalidType, r"bounds\[0\]=0: must be a list of two numbers"),
        ([(0, 1), (1,)], InvalidArgument, r"bounds\[1\]=\(1,\)"),
        ([(0, 1, 2)], InvalidArgument, r"bounds\[0\]=\(0, 1, 2\)"),
        ([()], InvalidArgument, r"bounds\[0\]="),
        (["ab"], InvalidType, r"bounds\[0\]='ab'"),
        ([(1, 0)], InvalidArgument, r"bounds\[0\]: lo=1.0 must be below hi=0.0"),
        ([(0, 1), (2, 2)], InvalidArgument, r"bounds\[1\]: lo=2.0 must be below hi=2.0"),
        ([(math.nan, 1)], InvalidArgument, r"bounds\[0\]: lo=nan"),
        ([(0, math.inf)], InvalidArgument, r"bounds\[0\]: hi=inf"),
        ([(-1e308, 1e308)], InvalidArgument, "overflows"),
        ([(0, True)], InvalidType, r"bounds\[0\]: hi=True"),
        (np.array([[False, True]]), InvalidType, r"bounds\[0\]: lo=False"),
        ([(0, "1")], InvalidType, r"bounds\[0\]: hi='1'"),
        ([(0, None)], InvalidType, r"bounds\[0\]: hi=None"),
        ([(0, 1j)], InvalidType, r"bounds\[0\]: hi=1j"),
    ],
)
def test_bad_bounds(bounds: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Box(bounds)


BAD_POINTS = [
    ([0.5, math.nan], InvalidArgument, r"\[1\]=nan: must be a finite number at least -5 and at most 5"),
    (np.array([math.inf, 0.0]), InvalidArgument, r"\[0\]=inf"),
    ([-0.1, 0.0], InvalidArgument, r"\[0\]=-0.1: must be a finite number at least 0 and at most 1"),
    ([0.5, 5.1], InvalidArgument, r"\[1\]=5.1"),
    ([0.5], InvalidArgument, "must have shape 2, got 1"),
    (np.zeros((1, 2)), InvalidArgument, "must have shape 2, got 1x2"),
    (0.5, InvalidArgument, "must have shape 2, got a single number"),
    ([], InvalidArgument, "must have shape 2, got 0"),
    ([[0.5], [0.5, 0.5]], InvalidType, "different lengths"),
    (["0.5", "0.5"], InvalidType, "must be an array of numbers"),
    ([True, 0.5], InvalidType, "must be an array of numbers"),
    (np.array([True, False]), InvalidType, "must be an array of numbers"),
    (np.array([0.5, 0.5j]), InvalidType, "must be an array of numbers"),
    ([None, 0.5], InvalidType, "must be an array of numbers"),
    ({"a": 1}, InvalidType, "must be an array of numbers"),
    (None, InvalidType, "must be an array of numbers"),
]


@pytest.mark.parametrize(("x", "error", "message"), BAD_POINTS)
def test_bad_points(x: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match="^x.*" + message):
        BOX.encode(x)
    with pytest.raises(error, match=r"^points\[1\].*" + message):
        BOX.encode_many([[0.5, 0.5], x])


@pytest.mark.parametrize(
    ("points", "error", "message"),
    [
        ([], InvalidArgument, "points"),
        (3, InvalidType, "points=3"),
        ("ab", InvalidType, "points='ab'"),
        (np.zeros(2), InvalidArgument, "points: must have shape nx2, got 2"),
        (np.zeros((3, 1)), InvalidArgument, "points: must have shape nx2, got 3x1"),
        (np.zeros((0, 2)), InvalidArgument, "points: must have shape nx2, got 0x2"),
        (np.array([[0, 0], [0, 6]]), InvalidArgument, r"points\[1\]\[1\]=6.0"),
        (np.array([[math.nan, 0]]), InvalidArgument, r"points\[0\]\[0\]=nan"),
        (np.array([["0", "0"]]), InvalidType, "points="),
    ],
)
def test_bad_lists_of_points(points: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        BOX.encode_many(points)
