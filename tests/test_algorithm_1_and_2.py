"""The optimiser against a literal, slow transcription of Algorithms 1 and 2, event for event.

Streams of points and values, with jumps of the objective, are told without asking; the transcription
solves a dense system for every prediction and knows nothing of the library.
"""

import math

import numpy as np
import pytest

import windvane as wv

LOWER, UPPER = np.array([-2.0, 10.0, 0.0]), np.array([3.0, 30.0, 0.5])
LENGTHSCALE, SIGMA2, DELTA = 0.3, 0.02, 0.1


def posterior(data, x):
    """mu and sigma at x given a list of (x, y), by Eq. (2) and (3) with a dense solve."""
    if not data:
        return 0.0, 1.0
    X, y = np.array([point for point, _ in data]), np.array([value for _, value in data])
    K = np.exp(-0.5 * ((X[:, None] - X[None, :]) ** 2).sum(axis=-1) / LENGTHSCALE**2)
    k = np.exp(-0.5 * ((X - x) ** 2).sum(axis=-1) / LENGTHSCALE**2)
    K += SIGMA2 * np.eye(len(X))
    mean, variance = k @ np.linalg.solve(K, y), 1.0 - k @ np.linalg.solve(K, k)
    return float(mean), math.sqrt(max(variance, 0.0))


def event_trigger(data, observation, t_r, delta=DELTA):
    """Eq. (6) with (7) and Lemma 3: gamma_reset, psi, kappa."""
    x, y = observation
    mean, std = posterior(data, x)
    pi_t = math.pi**2 * t_r**2 / 6.0
    rho = 2.0 * math.log(2.0 * pi_t / delta)
    w_bar = math.sqrt(2.0 * SIGMA2 * math.log(2.0 * pi_t / delta))
    psi, kappa = abs(y - mean), math.sqrt(rho) * std + w_bar
    return psi > kappa, psi, kappa


def backtracking(data, delta, dim):
    """Alg. 2; the trigger's clock is the number of the observation among those kept."""
    keep = []
    for i in range(len(data) - 1, -1, -1):
        observation = data[i]
        reset, _, _ = event_trigger(keep, observation, len(keep) + 1, delta)
        if reset or len(keep) >= 2 * dim:
            break
        keep = [*keep, observation]
    return keep[::-1]


def algorithm_1(stream, *, low=1, high=math.inf, forced="last", keep="last", delta=DELTA):
    """Alg. 1, lines 7 to 11, for every observation of the stream.

    `forced="empty"` and `keep="backtracking"` are the two variations that the paper describes in words.
    """
    data, t_r = [], 1
    for x, y in stream:
        gamma_reset, psi, kappa = event_trigger(data, (x, y), t_r, delta)
        reset = (gamma_reset and low <= t_r <= high) or t_r == high
        everything = [*data, (x, y)]
        if reset:
            if gamma_reset and keep == "backtracking":
                data = backtracking(everything, delta, len(x))
            elif gamma_reset or forced == "last":
                data = [(x, y)]
            else:
                data = []
        else:
            data = everything
        yield reset, psi, kappa, t_r, data, gamma_reset
        t_r = 1 if reset else t_r + 1


def periodic(stream, period):
    """R-GP-UCB: every `period` steps the data set is emptied."""
    data, t_r = [], 1
    for x, y in stream:
        reset = t_r == period
        data = [] if reset else [*data, (x, y)]
        yield reset, float(t_r), float(period - 1), t_r, data, True
        t_r = 1 if reset else t_r + 1


def random_stream(seed, dim, steps=110):
    """Unit points, and values of an objective that now and then jumps."""
    rng = np.random.default_rng(seed)
    phase, shift = rng.uniform(0.0, 6.0, size=dim), 0.0
    for _ in range(steps):
        if rng.random() < 0.08:
            phase, shift = rng.uniform(0.0, 6.0, size=dim), 2.0 * float(rng.normal())
        x = rng.uniform(size=dim)
        yield x, float(np.cos(3.0 * x + phase).sum() + shift + math.sqrt(SIGMA2) * rng.normal())


