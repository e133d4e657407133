"""ln EI against quadrature, near and far from the incumbent, and what LogEI asks for."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

import windvane as wv
from windvane.acquisition.log_ei import LogImprovement, incumbent, log_h, log_h_derivatives


def moment(t, power):
    """The integral of v^power exp(-v - v^2 / 2t^2) over v > 0: well scaled for every t."""
    return quad(lambda v: v**power * math.exp(-v - 0.5 * (v / t) ** 2), 0.0, 60.0, epsabs=0.0, epsrel=1e-12)[
        0
    ]


FAR = [1.5, 4.0, 12.0, 39.0, 41.0, 60.0, 1e3, 1e6, 1e9]


@pytest.mark.parametrize("t", FAR)
def test_far_below_the_incumbent(t):
    """E[max(Z - t, 0)] = phi(t) times the integral of u exp(-t u - u^2 / 2), with u = v / t."""
    share, mills = moment(t, 1) / t**2, moment(t, 0) / t
    expected = -0.5 * t * t - 0.5 * math.log(2 * math.pi) + math.log(share)
    value, first, second, density = (float(part[0]) for part in log_h_derivatives(np.array([-t])))
    assert value == pytest.approx(expected, rel=1e-12)
    assert density == pytest.approx(1.0 / share, rel=1e-9)
    assert first == pytest.approx(mills / share, rel=1e-9)
    step = 1e-3 * t
    slopes = [moment(t + s, 0) * (t + s) / moment(t + s, 1) for s in (-step, step)]
    assert second == pytest.approx((slopes[0] - slopes[1]) / (2 * step), rel=1e-5)


@pytest.mark.parametrize("z", [-6.0, -1.001, -0.999, -0.3, 0.0, 0.7, 3.0, 9.0, 40.0])
def test_near_and_above_the_incumbent(z):
    """The definition by quadrature, and the closed form by SciPy's logarithm of Phi."""
    low, high = max(0.0, z - 12.0), max(z, 0.0) + 12.0
    expected = quad(lambda f: f * norm.pdf(f - z), low, high, epsabs=0.0, epsrel=1e-11)[0]
    assert float(log_h(z)) == pytest.approx(math.log(expected), rel=1e-9, abs=1e-9)
    if z < 0.0:
        closed = norm.logpdf(z) + math.log1p(z * math.exp(log_ndtr(z) - norm.logpdf(z)))
        assert float(log_h(z)) == pytest.approx(closed, rel=1e-10)
    _, first, second, density = (float(part) for part in log_h_derivatives(np.asarray(z)))
    h = norm.pdf(z) + z * ndtr(z)
    if z > -5.0:
        assert first == pytest.approx(ndtr(z) / h, rel=1e-9)
        assert density == pytest.approx(norm.pdf(z) / h, rel=1e-9, abs=1e-300)
        assert second == pytest.approx(norm.pdf(z) / h - (ndtr(z) / h) ** 2, rel=1e-7)


def test_no_seam_between_the_formulas():
    for seam in (-1.0, -40.0):
        z = seam + np.array([-1e-9, 1e-9])
        for part in log_h_derivatives(z):
            assert part[0] == pytest.approx(part[1], rel=1e-7)


