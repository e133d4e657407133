"""Hyperparameters: gradients, optima against scikit-learn, priors against SciPy, schedules of learning."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import optimize, stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sk

import windvane as wv
from windvane.accuracy import Accuracies, Accuracy
from windvane.errors import InvalidArgument, InvalidType, NumericalFailure
from windvane.kernels import RBF, Markov, Matern32, Matern52, Static, Wiener
from windvane.surrogates import Model, Noise, evidence, gp_surrogate
from windvane.surrogates.evidence import Evidence
from windvane.surrogates.fit import MOST, Search, _Objective, log_prior, map_estimate, representative

ALL = ("lengthscale", "noise", "variance", "rate")
FLAT = {"lengthscale_prior": None, "noise_prior": None, "variance_prior": None, "rate_prior": None}


def sample(kernel, temporal, noise, n, dim, seed, ordered=False):
    """n observations of a sample of the model."""
    rng = np.random.default_rng(seed)
    X, times = rng.uniform(size=(n, dim)), np.arange(1.0, n + 1.0)
    if ordered:
        X = np.sort(X, axis=0)
    K = kernel.matrix(X, X) * temporal.matrix(times, times) + noise * np.eye(n)
    return X, np.linalg.cholesky(K) @ rng.normal(size=n), times


# -- the objective ----------------------------------------------------------------------------------


@pytest.mark.parametrize("priors", ["none", "default", "gamma"])
@pytest.mark.parametrize(
    ("kernel", "temporal", "noise", "kinds"),
    [
        (RBF(0.3, 1.5), Static(), Noise(0.05), 3),
        (RBF([0.3, 0.5], 1.5), Static(), Noise(0.05), 4),
        (Matern32([0.3, 0.5], 1.5), Markov(0.1), Noise(0.05), 5),
        (Matern52(0.4, 0.7), Wiener(0.2), Noise(0.1), 4),
        (RBF(0.3), Markov(0.1), Noise(0.05, forgetting=0.95), 4),
        (RBF([0.3, 0.5], 1.5), Markov(0.1), Noise(0.05), 5),
        (RBF([0.3, 0.5], 1.5), Static(0.5) + Markov(0.1), Noise(0.05), 5),
        (RBF(0.3) + Matern52([0.2, 0.6], 0.5), Markov(0.05), Noise(0.05), 7),
        (RBF([0.3, 0.9], 1.5) * Matern32(0.7), Static(0.5) + Markov(0.3), Noise(0.05), 7),
    ],
)
def test_the_gradient_of_the_objective(kernel, temporal, noise, kinds, priors):
    chosen = {
        "none": FLAT,
        "default": {"rate_prior": wv.LogNormal(0.05, 1.0)},
        "gamma": {f"{kind}_prior": wv.Gamma(3.0, 10.0 / 3.0) for kind in ALL},
    }[priors]
    data = sample(RBF(0.3), Markov(0.1), 0.05, 25, 2, seed=1)
    objective = _Objective(kernel, temporal, noise, Search(learn=ALL, **chosen), data)
    theta = objective.full[objective.moving] + np.random.default_rng(2).uniform(
        -0.2, 0.2, len(objective.moving)
    )
    assert len(theta) == kinds
    gradient = objective.at(theta).slope().gradient
    for i in range(len(theta)):
        shift = 1e-5 * np.eye(len(theta))[i]
        numeric = (objective.at(theta + shift).value - objective.at(theta - shift).value) / 2e-5
        assert gradient[i] == pytest.approx(numeric, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("kernel", [RBF, Matern32])
@pytest.mark.parametrize("temporal", [Static(), Markov(0.1)])
@pytest.mark.parametrize("largest", [evidence.LARGEST, 0])
def test_lengthscales_that_are_one(kernel, temporal, largest, monkeypatch):
    """The evidence is that of the kernel with equal ones, and so is its gradient."""
    monkeypatch.setattr(evidence, "LARGEST", largest)
    data = sample(RBF(0.3), Markov(0.1), 0.05, 25, 5, seed=1)
    start = kernel([0.3, 0.5, 0.4, 0.6, 0.7], 1.5)
    learn = ("lengthscale", "noise", "variance", "rate")
    search = Search(learn=learn, alike=((1, 3), (2, 4)), choices=(1, 3), choice=(0.05, 4.0))
    objective = _Objective(start, temporal, Noise(0.05), search, data)
    theta = objective.full[objective.moving] + 0.1
    found = objective.parts(theta)[0].lengthscale
    assert found[1] == found[3] == pytest.approx(0.5 * math.exp(0.1))
    assert found[2] == found[4] == pytest.approx(0.4 * math.exp(0.1))
    place = objective.at(theta)
    single = Evidence(start, temporal, data, set())
    prior = log_prior(objective.parts(theta)[0], objective.parts(theta)[2], search)
    if isinstance(temporal, Static):
        assert place.value == pytest.approx(single.at(*objective.parts(theta)) - prior)
    gradient = place.slope().gradient
    for i in range(len(theta)):
        shift = 1e-5 * np.eye(len(theta))[i]
        numeric = (objective.at(theta + shift).value - objective.at(theta - shift).value) / 2e-5
        assert gradient[i] == pytest.approx(numeric, rel=1e-5, abs=1e-5)


def test_groups_of_lengthscales_are_checked():
    for bad, error in ((((0, 1), (1, 2)), InvalidArgument), ((0, 1), InvalidType), ("ab", InvalidType)):
        with pytest.raises(error, match=r"learning\(alike\)"):
            Search(alike=bad)
    one = _Objective(
        RBF(0.3),
        Static(),
        Noise(0.05),
        Search(alike=((0, 1),)),
        sample(RBF(0.3), Static(), 0.05, 9, 2, seed=1),
    )
    assert len(one.moving) == 2  # a kernel with one lengthscale for all coordinates has no groups


def test_the_options_of_many_have_one_lengthscale():
    """And those of few have one each, as before."""
    few = wv.Space(a=wv.Real(0, 1), mode=wv.Choice(list(range(32))))
    many = wv.Space(a=wv.Real(0, 1), mode=wv.Choice(list(range(20))), kind=wv.Choice(list(range(13))))
    assert wv.make(few).composition.learning.search.alike == ()
    opt = wv.make(many, seed=0)
    assert opt.composition.learning.search.alike == (tuple(range(1, 21)), tuple(range(21, 34)))
    rng = np.random.default_rng(0)
    for unit in many.sample(rng, 24):
        x = many.decode(unit)
        opt.tell(x, x["mode"] % 3 + (x["a"] - 0.5) ** 2 + 0.1 * rng.normal())
    scales = opt._progress.surrogate.model.kernel.lengthscale
    assert scales[0] != 0.3 * math.sqrt(3.0)
    assert len(set(scales[1:21])) == len(set(scales[21:34])) == 1
    assert scales[1] < scales[21]
    twin = wv.restore(json.loads(json.dumps(opt.state())))
    assert twin.ask() == opt.ask()


def test_distances_that_are_too_many_to_keep_are_computed_again(monkeypatch):
    data = sample(RBF(0.3), Markov(0.1), 0.05, 25, 3, seed=1)
    for kernel, temporal in (
        (RBF([0.3, 0.5, 0.4], 1.5), Markov(0.1)),
        (RBF(0.3), Markov(0.1)),
        (Matern52(0.4, 0.7), Wiener(0.2)),
        (Matern32([0.3, 0.5, 0.4]), Static()),
    ):
        found = []
        for largest in (evidence.LARGEST, 0):
            monkeypatch.setattr(evidence, "LARGEST", largest)
            objective = _Objective(kernel, temporal, Noise(0.05), Search(learn=ALL), data)
            place = objective.at(objective.full[objective.moving])
            found.append((place.value, *place.slope().gradient, *place.slope().curvature.ravel()))
        np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


def test_a_rate_of_one_has_a_gradient():
    data = sample(RBF(0.3), Static(), 0.05, 20, 1, seed=2)
    objective = _Objective(RBF(0.3), Markov(1.0), Noise(0.05), Search(learn=("rate",), rate=(0.1, 1.0)), data)
    place = objective.at(np.zeros(1))
    K = np.eye(20) * 1.05
    assert place.value == pytest.approx(-stats.multivariate_normal(np.zeros(20), K).logpdf(data[1]))
    assert np.isfinite(place.slope().gradient).all()


def test_the_average_information_is_its_definition():
    X, y, times = sample(RBF(0.3), Static(), 0.3, 30, 1, seed=8)
    search = Search(learn=("variance", "noise"), **FLAT)
    objective = _Objective(RBF(0.3, 1.0), Static(), Noise(0.3), search, (X, y, times))
    information = objective.at(np.log([1.5, 0.2])).slope().curvature
    K, noise = 1.5 * RBF(0.3).matrix(X, X), 0.2 * np.eye(30)
    alpha = np.linalg.solve(K + noise, y)
    pushed = np.array([K @ alpha, noise @ alpha])
    r = y @ alpha / 30
    exact = 0.5 * pushed @ np.linalg.solve(K + noise, pushed.T) * (r - 1.0) / (r * math.log(r))
    np.testing.assert_allclose(information, exact, rtol=1e-9)


def test_of_mere_noise_one_step_finds_the_size():
    """For K~ = s I, minus the log evidence is y'y / (2 s) + n ln(s) / 2: the minimum is at s = y'y / n."""
    y = np.random.default_rng(0).normal(size=50)
    for factor in (1e-3, 0.1, 20.0):
        search = Search(learn=("noise",), noise=(1e-6, 1e6), **FLAT)
        data = (np.zeros((50, 1)), y, np.arange(50.0))
        guess = float(factor * y @ y / 50)
        objective = _Objective(RBF(0.3, 1e-12), Static(), Noise(guess), search, data)
        theta = np.log([guess])
        gradient, curvature = objective.at(theta).slope()
        assert theta - gradient / curvature[0] == pytest.approx(math.log(y @ y / 50), abs=1e-6)


def test_the_objective_is_minus_the_log_posterior():
    X, y, times = sample(RBF(0.3), Static(), 0.05, 20, 2, seed=3)
    search = Search(learn=("lengthscale", "noise"))
    objective = _Objective(RBF(0.3, 2.0), Static(), Noise(0.05), search, (X, y, times))
    value = objective.at(np.log([0.4, 0.1])).value
    K = RBF(0.4, 2.0).matrix(X, X) + 0.1 * np.eye(20)
    density = stats.multivariate_normal(np.zeros(20), K).logpdf(y)
    density += stats.lognorm(0.7, scale=0.3).logpdf(0.4) + stats.lognorm(1.5, scale=0.01).logpdf(0.1)
    assert value == pytest.approx(-density, abs=1e-8)


# -- the optimum ------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The optimal value found:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(6))
def test_scikit_learn_finds_nothing_better(seed):
    """Flat priors, the same bounds, many restarts there: our log marginal likelihood is not lower."""
    X, y, times = sample(RBF([0.15, 0.6], 1.3), Static(), 0.1, 30, 2, seed)
    found = map_estimate(
        RBF([0.3, 0.3]), Static(), Noise(0.01), (X, y, times), Search(learn=ALL[:3], starts=8, **FLAT)
    )
    bounds = {"length_scale_bounds": (0.05, 2.0)}
    kernel = sk.ConstantKernel(1.0, (0.05, 20.0)) * sk.RBF([0.3, 0.3], **bounds) + sk.WhiteKernel(
        0.01, (1e-4, 0.25)
    )
    oracle = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=12, random_state=0)
    oracle.fit(X, y)
    assert found.log_posterior >= oracle.log_marginal_likelihood_value_ - 1e-4
    theta = [found.kernel.variance, *found.kernel.lengthscale, found.noise.variance]
    assert oracle.log_marginal_likelihood(np.log(theta)) == pytest.approx(found.log_posterior, abs=1e-6)


def log_posterior(theta, kernel, temporal, data, search):
    """From its definition, with SciPy's densities."""
    (X, y, times), d = data, len(kernel.lengthscale)
    scales, noise = np.exp(theta[:d]), math.exp(theta[-1])
    if "rate" in search.learn:
        temporal = Markov(math.exp(theta[d]))
    K = type(kernel)(scales.tolist()).matrix(X, X) * temporal.matrix(times, times) + noise * np.eye(len(y))
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, y)
    density = -0.5 * z @ z - np.log(np.diag(L)).sum() - 0.5 * len(y) * math.log(2.0 * math.pi)
    if search.noise_prior is None:
        return density
    density += stats.lognorm(0.7, scale=0.3).logpdf(scales).sum()
    return density + stats.lognorm(1.5, scale=0.01).logpdf(noise)


