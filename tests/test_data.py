"""Records: equal by value, always plain JSON, and a dataset that nobody can change or build wrongly."""

import copy
import json
import math
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane.accuracy import Accuracy

VALUES = {
    "step": 3,
    "time": 3.0,
    "x": np.array([0.25, 0.5]),
    "y": 0.1,
    "mean": 0.0,
    "std": 0.3,
    "noise_variance": 0.16,
    "log_density": -1.0,
    "statistic": 0.5,
    "threshold": math.inf,
    "monitored": True,
    "elapsed": 3,
    "reset": False,
    "reason": "",
    "kept": 0,
    "size": 3,
    "beliefs": {"static": 0.75, "change": 0.25},
}
POINTS = [np.array([0.25, 0.5]), np.array([0.25]), {"gain": 0.5, "mode": "a", "box": np.array([1.0, 2.0])}, 7]
ODD = [math.nan, math.inf, -math.inf, np.float64(0.5), np.float32("nan"), np.int64(3), np.bool_(True)]


def event(**changes):
    return wv.Event(**{**VALUES, **changes})


# -- equality ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", POINTS, ids=str)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))]
)
def test_a_copy_is_equal_and_has_the_same_hash(x, copied):
    for record in (event(x=x), event(x=x, mean=math.nan), wv.Best(x, 1.0, 0.5), wv.Best(x, math.nan, 0.5)):
        again = copied(record)
        assert again == record
        assert hash(again) == hash(record)
        assert len({record, again}) == 1


@pytest.mark.parametrize("x", POINTS, ids=str)
def test_another_point_is_another_record(x):
    assert event(x=x) != event(x=np.array([0.25, 0.75]))
    assert wv.Best(x, 1.0, 0.5) != wv.Best(np.array([0.25, 0.75]), 1.0, 0.5)
    assert wv.Best(x, 1.0, 0.5) != event(x=x)


@pytest.mark.parametrize("name", [field.name for field in fields(wv.Event)])
def test_every_field_counts(name):
    assert event(**{name: "another"}) != event()


# -- JSON -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [field.name for field in fields(wv.Event)])
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_any_number_in_any_field_is_json(name, value):
    changed = {"gain": value, "box": (np.array([value, 1.0]), value)} if name in ("x", "beliefs") else value
    if name == "outcomes":
        told = dict.fromkeys(("value", "mean", "std", "probability", "statistic", "threshold"), value)
        flags = {"violated": False, "monitored": True, "reset": False, "reason": "", "kept": 0, "size": 1}
        changed = {"heat": wv.Outcome(**told, **flags, beliefs={"static": value})}
    found = event(**{name: changed}).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    plain = value.item() if isinstance(value, np.generic) else value
    expected = plain if not isinstance(plain, float) or math.isfinite(plain) else None
    if name in ("x", "beliefs"):
        in_array = None if expected is None else float(expected)
        expected = {"gain": expected, "box": [[in_array, 1.0], expected]}
    seen = found[name]["heat"]["value"] if name == "outcomes" else found[name]
    assert seen == expected
    assert type(seen) is type(expected)


@pytest.mark.parametrize(
    "change",
    [
        wv.Change(3, 0.95),
        wv.Change(41, 0.97, -2.5, "level", 0.1),
        wv.Change(121, 0.93, 0.0, "return", 0.0, (1, 60)),
    ],
    ids=lambda change: change.kind,
)
def test_a_change_through_json(change):
    told = event(change=change)
    found = json.loads(json.dumps(told.as_dict(), allow_nan=False))
    assert found["change"]["kind"] == change.kind
    assert "past" not in found["change"]
    again = wv.Event.from_dict(found)
    assert again == told
    assert isinstance(again.change, wv.Change)


