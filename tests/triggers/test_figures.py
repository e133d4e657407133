"""Statistics, thresholds and reasons, against figures worked out by hand."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from windvane.data import Prediction, Verdict
from windvane.triggers import BoundedNoise, Likelihood, Never, Periodic, PosteriorBound
from windvane.triggers.base import exceeds, since

MODEL = Prediction(mean=1.0, std=0.5, noise_variance=0.04)  # sigma_n = 0.2


def verdict(trigger, y, elapsed, prediction=MODEL):
    return trigger.test(trigger.start(), prediction, y, elapsed)[0]


@pytest.mark.parametrize(
    ("elapsed", "sqrt_rho"),
    [
        # 2 ln(2 pi_t / 0.1): pi_1 = 1.644934 -> 2 ln 32.89868 = 6.986866; pi_10 = 164.4934 -> 2 ln 3289.868 = 16.197207
        (1, 2.643268),
        (10, 4.024575),
    ],
)
def test_lemma_3_by_hand(elapsed, sqrt_rho):
    threshold = sqrt_rho * 0.5 + sqrt_rho * 0.2
    quiet = verdict(PosteriorBound(delta=0.1), 1.0 - threshold + 1e-4, elapsed)
    assert quiet.threshold == pytest.approx(threshold, abs=1e-6)
    assert quiet.statistic == pytest.approx(threshold - 1e-4, abs=1e-12)
    assert not quiet.fired
    assert verdict(PosteriorBound(delta=0.1), 1.0 - threshold - 1e-4, elapsed).fired
    assert verdict(PosteriorBound(delta=0.1), 1.0 + threshold + 1e-4, elapsed).fired


def test_equality_does_not_fire():
    trigger = PosteriorBound(noise_cap=0.0)
    certain = Prediction(0.0, 0.0, 0.04)
    assert verdict(trigger, 0.0, 1, certain) == Verdict(False, 0.0, 0.0)
    assert verdict(trigger, 5e-324, 1, certain).fired


def test_the_noise_cap_holds_the_noise_term_only():
    # at t = 10 the noise term is 4.024575 * 0.2 = 0.804915, the posterior's 2.0122875
    assert verdict(PosteriorBound(noise_cap=0.3), 1.0, 10).threshold == pytest.approx(2.3122875, abs=1e-6)
    assert verdict(PosteriorBound(noise_cap=0.9), 1.0, 10).threshold == pytest.approx(2.8172025, abs=1e-6)


def test_bounded_noise_by_hand():
    # 2 ln(pi_1 / 0.1) = 2 ln 16.44934 = 5.600571, root 2.366553; and the noise variance plays no part
    trigger = BoundedNoise(0.3, delta=0.1)
    assert verdict(trigger, 1.0, 1).threshold == pytest.approx(2.366553 * 0.5 + 0.3, abs=1e-6)
    assert verdict(trigger, 1.0, 1, MODEL._replace(noise_variance=9.0)) == verdict(trigger, 1.0, 1)


@pytest.mark.parametrize("elapsed", [1, 7, 1000, 10**9])
def test_likelihood_agrees_with_scipy(elapsed):
    predictive = stats.norm(1.0, math.hypot(0.5, 0.2))
    edge = predictive.isf(0.1 / (math.pi**2 * elapsed**2 / 6) / 2)
    found = verdict(Likelihood(delta=0.1), 2.0, elapsed)
    assert found.statistic == pytest.approx(-predictive.logpdf(2.0), rel=1e-12)
    assert found.threshold == pytest.approx(-predictive.logpdf(edge), rel=1e-9)
    for y in (edge, 2.0 - edge):
        assert verdict(Likelihood(delta=0.1), 1.0 + (y - 1.0) * 1.0001, elapsed).fired
        assert not verdict(Likelihood(delta=0.1), 1.0 + (y - 1.0) * 0.9999, elapsed).fired


def test_likelihood_of_a_certain_prediction():
    certain = Prediction(1.0, 0.0, 0.0)
    assert not verdict(Likelihood(), 1.0, 5, certain).fired
    assert verdict(Likelihood(), 1.0 + 1e-9, 5, certain).fired
    assert verdict(Likelihood(), 1e300, 5, certain).statistic == math.inf


def test_periodic_fires_from_its_period_on():
    verdicts = [verdict(Periodic(3), 0.0, elapsed) for elapsed in (1, 2, 3, 4)]
    assert [each.fired for each in verdicts] == [False, False, True, True]
    assert verdicts[2] == Verdict(
        True, 3.0, 2.0, "period over: 3 steps after the last reset or start, every 3"
    )


def test_never_records_the_deviation():
    assert verdict(Never(), -1.5, 10) == Verdict(False, 2.5, math.inf)


def test_reasons_carry_the_figures():
    assert verdict(PosteriorBound(), 4.0, 12).reason == (
        "bound broken: |y - mean| = 3 > 2.88, 12 steps after the last reset or start"
    )
    assert verdict(BoundedNoise(0.1), -3.0, 1).reason == (
        "bound broken: |y - mean| = 4 > 1.28, 1 step after the last reset or start"
    )
    assert "-ln p(y) = 15.8 > " in verdict(Likelihood(), 4.0, 12).reason
    assert "5.57 standard deviations off, 12 steps" in verdict(Likelihood(), 4.0, 12).reason


@pytest.mark.parametrize(
    ("statistic", "threshold", "text"),
    [
        (1.23456, 1.2, "1.23 > 1.2"),
        (1.23456, 1.23455, "1.23456 > 1.23455"),
        (1.0 + 1e-12, 1.0, "1.000000000001 > 1.0"),
        (math.inf, 3.0, "inf > 3"),
    ],
)
def test_the_two_figures_of_a_reason_are_told_apart(statistic, threshold, text):
    assert exceeds(statistic, threshold) == text


def test_one_step_is_singular():
    assert since(1).startswith("1 step after")