def compare(opt, expected, stream, dim):
    """Tell the stream and hold every event against the transcription; returns what happened."""
    seen = {"triggered": 0, "forced": 0, "ignored": 0, "kept": set()}
    width = UPPER[:dim] - LOWER[:dim]
    for (x, y), (reset, psi, kappa, t_r, data, fired) in zip(stream, expected, strict=True):
        told = LOWER[:dim] + x * width
        event = opt.tell(told, y)
        assert event.reset == reset
        assert event.elapsed == t_r
        assert event.statistic == pytest.approx(psi, abs=1e-8)
        assert event.threshold == pytest.approx(kappa, abs=1e-8)
        assert event.size == opt.size == len(data)
        assert event.kept == (len(data) if reset else 0)
        assert bool(event.reason) == reset
        np.testing.assert_allclose(
            opt.data.X, np.array([point for point, _ in data]).reshape(-1, dim), atol=1e-12
        )
        assert opt.data.y.tolist() == [value for _, value in data]
        assert (np.diff(opt.data.steps) > 0).all()
        if reset:
            seen["triggered" if fired else "forced"] += 1
            seen["kept"].add(event.kept)
            assert event.reason.startswith("forced") == (not fired)
        seen["ignored"] += fired and not reset
    return seen


def made(name, dim, **options):
    box = wv.Box(np.stack((LOWER[:dim], UPPER[:dim]), axis=1))
    return wv.make(name, box, kernel=wv.RBF(LENGTHSCALE), noise_variance=SIGMA2, seed=0, **options)


@pytest.mark.parametrize("delta", [0.1, 0.5])
@pytest.mark.parametrize(("seed", "dim"), [(0, 2), (1, 2), (2, 1), (3, 3)])
def test_algorithm_1(seed, dim, delta):
    stream = list(random_stream(seed, dim))
    seen = compare(made("et-gp-ucb", dim, delta=delta), algorithm_1(stream, delta=delta), stream, dim)
    assert seen["triggered"] >= 2
    assert seen["kept"] == {1}


@pytest.mark.parametrize("forced", ["empty", "last"])
@pytest.mark.parametrize("window", [(1, 12), (6, 14), (9, 9), (20, None)])
def test_algorithm_1_with_a_reset_window(window, forced):
    stream = list(random_stream(4, 2, steps=200))
    low, high = window
    expected = algorithm_1(stream, low=low, high=math.inf if high is None else high, forced=forced)
    seen = compare(made("et-gp-ucb", 2, reset_window=window, forced=forced), expected, stream, 2)
    if high is not None:
        assert seen["forced"] >= 2
        assert (0 in seen["kept"]) == (forced == "empty")
    if low > 1:
        assert seen["ignored"] >= 1
    assert seen["triggered"] >= 1


def test_a_forced_reset_empties_unless_told_otherwise():
    stream = list(random_stream(5, 2, steps=60))
    expected = algorithm_1(stream, low=2, high=8, forced="empty")
    assert compare(made("et-gp-ucb", 2, reset_window=(2, 8)), expected, stream, 2)["forced"] >= 2


@pytest.mark.parametrize(("seed", "dim"), [(6, 2), (7, 2), (8, 1), (9, 3)])
def test_algorithm_2(seed, dim):
    stream = list(random_stream(seed, dim, steps=160))
    expected = algorithm_1(stream, keep="backtracking", delta=0.3)
    seen = compare(made("et-gp-ucb-backtracking", dim, delta=0.3), expected, stream, dim)
    assert seen["triggered"] >= 2
    assert len(seen["kept"]) >= 2  # not always the cap, not always one point
    assert max(seen["kept"]) <= 2 * dim


@pytest.mark.parametrize("forced", ["empty", "last"])
def test_algorithm_2_with_a_reset_window(forced):
    stream = list(random_stream(10, 2, steps=160))
    expected = algorithm_1(stream, low=3, high=15, forced=forced, keep="backtracking")
    opt = made("et-gp-ucb-backtracking", 2, reset_window=(3, 15), forced=forced)
    seen = compare(opt, expected, stream, 2)
    assert seen["forced"] >= 1
    assert seen["triggered"] >= 1


@pytest.mark.parametrize("period", [1, 7, 29])
def test_r_gp_ucb(period):
    stream = list(random_stream(11, 2, steps=100))
    seen = compare(made("r-gp-ucb", 2, period=period), periodic(stream, period), stream, 2)
    assert seen["triggered"] == 100 // period
    assert seen["kept"] == {0}
