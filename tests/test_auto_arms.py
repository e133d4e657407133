"""`auto` on arms: what one of them does alone is not expected of the others (docs/decisions/0030)."""

import json

import numpy as np
import pytest

import windvane as wv
from windvane.acquisition import StagedBeta


def wandering(hypotheses=None):
    """One of six arms goes up and down, nobody looks at the others meanwhile."""
    rng = np.random.default_rng(0)
    kernel = wv.Empirical(np.eye(6))
    opt = wv.make(wv.Arms(6), kernel=kernel, hypotheses=hypotheses, seed=0)
    for arm in range(6):
        opt.tell(arm, 0.1 * rng.normal())
    y, keep = 0.0, 0.97**0.5
    for _ in range(80):
        y = keep * y + 2.0 * (1.0 - keep**2) ** 0.5 * rng.normal()
        opt.tell(0, y)
    return opt, y


def test_what_one_arm_does_alone_is_not_expected_of_the_others():
    opt, last = wandering()
    mean, _ = opt.predict(range(6))
    assert abs(last) > 1.0
    assert mean[0] == pytest.approx(last, abs=0.4)
    assert np.abs(mean[1:]).max() < 0.3


def test_with_a_level_it_was():
    """Why there is none: the evidence for it is that one arm, and the search stays there."""
    opt, last = wandering(wv.HYPOTHESES)
    mean, _ = opt.predict(range(6))
    assert (mean[1:] / last).min() > 0.2


def test_levels_are_for_spaces_with_coordinates():
    labels = {one.label for one in wv.make(wv.Arms(3)).composition.model.hypotheses}
    assert {one.label for one in wv.HYPOTHESES} - labels == {"level drifts 3 % per step"}
    assert wv.make(wv.Box([(0, 1)])).composition.model.hypotheses == wv.HYPOTHESES
    assert wv.make(wv.Arms(3), hypotheses=wv.HYPOTHESES).composition.model.hypotheses == wv.HYPOTHESES


def test_of_arms_told_nothing_most_are_seen():
    """Static arms, best last: more than one in two is looked at before the search settles."""
    values, rng = np.random.default_rng(1).normal(size=30), np.random.default_rng(2)
    opt, seen = wv.make(wv.Arms(30), seed=0), set()
    for _ in range(120):
        arm = opt.ask()
        seen.add(arm)
        opt.tell(arm, 10.0 + 3.0 * values[arm] + 0.3 * rng.normal())
    assert int(values.argmax()) in seen
    assert len(seen) > 10


def schedule(arms, **more):
    return wv.make(wv.Arms(arms), **more).composition.acquisition.then.schedule


def test_how_much_arms_are_explored():
    """Many have to wait until as many steps have passed as pay for a look at all of them."""
    assert schedule(46) == schedule(100) == wv.LogBeta(1.2, 4.0)
    assert schedule(500) == StagedBeta(wv.LogBeta(), wv.LogBeta(1.2, 4.0), 1600)
    assert schedule(500, beta=wv.LogBeta(0.8)) == wv.LogBeta(0.8)
    assert schedule(500, kernel=wv.Empirical(np.eye(500))) == wv.ConstantBeta(2.7)


def test_of_more_arms_than_steps_a_good_one_is_made_use_of():
    """Each was looked at once, and no one twice, until one was 2.9 standard deviations above the mean."""
    values, rng = np.random.default_rng(1).normal(size=400), np.random.default_rng(2)
    opt, asked = wv.make(wv.Arms(400), seed=0), []
    for _ in range(120):
        asked.append(opt.ask())
        opt.tell(asked[-1], values[asked[-1]] + 0.3 * rng.normal())
    assert 5 < len(set(asked)) < 60
    assert np.mean(values[asked[60:]]) > 1.2


def test_a_state_of_many_arms_explores_as_it_did():
    opt = wv.make(wv.Arms(400), seed=0, beta=wv.LogBeta(1.2, 4.0))
    assert wv.restore(json.loads(json.dumps(opt.state()))).composition == opt.composition
    new = wv.make(wv.Arms(400), seed=0)
    assert wv.restore(json.loads(json.dumps(new.state()))).composition == new.composition


def test_a_state_with_independent_arms_goes_on():
    """Written before arms were exchangeable: the kernel and what is learned are in the state."""
    opt = wv.make(wv.Arms(4), seed=0)
    state = json.loads(json.dumps(opt.state()))
    old = {"type": "Independent", "variance": 1.0}
    state["composition"]["model"]["kernel"] = old
    state["composition"]["learning"]["search"]["learn"] = ["noise"]
    for name in ("odds", "odds_prior"):
        del state["composition"]["learning"]["search"][name]
    state["surrogate"]["model"]["kernel"] = old
    read = wv.restore(state)
    for t in range(30):
        arm = read.ask()
        read.tell(arm, arm + np.sin(t / 5.0))
    assert read.composition.model.kernel == wv.Independent()
    twin = wv.restore(json.loads(json.dumps(read.state())))
    assert twin.ask() == read.ask()
    assert json.dumps(twin.state()) == json.dumps(read.state())
