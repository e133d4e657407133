"""Streams that never end: memory and state stay bounded, whatever is told."""

import json
import tracemalloc

import numpy as np
import pytest

import windvane as wv
from windvane.surrogates import gp_surrogate


@pytest.mark.parametrize(
    ("name", "options"), [("tv-gp-ucb", {"rate": 0.01}), ("et-gp-ucb", {}), ("gp-ucb", {})]
)
def test_memory_and_state_are_flat(name, options, monkeypatch):
    monkeypatch.setattr(gp_surrogate, "REFRESH", 100)
    rng = np.random.default_rng(0)
    opt = wv.make(
        name, wv.Box([(0, 1)] * 2), kernel=wv.RBF(0.2), noise_variance=0.02, max_points=40, seed=0, **options
    )
    held, written = [], []
    tracemalloc.start()
    for t in range(1, 1501):
        x = rng.uniform(size=2)
        opt.tell(x, float(np.sin(6 * x[0] + t / 200)))
        assert opt.size <= 40
        if t % 100 == 0:
            written.append(len(json.dumps(opt.state())))
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(held[5:]) < 1.2 * max(held[:5])
    assert max(written[5:]) < 1.2 * max(written[:5])


def test_thousands_of_appends_and_drops_stay_exact():
    """After 3,000 tells at a budget of 50 the posterior is still that of a direct solve."""
    rng = np.random.default_rng(1)
    opt = wv.make(
        "tv-gp-ucb",
        wv.Box([(0, 1)] * 2),
        rate=0.02,
        kernel=wv.RBF(0.2),
        noise_variance=0.02,
        max_points=50,
        seed=0,
    )
    for t in range(3000):
        x = rng.uniform(size=2)
        opt.tell(x, float(np.sin(6 * x[0] + t / 500) + 0.1 * rng.normal()))
    data, points = opt.data, rng.uniform(size=(20, 2))
    k_time = 0.98 ** (np.abs(data.times[:, None] - data.times) / 2)
    K = wv.RBF(0.2).matrix(data.X, data.X) * k_time + 0.02 * np.eye(50)
    k = wv.RBF(0.2).matrix(points, data.X) * 0.98 ** ((3001 - data.times) / 2)
    mean, std = opt.predict(points)
    np.testing.assert_allclose(mean, k @ np.linalg.solve(K, data.y), atol=1e-8)
    np.testing.assert_allclose(std**2, 1 - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T)), atol=1e-8)


def test_a_factor_that_has_drifted_is_made_anew():
    rng = np.random.default_rng(2)
    opt = wv.make("gp-ucb", wv.Box([(0, 1)] * 2), kernel=wv.RBF(0.2), noise_variance=0.02, seed=0)
    for _ in range(40):
        opt.tell(rng.uniform(size=2), float(rng.normal()))
    opt._progress.surrogate._gp._solution.factor.W[7:] *= (
        1.0 + 1e-5
    )  # an error that no drop or append would make
    points = rng.uniform(size=(5, 2))
    for _ in range(2 * gp_surrogate.CHECK * 40):
        opt.tell(rng.uniform(size=2), float(rng.normal()))
        if not opt._progress.surrogate._journal:
            break
    else:
        pytest.fail("the drift was never noticed")
    data = opt.data
    K = wv.RBF(0.2).matrix(data.X, data.X) + 0.02 * np.eye(len(data))
    exact = wv.RBF(0.2).matrix(points, data.X) @ np.linalg.solve(K, data.y)
    np.testing.assert_allclose(opt.predict(points)[0], exact, atol=1e-8)
