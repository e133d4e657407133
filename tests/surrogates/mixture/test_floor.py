"""A floor beneath what matters: when there is one, and that all that is below it is the same."""

import json

import numpy as np
import pytest

import windvane as wv
from windvane.accuracy import Accuracies
from windvane.codec import decode, encode
from windvane.data import Dataset
from windvane.surrogates.mixture.floor import floor_beneath
from windvane.surrogates.mixture.tuning import ALIKE, DEPTH, FEWEST_TO_FIT

X = np.linspace(0.0, 1.0, 12)
GOOD = np.arange(8.0)


def data(x, y, accuracy=None):
    times = np.arange(1.0, len(y) + 1)
    return Dataset(np.asarray(x, float)[:, None], np.asarray(y, float), times, times.astype(int), accuracy)


@pytest.mark.parametrize("deep", [[-1e6, -1e6, -1e6, -1e6], [-1e9, -8e8, -1.1e9, -1e9]])
def test_how_far_below_the_floor_values_are_does_not_matter(deep):
    assert floor_beneath(data(X, [*deep, *GOOD]), 1e3) == GOOD.max() - DEPTH * np.ptp(GOOD)


def test_there_is_none_under_a_slope():
    """A search that has converged, without noise: the best are alike, and others are at every depth."""
    assert floor_beneath(data(X, [-1e3, -1e6, -1e4, -1e9, *GOOD]), 1e3) is None
    near = np.concatenate((-np.geomspace(1.0, 1e-3, 6), -np.geomspace(1e-5, 1e-6, 6)))
    assert floor_beneath(data(X, near), 0.01) is None


def test_there_is_none_where_good_values_can_be_told_apart():
    some = data(X, [-1e6] * 4 + [*GOOD])
    assert floor_beneath(some, 1.01 * np.ptp(GOOD) / ALIKE) is not None
    assert floor_beneath(some, 0.6 * np.ptp(GOOD) / ALIKE) is not None  # the better half of them is enough
    assert floor_beneath(some, 0.1 * np.ptp(GOOD) / ALIKE) is None
    assert floor_beneath(data(X, np.arange(12.0)), 1e3) is None  # nor where there is nothing far below


def test_a_peak_of_its_own_is_no_reason_for_a_floor():
    """All others are alike beside it, and none of them matters."""
    assert floor_beneath(data(X, [1e6, *np.arange(11.0)]), 5e3) is None
    deep = [1e6, *np.arange(8.0), -1e6, -1e6, -1e6]
    assert floor_beneath(data(X, deep), 5e3) is None
    again = data([*X, 0.01], [*deep, 3.0])  # measured again, it was an error
    assert floor_beneath(again, 5e3) == GOOD.max() - DEPTH * np.ptp(GOOD)


def test_what_is_alike_because_the_place_is_says_nothing():
    x = [*np.linspace(0.5, 0.52, 8), 0.0, 0.2, 0.8, 1.0]
    assert floor_beneath(data(x, [*GOOD, -1e6, -1e6, -1e6, -1e6]), 5e3) is None


def test_equal_values_few_values_and_noise_that_is_known():
    assert floor_beneath(data(X, [-1e6] * 4 + [1.0] * 8), 5e3) is None
    few = FEWEST_TO_FIT - 1
    assert floor_beneath(data(X[:few], [-1e6, -1e6, *GOOD][:few]), 5e3) is None
    told = Accuracies(np.full(12, 0.01), np.ones(12), np.zeros(12), np.zeros(12))
    assert floor_beneath(data(X, [-1e6] * 4 + [*GOOD], told), 5e3) is None  # that is no share of the scale


def test_a_floor_stays_until_something_is_below_that_can_be_told_apart():
    some = data(X, np.arange(12.0))
    assert floor_beneath(some, 0.1, before=-5.0) == -5.0
    assert floor_beneath(some, 0.1, before=1.0) is None
    deep = data(X, [-1e6] * 4 + [*GOOD])
    assert floor_beneath(deep, 1e3, before=-5.0) == floor_beneath(deep, 1e3)


def test_a_scaling_with_a_floor():
    scaling = wv.Scaling(1.0, 2.0, floor=-9.0)
    assert scaling.inward(-1e6) == scaling.inward(-9.0) == -5.0
    assert scaling.inward(np.array([3.0, -1e6])).tolist() == [1.0, -5.0]
    assert scaling.raised(4.0) == wv.Scaling(5.0, 2.0, floor=-5.0)
    assert decode(encode(scaling)) == scaling
    assert "floor" not in encode(wv.Scaling(1.0, 2.0))
    assert scaling.of_values(np.array([0.0, 2.0])).floor is None


def test_an_optimizer_with_a_floor_goes_on_bit_for_bit():
    rng, opt = np.random.default_rng(44000), wv.make(wv.Box([(0.0, 1.0)] * 2), seed=44000)

    def told(x):
        return (-1e6 if x[0] > 0.5 else float(x[0])) + 0.03 * rng.normal()

    for _ in range(24):
        x = opt.ask()
        opt.tell(x, told(x))
    assert opt.model.scaling.floor is not None
    twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    for _ in range(12):
        x = opt.ask()
        assert np.array_equal(twin.ask(), x)
        y = told(x)
        assert twin.tell(x, y) == opt.tell(x, y)
    assert twin.model == opt.model
