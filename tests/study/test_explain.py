"""Explanations, from records and an optimiser, without a database."""

import json
import math
import re
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.storage import Record, Summary
from windvane.study.explain import RECENT, explain
from windvane.theory.confidence import pi_t

BOX = wv.Box([(0, 1)])
PRIOR = {"kernel": wv.RBF(0.3), "noise_variance": 0.05, "seed": 0}


def told(opt, stream):
    """The journal of a study that was told this."""
    records = []
    for seq, (x, y) in enumerate(stream, start=1):
        event = json.loads(json.dumps(opt.tell(x, y).as_dict(), default=float))
        records.append(
            Record(seq, "told", 1.7e9 + seq, x=event["x"], y=y, step=event["step"], reset=event["reset"],
                   reason=event["reason"], event=event)
        )  # fmt: skip
    return records


def explained(opt, records, pending=0):
    resets = [record for record in records if record.reset]
    summary = Summary(
        id=1, name="pump", algorithm=opt.composition.name, goal=opt.goal, created=0.0, definition={}, head=len(records),
        trials=pending, pending=pending, tells=len(records), resets=len(resets), failed=0, size=opt.size, last_at=None,
        last_reset=resets[-1].step if resets else None,
    )  # fmt: skip
    found = explain(resets[-1:], records[-RECENT:], opt, summary)
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.as_dict()["text"] == str(found)
    return found


def steps(count, jump=None, size=3.0, seed=0):
    """A wave that moves up by `size` at a step, if any."""
    rng = np.random.default_rng(seed)
    for step in range(1, count + 1):
        x = rng.random(1)
        yield x, math.sin(5 * x[0]) + 0.2 * rng.normal() + (size if jump and step >= jump else 0.0)


def test_nothing_told():
    opt = wv.make("et-gp-ucb", BOX, **PRIOR)
    found = explained(opt, [], pending=2)
    assert (found.reset, found.belief, found.coverage) == (None, None, None)
    assert "Nothing has been told yet" in str(found)
    assert "2 trials outstanding" in str(found)


def test_one_observation_has_no_oldest_and_weights_have_two_digits():
    opt = wv.make(BOX, seed=0)
    said = str(explained(opt, told(opt, steps(1))))
    assert "One observation is in use, from step 1." in said
    assert "the oldest" not in said
    assert re.search(r"static: 0\.\d\d;", said)


def test_no_reset():
    opt = wv.make("et-gp-ucb", BOX, **PRIOR)
    records = told(opt, steps(30))
    found = explained(opt, records)
    assert found.reset is None
    assert "There has been no reset" in str(found)
    ratios = [r.event["statistic"] / r.event["threshold"] for r in records]
    assert found.nearest == max(ratios) < 1.0
    assert f"{100 * max(ratios):.0f} % of its threshold" in str(found)
    assert found.data.size == 30
    assert (found.data.oldest_step, found.data.oldest_age, found.data.span) == (1, 29, 29.0)


def test_an_alarm_is_explained_by_its_own_figures():
    opt = wv.make("et-gp-ucb", BOX, delta=0.07, **PRIOR)
    records = told(opt, steps(40, jump=30))
    found = explained(opt, records)
    reset, event = found.reset, next(r.event for r in reversed(records) if r.reset)
    spread = math.sqrt(event["std"] ** 2 + event["noise_variance"])
    assert reset.kind == "alarm"
    assert (reset.step, reset.steps_ago) == (event["step"], 40 - event["step"])
    assert reset.sigmas == pytest.approx((event["y"] - event["mean"]) / spread)
    assert reset.p_value == pytest.approx(2.0 * stats.norm.sf(abs(reset.sigmas)))
    assert reset.false_alarm.delta == 0.07
    assert not reset.false_alarm.exact
    assert reset.false_alarm.at_step == pytest.approx(2.0 * stats.norm.sf(event["threshold"] / spread))
    assert reset.false_alarm.at_step < 0.07 / pi_t(event["elapsed"])  # the slack of Lemma 3
    text = str(found)
    for words in (
        event["reason"],
        "standard deviations above",
        "Lemma 3",
        "at most 0.07",
        "not the probability",
    ):
        assert words in text