numbers = st.floats() | st.integers() | st.booleans() | st.none() | st.text() | st.floats().map(np.float64)
points = st.recursive(
    numbers | st.lists(st.floats(), max_size=3).map(np.array),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(-9, 9).map(np.int64), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(points)
def test_any_point_is_json(x):
    found = event(x=x, beliefs={"a": x}).as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert event(x=x) == event(x=copy.deepcopy(x))
    assert hash(event(x=x)) == hash(event(x=copy.deepcopy(x)))


def test_every_event_of_a_run_is_json_and_comes_back():
    for space in (wv.Box([(0, 1)] * 2), wv.Arms(3), wv.Space(a=wv.Real(0, 1), k=wv.Choice(["b", 2]))):
        opt = wv.make("et-gp-ucb", space, noise_variance=0.01, seed=0)
        told = opt.tell(opt.ask(), 1.0)
        assert wv.Event.from_dict(json.loads(json.dumps(told.as_dict(), allow_nan=False))) == told


def test_what_json_cannot_say_comes_back_as_far_as_it_is_known():
    lost = event(threshold=math.inf, statistic=math.inf, mean=math.nan, log_density=-math.inf, outlier=None)
    again = wv.Event.from_dict({**json.loads(json.dumps(lost.as_dict())), "added_by_a_newer_version": 1})
    assert again == replace(lost, log_density=math.nan)  # which infinity it was is lost


# -- the dataset ------------------------------------------------------------------------------------------


def dataset(n=5, d=2):
    rng = np.random.default_rng(0)
    return wv.Dataset(rng.random((n, d)), rng.random(n), np.arange(n) + 0.5, np.arange(1, n + 1))


ARRAYS = ("X", "y", "times", "steps")


def assert_read_only(data):
    assert [getattr(data, name).dtype for name in ARRAYS] == [np.float64] * 3 + [np.int64]
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[...] = 0
    for row in data:
        with pytest.raises(ValueError, match="read-only"):
            row.x[...] = 0


def test_whatever_makes_a_dataset_makes_it_read_only():
    data = dataset()
    new = wv.Observation(np.array([0.5, 0.5]), 1.0, 9.0, 9)
    for each in (
        data,
        wv.Dataset.empty(2),
        wv.Dataset.empty(2) + new,
        data + new,
        data.take(slice(1, 3)),
        data.take(np.array([0, 2])),
        replace(data, y=[0] * 5),
        copy.copy(data),
        copy.deepcopy(data),
        pickle.loads(pickle.dumps(data)),
        wv.Dataset([[0, 1], [1, 0]], [0, 1], range(2), (1, 2)),
    ):
        assert_read_only(each)


def test_the_data_of_an_optimiser_cannot_be_changed():
    for name in ("gp-ucb", "auto", "tv-gp-ucb-mle", "et-gp-ucb-backtracking"):
        opt = wv.make(name, wv.Box([(0, 1)] * 2), seed=0)
        for y in (1.0, 0.5, 0.7):
            opt.tell(opt.ask(), y)
        assert_read_only(opt.data)


def test_arrays_are_the_datasets_own():
    X, y = np.ones((3, 2)), np.ones(3)
    data = wv.Dataset(X, y, y, np.arange(3))
    X[:], y[:] = 0.0, 0.0
    assert data.X.all()
    assert data.y.all()
    assert data.times.all()


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"X": np.zeros(5)}, wv.InvalidArgument, "X: must have shape nxd, got 5"),
        ({"X": np.zeros((4, 2))}, wv.InvalidArgument, "y: must have shape 4, got 5"),
        ({"X": [[0.0], [0.0, 1.0]]}, wv.InvalidType, "X: must be numbers"),
        ({"X": np.full((5, 2), np.nan)}, wv.InvalidArgument, "X: must be finite"),
        ({"X": np.full((5, 2), "a")}, wv.InvalidType, "X: must be numbers"),
        ({"y": np.zeros((5, 1))}, wv.InvalidArgument, "y: must have shape 5"),
        ({"y": [0, 0, 0, 0, np.inf]}, wv.InvalidArgument, "y: must be finite"),
        ({"y": [0, 0, 0, 0, 10**400]}, wv.InvalidType, "y: must be numbers"),
        ({"y": [True] * 5}, wv.InvalidType, "y: must be numbers"),
        ({"y": None}, wv.InvalidType, "y: must be numbers"),
        ({"times": np.arange(4.0)}, wv.InvalidArgument, "times: must have shape 5"),
        ({"times": [0, 1, 2, 3, np.nan]}, wv.InvalidArgument, "times: must be finite"),
        ({"steps": np.arange(6)}, wv.InvalidArgument, "steps: must have shape 5"),
        ({"steps": np.arange(5.0)}, wv.InvalidType, "steps: must be integers"),
        ({"steps": [1, 2, 3, 4, 2**63]}, wv.InvalidType, "steps: must be integers"),
        ({"steps": [1, 2, 2, 3, 4]}, wv.InvalidArgument, "steps: must rise"),
        ({"steps": [5, 4, 3, 2, 1]}, wv.InvalidArgument, "steps: must rise"),
    ],
)
def test_a_dataset_checks_itself(changed, error, message):
    data = dataset()
    with pytest.raises(error, match=message):
        wv.Dataset(**{**{name: getattr(data, name) for name in ARRAYS}, **changed})


