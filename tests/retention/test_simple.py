"""LastPoint, Empty, Full, SlidingWindow: small promises, kept; and what every policy shares."""

from __future__ import annotations

import json

import numpy as np
import pytest

from windvane import codec
from windvane.data import Dataset
from windvane.errors import InvalidArgument, InvalidType
from windvane.kernels import RBF, TimeMatern32
from windvane.retention import (
    Backtracking,
    Belief,
    Budget,
    Empty,
    EvidenceWindow,
    Full,
    LastPoint,
    Limit,
    Relevance,
    Retention,
    SlidingWindow,
)

BELIEF = Belief(RBF(0.2), TimeMatern32(9.0), 0.02)


def dataset(size, dim=2):
    steps = np.arange(1, size + 1)
    return Dataset(np.random.default_rng(size).random((size, dim)), 10.0 * steps, steps + 0.5, steps)


def never_called(kept, observation):
    raise AssertionError("this policy has no use for the trigger")


def silent(kept, observation):
    return False


def test_last_point_keeps_the_one_that_fired():
    data = dataset(4)
    kept = LastPoint().keep(data, never_called)
    assert len(kept) == 1
    assert kept[0].x.tolist() == data[3].x.tolist()
    assert kept[0][1:] == (40.0, 4.5, 4, None)
    assert len(LastPoint().keep(Dataset.empty(2), never_called)) == 0


def test_empty_keeps_nothing_but_the_dimension():
    kept = Empty().keep(dataset(4, dim=3), never_called)
    assert (len(kept), kept.dim) == (0, 3)


@pytest.mark.parametrize("limit", [Full(), SlidingWindow(4), Budget(4)], ids=repr)
@pytest.mark.parametrize("size", [0, 1, 4])
def test_within_the_limit_the_data_are_handed_back_as_they_are(limit, size):
    data = dataset(size)
    assert limit.apply(data, BELIEF, limit.start()) == (data, ())


def test_the_window_is_the_newest_in_order():
    kept, _ = SlidingWindow(3).apply(dataset(8), BELIEF, ())
    assert kept.steps.tolist() == [6, 7, 8]
    assert kept.y.tolist() == [60.0, 70.0, 80.0]


def test_full_has_no_limit():
    data = dataset(500)
    assert Full().apply(data, BELIEF, ())[0] is data


POLICIES = [
    LastPoint(), Empty(), Backtracking(), Backtracking(5), Full(), SlidingWindow(7), Budget(9),
    Relevance(3.0, 5), EvidenceWindow((3, 5)),
]  # fmt: skip


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_frozen_hashable_and_saved_by_the_codec(policy):
    assert codec.decode(json.loads(json.dumps(codec.encode(policy)))) == policy
    assert len({policy, codec.decode(codec.encode(policy))}) == 1
    with pytest.raises(AttributeError):
        policy.size = policy.cap = 1


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_one_protocol_each_and_the_data_untouched(policy):
    assert isinstance(policy, Retention) != isinstance(policy, Limit)
    data = dataset(20)
    before = [column.copy() for column in (data.X, data.y, data.times, data.steps)]
    if isinstance(policy, Retention):
        kept = policy.keep(data, silent)
    else:
        kept, _ = policy.apply(data, BELIEF, policy.start())
        assert kept.steps[-1] == 20
    for column, copy in zip((data.X, data.y, data.times, data.steps), before, strict=True):
        np.testing.assert_array_equal(column, copy)
    assert kept.steps.tolist() == sorted(kept.steps.tolist())
    assert set(kept.steps.tolist()) <= set(range(1, 21))
    rows = kept.steps - 1
    np.testing.assert_array_equal(kept.X, data.X[rows])
    np.testing.assert_array_equal(kept.times, data.times[rows])


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Backtracking(0), InvalidArgument, "cap=0: must be an integer at least 1"),
        (lambda: Backtracking(2.0), InvalidType, "cap=2.0"),
        (lambda: SlidingWindow(0), InvalidArgument, "size=0: must be an integer at least 1"),
        (lambda: SlidingWindow(None), InvalidType, "size=None"),
        (lambda: Budget(0), InvalidArgument, "max_points=0: must be an integer at least 1"),
        (lambda: Budget("300"), InvalidType, "max_points='300'"),
        (lambda: Budget(True), InvalidType, "max_points=True"),
    ],
)
def test_bad_arguments(build, error, message):
    with pytest.raises(error) as failure:
        build()
    assert message in str(failure.value)


def test_numpy_integers_become_plain_ones():
    assert type(SlidingWindow(np.int64(3)).size) is int
    assert type(Backtracking(np.int64(3)).cap) is int
    assert type(Budget(np.int64(3)).max_points) is int
