"""The loop around a SingleTaskGP that is Windvane's model, beside Windvane's own optimiser, event by event."""

import dataclasses

import numpy as np
import pytest
import torch

import windvane as wv
from windvane.acquisition import Moment
from windvane.integrations.botorch import EventTriggeredLoop, given_model

NOISE = 0.02


def unit_bounds(dim, dtype=torch.float64):
    return torch.stack([torch.zeros(dim, dtype=dtype), torch.ones(dim, dtype=dtype)])


FIGURES = ("mean", "std", "noise_variance", "log_density", "statistic", "threshold")
REST = ("step", "time", "y", "elapsed", "monitored", "reset", "kept", "size", "set_aside", "outlier")
REST += ("cause", "told_variance", "values", "outcomes", "retreat")


def drive(opt, loop, steps=60, rate=0.1, jump=None, sign=1.0):
    """Both are told the same values at the points that `opt` asks for; returns the pairs of events."""
    task = wv.task("within-model", dim=2, rate=rate, horizon=steps, seed=4)
    rng = np.random.default_rng(4)
    for t in range(1, steps + 1):
        x = opt.ask()
        y = sign * (task.value(x, t) + np.sqrt(NOISE) * rng.standard_normal())
        if t == jump:
            y += 5.0
        yield opt.tell(x, y), loop.tell(torch.tensor(x), y)


def agree(pairs):
    """Equal, event by event; returns the steps of the resets."""
    resets = []
    for ours, theirs in pairs:
        np.testing.assert_array_equal(ours.x, theirs.x)
        for name in FIGURES:
            assert getattr(theirs, name) == pytest.approx(getattr(ours, name), rel=1e-6, abs=1e-6), name
        for name in REST:
            assert getattr(theirs, name) == getattr(ours, name), name
        # the words carry figures in a few digits, in which a rounding can show
        assert theirs.reason.split("=")[0] == ours.reason.split("=")[0]
        if ours.reset:
            resets.append(ours.step)
    return resets


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_et_gp_ucb(goal):
    kernel = wv.RBF(0.2)
    opt = wv.make("et-gp-ucb", wv.Box([(0, 1)] * 2), kernel=kernel, noise_variance=NOISE, goal=goal, seed=0)
    loop = EventTriggeredLoop(
        given_model(kernel, NOISE), unit_bounds(2), learning=0, initial=0, goal=goal, seed=0
    )
    assert len(agree(drive(opt, loop, steps=50, jump=40, sign=1.0 if goal == "maximize" else -1.0))) >= 2


@pytest.mark.parametrize(
    ("name", "options", "parts"),
    [
        ("et-gp-ucb-backtracking", {}, {"retention": wv.Backtracking(4)}),
        ("et-gp-ucb", {"reset_window": (3, 12)}, {"window": wv.ResetWindow(3, 12)}),
        ("et-gp-ucb", {"trigger": wv.EDetector()}, {"trigger": wv.EDetector()}),
        ("et-gp-ucb-confirmed", {}, {"trigger": wv.Confirmed(wv.PosteriorBound())}),
        ("r-gp-ucb", {"period": 9}, {"trigger": wv.Periodic(9), "retention": wv.Empty()}),
        ("gp-ucb", {}, {"trigger": wv.Never()}),
    ],
    ids=["backtracking", "window", "e-detector", "confirmed", "periodic", "never"],
)
def test_other_triggers_and_retentions(name, options, parts):
    kernel = wv.Matern52([0.3, 0.5], variance=1.5)
    opt = wv.make(name, wv.Box([(0, 1)] * 2), kernel=kernel, noise_variance=NOISE, seed=0, **options)
    loop = EventTriggeredLoop(
        given_model(kernel, NOISE), unit_bounds(2), learning=0, initial=0, seed=0, **parts
    )
    pairs = list(drive(opt, loop, steps=40, jump=20))
    assert bool(agree(pairs)) == (name != "gp-ucb")
    if name == "et-gp-ucb-confirmed":
        assert any(event.set_aside for _, event in pairs)


def test_a_model_of_space_and_time():
    """TV-GP-UCB's model as a SingleTaskGP on [x, t], with the trigger on top and the caller's own clock."""
    kernel, time = wv.RBF(0.25), wv.Markov(0.05)
    opt = wv.make("et-gp-ucb", wv.Box([(0, 1)] * 2), kernel=kernel * time, noise_variance=NOISE, seed=0)
    make_model = given_model(kernel * time, NOISE)
    loop = EventTriggeredLoop(make_model, unit_bounds(2), learning=0, initial=0, time_column=True, seed=0)
    rng, stamp = np.random.default_rng(1), 1000.0
    pairs = []
    for t in range(30):
        stamp += float(rng.exponential(3.0))
        x, y = rng.random(2), float(rng.normal()) + 6.0 * (t == 25)
        pairs.append((opt.tell(x, y, time=stamp), loop.tell(x, y, time=stamp)))
    assert agree(pairs)
    points = rng.random((5, 2))
    for ours, theirs in zip(opt.predict(points, stamp + 2.0), loop.predict(points, stamp + 2.0), strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-6, atol=1e-6)


def test_the_points_it_asks_for_are_as_good():
    """By default it maximises what et-gp-ucb maximises; compared by value, as maxima can be as high."""
    kernel = wv.RBF(0.2)
    opt = wv.make("et-gp-ucb", wv.Box([(0, 1)] * 2), kernel=kernel, noise_variance=NOISE, seed=0)
    loop = EventTriggeredLoop(given_model(kernel, NOISE), unit_bounds(2), learning=0, initial=0, seed=0)
    for ours, _ in drive(opt, loop, steps=12):
        x, z = opt.ask(), loop.ask().numpy()
        mean, std = opt.predict(np.stack((x, z)))
        multiplier = wv.LogBeta().multiplier(Moment(opt.step, opt.step, 2, lambda: 0.0))
        bound = mean + multiplier * std
        assert bound[1] >= bound[0] - 1e-3, ours.step
    best, known = loop.best(), opt.best()
    assert best.mean >= known.mean - 1e-3
    assert best.std == pytest.approx(float(opt.predict(best.x.numpy()[None])[1][0]), rel=1e-5)


def test_every_field_of_an_event_is_compared():
    compared = {*FIGURES, *REST, "x", "reason", "sentence", "beliefs", "change"}
    assert compared == {field.name for field in dataclasses.fields(wv.Event)}
