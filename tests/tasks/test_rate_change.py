"""The rate change: each part moves at its own rate, and nothing else differs from within-model."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.kernels import RBF
from windvane.tasks import RateChange, WithinModel

NAN = math.nan


def test_the_task_of_the_paper():
    task = wv.task("rate-change")
    assert (task.name, task.horizon, task.switch, task.noise_variance) == ("rate-change", 500, 175, 0.02)
    assert (task.rate, task.later_rate) == (0.01, 0.05)
    assert task.kernel == RBF(0.2)
    assert task.space == wv.Box([(0.0, 1.0), (0.0, 1.0)])
    assert task.field(500).shape == (100, 100)


def test_the_correlation_of_neighbours_drops_at_the_switch():
    """Correlation sqrt(1 - eps) of f_{t-1} and f_t, over seeds; eps = 0.1 before t = 4, 0.6 from there on."""
    seeds = 1500
    options = {"rate": 0.1, "later_rate": 0.6, "switch": 4, "horizon": 6, "lengthscale": 0.3, "grid": 5}
    tasks = [RateChange(seed=seed, **options) for seed in range(seeds)]
    fields = np.array([[task.field(t).ravel() for t in range(1, 7)] for task in tasks])
    assert fields.var() == pytest.approx(1.0, abs=0.03)
    for t, eps in ((2, 0.1), (3, 0.1), (4, 0.6), (5, 0.6), (6, 0.6)):
        found = (fields[:, t - 2] * fields[:, t - 1]).mean()
        assert found == pytest.approx(
            math.sqrt(1.0 - eps), abs=0.06
        )  # sqrt(0.9) and sqrt(0.4) are 0.32 apart


def test_up_to_the_switch_it_is_within_model():
    changed = RateChange(rate=0.02, later_rate=0.4, switch=5, horizon=8, seed=3, grid=20)
    plain = WithinModel(rate=0.02, horizon=8, seed=3, grid=20)
    same = [np.array_equal(changed.field(t), plain.field(t)) for t in range(1, 9)]
    assert same == [True] * 4 + [False] * 4


def test_a_later_rate_of_zero_stands_still():
    task = RateChange(rate=0.5, later_rate=0.0, switch=3, horizon=6, grid=20)
    assert not np.array_equal(task.field(1), task.field(2))
    assert all(np.array_equal(task.field(2), task.field(t)) for t in range(3, 7))


def test_a_switch_at_the_start_or_after_the_end():
    always = RateChange(rate=0.5, later_rate=0.02, switch=1, horizon=5, grid=20)
    never = RateChange(rate=0.02, later_rate=0.5, switch=6, horizon=5, grid=20)
    plain = WithinModel(rate=0.02, horizon=5, grid=20)
    assert np.array_equal(always.field(5), plain.field(5))
    assert np.array_equal(never.field(5), plain.field(5))


def test_the_optimum_is_the_largest_value():
    task = RateChange(horizon=6, switch=3, later_rate=0.9, seed=2, grid=30)
    axis = np.linspace(0.0, 1.0, 30)
    for t in range(1, 7):
        values = [task.value([u, v], t) for u in axis for v in axis]
        assert task.optimum(t) == pytest.approx(max(values), abs=1e-9)
        assert task.value(task.optimum(t).x, t) == pytest.approx(task.optimum(t), abs=1e-9)


@pytest.mark.parametrize(
    ("argument", "values"),
    {
        "rate": [-0.1, 1.1, NAN, "0.1", None],
        "later_rate": [-0.1, 1.1, NAN, "0.1", None, True],
        "switch": [0, -1, 1.5, NAN, "9", None],
        "horizon": [0, -1, 1.5, NAN, None],
        "seed": [-1, 1.5, None],
        "lengthscale": [0.0, NAN, None, [0.1, 0.2]],
        "noise_variance": [0.0, -1.0, NAN, None],
        "grid": [1, 2.5, None],
    }.items(),
)
def test_bad_options(argument, values):
    for value in values:
        with pytest.raises(wv.WindvaneError, match=f"^{argument}="):
            wv.task("rate-change", **{argument: value})


def test_bad_calls():
    task = wv.task("rate-change", horizon=5, grid=10)
    for t in (0, 6, 1.5, NAN, None):
        with pytest.raises(wv.WindvaneError, match=r"^t="):
            task.optimum(t)
        with pytest.raises(wv.WindvaneError, match=r"^t="):
            task.value([0.5, 0.5], t)
    for x in ([0.5], [0.5, NAN], [0.5, 1.5], None):
        with pytest.raises(wv.WindvaneError, match=r"^x"):
            task.value(x, 1)
    with pytest.raises(wv.WindvaneError, match="dim="):
        wv.task("rate-change", dim=3)
