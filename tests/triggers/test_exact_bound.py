"""ExactBound: false alarms with probability delta, by closed form, on normals and on real runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import windvane as wv
from windvane.data import Prediction
from windvane.triggers import ExactBound, Likelihood, PosteriorBound, replay

STANDARD = Prediction(0.0, 0.0, 1.0)  # so that y is e_t itself
DELTAS = [0.05, 0.1, 0.2]
SURE = (
    1e-4  # a correct trigger fails one of these tests with so small a probability, were its seed drawn anew
)


def thresholds(trigger, steps):
    return np.array([trigger.test((), STANDARD, 0.0, t)[0].threshold for t in range(1, steps + 1)])


def spent(steps):
    """The sum of 1 / pi_t for t = 1 .. steps, from the trigamma function."""
    return 1.0 - float(special.polygamma(1, steps + 1)) * 6.0 / math.pi**2


def interval(runs, probability):
    """Where a binomial count lies, but for SURE."""
    return stats.binom.interval(1.0 - SURE, runs, probability)


@pytest.mark.parametrize("delta", [0.001, *DELTAS, 0.9])
@pytest.mark.parametrize("steps", [1, 10, 60, 3000])
def test_no_alarm_has_the_stated_probability(delta, steps):
    silent = np.prod(1.0 - 2.0 * stats.norm.sf(thresholds(ExactBound(delta), steps)))
    assert silent == pytest.approx((1.0 - delta) ** spent(steps), rel=1e-10)


def test_all_of_delta_is_spent_in_the_end():
    assert 1.0 - 0.9 ** spent(10**9) == pytest.approx(0.1, abs=1e-9)


def test_likelihood_spends_a_little_less():
    limits = [
        math.sqrt(2.0 * (found.threshold - 0.5 * math.log(2.0 * math.pi)))
        for found in (Likelihood(0.1).test((), STANDARD, 0.0, t)[0] for t in range(1, 3001))
    ]
    likelihood = 1.0 - np.prod(1.0 - 2.0 * stats.norm.sf(limits))
    assert likelihood == pytest.approx(0.0970, abs=2e-4)  # the figure in the docstring
    assert np.all(thresholds(ExactBound(0.1), 3000) < limits)


@pytest.mark.parametrize("delta", DELTAS)
def test_false_alarms_on_normals(delta):
    runs, steps = 20_000, 60
    draws = np.abs(np.random.default_rng(1).standard_normal((runs, steps)))
    alarms = int((draws > thresholds(ExactBound(delta), steps)).any(axis=1).sum())
    low, high = interval(runs, delta)  # `delta` itself: what 60 steps leave unspent is 1% of it
    assert low <= alarms <= high


def test_figures_in_the_docstring():
    assert round(spent(10), 2) == 0.94
    assert round(spent(60), 2) == 0.99


STEPS, ARMS = 25, 25
_grid = np.linspace(0.0, 1.0, ARMS)
KERNEL = np.exp(-0.5 * ((_grid[:, None] - _grid) / 0.2) ** 2)


def static_run(seed, trigger):
    """The events of ET-GP-UCB until its first reset, on an objective drawn from its own prior."""
    rng = np.random.default_rng(seed)
    objective = rng.multivariate_normal(np.zeros(ARMS), KERNEL, method="eigh")
    opt = wv.make(
        "et-gp-ucb",
        wv.Arms(ARMS),
        kernel=wv.Empirical(KERNEL),
        noise_variance=0.02,
        trigger=trigger,
        seed=seed,
    )
    events = []
    for noise in rng.normal(0.0, math.sqrt(0.02), STEPS):
        x = opt.ask()
        events.append(opt.tell(x, objective[x] + noise))
        if events[-1].reset:
            break
    return events


def test_false_alarms_of_real_runs():
    runs, delta = 100, 0.2
    resets = sum(static_run(seed, ExactBound(delta))[-1].reset for seed in range(runs))
    low, high = interval(runs, 1.0 - (1.0 - delta) ** spent(STEPS))
    assert low <= resets <= high


def test_residuals_of_real_runs_are_independent_standard_normals():
    rows = [static_run(seed, wv.Never()) for seed in range(1000, 1060)]
    e = np.array([[(v.y - v.mean) / math.hypot(v.std, math.sqrt(0.02)) for v in events] for events in rows])
    assert stats.kstest(e.ravel(), "norm").pvalue > SURE
    neighbours = stats.pearsonr(e[:, :-1].ravel(), e[:, 1:].ravel())
    assert neighbours.pvalue > SURE
    assert stats.pearsonr(np.abs(e[:, :-1]).ravel(), np.abs(e[:, 1:]).ravel()).pvalue > SURE


@given(
    std=st.floats(0.0, 1e3),
    noise_variance=st.floats(0.0, 1e3),
    delta=st.floats(1e-6, 0.999),
    elapsed=st.integers(1, 10**9),
)
def test_never_later_than_lemma_3(std, noise_variance, delta, elapsed):
    prediction = Prediction(0.0, std, noise_variance)
    exact, lemma = (
        trigger.test((), prediction, 0.0, elapsed)[0].threshold
        for trigger in (ExactBound(delta), PosteriorBound(delta))
    )
    assert exact <= lemma


@pytest.mark.parametrize("elapsed", [1, 7, 1000, 10**9])
def test_the_threshold_agrees_with_scipy(elapsed):
    level = -special.expm1(special.log1p(-0.1) / (math.pi**2 * elapsed**2 / 6))
    edge = stats.norm.isf(level / 2, scale=math.hypot(0.5, 0.2))
    model = Prediction(1.0, 0.5, 0.04)
    verdicts = [ExactBound(0.1).test((), model, 1.0 + side * edge, elapsed)[0] for side in (0.9999, -1.0001)]
    assert [verdict.fired for verdict in verdicts] == [False, True]
    assert verdicts[0].threshold == pytest.approx(edge, rel=1e-9)


def test_a_certain_prediction():
    certain = Prediction(1.0, 0.0, 0.0)
    quiet, loud = replay(ExactBound(), [(certain, 1.0), (certain, 1.0 + 1e-9)])
    assert not quiet.fired
    assert loud.fired
    assert "inf standard deviations off" in loud.reason
