"""Exchangeable arms: the covariance of a part in common plus parts of their own, and how it is learned."""

import json

import numpy as np
import pytest

import windvane as wv
from windvane.kernels import Empirical, Exchangeable, Markov, TimeMatern52
from windvane.retention.base import Belief
from windvane.retention.wasserstein import future_overlap
from windvane.surrogates import Noise
from windvane.surrogates.fit import Search, map_estimate

ARMS = np.arange(5.0)[:, None]


def test_it_is_the_covariance_of_a_part_in_common_and_parts_of_their_own():
    """Monte Carlo: arm i is c + o_i with variances r v and (1 - r) v."""
    kernel, rng = Exchangeable(5, 0.7, 2.0), np.random.default_rng(0)
    common, own = rng.normal(size=(200_000, 1)), rng.normal(size=(200_000, 5))
    drawn = np.sqrt(0.7 * 2.0) * common + np.sqrt(0.3 * 2.0) * own
    np.testing.assert_allclose(kernel.matrix(ARMS, ARMS), np.cov(drawn, rowvar=False), atol=0.03)
    np.testing.assert_array_equal(kernel.diagonal(ARMS), 2.0)
    assert kernel.signal == 2.0
    assert (3.0 * kernel).variance == 6.0


@pytest.mark.parametrize("kernel", [Exchangeable(5), Exchangeable(5, 0.99, 3.0), Exchangeable(5, 0.01, 0.2)])
def test_derivatives_in_the_hyperparameters(kernel):
    X = np.array([[0.0], [3.0], [3.0], [1.0]])
    exact = kernel.theta_gradient(X)
    for p in range(2):
        shift = np.eye(2)[p] * 1e-6
        up, down = kernel.with_theta(kernel.theta + shift), kernel.with_theta(kernel.theta - shift)
        np.testing.assert_allclose(exact[p], (up.matrix(X, X) - down.matrix(X, X)) / 2e-6, atol=1e-8)
    again = kernel.with_theta(kernel.theta)
    np.testing.assert_allclose([again.correlation, again.variance], [kernel.correlation, kernel.variance])
    assert kernel.theta_names == ("odds", "variance")


@pytest.mark.parametrize("correlation", [0.2, 0.5, 0.95])
def test_the_correlation_is_recovered_from_simulated_arms(correlation):
    """20 arms that drift, each in turn, fifteen times: ln(odds) is found, on average over five."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, times = np.tile(np.arange(20.0), 15)[:, None], np.arange(1.0, 301.0)
        kernel, temporal = Exchangeable(20, correlation), Markov(0.05)
        K = kernel.matrix(X, X) * temporal.matrix(times, times) + 0.01 * np.eye(300)
        y = np.linalg.cholesky(K) @ rng.normal(size=300)
        search = Search(learn=("odds", "noise"), odds_prior=None)
        estimate = map_estimate(Exchangeable(20), temporal, Noise(0.02), (X, y, times), search)
        found.append(np.log(estimate.kernel.odds))
    assert np.mean(found) == pytest.approx(np.log(correlation / (1.0 - correlation)), abs=0.7)


def test_relevance_to_the_future_is_that_of_the_matrix():
    X = np.array([[0.0], [3.0], [3.0], [1.0]])
    data = wv.Dataset(X, np.zeros(4), np.arange(1.0, 5.0), np.arange(1, 5))
    kernel = Exchangeable(5, 0.3, 2.0)
    dense = Empirical(kernel.matrix(ARMS, ARMS))
    one, two = (future_overlap(data, Belief(k, TimeMatern52(6.0), 0.2), 4.0) for k in (kernel, dense))
    np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0,), "arms"),
        ((2.5,), "arms"),
        ((3, 0.0), "correlation"),
        ((3, 1.0), "correlation"),
        ((3, 0.5, 0.0), "variance"),
    ],
)
def test_bad_input(arguments, name):
    with pytest.raises(wv.WindvaneError, match=rf"Exchangeable\({name}\)"):
        Exchangeable(*arguments)


def test_it_is_for_that_many_arms_and_for_arms_only():
    with pytest.raises(wv.InvalidArgument, match="Exchangeable is of 4 arms, the space has 5"):
        wv.make("gp-ucb", wv.Arms(5), kernel=Exchangeable(4))
    with pytest.raises(wv.InvalidArgument, match="Exchangeable compares arms"):
        wv.make("gp-ucb", wv.Box([(0, 1)]), kernel=Exchangeable(4))
    with pytest.raises(wv.InvalidType, match="Exchangeable compares arms"):
        Exchangeable(4).jet(ARMS, ARMS)
    assert wv.make("gp-ucb", wv.Arms(4), kernel=Exchangeable(4) + Empirical(np.eye(4))).ask() in range(4)


@pytest.mark.parametrize("name", [name for name in wv.algorithms() if name != "random"])
def test_every_algorithm_learns_it_of_arms_told_nothing(name):
    needed = {"r-gp-ucb": {"rate": 0.03}, "tv-gp-ucb": {"rate": 0.03}, "always-n-low": {"period": 20}}
    options = needed.get(name, {})
    for missing in ({}, {"period": 20}, {"window": 20}, {"forgetting": 0.95}, {"rate": 0.03}):
        try:
            opt = wv.make(name, wv.Arms(6), seed=0, **options, **missing)
            break
        except wv.WindvaneError:
            continue
    assert opt.composition.model.kernel == Exchangeable(6)
    rng = np.random.default_rng(1)
    for t in range(24):
        arm = opt.ask()
        opt.tell(arm, 5.0 + arm + np.sin(t / 10.0) + 0.1 * rng.normal())
    twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    assert twin.ask() == opt.ask()
    assert json.dumps(twin.state()) == json.dumps(opt.state())


def test_told_the_noise_the_variance_is_learned():
    opt = wv.make("gp-ucb", wv.Arms(6), noise_variance=4.0)
    assert opt.composition.learning.search.learn == ("odds", "variance")


def test_a_level_in_common_carries_over_to_arms_not_looked_at():
    """All arms rise together, one of them is looked at: the others are expected to have risen as well."""
    opt = wv.make("tv-gp-ucb", wv.Arms(4), rate=0.05, seed=0)
    for t in range(60):
        arm = t % 4 if t < 40 else 0
        opt.tell(arm, 3.0 * np.sin(t / 12.0) + arm)
    mean, _ = opt.predict([0, 1, 2, 3])
    np.testing.assert_allclose(mean - 3.0 * np.sin(60 / 12.0), np.arange(4.0), atol=1.0)
