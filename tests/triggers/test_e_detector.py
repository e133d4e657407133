"""EDetector: the sum over change points by brute force, its promises by quadrature and simulation."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from windvane.data import Prediction
from windvane.triggers import EDetector, ExactBound, PosteriorBound, replay

STANDARD = Prediction(0.0, 0.0, 1.0)  # so that y is e_t itself
BOTH = [EDetector(delta=0.1), EDetector(run_length=500)]
SURE = (
    1e-4  # a correct trigger fails one of these tests with so small a probability, were its seed drawn anew
)


def stream(values):
    return [(STANDARD, float(value)) for value in values]


def memory_after(trigger, values):
    memory = trigger.start()
    for elapsed, (model, y) in enumerate(stream(values), start=1):
        _, memory = trigger.test(memory, model, y, elapsed)
    return memory


def first_alarm(trigger, draw, steps):
    """The step of the first alarm, or one past the last step."""
    memory = trigger.start()
    for elapsed in range(1, steps + 1):
        verdict, memory = trigger.test(memory, STANDARD, draw(), elapsed)
        if verdict.fired:
            return elapsed
    return steps + 1


def laws(trigger):
    wider = [stats.norm(0.0, c) for c in trigger.spreads]
    return wider + [stats.norm(sign * m, 1.0) for m in trigger.shifts for sign in (1, -1)]


def by_brute_force(trigger, values):
    """e-value, and the mean age of a change by alternative: all change points and laws, one by one."""
    values, n = np.asarray(values), len(values)
    steps = np.arange(1, n + 1)
    weights = np.ones(n) if trigger.delta is None else 1 / np.sqrt(steps) - 1 / np.sqrt(steps + 1)
    rest = 0.0 if trigger.delta is None else 1.0 - weights.sum()
    total, ages = rest, []
    for law in laws(trigger):
        gain = law.logpdf(values) - stats.norm.logpdf(values)
        ratios = weights * np.exp(np.cumsum(gain[::-1])[::-1])  # from each step on
        total += ratios.sum() / len(laws(trigger))
        ages.append((ratios * (n - steps + 1)).sum() / ratios.sum())
    return total, ages


@pytest.mark.parametrize("trigger", [*BOTH, EDetector(0.3, spreads=(), shifts=(0.7,))], ids=repr)
def test_the_recursion_is_the_sum_over_all_change_points(trigger):
    values = np.random.default_rng(0).normal(0.3, 1.4, 40)
    verdicts = replay(trigger, stream(values))
    for n in (1, 2, 17, 40):
        e_value, ages = by_brute_force(trigger, values[:n])
        assert math.exp(verdicts[n - 1].statistic) == pytest.approx(e_value, rel=1e-9)
        memory = memory_after(trigger, values[:n])
        assert memory[len(memory) // 2 :] == pytest.approx(ages, rel=1e-9)


@pytest.mark.parametrize("trigger", BOTH, ids=repr)
@pytest.mark.parametrize("past", [[], [0.3], [2.0, -1.0, 0.5], [1.5, 1.2, 1.7, 0.9, 1.1]], ids=len)
def test_it_is_a_martingale(trigger, past):
    """The next e-value is the present one on average; with a run length it grows by 1 a step."""
    memory, elapsed = memory_after(trigger, past), len(past) + 1
    present = (
        math.exp(replay(trigger, stream(past))[-1].statistic) if past else float(trigger.delta is not None)
    )

    def following(e):
        return stats.norm.pdf(e) * math.exp(trigger.test(memory, STANDARD, e, elapsed)[0].statistic)

    mean, _ = integrate.quad(following, -25.0, 25.0, points=[-5.0, 0.0, 5.0], limit=200)
    assert mean == pytest.approx(present + (trigger.delta is None), rel=1e-6)


def test_thresholds():
    assert replay(EDetector(delta=0.05), stream([0.0]))[0].threshold == pytest.approx(math.log(20.0))
    assert replay(EDetector(run_length=1000), stream([0.0]))[0].threshold == pytest.approx(math.log(1000.0))
    assert EDetector() == EDetector(delta=0.1)


@pytest.mark.parametrize("delta", [0.1, 0.5])
def test_false_alarms_within_delta(delta):
    draw, runs = random.Random(1), 250
    alarms = sum(first_alarm(EDetector(delta), lambda: draw.gauss(0.0, 1.0), 80) <= 80 for _ in range(runs))
    assert 0 < alarms <= stats.binom.ppf(1.0 - SURE, runs, delta)


def test_mean_run_length():
    draw, runs, promised = random.Random(2), 250, 40
    trigger = EDetector(run_length=promised)
    lengths = np.array([first_alarm(trigger, lambda: draw.gauss(0.0, 1.0), 2000) for _ in range(runs)])
    assert lengths.max() < 2000  # none was cut short
    error = lengths.std() / math.sqrt(runs)
    assert promised < lengths.mean() - 2 * error
    assert lengths.mean() < 5 * promised  # and the promise is not idle
    for steps in (5, 20):
        assert (lengths <= steps).sum() <= stats.binom.ppf(1.0 - SURE, runs, steps / promised)


@pytest.mark.parametrize("law", [(0.9, 1.0), (-0.9, 1.0), (0.0, 1.5)], ids=["higher", "lower", "wider"])
def test_small_changes_are_seen_that_single_steps_do_not_show(law):
    draw, steps, runs = random.Random(3), 60, 60
    found = {}
    for trigger in (EDetector(0.1), ExactBound(0.1), PosteriorBound(0.1)):
        seen = [first_alarm(trigger, lambda: draw.gauss(*law), steps) <= steps for _ in range(runs)]
        found[type(trigger).__name__] = sum(seen)
    assert found["EDetector"] > 0.9 * runs
    best_of_single_steps = max(found["ExactBound"], found["PosteriorBound"])
    assert (
        stats.fisher_exact(
            [
                [found["EDetector"], runs - found["EDetector"]],
                [best_of_single_steps, runs - best_of_single_steps],
            ],
            alternative="greater",
        ).pvalue
        < 1e-3
    )


def test_only_a_run_length_keeps_its_ears_after_a_long_quiet_time():
    shifted = [1.5] * 12
    delays = {}
    for trigger in (EDetector(delta=0.1), EDetector(run_length=1000)):
        for quiet in (10, 1_000_000):
            memory = memory_after(trigger, [0.4, -0.4] * 50)
            fired = []
            for elapsed, y in enumerate(shifted, start=quiet):
                verdict, memory = trigger.test(memory, STANDARD, y, elapsed)
                fired.append(verdict.fired)
            delays[trigger.delta, quiet] = fired.index(True) if any(fired) else math.inf
    assert delays[None, 10] == delays[None, 1_000_000] < math.inf
    assert delays[0.1, 10] < delays[0.1, 1_000_000]


@given(
    trigger=st.sampled_from([*BOTH, EDetector(spreads=(1000.0,), shifts=(1000.0,))]),
    steps=st.lists(
        st.tuples(
            st.floats(-1e12, 1e12),
            st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 1e12]),
            st.sampled_from([0.0, 1e-300, 0.02, 1e12]),
            st.integers(1, 10**12),
        ),
        min_size=1,
        max_size=30,
    ),
)
def test_everything_stays_finite(trigger, steps):
    memory = trigger.start()
    for y, std, noise_variance, elapsed in steps:
        verdict, memory = trigger.test(memory, Prediction(0.0, std, noise_variance), y, elapsed)
        assert math.isfinite(verdict.statistic)
        assert all(math.isfinite(entry) for entry in memory)
        assert tuple(json.loads(json.dumps(memory))) == memory
        assert verdict.fired == (verdict.statistic > verdict.threshold) == bool(verdict.reason)


def test_huge_residuals_fire_at_once_and_forever():
    verdicts = replay(EDetector(), stream([0.1, 30.0, -30.0] + [1e300] * 100))
    assert [verdict.fired for verdict in verdicts] == [False] + [True] * 102
    assert verdicts[1].statistic == pytest.approx(
        math.log(by_brute_force(EDetector(), [0.1, 30.0])[0]), rel=1e-12
    )


def test_a_certain_prediction():
    certain = Prediction(1.0, 0.0, 0.0)
    assert [verdict.fired for verdict in replay(EDetector(), [(certain, 1.0), (certain, 1.0 + 1e-9)])] == [
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            [0.0] * 10 + [1.5] * 8,
            "observations 1.5 standard deviations better than predicted over about the last 8 steps",
        ),
        (
            [0.0] * 10 + [-1.5] * 8,
            "observations 1.5 standard deviations worse than predicted over about the last 8 steps",
        ),
        ([0.3, -0.3] * 10 + [3.3, -3.1] * 3, "a spread 3 times the expected one over about the last 7 steps"),
        ([9.0], "a spread 3 times the expected one at this step, 1 step after"),
        ([0.0] * 10 + [9.0], "a spread 3 times the expected one over about the last 2 steps, 11 steps after"),
    ],
)
def test_the_reason_says_what_changed_and_since_when(values, words):
    last = replay(EDetector(), stream(values))[-1]
    assert words in last.reason
    assert last.reason.startswith("evidence of change: ln e-value = ")


def test_sequences_become_tuples_of_floats():
    trigger = EDetector(spreads=[2], shifts=np.array([1, 2]))
    assert trigger == EDetector(spreads=(2.0,), shifts=(1.0, 2.0))
    assert hash(trigger) == hash(EDetector(spreads=(2.0,), shifts=(1.0, 2.0)))
    assert all(type(value) is float for value in (*trigger.spreads, *trigger.shifts))
