"""Offset and scale of y beside noise that is known: against the largest likelihood by brute force."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from windvane.accuracy import Accuracies, Accuracy
from windvane.data import Dataset
from windvane.kernels import RBF, Static
from windvane.surrogates import scaling
from windvane.surrogates.scaling import Scaling, generalised

N = 60


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_the_scale_beside_known_noise_is_that_of_the_largest_likelihood(scale, monkeypatch):
    monkeypatch.setattr(scaling, "GUESS", 0.0)
    monkeypatch.setattr(scaling, "ENOUGH", 1e-7)
    monkeypatch.setattr(scaling, "PASSES", 500)
    rng = np.random.default_rng(10300)
    X, noise = rng.uniform(size=(N, 1)), 10.0 ** rng.uniform(-2, 1, size=N)
    unknown, K = np.arange(N) % 3 == 0, RBF(0.2).matrix(X, X)

    def factor(s):
        own = np.where(unknown, 0.05 * s * s, noise)
        return np.linalg.cholesky(s * s * K + np.diag(own))

    y = 2.0 + factor(scale) @ rng.normal(size=N)

    def surprise(log_scale):
        L = factor(math.exp(log_scale))
        z, ones = np.linalg.solve(L, y), np.linalg.solve(L, np.ones(N))
        z -= ones * (ones @ z) / (ones @ ones)
        return 0.5 * z @ z + np.log(np.diag(L)).sum()

    best = math.exp(minimize_scalar(surprise, bounds=(-4, 4), method="bounded", options={"xatol": 1e-9}).x)
    known = Accuracies.of([None if unknown[i] else Accuracy(float(noise[i])) for i in range(N)])
    data = Dataset(X, y, np.arange(1.0, N + 1.0), np.arange(1, N + 1), known)
    assert generalised(data, RBF(0.2), Static(), 0.05).scale == pytest.approx(best, rel=1e-4)


def test_the_plain_scale_leaves_known_noise_out():
    rng = np.random.default_rng(10301)
    noise = np.where(np.arange(4000) % 2, 0.01, 25.0)
    y = 7.0 + 1.5 * rng.normal(size=4000) + np.sqrt(noise) * rng.normal(size=4000)
    found = Scaling.of(y, Accuracies.of([Accuracy(each) for each in noise.tolist()]))
    assert found.scale == pytest.approx(1.5, rel=0.05)
    assert found.offset == pytest.approx(7.0, abs=0.1)
    assert Scaling.of(y).scale > 3.0
