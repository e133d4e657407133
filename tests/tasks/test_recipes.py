"""A list of recipes: what matters is the first two coordinates, and f moves on as a Markov chain does."""

import numpy as np
import pytest

import windvane as wv


def test_the_same_seed_gives_the_same_recipes():
    one, other = (wv.task("recipes", count=40, horizon=10, seed=3) for _ in range(2))
    assert one.space == other.space
    assert one.space != wv.task("recipes", count=40, horizon=10, seed=4).space
    for t in (1, 10):
        values = [one.value(x, t) for x in range(40)]
        assert values == [other.value(one.space.row(x), t) for x in range(40)]
        assert one.optimum(t) == max(values)
        assert values[one.optimum(t).x] == max(values)


def test_neighbours_in_what_matters_have_similar_values():
    near, far = [], []
    for seed in range(20):
        task = wv.task("recipes", count=60, horizon=1, seed=seed)
        units = np.array([task.space.row(x) for x in range(60)])
        values = np.array([task.value(x, 1) for x in range(60)])
        apart = np.linalg.norm(units[:, None, :2] - units[None, :, :2], axis=2)
        products = values[:, None] * values
        near.append(products[(apart > 0) & (apart < 0.1)].mean())
        far.append(products[apart > 0.9].mean())
    assert np.mean(near) == pytest.approx(1.0, abs=0.35)
    assert abs(np.mean(far)) < 0.3


def test_it_drifts_at_its_rate_and_not_without():
    still = wv.task("recipes", count=30, horizon=40, rate=0.0, seed=1)
    assert still.value(7, 1) == still.value(7, 40)
    runs = [wv.task("recipes", count=30, horizon=2, rate=0.2, seed=seed) for seed in range(150)]
    first = np.array([run.value(x, 1) for run in runs for x in range(30)])
    fresh = np.array([run.value(x, 2) for run in runs for x in range(30)]) - np.sqrt(0.8) * first
    assert np.mean(first**2) == pytest.approx(1.0, abs=0.2)
    assert np.mean(fresh**2) == pytest.approx(0.2, abs=0.04)
    assert np.mean(first * fresh) == pytest.approx(0.0, abs=0.06)


def test_simulated():
    task = wv.task("recipes", count=80, horizon=30, seed=2)
    trace = wv.simulate(wv.make(task.space, seed=0), task, seed=0)
    random = wv.simulate(wv.make("random", task.space, seed=0), task, seed=0)
    assert trace.regret.sum() < 0.6 * random.regret.sum()


@pytest.mark.parametrize("option", [{"count": 0}, {"count": 3000}, {"rate": 2.0}, {"noise_variance": -1.0}])
def test_bad_options(option):
    with pytest.raises(wv.WindvaneError, match=next(iter(option))):
        wv.task("recipes", **option)