def test_a_dataset_may_be_empty_or_without_coordinates():
    assert len(wv.Dataset(np.empty((0, 3)), [], [], [])) == 0
    assert wv.Dataset(np.empty((2, 0)), [1, 2], [1, 2], [1, 2]).dim == 0


# -- accuracy ---------------------------------------------------------------------------------------

SOME = (None, Accuracy(0.5), Accuracy(repeats=3, scatter=0.2, farthest=0.1), None, Accuracy(2.0))


def accurate(known=SOME):
    data = wv.Dataset.empty(1)
    for step, accuracy in enumerate(known, start=1):
        data += wv.Observation(np.array([0.1 * step]), float(step), float(step), step, accuracy)
    return data


def test_a_dataset_keeps_what_is_known_of_each_observation():
    data = accurate()
    assert tuple(row.accuracy for row in data) == SOME
    assert tuple(row.accuracy for row in data.take(slice(1, 3))) == SOME[1:3]
    assert tuple(row.accuracy for row in data.take(np.array([4, 0]))) == (SOME[4], None)
    assert tuple(row.accuracy for row in data.raised(slice(2), 1.0)) == SOME
    later = wv.Dataset(data.X, data.y, data.times + 9.0, data.steps + 9)
    assert tuple(row.accuracy for row in data.joined(later)) == (*SOME, *[None] * 5)
    assert tuple(row.accuracy for row in pickle.loads(pickle.dumps(data))) == SOME
    np.testing.assert_allclose(data.noises(0.3, scale=2.0), [0.3, 0.125, 0.1, 0.3, 0.5])


def test_where_nothing_is_known_there_is_no_accuracy():
    data = accurate()
    assert accurate((None, None)).accuracy is None
    assert data.take(np.array([0, 3])).accuracy is None
    assert data.take(slice(0)).accuracy is None
    np.testing.assert_array_equal(accurate((None,)).noises(0.3), [0.3])


def test_the_accuracies_of_a_dataset_are_read_only_and_one_of_each_observation():
    data = accurate()
    with pytest.raises(ValueError, match="read-only"):
        data.accuracy.variance[0] = 1.0
    with pytest.raises(wv.WindvaneError, match="accuracy: must have 2 entries"):
        wv.Dataset(data.X[:2], data.y[:2], data.times[:2], data.steps[:2], data.accuracy)


def test_known_noise_is_never_so_small_that_the_model_is_singular():
    data = accurate((Accuracy(1e-300), Accuracy(1e200)))
    assert data.noises(0.1, scale=1.0, prior=4.0).tolist() == pytest.approx([4e-10, 1e100])
    assert Accuracy(1e-300).noise(0.1, 1.0, 4.0) == 4e-10