def test_each_trigger_promises_what_it_keeps():
    for trigger, delta, exact, at_step, words in (
        (wv.ExactBound(0.1), 0.1, True, lambda t: 1 - 0.9 ** (1 / pi_t(t)), "is 0.1, exactly"),
        (wv.Likelihood(0.1), 0.1, False, lambda t: 0.1 / pi_t(t), "at most 0.1"),
        (wv.EDetector(delta=0.1), 0.1, False, None, "Ville"),
        (wv.EDetector(run_length=500), None, False, None, "at least 500 steps on average"),
        (wv.BoundedNoise(0.5, 0.1), 0.1, False, None, "keeps to its bound"),
        (wv.PosteriorBound(0.1, noise_cap=0.3), 0.1, False, "skip", "the lemma no longer holds"),
        (wv.Confirmed(wv.ExactBound(0.1)), 0.1, True, None, "confirmed by a second look"),
        (wv.NoImprovement(3), None, False, None, "promises nothing"),
    ):
        opt = wv.make("et-gp-ucb", BOX, trigger=trigger, **PRIOR)
        found = explained(opt, told(opt, steps(40, jump=30)))
        promised = found.reset.false_alarm
        assert (promised.delta, promised.exact) == (delta, exact), trigger
        assert words in promised.words
        assert promised.words in str(found)
        if at_step is None:
            assert promised.at_step is None
        elif at_step != "skip":
            assert promised.at_step == pytest.approx(at_step(found.reset.elapsed))


def test_the_promise_at_a_step_is_kept():
    """Of predictions that are right, the stated share would have set off the alarm."""
    opt = wv.make("et-gp-ucb", BOX, delta=0.5, **PRIOR)
    reset = explained(opt, told(opt, steps(12, jump=2))).reset
    drawn = reset.expected + reset.spread * np.random.default_rng(0).normal(size=200_000)
    share = np.mean(np.abs(drawn - reset.expected) > reset.threshold)
    assert share == pytest.approx(reset.false_alarm.at_step, rel=0.1)


def test_a_learned_model_is_an_assumption():
    opt = wv.make("et-gp-ucb", BOX, seed=0)
    found = explained(opt, told(opt, steps(60, jump=50, size=6.0)))
    assert found.reset is not None
    assert "learned from the data" in str(found)


def test_forced_and_periodic_resets_are_no_alarms():
    opt = wv.make("et-gp-ucb", BOX, reset_window=(5, 10), **PRIOR)
    found = explained(opt, told(opt, steps(20)))
    assert found.reset.kind == "forced"
    assert found.reset.false_alarm.delta is None
    assert "raised no alarm" in str(found)
    assert "Lemma 3" not in str(found)
    assert "nothing kept" in str(found)
    assert "No observation is in use" in str(found)
    opt = wv.make("r-gp-ucb", BOX, period=8, **PRIOR)
    found = explained(opt, told(opt, steps(20)))
    assert (found.reset.kind, found.reset.step, found.reset.steps_ago) == ("periodic", 16, 4)
    assert "says nothing about a change" in str(found)
    assert found.data.size == 4


def test_auto_gives_its_belief():
    opt = wv.make("auto", BOX, seed=0)
    records = told(opt, steps(80, jump=50, seed=1))
    found = explained(opt, records)
    event = next(r.event for r in reversed(records) if r.reset)
    assert found.reset.kind == "belief"
    assert found.reset.false_alarm.delta is None
    assert found.reset.false_alarm.belief == event["statistic"] > 0.9
    assert f"a weight of {event['statistic']:.3g}" in str(found)
    assert "no delta" in str(found)
    assert found.beliefs == records[-1].event["beliefs"]
    assert math.isclose(sum(found.beliefs.values()), 1.0)


