"""Other units: everything scales, the best point stays, the regret is that of the task within."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.tasks.affine import units
from windvane.tasks.base import Task
from windvane.tasks.wrappers import noise, outliers


@pytest.fixture
def task():
    return wv.task("within-model", horizon=12, grid=10, seed=1)


def test_values_optima_noise_and_disturbances(task):
    inner = outliers(noise(task, 0.3, degrees=3), share=0.5, size=2.0, seed=1)
    outer = units(inner, scale=1e-3, offset=7.0)
    assert isinstance(outer, Task)
    assert (outer.horizon, outer.space, outer.kernel) == (12, task.space, None)
    assert outer.noise_variance == pytest.approx(0.3e-6)
    for t in range(1, 13):
        x = np.array([0.05 * t, 0.3])
        assert outer.value(x, t) == pytest.approx(7.0 + 1e-3 * inner.value(x, t), abs=1e-14)
        assert outer.optimum(t) == pytest.approx(7.0 + 1e-3 * inner.optimum(t), abs=1e-14)
        assert outer.optimum(t).x.tolist() == inner.optimum(t).x.tolist()
        assert outer.noise_from(1.5, t) == pytest.approx(1e-3 * inner.noise_from(1.5, t))
        assert outer.disturbance(t) == pytest.approx(1e-3 * inner.disturbance(t))
    assert any(inner.disturbance(t) for t in range(1, 13))


def test_one_number_per_step(task):
    scale, offset = np.linspace(1.0, 3.0, 12), np.arange(12.0)
    outer = units(task, scale, offset.tolist())
    for t in (1, 5, 12):
        assert outer.value([0.2, 0.9], t) == offset[t - 1] + scale[t - 1] * task.value([0.2, 0.9], t)
        assert outer.noise_from(1.0, t) == pytest.approx(scale[t - 1] * math.sqrt(task.noise_variance))
    scale[0] = 99.0  # what was handed over is a copy
    assert outer.scale[0] == 1.0


def test_the_regret_scales(task):
    class Points:
        def __init__(self):
            self.rng, self.told = np.random.default_rng(0), []

        def ask(self):
            return self.rng.random(2)

        def tell(self, x, y):
            self.told.append(y)

    plain, scaled = Points(), Points()
    regret = wv.simulate(plain, task, seed=4).regret
    outer = wv.simulate(scaled, units(task, 250.0, -1e4), seed=4).regret
    np.testing.assert_allclose(outer, 250.0 * regret, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.told, 250.0 * np.array(plain.told) - 1e4)


def test_units_of_units(task):
    twice = units(units(task, 2.0, 1.0), 3.0, 4.0)
    assert twice.value([0.2, 0.9], 3) == pytest.approx(6.0 * task.value([0.2, 0.9], 3) + 7.0)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf, "1", None, [1.0], [1.0] * 11 + [0.0]])
def test_bad_scales(task, bad):
    with pytest.raises(wv.WindvaneError, match=r"^scale"):
        units(task, bad)


@pytest.mark.parametrize("bad", [math.nan, "1", None, [0.0] * 13, [0.0] * 11 + [math.inf]])
def test_bad_offsets(task, bad):
    with pytest.raises(wv.WindvaneError, match=r"^offset"):
        units(task, 1.0, bad)


def test_not_a_task():
    with pytest.raises(wv.InvalidType, match=r"^task="):
        units(None, 1.0)
