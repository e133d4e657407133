"""Candidates: a list of settings with coordinates, read from whatever people keep such lists in."""

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane import codec
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Candidates, settings_table

ROOT_HALF = 1 / math.sqrt(2)
NAMED = [
    {"gain": 0.1, "taps": 3, "mode": "a", "on": True},
    {"gain": 1.0, "taps": 3, "mode": "b", "on": True},
    {"gain": 10.0, "taps": 5, "mode": "a", "on": False},
]
NUMBERS = np.array([[0.0, 5.0], [2.0, 5.0], [4.0, 7.0]])


class Frame:
    """What a data frame is, as far as a list of settings is concerned."""

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        return np.array(self._columns[name])


def test_an_array_is_scaled_column_by_column() -> None:
    space = Candidates(NUMBERS)
    assert space.everything().tolist() == [[0.0, 0.0], [0.5, 0.0], [1.0, 1.0]]
    assert (space.size, space.dim, space.parameter_count, space.names) == (3, 2, 2, None)
    assert space.encode(1).tolist() == [0.5, 0.0]
    assert space.decode(space.encode(np.array([4, 7]))) == 2
    assert space.row(2).tolist() == [4.0, 7.0]  # type: ignore[union-attr]
    assert space.encode_many(NUMBERS).tolist() == space.everything().tolist()
    assert space.encode_many([2, [0.0, 5.0], np.array([2.0, 5.0])]).tolist() == [[1, 1], [0, 0], [0.5, 0]]


def test_words_and_booleans_are_choices_and_a_log_scale_is_one() -> None:
    space = Candidates(NAMED, scale={"gain": "log"})
    expected = [
        [0.0, 0.0, ROOT_HALF, 0.0, ROOT_HALF, 0.0],
        [0.5, 0.0, 0.0, ROOT_HALF, ROOT_HALF, 0.0],
        [1.0, 1.0, ROOT_HALF, 0.0, 0.0, ROOT_HALF],
    ]
    assert np.allclose(space.everything(), expected, rtol=0, atol=1e-15)
    assert space.choices == (2, 3, 4, 5)
    assert space.names == ("gain", "taps", "mode", "on")
    assert [space.row(i) for i in range(3)] == NAMED
    assert type(space.row(0)["taps"]) is int  # type: ignore[call-overload]
    assert [space.decode(space.encode(row)) for row in NAMED] == [0, 1, 2]
    assert space.decode(space.encode({"on": False, "mode": "a", "taps": 5.0, "gain": 10})) == 2


def test_the_same_list_in_four_spellings() -> None:
    columns = {name: [row[name] for row in NAMED] for name in NAMED[0]}
    first = Candidates(NAMED)
    for other in (Candidates(columns), Candidates(Frame(columns)), codec.decode(codec.encode(first))):
        assert other == first
        assert hash(other) == hash(first)
        assert np.array_equal(other.everything(), first.everything())
    assert first != Candidates(NAMED, scale={"gain": "log"})
    assert first != Candidates(NAMED[:2])
    assert Candidates(NUMBERS) == Candidates(NUMBERS.tolist())
    assert Candidates([{"a": "x"}, {"a": "y"}]) != Candidates([{"a": "y"}, {"a": "x"}])


def test_a_data_frame_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    assert Candidates(pandas.DataFrame(NAMED)) == Candidates(NAMED)


def test_through_json() -> None:
    for space in (Candidates(NUMBERS, scale={1: "log"}), Candidates(NAMED, scale={"gain": "log"})):
        back = codec.decode(json.loads(json.dumps(codec.encode(space))))
        assert back == space
        assert back.everything().tobytes() == space.everything().tobytes()


def test_a_constant_column_is_no_parameter() -> None:
    space = Candidates([{"a": 1.0, "b": 3.0, "c": "x"}, {"a": 2.0, "b": 3.0, "c": "x"}])
    assert space.everything().tolist() == [[0.0, 0.5], [1.0, 0.5]]
    assert space.parameter_count == 1
    assert Candidates([{"c": "x"}]).row(0) == {"c": "x"}
    assert Candidates([[3.0]]).parameter_count == 1


