"""The drawn tables: how fast the arms change, what they share, and the kernel of the training rows."""

import numpy as np
import pytest

import windvane as wv
from windvane.tasks.arms import HUMID_TRAIN, LOCAL_TRAIN, _markov, _smooth


def tables(name, horizon, count=20):
    return [wv.task(name, horizon=horizon, seed=seed) for seed in range(count)]


def test_first_order_processes():
    lasting = np.array([5.0, 30.0, 200.0])
    path = _markov(np.random.default_rng(0), 60_000, lasting)
    np.testing.assert_allclose(path[-50_000:].std(axis=0), 1.0, atol=0.1)
    for lag in (1, 5, 20):
        found = [np.corrcoef(path[:-lag, j], path[lag:, j])[0, 1] for j in range(2)]
        np.testing.assert_allclose(found, np.exp(-lag / lasting[:2]), atol=0.03)
    assert np.corrcoef(path.T)[0, 1] == pytest.approx(0.0, abs=0.05)


def test_the_root_of_a_covariance():
    places = np.random.default_rng(0).random((30, 2))
    root = _smooth(places, 0.3)
    np.testing.assert_allclose(root @ root.T, wv.RBF(0.3).matrix(places, places), atol=1e-9)


def variogram(task, lag):
    """Half the mean square of how an arm, less the mean of all arms, differs after a lag."""
    own = task.values - task.values.mean(axis=1, keepdims=True)
    return float(0.5 * ((own[lag:] - own[:-lag]) ** 2).mean())


def test_what_is_of_one_arm_alone_changes_fast():
    for task in tables("local-change", 400, 6):
        assert task.space == wv.Arms(61)
        # fast: after 30 steps an arm has lost most of its own part, and after one step little of it
        assert variogram(task, 1) < 0.25 * variogram(task, 30)
        assert task.noise_variance < 0.01 * variogram(task, 1)
        assert len({task.optimum(t).x for t in range(1, 401)}) > 5


def test_the_humid_drift_slowly():
    for task in tables("humid", 400, 6):
        assert task.space == wv.Arms(44)
        assert variogram(task, 1) < 0.05 * variogram(task, 60)
        common = task.values.mean(axis=1)
        assert common.std() > 0.3 * task.values.std(axis=1).mean()
        assert "stand-in" in task.source


@pytest.mark.parametrize(("name", "train"), [("local-change", LOCAL_TRAIN), ("humid", HUMID_TRAIN)])
def test_a_longer_horizon_begins_likewise_and_the_kernel_is_of_the_training_rows(name, train):
    task = wv.task(name, horizon=40, seed=2)
    assert task.shrinkage == 0.0
    assert train > task.space.n
    kernel = task.kernel.matrix(np.arange(task.space.n)[:, None], np.arange(task.space.n)[:, None])
    assert np.linalg.eigvalsh(kernel).min() > 0.0
    # values are in standard deviations of the training rows, around their mean; the objective is not far
    assert abs(task.values.mean()) < 3.0
    assert 0.2 < task.values.std() < 3.0
    assert task.kernel.matrix(np.zeros((1, 1)), np.zeros((1, 1)))[0, 0] == pytest.approx(kernel[0, 0])