@pytest.mark.parametrize(("mean", "std"), [(0.3, 0.5), (2.0, 0.1), (-3.0, 0.4), (-80.0, 1.3), (0.0, 20.0)])
def test_partial_derivatives(mean, std):
    utility, (dm, ds) = LogImprovement(1.0), (1e-5 * std, 1e-5 * std)
    found = utility.partials(mean, std)
    assert found.value == pytest.approx(float(utility.value(mean, std)), rel=1e-14)
    up, down = utility.partials(mean + dm, std), utility.partials(mean - dm, std)
    assert found.mean == pytest.approx((up.value - down.value) / (2 * dm), rel=1e-5)
    assert found.second[0] == pytest.approx((up.mean - down.mean) / (2 * dm), rel=1e-5)
    assert found.second[1] == pytest.approx((up.std - down.std) / (2 * dm), rel=1e-5)
    up, down = utility.partials(mean, std + ds), utility.partials(mean, std - ds)
    assert found.std == pytest.approx((up.value - down.value) / (2 * ds), rel=1e-5)
    assert found.second[2] == pytest.approx((up.std - down.std) / (2 * ds), rel=1e-5)
    batch = utility.partials(np.array([mean, mean]), np.array([std, std]))
    for one, many in zip((*found[:3], *found.second), (*batch[:3], *batch.second), strict=True):
        np.testing.assert_allclose(many, one, rtol=1e-12)


def log_ei(mean, variance, best):
    """By the definition, for improvements that are not too small."""
    std = np.sqrt(variance)
    z = (mean - best) / std
    return np.log(std) + norm.logpdf(z) + np.log1p(z * np.exp(log_ndtr(z) - norm.logpdf(z)))


def with_log_ei(name, space, **options):
    opt = wv.make(name, space, **options)
    state = opt.state()
    state["composition"]["acquisition"] = {"type": "LogEI"}
    return wv.restore(state)


@pytest.mark.parametrize(("dim", "name"), [(1, "gp-ucb"), (2, "gp-ucb"), (2, "tv-gp-ucb"), (5, "gp-ucb")])
def test_what_is_asked_maximises_it(dim, name):
    """No random point, and no point of a cloud around the data, has a clearly higher ln EI."""
    short = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        more = {"rate": 0.03} if name == "tv-gp-ucb" else {}
        opt = with_log_ei(
            name, wv.Box([(0, 1)] * dim), kernel=wv.RBF(0.3), noise_variance=0.01, seed=seed, **more
        )
        for _ in range(12 + 2 * seed):
            x = opt.ask() if rng.random() < 0.5 else rng.uniform(size=dim)
            opt.tell(x, float(np.cos(5.0 * x).sum()) + 0.1 * float(rng.normal()))
        best = float(opt.predict(opt.data.X)[0].max())
        near = np.clip(np.repeat(opt.data.X, 60, axis=0) + 0.1 * rng.normal(size=(60 * opt.size, dim)), 0, 1)
        pool = np.concatenate((rng.uniform(size=(4000, dim)), near, opt.ask()[None]))
        mean, std = opt.predict(pool)
        values = log_ei(mean, std**2, best)
        short.append(float(np.nanmax(values[:-1]) - values[-1]))
    assert np.mean(np.array(short) > 0.01) <= 0.13, short


def test_the_incumbent_is_the_highest_mean_and_not_the_highest_value():
    """One value that is high by noise alone, among many at the same place that are not."""
    box = wv.Box([(0, 1)])
    opt = with_log_ei("gp-ucb", box, kernel=wv.RBF(0.2), noise_variance=1.0, seed=0)
    for y in (0.0, 0.1, -0.1, 6.0, 0.0, 0.1, -0.1, 0.0):
        opt.tell([0.5], y)
    posterior = opt._surrogate.posterior(opt.time)
    value = incumbent(posterior, wv.Region.all_of(box))
    assert value == pytest.approx(opt.predict([[0.5]])[0][0], abs=1e-12)
    assert value < 1.0


def test_it_is_saved_and_finds_the_summit():
    opt = with_log_ei("gp-ucb", wv.Box([(0, 1), (0, 1)]), kernel=wv.RBF(0.3), noise_variance=1e-4, seed=0)
    for _ in range(25):
        x = opt.ask()
        opt.tell(x, -float(np.sum((x - [0.3, 0.8]) ** 2)))
        assert np.array_equal(wv.restore(json.loads(json.dumps(opt.state()))).ask(), opt.ask())
    np.testing.assert_allclose(opt.best().x, [0.3, 0.8], atol=0.03)