def test_minus_zero_is_zero() -> None:
    space = Candidates([[-0.0, 1.0], [1.0, -0.0]])
    assert space.decode(space.encode([0.0, 1.0])) == 0
    assert space.decode(space.encode([1.0, 0.0])) == 1


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([], InvalidArgument, "rows: must not be empty"),
        (np.empty((0, 2)), InvalidArgument, "rows: must not be empty"),
        (np.array(3.0), InvalidArgument, "rows: must have shape"),
        (np.empty((2, 0)), InvalidArgument, "rows"),
        ([1.0, 2.0], InvalidArgument, "rows: must have shape"),
        (5, InvalidType, "rows: must be"),
        (None, InvalidType, "rows: must be"),
        ("abc", InvalidType, "rows: must be"),
        ({1, 2}, InvalidType, "rows: must be"),
        ([["a", "b"]], InvalidType, "list of dicts"),
        ([[1.0], [1.0, 2.0]], InvalidType, "rows"),
        ([[1.0, math.nan]], InvalidArgument, "NaN"),
        ([[1.0, math.inf]], InvalidArgument, "finite"),
        ([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0]], InvalidArgument, r"rows\[2\]: equals rows\[0\]"),
        ([[-1e300], [0.0], [1.0], [1e300]], InvalidArgument, "told apart"),
        ([[-1.5e308], [1.5e308]], InvalidArgument, "overflows"),
        ([{"a": 1}, {"b": 1}], InvalidArgument, r"rows\[1\]: has the keys 'b'; rows\[0\] has 'a'"),
        ([{"a": 1}, {"a": 1, "b": 2}], InvalidArgument, r"rows\[1\]"),
        ([{"a": 1}, 3], InvalidType, r"rows\[1\]=3: must be a dict"),
        ([{}], InvalidArgument, "no column"),
        ({}, InvalidArgument, "no column"),
        ({"a": []}, InvalidArgument, "empty"),
        ({"a": 3}, InvalidType, r"rows\['a'\]"),
        ({"a": "xyz"}, InvalidType, r"rows\['a'\]"),
        ({"a": [1, 2], "b": [1]}, InvalidArgument, "column 'b': has 1 values, column 'a' has 2"),
        ([{0: 1.0}], InvalidType, "column 0: its name must be a string"),
        ([{"a": 1}, {"a": "x"}], InvalidType, "column 'a': has numbers and strings"),
        ([{"a": 1}, {"a": True}], InvalidType, "column 'a': has booleans and numbers"),
        ([{"a": 1}, {"a": None}], InvalidType, "column 'a', row 1: None"),
        ([{"a": 1}, {"a": math.nan}], InvalidArgument, "column 'a', row 1: nan"),
        ([{"a": 1}, {"a": 2**60}], InvalidArgument, "column 'a', row 1"),
        ([{"a": [1]}], InvalidType, "column 'a', row 0"),
        ([{"a": f"w{i}"} for i in range(300)], InvalidArgument, "300 different words; at most 256"),
        (np.arange(100_001.0)[:, None], InvalidArgument, "100,001 settings; at most 100,000"),
    ],
)
def test_bad_lists(rows: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Candidates(rows)


@pytest.mark.parametrize(
    ("scale", "error", "said"),
    [
        ({"gains": "log"}, InvalidArgument, "no column 'gains'"),
        ({"gain": "cubic"}, wv.WindvaneError, r"scale\['gain'\]='cubic'"),
        ({"mode": "log"}, InvalidArgument, "no numbers"),
        ({"gain": True}, wv.WindvaneError, r"scale\['gain'\]=True"),
        ("log", InvalidType, "scale='log'"),
        (3, InvalidType, "scale=3"),
    ],
)
def test_bad_scales(scale: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        Candidates(NAMED, scale=scale)


def test_a_log_scale_needs_numbers_above_zero() -> None:
    with pytest.raises(InvalidArgument, match="above 0, the smallest is 0"):
        Candidates(NUMBERS, scale={0: "log"})
    with pytest.raises(InvalidArgument, match="same logarithm"):
        Candidates([[1e10], [np.nextafter(1e10, 2e10)]], scale={0: "log"})


BAD_POINTS = [
    3,
    -1,
    2.0,
    math.nan,
    True,
    "2",
    None,
    2**70,
    [0.0],
    [0.0, 5.0, 1.0],
    [1.0, 5.0],
    [math.nan, 5.0],
]
BAD_POINTS += [{"gain": 1.0}, [[0.0, 5.0]], ["a", "b"], [0.0, 5.0000001]]


@pytest.mark.parametrize("x", BAD_POINTS)
def test_bad_points(x: Any) -> None:
    with pytest.raises(wv.WindvaneError, match=r"^x"):
        Candidates(NUMBERS).encode(x)
    with pytest.raises(wv.WindvaneError, match=r"^points\[1\]"):
        Candidates(NUMBERS).encode_many([0, x])


@pytest.mark.parametrize(
    "x",
    [
        {"gain": 0.1, "taps": 3, "mode": "a", "on": False},
        {"gain": 0.1, "taps": 3, "mode": "a"},
        {"gain": 0.1, "taps": 3, "mode": "z", "on": True},
        {"gain": "0.1", "taps": 3, "mode": "a", "on": True},
        {"gain": 0.1, "taps": 3, "mode": "a", "on": 1},
        {"gain": 0.1, "taps": 3, "mode": ["a"], "on": True},
        [0.1, 3],
    ],
)
def test_bad_named_points(x: Any) -> None:
    with pytest.raises(wv.WindvaneError, match=r"^x"):
        Candidates(NAMED).encode(x)


def test_what_is_handed_out_cannot_change_the_list() -> None:
    given_rows = NUMBERS.copy()
    space = Candidates(given_rows)
    given_rows[0, 0] = 9.0
    space.encode(0)[:] = 7.0
    space.row(0)[:] = 7.0  # type: ignore[index]
    assert space.row(0).tolist() == [0.0, 5.0]  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="read-only"):
        space.everything()[0, 0] = 1.0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 4))
