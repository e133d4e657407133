"""Joint samples of the posterior against direct solves, and how often Thompson sampling asks for a point."""

import json

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as PeerRBF

import windvane as wv
from windvane.spaces.region import Region


def with_thompson(name, space, **options):
    opt = wv.make(name, space, **options)
    state = opt.state()
    state["composition"]["acquisition"] = {"type": "Thompson"}
    return wv.restore(state)


def posterior_of(opt):
    return opt._progress.surrogate.posterior(opt.time)


def test_the_covariance_is_that_of_a_peer():
    rng = np.random.default_rng(0)
    X, y, points = rng.uniform(size=(12, 2)), rng.normal(size=12), rng.uniform(size=(7, 2))
    opt = wv.make("gp-ucb", wv.Box([(0, 1)] * 2), kernel=wv.RBF(0.3), noise_variance=0.1, seed=0)
    for x, value in zip(X, y, strict=True):
        opt.tell(x, float(value))
    peer = GaussianProcessRegressor(PeerRBF(0.3), alpha=0.1, optimizer=None).fit(X, y)
    mean, covariance = peer.predict(points, return_cov=True)
    posterior = posterior_of(opt)
    np.testing.assert_allclose(posterior.mean(points), mean, atol=1e-9)
    np.testing.assert_allclose(posterior.covariance(points), covariance, atol=1e-9)
    np.testing.assert_allclose(posterior.prior(points), 1.0)


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("gp-ucb", {}),
        ("tv-gp-ucb", {"rate": 0.1}),
        ("w-gp-ucb", {"horizon": 50, "variation": 1.0}),
        ("auto", {}),
    ],
)
def test_mean_variance_and_covariance_belong_together(name, more):
    rng = np.random.default_rng(1)
    opt = wv.make(name, wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.05, seed=0, **more)
    for t in range(18):
        opt.tell(rng.uniform(size=1), float(rng.normal()) + (3.0 if t > 12 else 0.0))
    points = rng.uniform(size=(9, 1))
    posterior = posterior_of(opt)
    mean, variance = posterior.at(points)
    covariance = posterior.covariance(points)
    np.testing.assert_allclose(posterior.mean(points), mean, atol=1e-9)
    np.testing.assert_allclose(np.diagonal(covariance), variance, atol=1e-8)
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
    assert np.linalg.eigvalsh(covariance)[0] > -1e-8
    assert (variance <= posterior.prior(points) * 1.5 + 1e-9).all()


@pytest.mark.parametrize("name", ["gp-ucb", "auto"])
def test_samples_have_the_moments_of_the_posterior(name):
    rng = np.random.default_rng(2)
    opt = wv.make(name, wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.05, seed=0)
    for _ in range(10):
        opt.tell(rng.uniform(size=1), float(rng.normal()))
    points = np.linspace(0.0, 1.0, 5)[:, None]
    posterior = posterior_of(opt)
    drawn = np.array([posterior.draw(points, rng) for _ in range(6000)])
    mean, variance = posterior.at(points)
    np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=5.0 * np.sqrt(variance.max() / 6000))
    if name == "gp-ucb":
        expected = posterior.covariance(points)
        np.testing.assert_allclose(np.cov(drawn.T), expected, atol=5.0 * expected.max() * np.sqrt(2.0 / 6000))


def test_arms_are_asked_for_as_often_as_they_are_best():
    """The share of seeds that ask for an arm is the probability that it is the best one."""
    rng = np.random.default_rng(3)
    root = rng.normal(size=(5, 5))
    K = root @ root.T / 5.0
    told, values = [0, 1, 1, 3], [0.5, -0.2, 0.1, 0.4]
    gram = K[np.ix_(told, told)] + 0.1 * np.eye(4)
    cross = K[:, told] @ np.linalg.inv(gram)
    mean, covariance = cross @ values, K - cross @ K[told]
    sampled = rng.multivariate_normal(mean, covariance, size=20_000).argmax(axis=1)
    expected = np.bincount(sampled, minlength=5) / 20_000
    asked = np.zeros(5)
    for seed in range(400):
        opt = with_thompson("gp-ucb", wv.Arms(5), kernel=wv.Empirical(K), noise_variance=0.1, seed=seed)
        for x, y in zip(told, values, strict=True):
            opt.tell(x, y)
        asked[opt.ask()] += 1 / 400
    np.testing.assert_allclose(asked, expected, atol=4.0 * np.sqrt(0.25 / 400))


@pytest.mark.parametrize(
    "space",
    [
        wv.Box([(0, 1), (0, 1)]),
        wv.Box([(0, 1)] * 6),
        wv.Arms(9000),
        wv.Space(a=wv.Real(0, 1), k=wv.Integer(1, 10**6), m=wv.Choice(["x", "y"])),
    ],
)
def test_asking_twice_gives_the_same_point_and_another_step_another(space):
    opt = with_thompson("gp-ucb", space, noise_variance=0.01, seed=5)
    asked = []
    for _ in range(6):
        x = opt.ask()
        assert np.array_equal(space.encode(opt.ask()), space.encode(x))
        assert np.array_equal(
            space.encode(wv.restore(json.loads(json.dumps(opt.state()))).ask()), space.encode(x)
        )
        asked.append(space.encode(x))
        opt.tell(x, float(np.sin(asked[-1]).sum()))
    assert len(np.unique(np.array(asked), axis=0)) > 3


def test_it_finds_the_summit():
    opt = with_thompson("gp-ucb", wv.Box([(0, 1), (0, 1)]), kernel=wv.RBF(0.3), noise_variance=1e-3, seed=0)
    for _ in range(40):
        x = opt.ask()
        opt.tell(x, 1.0 - 3.0 * float(np.sum((x - [0.3, 0.8]) ** 2)))
    np.testing.assert_allclose(opt.best().x, [0.3, 0.8], atol=0.06)


def test_where_a_condition_looks_broken_at_a_second_look_a_point_that_fulfilled_it_is_drawn():
    """The number of a point among many is an approximation: by a hair it may be another one."""
    box = wv.Box([(0, 1)] * 3)
    opt = wv.make(box, seed=0)
    for number in range(6):
        opt.tell([0.1 * number] * 3, float(number))
    tried = np.full((2, 3), 0.5), np.zeros(2)
    region = Region.all_of(box).where(lambda points: np.ones(len(points)), 0.5, tried=tried)
    found = wv.Thompson().propose(posterior_of(opt), region, None, lambda: np.random.default_rng(0))
    assert found.point.tolist() == [0.5] * 3
