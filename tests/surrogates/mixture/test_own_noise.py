"""A hypothesis that wants more noise than was fitted under another one is weighed with a noise of its own."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

import windvane as wv
from windvane.data import Dataset
from windvane.kernels import RBF, Markov, Static
from windvane.optimizer import Optimizer
from windvane.surrogates import Hypothesis, Mixture
from windvane.surrogates.mixture import starts
from windvane.surrogates.mixture.outliers import NoiseEstimate

LINE = wv.Box([(0.0, 1.0)])
BOTH = (Hypothesis("static", Static(), 1.0), Hypothesis("fast", Markov(0.3), 1.0))


def loud(n=40, noise=0.6, seed=0):
    """A still function under much noise, measured mostly where it is high."""
    rng = np.random.default_rng(seed)
    X = rng.beta(5.0, 2.0, size=(n, 1))
    y = np.sin(4.0 * X[:, 0]) + noise * rng.normal(size=n)
    steps = np.arange(1, n + 1)
    return Dataset(X, y, steps.astype(float), steps)


def weighed(data, **options):
    """The members after a fresh start with a noise that was fitted to something else."""
    model = Mixture(RBF(0.3), 0.01, hypotheses=BOTH, outliers=0.0, doubt=1.0, **options)
    members = starts.permanent(model, NoiseEstimate.about(0.01, 10.0))
    starts.quieten(model, data, members)
    starts.factor(model, data, members)
    starts.own_noise(model, data, members)
    return model, members


def minus_log_posterior(log_noise, model, member, data):
    """Densely, with the fitted noise as so many observations of its size."""
    s, t = math.exp(log_noise), data.times
    K = model.kernel.matrix(data.X, data.X) * member.temporal.matrix(t, t) + s * np.eye(len(data))
    prior = -model.doubt * (log_noise + model.noise_variance / s)
    return -stats.multivariate_normal.logpdf(data.y, cov=K) - prior


def test_it_is_where_the_posterior_is_largest(monkeypatch):
    monkeypatch.setattr(starts, "NOISE_ROUNDS", 200)
    data = loud()
    model, members = weighed(data, own_noise=1.0000001)
    for member in members:
        found = optimize.minimize_scalar(
            minus_log_posterior, bounds=(-9.0, 0.0), args=(model, member, data), method="bounded"
        )
        # a round may go a little too far, and none goes back
        assert member.noise.value == pytest.approx(math.exp(found.x), rel=0.03)
        assert member.noises == pytest.approx(np.full(len(data), member.noise.value))
        assert member.noise.a == 10.0


def test_a_few_rounds_are_enough():
    data = loud(noise=0.6)
    _, (static, _) = weighed(data, own_noise=1.25)
    assert 0.2 < static.noise.value < 0.6


def test_who_explains_the_data_with_the_noise_that_was_fitted_keeps_it():
    _, members = weighed(loud(noise=0.1), own_noise=1.25)
    assert [member.noise.value for member in members] == pytest.approx([0.01, 0.01])


def test_without_it_all_have_the_same():
    _, members = weighed(loud(), own_noise=0.0)
    assert [member.noise.value for member in members] == pytest.approx([0.01, 0.01])


def test_the_static_hypothesis_is_believed_again():
    data = loud(n=60)
    for own_noise, believed in ((0.0, "fast"), (1.25, "static")):
        model, members = weighed(data, own_noise=own_noise)
        weights = starts.weigh(model, data, members).weights
        assert members[int(np.argmax(weights))].label == believed


def test_there_is_a_most():
    data = loud()
    _, members = weighed(replace(data, y=1000.0 * data.y), own_noise=1.25)
    assert [member.noise.value for member in members] == pytest.approx([0.5, 0.5])


def lost(own_noise, seed):
    """Told nothing, on a still bell under noise of a quarter of its height; the second half."""
    composition = wv.make(LINE, seed=seed).composition
    model = replace(composition.model, own_noise=own_noise)
    opt, rng = Optimizer(LINE, replace(composition, model=model), seed=seed), np.random.default_rng(seed)
    regret = []
    for _ in range(60):
        x = opt.ask()
        value = math.exp(-(((x[0] - 0.3) / 0.2) ** 2))
        opt.tell(x, value + 0.25 * rng.normal())
        regret.append(1.0 - value)
    return np.mean(regret[30:])


def test_told_nothing_much_noise_is_not_taken_for_a_drift():
    seeds = range(5)
    without, own = ([lost(own_noise, seed) for seed in seeds] for own_noise in (0.0, 1.25))
    assert np.mean(own) < 0.7 * np.mean(without)
    assert max(own) < 0.25


@pytest.mark.parametrize("own_noise", [-1.0, math.nan, math.inf, "much"])
def test_a_number(own_noise):
    with pytest.raises(wv.WindvaneError, match=r"Mixture\(own_noise\)"):
        Mixture(RBF(0.3), 0.01, own_noise=own_noise)
