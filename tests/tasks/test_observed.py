"""Outliers and misjudged noise against the wrapped tasks by hand."""

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import Task
from windvane.tasks.wrappers import noise, outliers

SMALL = {"rate": 0.05, "horizon": 200, "grid": 10}


class Centre:
    """Asks for the centre, and remembers what it is told."""

    def __init__(self):
        self.told = []

    def ask(self):
        return [0.5, 0.5]

    def tell(self, x, y):
        self.told.append(y)


def observations(task, seed=0):
    centre = Centre()
    trace = wv.simulate(centre, task, seed=seed)
    return np.array(centre.told), trace.regret


def test_outliers_are_the_wrapper_s_around_the_task_of_the_same_seed():
    task = wv.task("outliers", share=0.1, size=2.0, seed=5, **SMALL)
    by_hand = outliers(wv.task("within-model", seed=5, **SMALL), share=0.1, size=2.0, seed=5)
    for one, other in zip(observations(task), observations(by_hand), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (task.name, task.rate, task.noise_variance) == ("outliers", 0.05, 0.02)
    assert isinstance(task, Task)


def test_two_per_cent_are_off_by_a_few_standard_deviations():
    task = wv.task("outliers", rate=0.0, horizon=5000, grid=10)
    off = np.array([abs(task.disturbance(t)) for t in range(1, 5001)])
    assert np.mean(off > 0.0) == pytest.approx(0.02, abs=0.006)  # three standard errors
    assert off[off > 0.0].min() >= 2.5
    assert off.max() <= 7.5


@pytest.mark.parametrize("factor", [0.25, 4.0])
def test_a_misjudged_noise_is_told_wrongly_and_drawn_rightly(factor):
    task = wv.task("misjudged-noise", factor=factor, noise_variance=0.09, seed=5, **SMALL)
    true = wv.task("within-model", noise_variance=0.09, seed=5, **SMALL)
    told = noise(true, factor * 0.09)
    assert task.noise_variance == told.noise_variance
    for one, other in zip(observations(task, seed=1), observations(true, seed=1), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(observations(task)[0], observations(told)[0])
    assert (task.name, task.rate, task.kernel) == ("misjudged-noise", 0.05, true.kernel)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("outliers", {"share": 2.0}, "share=2.0"),
        ("outliers", {"size": -1.0}, "size=-1.0"),
        ("outliers", {"rate": 7.0}, "rate=7.0"),
        ("misjudged-noise", {"factor": 0.0}, "factor=0.0"),
    ],
)
def test_mistakes(name, options, says):
    with pytest.raises(wv.InvalidArgument, match=says):
        wv.task(name, **options)


def test_heavy_tails_are_student_s_around_the_task_of_the_same_seed():
    task = wv.task("heavy-tails", seed=5, noise_variance=0.1, **SMALL)
    inner = wv.task("within-model", seed=5, lengthscale=0.3, noise_variance=0.1, **SMALL)
    seen, regret = observations(task)
    plain, inner_regret = observations(noise(inner, 0.1, degrees=3.0))
    np.testing.assert_allclose(seen, 7.0 * plain - 60.0)
    np.testing.assert_allclose(regret, 7.0 * inner_regret, atol=1e-9)
    assert (task.rate, task.kernel) == (0.05, None)
    assert task.noise_variance == pytest.approx(49.0 * 0.1)
    assert wv.task("heavy-tails").optimum(1) == wv.task("heavy-tails").optimum(200)


def test_small_units_around_an_offset_of_the_seed_s():
    offsets = []
    for seed in range(30):
        task = wv.task("small-units", seed=seed, **SMALL)
        inner = wv.task("within-model", seed=seed, **SMALL)
        offsets.append(task.value([0.5, 0.5], 7) - 1e-6 * inner.value([0.5, 0.5], 7))
        difference = task.optimum(7) - task.value([0.5, 0.5], 7)
        assert difference == pytest.approx(1e-6 * (inner.optimum(7) - inner.value([0.5, 0.5], 7)), abs=1e-14)
    assert (np.abs(offsets) >= 1.0).all()
    assert (np.abs(offsets) <= 10.0).all()
    assert 5 < np.sum(np.array(offsets) > 0.0) < 25
    assert task.noise_variance == pytest.approx(0.02e-12)
    assert (task.rate, task.kernel) == (0.05, None)
