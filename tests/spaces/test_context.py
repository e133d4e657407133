"""Parameters that are observed, not chosen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane.codec import decode, encode
from windvane.spaces import Region

MIXED = wv.Space(
    gain=wv.Real(0.1, 10, log=True),
    load=wv.Context(0, 100, unit="%"),
    taps=wv.Integer(1, 8),
    hour=wv.Context(0, 24, period=True),
    crew=wv.Context(wv.Choice(["early", "late", "night"])),
    month=wv.Context(wv.Integer(1, 12), period=True),
    shift=wv.Context(wv.Integer(1, 40)),
)
SEEN = {"load": 37.0, "hour": 22.5, "crew": "late", "month": 12, "shift": 17}


def test_a_point_goes_there_and_back() -> None:
    point = {"gain": 1.0, "taps": 3, **SEEN}
    back = MIXED.decode(MIXED.encode(point))
    assert back["crew"] == "late"
    assert (back["month"], back["shift"], back["taps"]) == (12, 17, 3)
    assert back["hour"] == pytest.approx(22.5, abs=1e-12)
    assert all(type(value) in (int, float, str) for value in back.values())


@given(st.floats(0, 24), st.floats(0, 24))
def test_on_a_circle_near_is_what_is_near_on_a_clock(one: float, two: float) -> None:
    hour = wv.Context(0, 24, period=True)
    apart = np.linalg.norm(hour.encode("hour", one) - hour.encode("hour", two))
    angle = 2 * math.pi * (one - two) / 24
    assert apart == pytest.approx(abs(math.sin(angle / 2)), abs=1e-9)  # a chord of a circle of diameter 1


def test_the_months_are_evenly_spaced_and_december_is_next_to_january() -> None:
    month = wv.Context(wv.Integer(1, 12), period=True)
    at = [month.encode("month", m) for m in range(1, 13)]
    steps = [np.linalg.norm(at[m] - at[m - 1]) for m in range(12)]
    assert np.allclose(steps, steps[0])
    assert [month.decode(block) for block in at] == list(range(1, 13))


@given(st.integers(0, 2**32), st.integers(1, 20))
def test_snap_gives_points_that_stay_put(seed: int, count: int) -> None:
    units = np.random.default_rng(seed).uniform(size=(count, MIXED.dim))
    once = MIXED.snap(units)
    assert np.array_equal(MIXED.snap(once), once)
    for unit in once:
        assert np.allclose(MIXED.encode(MIXED.decode(unit)), unit, atol=1e-9)


@given(st.integers(0, 2**32))
def test_a_region_of_one_context_holds_it_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = MIXED.decode(MIXED.sample(rng, 1)[0])
    seen = MIXED.seen({name: drawn[name] for name in MIXED.contexts})
    assert seen is not None
    region = Region.all_of(MIXED).fixed(seen.fixed)
    assert region.held
    assert not region.whole
    axes = list(seen.fixed)
    for points in (region.sample(rng, 16), region.candidates(64), region.nearest(MIXED.sample(rng, 16))):
        assert len(points)
        assert region.contains(points).all()
        assert (points[:, axes] == np.array(list(seen.fixed.values()))).all()
    assert len(np.unique(region.sample(rng, 32)[:, 0])) > 16  # what is chosen moves


def test_all_settings_are_listed_if_they_are_few() -> None:
    space = wv.Space(mode=wv.Choice(["a", "b"]), taps=wv.Integer(1, 3), load=wv.Context(0, 100))
    seen = space.seen({"load": 40})
    assert seen is not None
    listed = Region.all_of(space).fixed(seen.fixed).listed
    assert listed is not None
    points = {(p["mode"], p["taps"], p["load"]) for p in map(space.decode, listed)}
    assert points == {(mode, taps, 40.0) for mode in "ab" for taps in (1, 2, 3)}


def test_states_have_them() -> None:
    clipped = wv.Space(
        a=wv.Real(0, 1, unit="V"), b=wv.Context(0, 1, clip=True), c=wv.Context(0, 1, period=True)
    )
    for space in (MIXED, clipped):
        again = decode(encode(space))
        assert again == space
        assert repr(again) == repr(space)


def test_what_is_not_used_is_not_written() -> None:
    assert encode(wv.Real(0, 1)) == {"type": "Real", "lo": 0.0, "hi": 1.0, "log": False}
    assert encode(wv.Integer(1, 2)) == {"type": "Integer", "lo": 1, "hi": 2, "log": False}
    assert repr(wv.Real(0, 1)) == "Real(lo=0.0, hi=1.0, log=False)"
    assert wv.Real(0, 1, unit="V") == wv.Real(0, 1)


def test_a_value_beyond_the_range_is_refused_or_clipped() -> None:
    with pytest.raises(wv.InvalidArgument, match=r"at most 100 \(in %\).*clip=True"):
        wv.Context(0, 100, unit="%").encode("load", 100.1)
    with pytest.raises(wv.InvalidArgument, match="hi is lo again"):
        wv.Context(0, 24, period=True).encode("hour", 25)
    clip = wv.Context(0, 100, clip=True)
    assert [clip.observed("load", value) for value in (-3, 40, 1e9)] == [0.0, 40.0, 100.0]
    assert wv.Context(wv.Integer(1, 8), clip=True).observed("crew", 11) == 8


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: wv.Context(0), "must be a range"),
        (lambda: wv.Context("a", "b"), "lo='a'"),
        (lambda: wv.Context(5, 5), "lo=5.0 must be below"),
        (lambda: wv.Context(wv.Context(0, 1)), "must be a range"),
        (lambda: wv.Context(wv.Real(0, 1), 3), "leave them out"),
        (lambda: wv.Context(wv.Real(0, 1), unit="V"), "leave them out"),
        (lambda: wv.Context(wv.Choice(["a"]), period=True), "range of numbers"),
        (lambda: wv.Context(1, 10, log=True, period=True), "log scale"),
        (lambda: wv.Context(wv.Integer(0, 1), period=True), "at least 3"),
        (lambda: wv.Context(0, 24, period=True, clip=True), "no ends"),
        (lambda: wv.Context(wv.Choice(["a"]), clip=True), "no ends"),
        (lambda: wv.Context(0, 1, clip=1), "must be True or False"),
        (lambda: wv.Context(0, 1, period="yes"), "must be True or False"),
        (lambda: wv.Context(0, 1, unit=3), "must be a string"),
        (lambda: wv.Real(0, 1, unit=" V"), "printable"),
        (lambda: wv.Space(load=wv.Context(0, 1)), "nothing to choose"),
    ],
)
def test_bad_ones_are_refused(make: object, says: str) -> None:
    with pytest.raises(wv.WindvaneError, match=says):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("context", "says"),
    [
        (None, "is missing; this space observes 'load'"),
        ({}, "missing 'load', 'hour'"),
        ({**SEEN, "lod": 3}, "unexpected 'lod'"),
        ({**SEEN, "load": 101}, r"context\['load'\]=101"),
        ({**SEEN, "load": math.nan}, r"context\['load'\]=nan"),
        ({**SEEN, "load": "37"}, r"context\['load'\]='37'"),
        ({**SEEN, "load": True}, r"context\['load'\]=True"),
        ({**SEEN, "load": None}, r"context\['load'\]=None"),
        ({**SEEN, "crew": "noon"}, "must be one of 'early'"),
        ({**SEEN, "crew": []}, "must be one of 'early'"),
        ({**SEEN, "month": 1.5}, "an integer"),
        ({**SEEN, "month": 13}, "hi is lo again"),
        ([37], "must be a dict"),
    ],
)
def test_what_is_said_of_them_is_checked(context: object, says: str) -> None:
    with pytest.raises(wv.WindvaneError, match=says):
        MIXED.seen(context)


@pytest.mark.parametrize("space", [wv.Box([(0, 1)]), wv.Arms(3), wv.Space(gain=wv.Real(0, 1))])
def test_spaces_without_contexts_refuse_one(space: object) -> None:
    assert space.seen(None) is None  # type: ignore[attr-defined]
    with pytest.raises(wv.InvalidArgument, match="has no contexts"):
        space.seen({"load": 3})  # type: ignore[attr-defined]