def test_outliers_and_what_is_set_aside():
    opt = wv.make("et-gp-ucb-confirmed", BOX, **PRIOR)
    stream = list(steps(20))
    records = told(opt, [*stream, (np.array([0.5]), 50.0)])
    found = explained(opt, records)
    assert found.set_aside["y"] == 50.0
    assert "is an outlier or a change, as a second look at the same point will tell" in str(found)
    assert "y = 50" in str(found)
    records += told(opt, [(np.array([0.5]), math.sin(2.5))])
    found = explained(opt, records)
    assert found.set_aside is None
    assert [event["outlier"] for event in found.outliers] == [21]
    assert "one was taken for an outlier, the latest at step 21" in str(found)


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_belief_and_its_bound(goal):
    opt = wv.make("gp-ucb", BOX, goal=goal, **PRIOR)
    records = told(opt, steps(40))
    found = explained(opt, records)
    best = opt.best()
    assert found.belief.x == best.x.tolist()
    low, high = stats.norm.interval(0.95, best.mean, best.std)
    assert (found.belief.low, found.belief.high) == pytest.approx((low, high), abs=1e-6)
    # the true probability, from the joint posterior, which a dense solve gives
    pair = np.array([best.x, records[-1].x])
    X, y = opt.data.X, opt.data.y
    K = wv.RBF(0.3).matrix(X, X) + 0.05 * np.eye(len(X))
    k = wv.RBF(0.3).matrix(pair, X)
    mean = k @ np.linalg.solve(K, y)
    covariance = wv.RBF(0.3).matrix(pair, pair) - k @ np.linalg.solve(K, k.T)
    contrast = np.array([1.0, -1.0])
    true = stats.norm.cdf(contrast @ mean / math.sqrt(contrast @ covariance @ contrast))
    assert 0.5 <= found.belief.at_least <= true + 1e-9
    assert "the point told last" in str(found)


def test_arms_have_a_runner_up():
    arms = wv.Arms(4)
    opt = wv.make("gp-ucb", arms, kernel=wv.Empirical(np.eye(4)), noise_variance=0.1, seed=0)
    records = told(
        opt,
        [(arm, value) for arm, value in zip((0, 1, 2, 3, 2, 1), (0.1, 2.0, 1.5, 0.3, 1.6, 2.1), strict=True)],
    )
    found = explained(opt, records)
    assert found.belief.x == 1
    assert found.belief.beats == "the runner-up, arm 2"
    mean, std = opt.predict([1, 2])
    assert found.belief.at_least == pytest.approx(stats.norm.cdf((mean[0] - mean[1]) / std.sum()))


def test_the_best_is_not_compared_with_itself():
    opt = wv.make("gp-ucb", BOX, **PRIOR)
    records = told(opt, steps(10))
    opt.tell(opt.best().x, 3.0)
    event = json.loads(json.dumps(opt.tell(opt.best().x, 3.0).as_dict(), default=float))
    records.append(Record(11, "told", 0.0, x=event["x"], y=3.0, step=12, event=event))
    found = explained(opt, records)
    assert np.allclose(found.belief.x, event["x"]) is (found.belief.beats is None)


def test_coverage_lately_is_that_of_scipy():
    opt = wv.make("gp-ucb", BOX, **PRIOR)
    records = told(opt, steps(80))
    found = explained(opt, records)
    last = [r.event for r in records[-RECENT:]]
    inside = 0
    for event in last:
        low, high = stats.norm.interval(
            0.95, event["mean"], math.sqrt(event["std"] ** 2 + event["noise_variance"])
        )
        inside += low <= event["y"] <= high
    expected = stats.binomtest(inside, RECENT).proportion_ci(0.95, method="wilson")
    assert (found.coverage.inside, found.coverage.total) == (inside, RECENT)
    assert (found.coverage.low, found.coverage.high) == pytest.approx((expected.low, expected.high))
    assert "consistent with what it claims" in str(found)


