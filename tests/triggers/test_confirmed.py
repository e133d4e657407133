"""A second look: what it confirms, what it leaves an outlier, and what the trigger within never hears of."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from windvane.data import Prediction
from windvane.triggers import (
    Confirmed,
    EDetector,
    ExactBound,
    Likelihood,
    NoImprovement,
    PosteriorBound,
    alarm,
    replay,
)

MODEL = Prediction(mean=0.0, std=0.3, noise_variance=0.16)  # y ~ N(0, 0.5^2); the bound is above 1.8
WITHIN = [
    PosteriorBound(),
    Likelihood(0.5),
    ExactBound(),
    NoImprovement(2),
    EDetector(),
    EDetector(run_length=50),
]


def word(verdict):
    assert not (verdict.fired and verdict.suspect)
    return "change" if verdict.fired else "suspect" if verdict.suspect else "-"


def words(ys, trigger=None, model=MODEL):
    trigger = trigger or Confirmed(PosteriorBound())
    return " ".join(word(verdict) for verdict in replay(trigger, [(model, y) for y in ys]))


@pytest.mark.parametrize(
    ("ys", "expected"),
    [
        ((0.1, 5.0, 5.1), "- suspect change"),
        ((0.1, -5.0, -9.0), "- suspect change"),
        ((0.1, 5.0, 0.2, -0.1), "- suspect - -"),
        ((5.0, 0.2, 5.0, 0.2, 5.0, 5.0), "suspect - suspect - suspect change"),
        # an outlier on the other side is a suspicion of its own, and a third broken bound settles it
        ((5.0, -5.0, 0.1), "suspect suspect -"),
        ((5.0, -5.0, -5.0), "suspect suspect change"),
        ((5.0, -5.0, 5.0), "suspect suspect change"),
        ((5.0, -5.0, 0.1, 5.0, -5.0, 0.1), "suspect suspect - suspect suspect -"),
        # below the bound, but 2.326 standard deviations of 0.5 on the same side are the tail of 0.01
        ((5.0, 1.17), "suspect change"),
        ((5.0, 1.16), "suspect -"),
        ((5.0, -1.17), "suspect -"),
        ((-5.0, -1.17), "suspect change"),
        ((5.0, -5.0, -1.17), "suspect suspect change"),
        ((1.17, 1.17, 1.17), "- - -"),  # which says nothing about a first look
    ],
)
def test_what_a_second_look_says(ys, expected):
    assert words(ys) == expected


def test_the_second_look_is_judged_by_the_prediction_for_its_own_point():
    elsewhere = Prediction(mean=10.0, std=0.3, noise_variance=0.16)
    unknown = Prediction(mean=0.0, std=10.0, noise_variance=0.16)
    trigger = Confirmed(PosteriorBound())
    for second, y, expected in (
        (elsewhere, 10.1, "-"),
        (elsewhere, 15.0, "change"),
        (elsewhere, 5.0, "suspect"),
        (unknown, 5.0, "-"),
    ):
        assert [word(verdict) for verdict in replay(trigger, [(MODEL, 5.0), (second, y)])] == [
            "suspect",
            expected,
        ]


def test_reasons_and_figures():
    first, second = replay(Confirmed(PosteriorBound()), [(MODEL, -5.0), (MODEL, -1.5)])
    bare = PosteriorBound().test((), MODEL, -5.0, 1)[0]
    assert first == bare._replace(
        fired=False, suspect=True, reason=f"set aside until a second look: {bare.reason}"
    )
    assert second.statistic == 1.5
    assert second.threshold == pytest.approx(0.5 * stats.norm.isf(0.01))
    assert second.reason == (
        "confirmed by a second look: |y - mean| = 1.5 > 1.16 on the same side, "
        "2 steps after the last reset or start"
    )
    _, second = replay(Confirmed(PosteriorBound()), [(MODEL, -5.0), (MODEL, -6.0)])
    bare = PosteriorBound().test((), MODEL, -6.0, 2)[0]
    assert second == bare._replace(reason=f"confirmed by a second look: {bare.reason}")
    _, refuted = replay(Confirmed(PosteriorBound()), [(MODEL, -5.0), (MODEL, 0.5)])
    assert (refuted.fired, refuted.statistic, refuted.reason) == (False, -0.5, "")


@given(
    ys=st.lists(st.sampled_from([-9.0, -1.3, -0.4, 0.0, 0.3, 0.8, 1.4, 9.0]), min_size=1, max_size=25),
    trigger=st.sampled_from(WITHIN),
)
@settings(max_examples=150, deadline=None)
def test_the_trigger_within_never_hears_of_an_outlier(ys, trigger):
    """Its memory is that of the bare trigger, shown what was told to the model and nothing else."""
    confirmed = Confirmed(trigger)
    memory, told, held = confirmed.start(), [], None
    for elapsed, y in enumerate(ys, start=1):
        verdict, memory = confirmed.test(memory, MODEL, y, elapsed)
        if verdict.fired:
            assert held is not None
            break
        if verdict.suspect:
            held = y
        else:
            told.append((y, elapsed))
            held = None
        expected = trigger.start()
        for each, step in told:
            _, expected = trigger.test(expected, MODEL, each, step)
        assert memory[3:] == expected
        assert memory[2] == len(told)
        assert bool(memory[1]) == (held is not None)


@given(
    ys=st.lists(st.sampled_from([-9.0, -1.3, 0.0, 0.8, 1.4, 9.0]), min_size=1, max_size=25),
    trigger=st.sampled_from(WITHIN),
)
@settings(max_examples=100, deadline=None)
def test_the_first_suspicion_is_the_first_alarm_of_the_bare_trigger(ys, trigger):
    stream = [(MODEL, y) for y in ys]
    bare = next((t for t, verdict in enumerate(replay(trigger, stream)) if verdict.fired), None)
    confirmed = replay(Confirmed(trigger), stream)
    first = next((t for t, verdict in enumerate(confirmed) if verdict.suspect), None)
    assert first == bare
    assert not any(verdict.fired for verdict in confirmed[: len(ys) if bare is None else bare + 1])


@pytest.mark.parametrize("trigger", WITHIN, ids=repr)
def test_a_lasting_change_is_confirmed_two_steps_after_the_alarm_at_most(trigger):
    stream = [(MODEL, -8.0 if t % 2 else 8.0) for t in range(9)]  # the sides alternate: the worst case
    bare = [verdict.fired for verdict in replay(trigger, stream)].index(True)
    assert any(verdict.fired for verdict in replay(Confirmed(trigger), stream)[: bare + 3])


@pytest.mark.parametrize("level", [0.01, 0.1])
def test_an_ordinary_second_look_confirms_with_the_stated_probability(level):
    draw, runs = random.Random(5), 20_000
    trigger = Confirmed(PosteriorBound(), level=level)
    verdict, suspecting = trigger.test(trigger.start(), MODEL, 6.0, 20)
    assert verdict.suspect
    looks = [trigger.test(suspecting, MODEL, draw.gauss(0.0, 0.5), 21)[0].fired for _ in range(runs)]
    assert sum(looks) / runs == pytest.approx(level, abs=4 * math.sqrt(level / runs))


@pytest.mark.parametrize(("share", "level"), [(0.02, 0.01), (0.3, 0.05)])
def test_how_many_outliers_are_taken_for_a_change(share, level):
    """An outlier of the same sign next, or an ordinary observation in the tail: p / 2 + (1 - p) level."""
    draw, runs = random.Random(6), 20_000
    trigger = Confirmed(PosteriorBound(), level=level)

    def observe(outlier):
        return draw.gauss(0.0, 0.5) + (draw.choice((-1.0, 1.0)) * draw.uniform(6.0, 12.0) if outlier else 0.0)

    confirmed = 0
    for _ in range(runs):
        verdict, memory = trigger.test(trigger.start(), MODEL, observe(True), 20)
        assert verdict.suspect
        confirmed += trigger.test(memory, MODEL, observe(draw.random() < share), 21)[0].fired
    exact = share / 2 + (1 - share) * level
    assert exact <= share / 2 + level
    assert confirmed / runs == pytest.approx(exact, abs=4 * math.sqrt(exact / runs))


# -- cooldown and samples -----------------------------------------------------------------------------


def test_nothing_is_heeded_during_the_cooldown():
    trigger = Confirmed(PosteriorBound(), cooldown=3)
    verdicts = replay(trigger, [(MODEL, 5.0)] * 5)
    assert [word(verdict) for verdict in verdicts] == ["-", "-", "-", "suspect", "change"]
    assert [verdict.threshold for verdict in verdicts[:3]] == [math.inf] * 3
    assert {verdict.statistic for verdict in verdicts[:3]} == {5.0}


def test_the_trigger_within_watches_during_the_cooldown():
    trigger = Confirmed(NoImprovement(4), cooldown=6)
    failures = [(MODEL, 0.0)] * 9
    assert [verdict.fired for verdict in replay(NoImprovement(4), failures)].index(True) == 4
    assert words([0.0] * 9, trigger) == "- - - - - - suspect change suspect"


def test_samples_are_what_was_watched():
    """Which may begin long after the reset, when the hyperparameters have been learned."""
    for trigger, expected in (
        (Confirmed(PosteriorBound(), min_samples=2), ["-", "-", "suspect", "change"]),
        (Confirmed(PosteriorBound(), cooldown=21), ["-", "-", "suspect", "change"]),
        (Confirmed(PosteriorBound(), cooldown=2), ["suspect", "change", "suspect", "change"]),
    ):
        memory, found = trigger.start(), []
        for elapsed in range(20, 24):
            verdict, memory = trigger.test(memory, MODEL, 9.0, elapsed)
            found.append(word(verdict))
        assert found == expected


def test_outliers_are_no_samples():
    trigger = Confirmed(PosteriorBound(), min_samples=2)
    memory = trigger.start()
    counts = []
    for elapsed, y in enumerate((0.0, 0.1, 5.0, 0.0, 5.0, -5.0, 0.0), start=1):
        _, memory = trigger.test(memory, MODEL, y, elapsed)
        counts.append(memory[2])
    assert counts == [1, 2, 2, 3, 3, 3, 4]


def test_both_at_once():
    trigger = Confirmed(PosteriorBound(), cooldown=2, min_samples=4)
    assert words([5.0] * 6, trigger) == "- - - - suspect change"


def test_the_alarm_is_the_trigger_within():
    assert alarm(Confirmed(Likelihood(0.3), cooldown=9)) == Likelihood(0.3)
    assert alarm(NoImprovement(3)) == NoImprovement(3)
