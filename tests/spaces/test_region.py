"""The part of a space that may be asked for: what it contains, and what it refuses."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import windvane as wv

BOX = wv.Box([(0, 1), (-5, 5), (0, 2)])
SPACE = wv.Space(
    a=wv.Real(0, 1), k=wv.Integer(1, 9), m=wv.Choice(["x", "y", "z"]), n=wv.Integer(1, 1000), b=wv.Real(1, 2)
)
QUICK = settings(max_examples=60, deadline=None)


def everything(space):
    return wv.Region.all_of(space)


def test_all_of_a_space():
    for space in (BOX, SPACE, wv.Arms(7)):
        region = everything(space)
        points = space.sample(np.random.default_rng(0), 50)
        assert region.whole
        assert region.contains(points).all()
        assert np.array_equal(region.nearest(points), points)
        assert np.array_equal(
            region.sample(np.random.default_rng(1), 5), space.sample(np.random.default_rng(1), 5)
        )


def test_a_fixed_coordinate_stays():
    region = everything(BOX).fixed({1: 0.25})
    assert not region.whole
    assert (region.sample(np.random.default_rng(0), 100)[:, 1] == 0.25).all()
    assert region.continuous.free.tolist() == [True, False, True]
    with pytest.raises(wv.InvalidArgument, match=r"fixed\(1\)=1\.5"):
        everything(BOX).fixed({1: 1.5})
    with pytest.raises(wv.InvalidArgument, match=r"fixed\(axis\)=3"):
        everything(BOX).fixed({3: 0.5})


def test_a_choice_is_held_as_a_whole():
    held = dict(enumerate(SPACE.encode({"a": 0.5, "k": 3, "m": "y", "n": 10, "b": 1.5})))
    region = everything(SPACE).fixed({axis: held[axis] for axis in (2, 3, 4)})
    points = region.sample(np.random.default_rng(0), 64)
    assert {SPACE.decode(point)["m"] for point in points} == {"y"}
    assert np.array_equal(points, SPACE.snap(points))
    assert everything(SPACE).fixed({3: held[3]}).lower[2:5].tolist() == [held[2], held[3], held[4]]
    with pytest.raises(wv.InvalidArgument, match="no point of the space"):
        everything(SPACE).fixed({2: 0.3})
    with pytest.raises(wv.InvalidArgument, match="one of its options"):
        everything(SPACE).fixed({2: 0.0})


def test_bounds_of_an_integer_are_drawn_in_to_its_levels():
    region = everything(SPACE).within(0.3, 0.6)  # k = 1 .. 9 has levels at multiples of 1 / 8
    assert (region.lower[1], region.upper[1]) == (0.375, 0.5)
    assert {SPACE.decode(x)["k"] for x in region.sample(np.random.default_rng(0), 200)} == {4, 5}
    with pytest.raises(wv.InvalidArgument, match="nothing is left between"):
        everything(SPACE).within(0.51, 0.6)
    for bad in (np.nan, [0.1, 0.2, np.nan]):
        with pytest.raises((wv.InvalidArgument, ValueError)):
            everything(BOX).within(bad, 1.0)


def test_around_a_point():
    region = everything(BOX).around([0.9, 0.5, 0.5], [0.2, 0.0, 1.0])
    np.testing.assert_allclose(region.lower, [0.7, 0.5, 0.0])
    np.testing.assert_allclose(region.upper, [1.0, 0.5, 1.0])
    with pytest.raises(wv.InvalidArgument, match=r"around\(reach\)=-1"):
        everything(BOX).around([0.5] * 3, -1)


def test_points_left_out():
    region = everything(BOX).without([[0.5, 0.5, 0.5]], 0.2)
    points = region.sample(np.random.default_rng(0), 2000)
    assert np.linalg.norm(points - 0.5, axis=1).min() > 0.2
    assert region.contains(np.array([[0.5, 0.5, 0.5], [0.5, 0.5, 0.7], [0.5, 0.5, 0.71]])).tolist() == [
        False,
        False,
        True,
    ]
    moved = region.clear(np.array([[0.5, 0.5, 0.55], [0.5, 0.5, 0.5], [0.1, 0.1, 0.1]]))
    assert region.contains(moved).all()
    np.testing.assert_allclose(moved[0], [0.5, 0.5, 0.7], atol=1e-6)
    assert moved[2].tolist() == [0.1, 0.1, 0.1]
    for bad in (-1.0, np.nan, "far"):
        with pytest.raises(wv.WindvaneError, match="radius"):
            everything(BOX).without([[0.5, 0.5, 0.5]], bad)
    with pytest.raises(wv.InvalidArgument, match="use smaller radii"):
        everything(BOX).without([[0.5, 0.5, 0.5]], 3.0).sample(np.random.default_rng(0), 1)


def test_arms_left_out():
    region = everything(wv.Arms(5)).without([[1.0], [3.0]], 0.0)
    assert region.listed[:, 0].tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(wv.InvalidArgument, match="none of the points"):
        _ = everything(wv.Arms(2)).without([[0.0], [1.0]], 0.0).listed


def test_a_list_of_points():
    points = np.array([[0.1, 0.2, 0.3], [0.6, 0.5, 0.4], [0.9, 0.9, 0.9]])
    region = everything(BOX).only(points).within([0.0, 0.0, 0.0], [0.7, 1.0, 1.0])
    assert np.array_equal(region.listed, points[:2])
    assert region.contains(points).tolist() == [True, True, False]
    assert not region.contains(np.array([[0.5, 0.5, 0.5]])).any()
    with pytest.raises(wv.InvalidArgument, match="must not be empty"):
        everything(BOX).only(np.empty((0, 3)))
    with pytest.raises(wv.InvalidArgument, match="nx3"):
        everything(BOX).only([[0.5]])


def test_nobody_can_change_a_region():
    region = everything(BOX).without([[0.5, 0.5, 0.5]], 0.1).only([[0.1, 0.1, 0.1]])
    for array in (
        region.lower,
        region.upper,
        region.excluded,
        region.radii,
        region.points,
        region.climbed.free,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


@st.composite
def regions(draw):
    """Parts of a mixed space and of a box, with at least one point."""
    space = draw(st.sampled_from([BOX, SPACE]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    region = everything(space)
    centre = space.sample(rng, 1)[0]
    if draw(st.booleans()):
        axis = draw(st.sampled_from([0, 1]))
        region = region.fixed({axis: centre[axis]})
    if draw(st.booleans()):
        region = region.around(centre, draw(st.floats(0.0, 0.6)))
    if draw(st.booleans()):
        region = region.without(space.sample(rng, draw(st.integers(1, 5))), draw(st.floats(0.0, 0.3)))
    if draw(st.booleans()):
        region = region.only(np.concatenate((space.sample(rng, 6), centre[None])))
    try:
        region.sample(rng, 1)
    except wv.InvalidArgument:
        assume(False)
    return region


@QUICK
@given(regions(), st.integers(0, 1000))
def test_whatever_a_region_gives_lies_in_it(region, seed):
    rng = np.random.default_rng(seed)
    drawn = region.sample(rng, 20)
    for points in (drawn, region.candidates(64), region.neighbours(drawn[0])):
        assert region.contains(points).all()
        assert np.array_equal(region.space.snap(points), points)
    moved = region.nearest(region.space.sample(rng, 10))
    assert ((moved >= region.lower) & (moved <= region.upper)).all()


def left(points):
    """A number that is at most 0 in the left half of the first coordinate."""
    return points[:, 0] - 0.5


def test_a_condition_holds_in_all_that_the_region_gives():
    for space in (BOX, SPACE):
        region = everything(space).where(left, 0.0)
        assert not region.whole
        rng = np.random.default_rng(0)
        for points in (
            region.sample(rng, 200),
            region.candidates(300),
            region.neighbours(region.sample(rng, 1)[0]),
        ):
            assert (points[:, 0] <= 0.5).all()
    few = wv.Space(k=wv.Integer(0, 10), m=wv.Choice(["x", "y"]))
    listed = everything(few).where(left, 0.0).listed
    assert {few.decode(point)["k"] for point in listed} == set(range(6))
    assert everything(wv.Arms(7)).where(lambda points: points[:, 0], 2.0).listed.ravel().tolist() == [0, 1, 2]


def test_conditions_add_up():
    region = everything(BOX).around([0.5, 0.5, 0.5], 0.2).where(left, 0.0).where(lambda p: -p[:, 1], -0.5)
    points = region.sample(np.random.default_rng(0), 200)
    assert (points[:, 0] <= 0.5).all()
    assert (points[:, 1] >= 0.5).all()
    assert (np.abs(points - 0.5) <= 0.2).all()


def test_where_a_condition_holds_nowhere_it_is_least_broken():
    region = everything(BOX).within([0.6, 0.0, 0.0], 1.0).where(left, 0.0)
    points = region.sample(np.random.default_rng(0), 5)
    assert region.contains(points).all()
    assert (points[:, 0] < 0.61).all()
    arms = everything(wv.Arms(7)).only([[3.0], [5.0]]).where(lambda points: points[:, 0], 2.0)
    assert arms.listed.tolist() == [[3.0]]
    with pytest.raises(wv.InvalidArgument, match="at_most"):
        everything(BOX).where(left, np.nan)


def test_a_long_list_of_points_needs_no_table_of_all_pairs():
    space = wv.Space(a=wv.Integer(1, 500), b=wv.Integer(1, 500))
    some = [{"a": 1 + i % 500, "b": 1 + i // 500} for i in range(0, 20_000, 2)]
    region = everything(space).available(some)
    tracemalloc.start()
    assert len(region.listed) == len(some)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6  # bytes; a table of all pairs has 200 million
    assert region.contains(space.encode_many([{"a": 3, "b": 7}, {"a": 4, "b": 7}])).tolist() == [True, False]


def test_what_was_found_inside_is_drawn_even_if_another_look_says_otherwise():
    """Many points at once and a few of them may be judged from different approximations."""
    region = everything(SPACE)
    points = region.candidates(64)
    risks = np.where(np.arange(len(points)) == 5, 0.0, 1.0)
    doubtful = region.where(lambda some: np.ones(len(some)), 0.5, tried=(points, risks))
    drawn = doubtful.sample(np.random.default_rng(0), 3)
    assert (drawn == points[5]).all()


def test_of_a_list_what_was_found_inside_is_left_even_if_another_look_says_otherwise():
    points = np.arange(4.0)[:, None] / 3.0
    listed = everything(wv.Candidates(points)).other_than(points[:1])
    doubtful = listed.where(
        lambda some: np.ones(len(some)), 0.5, tried=(points[1:], np.array([1.0, 0.0, 1.0]))
    )
    assert doubtful.listed.tolist() == points[2:3].tolist()
    gone = doubtful.other_than(points[2:3])
    assert gone.listed.tolist() == points[2:3].tolist()  # unless there are no others