def test_a_model_that_is_too_sure_is_called_so():
    opt = wv.make("gp-ucb", BOX, kernel=wv.RBF(0.3), noise_variance=1e-4, seed=0)
    found = explained(opt, told(opt, steps(60)))
    assert "too sure of itself" in str(found)
    opt = wv.make("gp-ucb", BOX, kernel=wv.RBF(0.3), noise_variance=9.0, seed=0)
    assert "more cautious than it needs to be" in str(explained(opt, told(opt, steps(90))))
    opt = wv.make("gp-ucb", BOX, **PRIOR)
    assert "Too few observations" in str(explained(opt, told(opt, steps(5))))


def test_auto_leads_with_the_evidence_for_the_change():
    """When, how sure, against what, what moved; the observation at the reset comes after that."""
    opt = wv.make("auto", BOX, seed=0)
    records = told(opt, steps(80, jump=50, seed=1))
    found = explained(opt, records)
    line = str(found).splitlines()[1]
    assert line.startswith(f"A sudden change at step {found.reset.change['step']}")
    for earlier, later in pairwise(
        (
            "is believed with probability",
            "for the next best explanation",
            "measured before",
            "the last reset was at step",
            "The observation that settled it: expected",
            "no delta",
        )
    ):
        assert line.index(earlier) < line.index(later)
    assert "not inferred" not in line


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (lambda step: 0.5 * step, "time {:g} (step {})"),
        (lambda step: 1_772_366_400.0 + 600.0 * step, "UTC (step {1})"),
    ],
)
def test_times_are_those_of_the_caller(time, expected):
    opt = wv.make("auto", BOX, seed=0)
    records = []
    for number, (x, y) in enumerate(steps(80, jump=50, seed=1), start=1):
        event = json.loads(json.dumps(opt.tell(x, y, time=time(number)).as_dict()))
        records.append(Record(number, "told", 0.0, x=event["x"], y=y, step=number, event=event,
                              reset=event["reset"], reason=event["reason"]))  # fmt: skip
    found = explained(opt, records)
    change = found.reset.change
    assert change["time"] == time(change["step"])
    for step in (change["step"], found.reset.step, found.data.oldest_step):
        assert expected.format(time(step), step) in str(found)
    assert found.data.oldest_time == pytest.approx(time(found.data.oldest_step))
    if "UTC" in expected:
        start = datetime.fromtimestamp(time(change["step"]), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        assert str(found).splitlines()[1].startswith(f"A sudden change at {start}")
        assert "e+09" not in str(found)


@pytest.mark.parametrize(
    ("time", "since", "length"),
    [
        (lambda step: 1_772_366_400.0 + 600.0 * step, "2026-03-01 16:50:00 UTC (step 29)", " 10 min "),
        (lambda step: 0.5 * step, "time 14.5 (step 29)", " 0.5 units of time "),
        (lambda step: None, "step 29", ""),
    ],
    ids=["dates", "numbers", "steps"],
)
def test_hypotheses_are_told_by_the_clock_of_the_caller(time, since, length):
    """Their names count in steps, and stay what they are in figures."""
    drifting = wv.Hypothesis("drifts 1 % per step", wv.Markov(0.01), weight=1.0)
    known = {"kernel": wv.RBF(0.3), "noise_variance": 0.01, "hazard": 0.001}
    opt = wv.make(BOX, seed=0, hypotheses=[drifting], **known)
    records = []
    for number, (x, y) in enumerate(steps(30, jump=29, seed=1), start=1):
        event = json.loads(json.dumps(opt.tell(x, y, time=time(number)).as_dict()))
        records.append(Record(number, "told", 0.0, x=event["x"], y=y, step=number, event=event))
    found = explained(opt, records)
    assert "level moved at step 29" in found.beliefs
    assert f"level moved at {since}: 0." in str(found)
    assert ("A step in these names is" in str(found)) == bool(length)
    assert length in str(found)
    json.dumps(found.as_dict(), allow_nan=False)
