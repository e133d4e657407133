"""Seasons against the two functions they are mixed from."""

import math

import numpy as np
import pytest

import windvane as wv

SMALL = {"period": 24.0, "horizon": 60, "grid": 12}


def test_it_is_a_mixture_of_its_first_step_and_of_that_a_quarter_later():
    task = wv.task("seasonal", seed=3, **SMALL)
    first, quarter = task.field(1), task.field(7)
    for t in (1, 4, 13, 20, 25, 60):
        angle = 2.0 * math.pi * (t - 1) / 24.0
        np.testing.assert_allclose(
            task.field(t), math.cos(angle) * first + math.sin(angle) * quarter, atol=1e-9
        )
    np.testing.assert_allclose(task.field(13), -first, atol=1e-9)  # half a period later, upside down
    np.testing.assert_allclose(task.field(25), first, atol=1e-9)


def test_every_step_is_a_sample_of_the_prior_and_two_have_the_correlation_it_says():
    samples = np.array(
        [
            [
                wv.task("seasonal", seed=seed, **{**SMALL, "grid": 3, "lengthscale": 0.05}).field(t)
                for t in (1, 5)
            ]
            for seed in range(400)
        ]
    )
    one, five = samples[:, 0].ravel(), samples[:, 1].ravel()
    assert np.var(one) == pytest.approx(1.0, abs=0.1)  # 3600 values: a standard error of 0.024
    assert np.var(five) == pytest.approx(1.0, abs=0.1)
    assert np.corrcoef(one, five)[0, 1] == pytest.approx(math.cos(2.0 * math.pi * 4 / 24), abs=0.05)


def test_the_rate_forgets_half_in_a_sixth_of_the_period():
    task = wv.task("seasonal", period=60.0, horizon=5)
    assert (1.0 - task.rate) ** (10.0 / 2.0) == pytest.approx(0.5)
    assert math.cos(2.0 * math.pi * 10.0 / 60.0) == pytest.approx(0.5)


def test_the_optimum_is_the_largest_value_there_is():
    task = wv.task("seasonal", seed=2, **SMALL)
    axis = np.linspace(0.0, 1.0, 12)
    for t in (1, 5, 33):
        assert task.optimum(t) == pytest.approx(max(task.value([u, v], t) for u in axis for v in axis))


def test_mistakes():
    with pytest.raises(wv.InvalidArgument, match="period=1"):
        wv.task("seasonal", period=1)