BATTERY = {
    "a sample": lambda X, rng: np.sin(7.0 * X[:, 0]) + X.sum(axis=1) ** 2 + 0.1 * rng.normal(size=len(X)),
    "noise": lambda X, rng: rng.normal(size=len(X)),
    "a peak": lambda X, rng: np.exp(-((X - 0.6) ** 2).sum(axis=1) / 0.02) + 0.01 * rng.normal(size=len(X)),
    "a line": lambda X, rng: X[:, 0],
    "equal values": lambda X, rng: np.zeros(len(X)),
}


@pytest.mark.parametrize("name", BATTERY)
@pytest.mark.parametrize(
    ("kernel", "temporal", "learn"),
    [
        (RBF([0.3, 0.3]), Static(), ("lengthscale", "noise")),
        (RBF([0.3]), Markov(0.03), ("lengthscale", "noise")),
        (RBF([0.3, 0.3]), Markov(0.03), ("lengthscale", "rate", "noise")),
        (Matern52([0.3, 0.3, 0.3]), Static(), ("lengthscale", "noise")),
    ],
    ids=["static", "drifting", "rate", "matern"],
)
def test_scipy_finds_nothing_better(kernel, temporal, learn, name):
    """L-BFGS-B on the definition, from several starts: never above ours by more than a thousandth."""
    d = len(kernel.lengthscale)
    box = [Search().lengthscale] * d + [Search().rate] * ("rate" in learn) + [Search().noise]
    bounds = np.log(box)
    for n, seed, priors in ((7, 0, {}), (30, 1, {}), (12, 2, FLAT)):
        search = Search(learn=learn, starts=6, **priors)
        rng = np.random.default_rng(seed)
        X = rng.uniform(size=(n, d))
        X[n // 2 :] = np.clip(0.6 + 0.1 * X[n // 2 :], 0.0, 1.0)  # an optimiser looks near its best point
        data = (X, BATTERY[name](X, rng), np.arange(1.0, n + 1.0))
        found = map_estimate(kernel, temporal, Noise(0.01), data, search, seed)
        theta = [*found.kernel.lengthscale, *([found.temporal.rate] if "rate" in learn else [])]
        theta = np.log([*theta, found.noise.variance])
        ours = log_posterior(theta, kernel, temporal, data, search)
        assert found.log_posterior == pytest.approx(ours, abs=1e-6)
        for start in (
            np.log([0.3] * d + [0.03] * ("rate" in learn) + [0.01]),
            *rng.uniform(*bounds.T, (2, len(box))),
        ):
            best = optimize.minimize(
                lambda u: -log_posterior(u, kernel, temporal, data, search),  # noqa: B023
                np.clip(start, *bounds.T),
                method="L-BFGS-B",
                bounds=bounds,
            )
            assert -best.fun <= found.log_posterior + 1e-3


def test_the_factor_is_that_of_the_estimate():
    X, y, times = sample(RBF(0.3), Markov(0.1), 0.05, 90, 2, seed=7)
    for starts in (1, 4):
        found = map_estimate(RBF([0.3, 0.3]), Markov(0.1), Noise(0.05), (X, y, times), Search(starts=starts))
        K = found.kernel.matrix(X, X) * found.temporal.matrix(times, times)
        K += found.noise.variance * np.eye(90)
        np.testing.assert_allclose(found.W @ K @ found.W.T, np.eye(90), atol=1e-8)


def test_many_data_are_represented_by_few():
    rows = representative(5000)
    assert len(rows) == MOST
    assert (np.diff(rows) > 0).all()
    assert (rows[0], rows[-1], rows[-MOST // 2]) == (0, 4999, 5000 - MOST // 2)
    assert np.diff(rows[: MOST // 2]).max() - np.diff(rows[: MOST // 2]).min() <= 1
    for n in (0, 1, MOST - 1, MOST):
        np.testing.assert_array_equal(representative(n), np.arange(n))
    assert len(np.unique(representative(MOST + 1))) == MOST


def test_a_fit_is_bounded_whatever_the_data(monkeypatch):
    seen = []

    def watched(kernel, temporal, noise, data, search, seed):
        seen.append((len(data[1]), search.starts))
        return map_estimate(kernel, temporal, noise, data, search, seed)

    monkeypatch.setattr(gp_surrogate, "map_estimate", watched)
    X, y, times = sample(RBF(0.3), Static(), 0.05, 400, 1, seed=9)
    data = wv.Dataset(X, y, times, np.arange(1, 401))
    surrogate = Model(RBF(0.3), Noise(0.05)).surrogate(wv.Box([(0, 1)])).restart(data)
    learned = surrogate.learn(Search(starts=3), rescale=False, seed=0)
    more = learned.follow(data + wv.Observation(np.array([0.5]), 0.0, 401.0, 401))
    again = more.learn(Search(starts=3), rescale=False, seed=0)
    assert seen == [(MOST, 3), (MOST, 1)]
    assert 0.2 < again.model.kernel.lengthscale[0] < 0.45
    assert len(again.data) == 401


def test_all_starts_are_tried_once_there_is_a_tenth_more(monkeypatch):
    tried = []

    def watched(kernel, temporal, noise, data, search, seed):
        tried.append(search.starts > 1)
        return map_estimate(kernel, temporal, noise, data, search, seed)

    monkeypatch.setattr(gp_surrogate, "map_estimate", watched)
    opt = wv.make("tv-gp-ucb-mle", wv.Box([(0, 1)]), seed=0)
    rng = np.random.default_rng(0)
    for step in range(60):
        opt.tell(rng.uniform(size=1), math.sin(step))
        if step == 40:
            opt = wv.restore(opt.state())
    steps = 2 + np.flatnonzero(tried)  # there is no fit at the first
    assert len(tried) == 59
    assert steps[:9].tolist() == list(range(2, 11))
    for before, after in itertools.pairwise(steps):
        assert after - before == math.ceil(0.1 * after)


def test_bounds_are_respected():
    rng = np.random.default_rng(0)
    X, times = rng.uniform(size=(25, 2)), np.arange(1.0, 26.0)
    search = Search(
        learn=ALL, lengthscale=(0.2, 0.4), noise=(0.01, 0.02), variance=(0.5, 2.0), rate=(0.05, 0.1), **FLAT
    )
    for y in (np.zeros(25), 100.0 * rng.normal(size=25), X[:, 0], np.ones(25)):
        found = map_estimate(RBF([5.0, 0.001], 1e4), Markov(0.9), Noise(3.0), (X, y, times), search)
        assert all(0.2 * (1 - 1e-12) <= scale <= 0.4 * (1 + 1e-12) for scale in found.kernel.lengthscale)
        assert 0.01 * (1 - 1e-12) <= found.noise.variance <= 0.02 * (1 + 1e-12)
        assert 0.5 * (1 - 1e-12) <= found.kernel.variance <= 2.0 * (1 + 1e-12)
        assert 0.05 * (1 - 1e-12) <= found.temporal.rate <= 0.1 * (1 + 1e-12)


def test_only_what_is_to_be_learned_moves():
    data = sample(RBF(0.3), Static(), 0.05, 25, 2, seed=4)
    found = map_estimate(RBF([0.3, 0.4], 1.7), Markov(0.07), Noise(0.05, 0.9), data, Search(learn=("noise",)))
    assert found.kernel.lengthscale == pytest.approx((0.3, 0.4), rel=1e-12)
    assert found.kernel.variance == pytest.approx(1.7, rel=1e-12)
    assert found.temporal.rate == pytest.approx(0.07, rel=1e-12)
    assert found.noise.forgetting == 0.9
    assert found.noise.variance != 0.05
    nothing = map_estimate(RBF(0.3), Static(), Noise(0.05), data, Search(learn=()))
    assert (nothing.kernel, nothing.noise) == (RBF(0.3), Noise(0.05))


def test_a_refit_stays_where_it_is():
    data = sample(RBF(0.3), Static(), 0.05, 30, 2, seed=5)
    once = map_estimate(RBF(0.3), Static(), Noise(0.01), data, Search(), seed=0)
    again = map_estimate(once.kernel, once.temporal, once.noise, data, Search(), seed=1)
    assert again.log_posterior >= once.log_posterior - 1e-9
    assert again.kernel.lengthscale == pytest.approx(once.kernel.lengthscale, rel=1e-2)


def test_several_starts_find_what_one_misses():
    values = []
    for starts in (1, 8):
        data = sample(RBF(0.08), Static(), 0.02, 12, 1, seed=11)
        search = Search(starts=starts, **FLAT)
        values.append(
            [
                map_estimate(RBF(2.0), Static(), Noise(0.25), data, search, seed=s).log_posterior
                for s in range(4)
            ]
        )
    one, eight = np.array(values)
    assert (eight >= one - 1e-9).all()
    assert eight.std() < 1e-3  # every seed ends at the same optimum


def test_the_rate_of_a_long_stream_is_recovered():
    for rate, seed in ((0.02, 0), (0.05, 1), (0.15, 2)):
        data = sample(RBF(0.3), Markov(rate), 0.02, 300, 1, seed)
        found = map_estimate(RBF(0.3), Markov(0.01), Noise(0.02), data, Search(learn=("rate",), starts=3))
        assert rate / 1.8 < found.temporal.rate < rate * 1.8


def test_a_covariance_that_is_never_positive_definite():
    X = np.full((40, 1), 0.5)
    search = Search(learn=("lengthscale",))
    with pytest.raises(NumericalFailure, match=r"fit: .*noise"):
        map_estimate(RBF(0.3), Static(), Noise(1e-20), (X, np.ones(40), np.arange(40.0)), search)


# -- hold-out data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [RBF, Matern52])
def test_fit_recovers_noise_and_lengthscales_in_odd_units(family):
    box = wv.Box([(-3.0, 5.0), (1000.0, 2000.0)])
    unit, y, _ = sample(family([0.15, 0.5]), Static(), 0.05, 250, 2, seed=6)
    X = np.array([box.decode(u) for u in unit])
    found = wv.fit(box, X, 7000.0 + 300.0 * y, kernel=family([0.3, 0.3]), seed=1)
    assert type(found.kernel) is family
    assert found.noise_variance == pytest.approx(0.05 * 300.0**2, rel=0.3)
    assert found.kernel.lengthscale[0] == pytest.approx(0.15, rel=0.3)
    assert found.kernel.lengthscale[1] == pytest.approx(0.5, rel=0.4)
    assert 0.3 < found.kernel.variance / 300.0**2 < 3.0
    assert found.offset == pytest.approx(7000.0 + 300.0 * y.mean())


def test_fit_hands_its_findings_to_make():
    box = wv.Box([(0.0, 1.0)])
    unit, y, _ = sample(RBF(0.2), Static(), 0.05, 80, 1, seed=7)
    found = wv.fit(box, unit, 50.0 + 10.0 * y)
    opt = wv.make("et-gp-ucb", box, seed=0, **found.options)
    assert opt.composition.learning == wv.Given()
    mean, std = opt.predict([[0.5]])
    assert mean[0] == pytest.approx(found.offset)
    assert std[0] == pytest.approx(math.sqrt(found.kernel.variance))
    down = wv.make("et-gp-ucb", box, seed=0, goal="minimize", **found.options)
    assert down.predict([[0.5]])[0][0] == pytest.approx(found.offset)


def test_fit_takes_a_subset_of_many_rows():
    box = wv.Box([(0.0, 1.0)])
    unit, y, _ = sample(RBF(0.2), Static(), 0.05, 200, 1, seed=8)
    one, same, other = (wv.fit(box, unit, y, max_points=40, seed=seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    assert one.noise_variance == pytest.approx(0.05, rel=0.8)


def test_fit_of_a_mixed_space_and_of_constant_values():
    space = wv.Space(gain=wv.Real(0, 1), mode=wv.Choice(["a", "b"]))
    points = [{"gain": i / 20, "mode": "ab"[i % 2]} for i in range(20)]
    found = wv.fit(space, points, [math.sin(6 * p["gain"]) + (p["mode"] == "a") for p in points])
    assert len(found.kernel.lengthscale) == space.dim
    constant = wv.fit(wv.Box([(0, 1)]), np.linspace(0, 1, 9)[:, None], np.full(9, 4.0))
    assert constant.offset == 4.0
    assert math.isfinite(constant.noise_variance)


# -- priors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e-3, 0.05, 0.7, 3.0, 40.0])
@pytest.mark.parametrize(
    ("prior", "oracle"),
    [
        (wv.Gamma(15, 10 / 3), stats.gamma(15, scale=0.3)),
        (wv.Gamma(0.5, 2.0), stats.gamma(0.5, scale=0.5)),
        (wv.LogNormal(0.3, 0.7), stats.lognorm(0.7, scale=0.3)),
        (wv.LogNormal(5.0, 2.0), stats.lognorm(2.0, scale=5.0)),
    ],
)
def test_priors(prior, oracle, value):
    density, slope = prior.log_density(value)
    assert density == pytest.approx(oracle.logpdf(value), rel=1e-9, abs=1e-9)
    h = 1e-6 * value
    numeric = (prior.log_density(value + h)[0] - prior.log_density(value - h)[0]) / (2 * h)
    assert slope == pytest.approx(numeric, rel=1e-5, abs=1e-6 / value)


# -- when -------------------------------------------------------------------------------------------


def test_given_never_learns():
    assert not any(wv.Given().due(t, t, t, 2) for t in range(50))
    assert all(wv.Given().monitors(t, 2) for t in range(1, 50))


@pytest.mark.parametrize(("steps", "dim", "last"), [(None, 2, 4), (None, 5, 10), (7, 2, 7), (1, 3, 1)])
def test_learn_then_monitor(steps, dim, last):
    policy = wv.LearnThenMonitor(steps)
    assert [t for t in range(1, 20) if policy.due(t, t, 0, dim)] == list(range(2, last + 1))
    assert [t for t in range(1, 20) if not policy.monitors(t, dim)] == list(range(1, last + 1))
    assert policy.due(0, 2, 0, dim)  # a reset that kept two points
    assert not policy.due(1, 1, 0, dim)


@pytest.mark.parametrize(("growth", "fits"), [(1.0, list(range(2, 41))), (1.5, [2, 4, 8, 16, 32])])
def test_learn_online(growth, fits):
    policy, age, found = wv.LearnOnline(growth), 0, []
    for n in range(1, 41):
        age += 1
        assert policy.monitors(n, 2)
        if policy.due(n, n, age, 2):
            found.append(n)
            age = 0
    assert found == fits


def test_learn_online_goes_on_when_the_data_in_use_do_not_grow():
    policy, age, fits = wv.LearnOnline(1.1), 0, 0
    for _ in range(200):
        age += 1
        if policy.due(50, 50, age, 2):
            fits, age = fits + 1, 0
    assert fits == 40


# -- under a hypothesis about time --------------------------------------------------------------------


def test_where_f_drifts_the_noise_has_a_prior_of_its_own():
    prior = wv.LogNormal(0.02, 1.0)
    search = Search(drifting_noise_prior=prior)
    for still in (Static(), Static(0.5) * Static(2.0), Static(0.5) + Static(0.2)):
        assert search.under(still) is search
    for moves in (Markov(0.03), wv.TimeMatern32(30.0), Static(0.5) + Static(0.5) * Markov(0.2)):
        assert search.under(moves).noise_prior == prior
        assert Search().under(moves).noise_prior == Search().noise_prior


def test_with_a_weak_prior_a_rough_drift_takes_the_noise():
    """What the prior is for: smooth drift and a noise of 0.02, fitted under a rough drift with each of the two."""
    X, y, times = sample(RBF(0.3), wv.TimeMatern32(30.0), 0.02, 120, 2, seed=3)
    search = Search(drifting_noise_prior=wv.LogNormal(0.02, 1.0))
    rough = Markov(0.1)
    weak, strong = (
        map_estimate(RBF([0.3, 0.3]), rough, Noise(0.01), (X, y, times), each).noise.variance
        for each in (search, search.under(rough))
    )
    assert weak < 0.001
    assert strong > 0.003


# -- repeats, and noise that is known ----------------------------------------------------------------


def visits(seed=10020, n=12):
    """Repeats at n points, as means and one by one; some with noise that is known."""
    rng = np.random.default_rng(seed)
    X, times, counts = rng.uniform(size=(n, 2)), np.arange(1.0, n + 1.0), rng.integers(1, 5, size=n)
    values = [np.sin(5.0 * X[i].sum()) + 0.2 * rng.normal(size=counts[i]) for i in range(n)]
    known = [0.3 if i % 4 == 0 else None for i in range(n)]
    rows = []
    for each, variance in zip(values, known, strict=True):
        mean, accuracy = Accuracy.of_repeats(each.tolist())
        rows.append((mean, accuracy if variance is None else Accuracy(variance / len(each))))
    means = (X, np.array([mean for mean, _ in rows]), times, Accuracies.of([row for _, row in rows]))
    index = np.repeat(np.arange(n), counts)
    single = [None if known[i] is None else Accuracy(known[i]) for i in index]
    apart = (X[index], np.concatenate(values), times[index], Accuracies.of(single))
    return means, apart


@pytest.mark.parametrize("temporal", [Static(), Markov(0.1)])
def test_repeats_have_the_evidence_of_as_many_observations_at_one_point_and_moment(temporal):
    """But for those of which the noise is known: what they scatter does not depend on anything learned."""
    means, apart = visits()
    entry = len(RBF([0.3, 0.4], 1.7).theta) + len(temporal.theta)
    differences, slopes = [], []
    for variance in (0.01, 0.05, 0.3):
        values = []
        for data in (means, apart):
            evidence = Evidence(RBF([0.3, 0.4], 1.7), temporal, data, {0, 1, entry})
            values.append(evidence.at(RBF([0.3, 0.4], 1.7), temporal, Noise(variance)))
            slopes.append(evidence.slopes()[0])
        differences.append(values[0] - values[1])
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(slopes[::2], slopes[1::2], rtol=0, atol=1e-8)


def test_the_slope_in_the_noise_is_that_of_a_difference():
    means, _ = visits(10021)
    for forgetting in (1.0, 0.9):
        evidence = Evidence(RBF([0.3, 0.4]), Static(), means, {0, 3 + len(Static().theta)})
        h = 1e-5
        values = [
            evidence.at(RBF([0.3, 0.4]), Static(), Noise(0.05 * math.exp(step), forgetting))
            for step in (-h, h, 0.0)
        ]
        assert evidence.slopes()[0][-1] == pytest.approx((values[1] - values[0]) / (2.0 * h), rel=1e-6)


def test_from_repeats_at_one_point_the_noise_is_found_in_one_step():
    """The mean of all is at f; what is left is noise, of which the maximum is known."""
    values = (0.3 * np.random.default_rng(10022).normal(size=50)).tolist()
    mean, accuracy = Accuracy.of_repeats(values)
    data = (np.zeros((1, 1)), np.array([mean]), np.ones(1), Accuracies.of([accuracy]))
    search = Search(learn=("noise",), noise_prior=None, starts=1)
    found = map_estimate(RBF(0.3), Static(), Noise(0.01), data, search).noise.variance
    assert found == pytest.approx(np.var(values, ddof=1), rel=0.02)