def test_numbers_are_those_of_the_nearest(seed: int, count: int, dim: int) -> None:
    rng = np.random.default_rng(seed)
    space = Candidates(rng.normal(size=(count, dim)))
    units = rng.uniform(-0.2, 1.2, (30, dim))
    units[:5] = space.everything()[rng.integers(count, size=5)]
    away = np.linalg.norm(units[:, None, :] - space.everything(), axis=2)
    found = space.numbers(units)
    assert np.allclose(away[np.arange(30), found], away.min(axis=1), rtol=0, atol=1e-7)
    assert (away[np.arange(5), found[:5]] == 0.0).all()


def test_a_region_of_a_list() -> None:
    space = Candidates(np.arange(40.0).reshape(20, 2))
    region = wv.Region.all_of(space)
    some = region.available([3, 4, [10.0, 11.0], 4])
    assert some.listed is not None
    assert np.array_equal(some.listed, space.everything()[3:6])
    assert some.contains(space.everything()).tolist() == [3 <= i < 6 for i in range(20)]
    assert some.contains(space.encode_many([4, 7])).tolist() == [True, False]
    assert np.array_equal(some.only(space.everything()[5:9]).listed, space.everything()[5:6])
    assert np.array_equal(some.other_than(space.everything()[3:5]).listed, space.everything()[5:6])
    assert some.other_than(space.everything()) is some
    assert not some.whole
    near = region.around(space.encode(10), 0.06)
    assert [space.decode(unit) for unit in near.listed] == [9, 10, 11]  # type: ignore[union-attr]
    assert [space.decode(unit) for unit in near.without(space.encode_many([10]), 0.0).listed] == [9, 11]  # type: ignore[union-attr]
    with pytest.raises(InvalidArgument, match="none of the points"):
        _ = some.without(space.everything()[3:6], 0.0).listed


def test_far_more_settings_than_are_listed_of_other_spaces() -> None:
    space = Candidates(np.random.default_rng(0).uniform(size=(20_000, 3)))
    region = wv.Region.all_of(space).without(space.everything()[:700], 0.0)
    assert len(wv.Region.all_of(space).listed) == 20_000  # type: ignore[arg-type]
    assert region.contains(space.everything()).sum() == 19_300
    assert len(space.candidates(256)) == 256


def test_kinds_of_values_name_themselves() -> None:
    names, columns = settings_table.read([{"n": np.float32(0.5), "s": "x", "b": np.bool_(True)}])
    assert names == ("n", "s", "b")
    assert [column.choice is None for column in columns] == [True, False, False]
