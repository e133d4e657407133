"""Spaces: named parameters side by side."""

import json
from typing import Any

import numpy as np
import pytest

from windvane import codec
from windvane.errors import CorruptState, InvalidArgument, InvalidType
from windvane.spaces import Choice, Integer, Real, Space

SPACE = Space(gain=Real(0.1, 10, log=True), taps=Integer(1, 8), mode=Choice(["a", "b"]))
POINT = {"gain": 1.0, "taps": 8, "mode": "b"}


def test_the_encoding_is_the_blocks_in_order() -> None:
    assert SPACE.dim == 4
    assert SPACE.free.tolist() == [True, False, False, False]
    assert SPACE.size is None
    assert SPACE.encode(POINT) == pytest.approx([0.5, 1.0, 0.0, 0.5**0.5])
    assert np.array_equal(SPACE.encode(dict(reversed(POINT.items()))), SPACE.encode(POINT))
    assert SPACE.decode(np.array([1.0, 0.9, 0.1, 0.2])) == {"gain": 10.0, "taps": 7, "mode": "b"}


def test_keywords_and_dicts_are_the_same() -> None:
    parameters = dict(SPACE.parameters)
    assert Space(parameters) == SPACE == Space(SPACE.parameters)
    assert Space({"gain": parameters["gain"]}, taps=parameters["taps"], mode=parameters["mode"]) == SPACE
    assert Space(taps=parameters["taps"], gain=parameters["gain"], mode=parameters["mode"]) != SPACE
    assert Space({"any name": Integer(1, 2), "parameters": Integer(1, 2)}).size == 4
    assert eval(repr(SPACE)) == SPACE


def test_order_of_everything() -> None:
    space = Space(k=Integer(1, 2), mode=Choice(["b", "a"]))
    listed = [tuple(space.decode(unit).values()) for unit in space.everything()]
    assert listed == [(1, "b"), (1, "a"), (2, "b"), (2, "a")]
    with pytest.raises(InvalidArgument, match="continuous"):
        SPACE.everything()


def test_sizes_are_exact_however_large() -> None:
    space = Space({f"k{i}": Integer(1, 2**40) for i in range(80)})
    assert space.size == 2 ** (40 * 80)
    assert space.configurations(10**6) is None
    assert 1 < len(space.candidates(64)) <= 64
    assert Space({f"k{i}": Real(0, 1) for i in range(80)}).configurations(1).shape == (1, 80)


@pytest.mark.parametrize("count", [1, 15, 16, 17, 1000])
def test_each_configuration_gets_its_share_of_candidates(count: int) -> None:
    units = SPACE.candidates(count)
    _, shares = np.unique(units[:, 1:], axis=0, return_counts=True)
    assert len(units) == count
    if count >= 16:
        assert len(shares) == 16
        assert shares.max() - shares.min() <= 1
    if count == 1000:  # the free coordinate is covered within every configuration, not just over all
        for taps in range(8):
            for mode in (2, 3):
                own = units[(np.rint(units[:, 1] * 7) == taps) & (units[:, mode] > 0), 0]
                assert np.diff(np.sort(np.r_[0, own, 1])).max() < 0.06


def test_few_candidates_do_not_dwell_on_the_first_configurations() -> None:
    found = [SPACE.decode(unit) for unit in SPACE.candidates(8)]
    assert {x["mode"] for x in found} == {"a", "b"}
    assert min(x["taps"] for x in found) <= 3
    assert max(x["taps"] for x in found) >= 6


def test_many_configurations_fall_back_to_snapped_points() -> None:
    space = Space(gain=Real(0, 1), k=Integer(1, 50), mode=Choice(["a", "b", "c"]))
    units = space.candidates(300)
    assert len(units) == 300
    assert {space.decode(unit)["mode"] for unit in units} == {"a", "b", "c"}
    assert {space.decode(unit)["k"] for unit in units} == set(range(1, 51))


def test_repeated_candidates_are_removed() -> None:
    units = Space(k=Integer(1, 101)).candidates(100)
    assert 50 < len(units) < 100
    assert len(np.unique(units)) == len(units)


def test_neighbours_keep_the_rest() -> None:
    unit = SPACE.encode({"gain": 2.0, "taps": 1, "mode": "a"})
    found = [SPACE.decode(row) for row in SPACE.neighbours(unit)]
    assert [(x["taps"], x["mode"]) for x in found] == [(2, "a"), (1, "b")]
    assert all(x["gain"] == pytest.approx(2.0, rel=1e-12) for x in found)


def test_log_integers_snap_to_the_nearest_level_not_the_nearest_integer() -> None:
    space = Space(k=Integer(1, 2, log=True))
    assert space.decode(np.array([0.49])) == {"k": 1}
    assert space.decode(np.array([0.51])) == {"k": 2}  # 2**0.51 = 1.42


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Space(), InvalidArgument, "at least one parameter"),
        (lambda: Space({}), InvalidArgument, "at least one parameter"),
        (lambda: Space(Real(0, 1)), InvalidType, "must be named"),
        (lambda: Space(parameters=3), InvalidType, "or a dict"),
        (lambda: Space([Real(0, 1)]), InvalidType, "must be named"),
        (lambda: Space("gain"), InvalidType, "must be named"),
        (lambda: Space(gain=3), InvalidType, "gain=3: must be a Real, an Integer, a Choice or a Context"),
        (lambda: Space(gain=(0, 1)), InvalidType, "gain="),
        (lambda: Space(gain=Real), InvalidType, "gain="),
        (lambda: Space({1: Real(0, 1)}), InvalidType, "name 1: must be a string"),
        (lambda: Space({"a": Real(0, 1)}, a=Real(0, 1)), InvalidArgument, "must differ"),
    ],
)
def test_bad_constructors(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize(
    ("x", "error", "message"),
    [
        ({"gain": 1.0, "taps": 8}, InvalidArgument, ": missing 'mode'; needs 'gain', 'taps', 'mode'"),
        ({}, InvalidArgument, ": missing 'gain', 'taps', 'mode'; needs"),
        ({**POINT, "extra": 1}, InvalidArgument, ": unexpected 'extra'; needs"),
        ({"gain": 1.0, "tap": 8, "mode": "b"}, InvalidArgument, ": missing 'taps'; unexpected 'tap'; needs"),
        ({**POINT, "gain": 20.0}, InvalidArgument, r"\['gain'\]=20.0"),
        ({**POINT, "gain": float("nan")}, InvalidArgument, r"\['gain'\]=nan"),
        ({**POINT, "taps": 2.5}, InvalidType, r"\['taps'\]=2.5"),
        ({**POINT, "mode": "c"}, InvalidArgument, r"\['mode'\]='c': must be one of 'a', 'b'"),
        ([1.0, 8, "b"], InvalidType, "must be a dict with the keys 'gain', 'taps', 'mode'"),
        (np.zeros(4), InvalidType, "must be a dict"),
        (None, InvalidType, "must be a dict"),
    ],
)
def test_bad_points(x: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match="^x.*" + message):
        SPACE.encode(x)
    with pytest.raises(error, match=r"^points\[1\].*" + message):
        SPACE.encode_many([POINT, x])


@pytest.mark.parametrize(("points", "error"), [([], InvalidArgument), (POINT, InvalidType), (3, InvalidType)])
def test_bad_lists_of_points(points: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="points="):
        SPACE.encode_many(points)


def test_a_damaged_state_is_noticed() -> None:
    state = json.loads(json.dumps(codec.encode(SPACE)))
    state["parameters"][0][1]["hi"] = 0.01
    with pytest.raises(CorruptState, match="Real"):
        codec.decode(state)
