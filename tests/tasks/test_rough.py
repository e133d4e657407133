"""Rough samples: their covariance against the kernel, jumps and drift against the chain."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import Rough
from windvane.tasks.markov import chain


def test_the_covariance_is_the_kernel_s():
    """4000 independent fields on a grid of 6 x 6; an estimated covariance has an error of about 0.016 (1 s.d.)."""
    task = Rough(grid=6, lengthscale=0.3, seed=1)
    fields = task._fields(4000).reshape(4000, 36)
    axis = np.linspace(0.0, 1.0, 6)
    places = np.array([[u, v] for u in axis for v in axis])
    np.testing.assert_allclose(fields.T @ fields / 4000, task.kernel.matrix(places, places), atol=0.09)
    np.testing.assert_allclose(np.mean(fields, axis=0), 0.0, atol=0.07)
    pairs = fields[:-1:2].ravel() @ fields[1::2].ravel() / fields[1::2].size
    assert abs(pairs) < 0.02  # two fields come from one transform, and are independent


def test_the_torus_is_wide_enough():
    """The covariance that is drawn from, read off the amplitudes, against the kernel: 100 points a side."""
    task = Rough()
    n = 100 + math.ceil(7.0 * 0.15 * 99)
    n += n % 2
    lag = np.minimum(np.arange(n), n - np.arange(n)) / 99.0
    grid = np.stack(np.meshgrid(lag, lag, indexing="ij"), axis=-1).reshape(-1, 2)
    spectrum = np.fft.fft2(task.kernel.matrix(np.zeros((1, 2)), grid).reshape(n, n)).real
    drawn = np.fft.ifft2(np.maximum(spectrum, 0.0)).real[:100, :100]
    exact = task.kernel.matrix(np.zeros((1, 2)), grid).reshape(n, n)[:100, :100]
    np.testing.assert_allclose(drawn, exact, atol=1e-3)


def test_still_jumping_and_drifting():
    still = Rough(grid=12, horizon=30, seed=4)
    assert still.steps == ()
    assert all((still.field(t) == still.field(1)).all() for t in (2, 17, 30))

    jumping = Rough(grid=12, horizon=30, count=2, seed=4)
    first, second = jumping.steps
    fields = jumping._fields(3)
    for t in range(1, 31):
        np.testing.assert_array_equal(jumping.field(t), fields[(t >= first) + (t >= second)])
    np.testing.assert_array_equal(still.field(1), jumping.field(1))

    both = Rough(grid=12, horizon=30, count=1, rate=0.1, seed=4)
    rates = np.full(30, 0.1)
    rates[both.steps[0] - 1] = 1.0
    path = chain(both._fields(30), rates)
    for t in (1, 9, both.steps[0], 30):
        np.testing.assert_allclose(both.field(t), path[t - 1])


def test_values_are_linear_between_the_points_of_the_grid():
    task = Rough(grid=12, horizon=3, seed=2)
    field = task.field(2)
    assert task.value([3 / 11, 7 / 11], 2) == pytest.approx(field[3, 7])
    middle = field[3:5, 7:9].mean()
    assert task.value([3.5 / 11, 7.5 / 11], 2) == pytest.approx(middle)
    assert (task.optimum(2), task.rate) == (field.max(), 0.0)


def test_jumps_come_at_random():
    assert len({wv.task("rough", count=2, seed=seed).steps for seed in range(20)}) > 15
