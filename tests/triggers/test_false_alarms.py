"""Monte Carlo: while the model is right, a trigger fires with a probability of at most delta."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy import stats

from windvane.data import Prediction
from windvane.triggers import BoundedNoise, Likelihood, PosteriorBound

STEPS, RUNS = 300, 2000
STD, NOISE_STD = 1.0, 0.05
MODEL = Prediction(0.0, STD, NOISE_STD**2)
PI_T = np.pi**2 * np.arange(1, STEPS + 1) ** 2 / 6


def alarm_rate(trigger, observe):
    """The share of runs with at least one alarm."""
    alarms = 0
    for _ in range(RUNS):
        memory = trigger.start()
        for elapsed in range(1, STEPS + 1):
            verdict, memory = trigger.test(memory, MODEL, observe(), elapsed)
            if verdict.fired:
                alarms += 1
                break
    return alarms / RUNS


def expected_rate(limits):
    """The same for independent standard normal draws against `limits`, without a trigger."""
    return float(1.0 - np.prod(1.0 - 2.0 * stats.norm.sf(limits)))


def test_posterior_bound():
    draw = random.Random(1)
    rate = alarm_rate(PosteriorBound(delta=0.3), lambda: draw.gauss(0.0, math.hypot(STD, NOISE_STD)))
    exact = expected_rate(
        np.sqrt(2 * np.log(2 * PI_T / 0.3)) * (STD + NOISE_STD) / math.hypot(STD, NOISE_STD)
    )
    assert rate <= 0.3
    assert rate == pytest.approx(exact, abs=4 * math.sqrt(exact / RUNS))


def test_likelihood_spends_delta_and_no_more():
    draw = random.Random(2)
    delta = 0.1
    rate = alarm_rate(Likelihood(delta), lambda: draw.gauss(0.0, math.hypot(STD, NOISE_STD)))
    assert 0.5 * delta <= rate <= 1.1 * delta
    exact = float(1.0 - np.prod(1.0 - delta / PI_T))
    assert rate == pytest.approx(exact, abs=4 * math.sqrt(exact / RUNS))


@pytest.mark.parametrize("noise", ["uniform", "worst case"])
def test_bounded_noise(noise):
    draw = random.Random(3)
    bound = 0.5

    def observe():
        value = draw.gauss(0.0, STD)
        return value + (draw.uniform(-bound, bound) if noise == "uniform" else math.copysign(bound, value))

    rate = alarm_rate(BoundedNoise(bound, delta=0.3), observe)
    worst = expected_rate(np.sqrt(2 * np.log(PI_T / 0.3)))
    assert rate <= 0.3
    if noise == "uniform":
        assert 0.0 < rate < worst
    else:
        assert rate == pytest.approx(worst, abs=4 * math.sqrt(worst / RUNS))


@pytest.mark.parametrize("trigger", [PosteriorBound(), Likelihood(), BoundedNoise(0.2)], ids=repr)
def test_a_change_is_seen(trigger):
    draw = random.Random(4)
    assert alarm_rate(trigger, lambda: draw.gauss(8.0 * STD, STD)) == 1.0


def test_likelihood_sees_smaller_changes_than_the_posterior_bound():
    for elapsed in (1, 10, 300):
        bound = PosteriorBound().test((), MODEL, 0.0, elapsed)[0].threshold
        assert Likelihood().test((), MODEL, bound, elapsed)[0].fired
