"""Outlier or change, in the loop: what is set aside, asked again, told or dropped, saved and restored."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.digits import estimate
from windvane.tasks.wrappers import jump, outliers
from windvane.triggers import ExactBound

BOX = wv.Box([(-2.0, 3.0), (10.0, 30.0)])
ARMS = wv.Arms(9)
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))
COVARIANCE = np.exp(-0.5 * np.subtract.outer(np.arange(9.0), np.arange(9.0)) ** 2 / 4.0)
SPACES = {
    "box": (BOX, {"kernel": wv.RBF(0.4), "noise_variance": 0.01}),
    "arms": (ARMS, {"kernel": wv.Empirical(COVARIANCE), "noise_variance": 0.01}),
    "mixed": (MIXED, {"kernel": wv.Matern52(0.6), "noise_variance": 0.01}),
}
GROSS = 20.0


def make(where="box", name="et-gp-ucb-confirmed", seed=0, **options):
    space, given_ = SPACES[where]
    return wv.make(name, space, seed=seed, **{**given_, **options})


def value(x):
    """Static, of order one, on each of the spaces."""
    if isinstance(x, dict):
        return math.sin(math.log(x["gain"]) + x["taps"]) + (x["mode"] == "a")
    return float(np.cos(0.2 * np.asarray(x, dtype=float)).sum())


def warm(opt, steps=8):
    """A model that has seen something, from points nobody asked for; nothing was suspicious."""
    rng = np.random.default_rng(3)
    for unit in opt.space.sample(rng, steps):
        x = opt.space.decode(unit)
        opt.tell(x, 0.3 * value(x))
    assert opt.size == steps
    return opt


def through_json(opt):
    return wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))


def suspect(opt, y=GROSS):
    x = opt.ask()
    event = opt.tell(x, y)
    assert event.set_aside
    return x, event


def plain(x):
    return x.tolist() if isinstance(x, np.ndarray) else x


# -- set aside ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", SPACES)
def test_a_suspicion_is_set_aside_and_its_point_asked_again(where):
    opt = warm(make(where))
    before, points = opt.state()["surrogate"], [opt.ask(), opt.best().x]
    mean, std = opt.predict(points)
    x, event = suspect(opt)
    assert (event.step, event.size, event.kept, event.reset, event.outlier) == (9, 8, 0, False, None)
    assert event.reason.startswith("set aside until a second look: bound broken: |y - mean| = ")
    assert event.statistic > event.threshold
    assert (opt.step, opt.time, opt.size) == (10, 10.0, 8)
    assert opt.state()["surrogate"] == before
    assert all(np.array_equal(a, b) for a, b in zip(opt.predict(points), (mean, std), strict=True))
    assert opt.best().mean == pytest.approx(float(opt.predict([opt.best().x])[0][0]))
    assert plain(opt.ask()) == plain(x) == plain(opt.ask(time=77.5))


@pytest.mark.parametrize(
    ("where", "told", "asked"),
    [
        ("box", [0.1 + 0.2, 29.999999999999996], [0.1 + 0.2, 29.999999999999996]),
        ("box", np.array([1.0 / 3.0, 17.7], dtype=np.float32), [float(np.float32(1.0 / 3.0)), float(np.float32(17.7))]),
        ("arms", np.int64(4), 4),
        ("mixed", {"gain": 0.30000000000000004, "taps": 2, "mode": "b"}, None),
        ("mixed", {"gain": 1, "taps": np.int64(2), "mode": "b"}, {"gain": 1.0, "taps": 2, "mode": "b"}),
    ],
)  # fmt: skip
def test_asked_again_is_the_told_point_to_the_last_bit(where, told, asked):
    """Decoding would round, and the second look would be at another point."""
    opt = warm(make(where))
    assert opt.tell(told, GROSS).set_aside
    expected = told if asked is None else asked
    again = opt.ask()
    assert plain(again) == expected
    assert [type(each) for each in again.values()] == [float, int, str] if where == "mixed" else True
    assert plain(through_json(opt).ask()) == expected
    opt.tell(again, GROSS)
    assert np.array_equal(opt.data.X[-1], opt.space.encode(told))


def test_the_held_point_is_our_own():
    opt = warm(make())
    x, _ = suspect(opt)
    kept = x.copy()
    x += 1.0
    opt.ask()[:] = 0.0
    assert np.array_equal(opt.ask(), kept)
    mixed = warm(make("mixed"))
    x, _ = suspect(mixed)
    mixed.ask()["taps"] = 99
    assert mixed.ask() == x


def test_a_time_that_runs_backwards_is_refused_while_suspecting():
    opt = warm(make())
    suspect(opt)
    with pytest.raises(wv.InvalidArgument, match="time="):
        opt.ask(time=1.0)


# -- refuted ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_an_outlier_might_as_well_never_have_been(where, goal):
    """A twin that is not told it has the same data, and believes the same to the last bit."""
    opt, twin = (warm(make(where, goal=goal)) for _ in range(2))
    x, _ = suspect(opt)
    event = opt.tell(opt.ask(), 0.3 * value(x))
    twin.tell(x, 0.3 * value(x))
    assert (event.outlier, event.set_aside, event.reset, event.size) == (9, False, False, 9)
    assert opt.data.steps.tolist() == [*range(1, 9), 10]
    assert twin.data.steps.tolist() == list(range(1, 10))
    for mine, its in ((opt.data.X, twin.data.X), (opt.data.y, twin.data.y)):
        assert np.array_equal(mine, its)
    points = [opt.space.decode(unit) for unit in opt.space.sample(np.random.default_rng(0), 5)]
    for mine, its in zip(opt.predict(points), twin.predict(points), strict=True):
        assert np.array_equal(mine, its)
    assert opt.ask() is not None
    assert "held" not in opt.state()


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_the_reason_of_an_outlier_is_in_the_callers_units(goal):
    opt = warm(make(goal=goal))
    x, _ = suspect(opt)
    mean, std = opt.predict([x])
    event = opt.tell(x, 0.25)
    assert event.reason == (
        "outlier at step 9: y = 20.00 was set aside, and the second look, y = 0.25 where "
        f"{estimate(mean[0], math.hypot(std[0], 0.1))} was predicted, does not confirm it"
    )
    assert opt.tell(opt.ask(), 0.0).reason == ""


def test_minimising_mirrors_maximising():
    up, down = warm(make()), make(goal="minimize")
    for unit, y in zip(up.data.X, up.data.y, strict=True):
        down.tell(BOX.decode(unit), -float(y))
    for y in (GROSS, 0.1, -GROSS, GROSS, 0.0, GROSS, GROSS, 0.2):
        x = up.ask()
        assert np.array_equal(x, down.ask())
        one, other = up.tell(x, y), down.tell(x, -y)
        for name in ("reset", "set_aside", "outlier", "kept", "size", "statistic", "threshold"):
            assert getattr(one, name) == getattr(other, name)


def test_two_outliers_of_opposite_sign():
    opt = warm(make())
    x, _ = suspect(opt)
    event = opt.tell(opt.ask(), -GROSS)
    assert (event.set_aside, event.outlier, event.reset, event.size) == (True, 9, False, 8)
    assert event.reason.startswith("outlier at step 9: y = 20.00 was set aside")
    assert "; set aside until a second look: bound broken" in event.reason
    assert np.array_equal(opt.ask(), x)
    event = opt.tell(opt.ask(), 0.1)
    assert (event.set_aside, event.outlier, event.size) == (False, 10, 9)
    assert opt.data.steps.tolist() == [*range(1, 9), 11]


# -- confirmed ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spy:
    """Keeps the last point, and remembers what it was shown."""

    seen: list = field(default_factory=list)

    def keep(self, data, test):
        self.seen.append((data.steps.tolist(), data.y.tolist()))
        return data.take(slice(-1, None))


def test_a_change_shows_the_retention_both_observations():
    spy = Spy()
    opt = wv.Optimizer(BOX, replace(make().composition, on_trigger=spy), seed=0)
    warm(opt)
    before = opt.data.y.tolist()
    suspect(opt)
    event = opt.tell(opt.ask(), GROSS + 1.0)
    assert spy.seen == [(list(range(1, 11)), [*before, GROSS, GROSS + 1.0])]
    assert (event.reset, event.kept, event.size, event.outlier, event.set_aside) == (True, 1, 1, None, False)
    assert event.reason.startswith("confirmed by a second look: bound broken")
    assert opt.data.y.tolist() == [GROSS + 1.0]
    assert opt.tell(opt.ask(), GROSS).elapsed == 1


@pytest.mark.parametrize("options", [{}, {"cooldown": 3}, {"min_samples": 4}], ids=str)
def test_backtracking_asks_the_trigger_within(options):
    """Else nothing would contradict anything in Alg. 2: a first look is only suspect, or not heeded at all."""
    kept = {}
    for trigger in (wv.PosteriorBound(), wv.Confirmed(wv.PosteriorBound(), **options)):
        opt = make(name="et-gp-ucb-backtracking", trigger=trigger, cap=8)
        resets = [opt.tell([0.0, 20.0], y).reset for y in (0.0, 0.1, -0.1, 0.0, 0.1, 0.0, 2.0, 2.0)]
        assert resets.index(True) == (6 if trigger == wv.PosteriorBound() else 7)
        kept[type(trigger)] = opt.data.steps.tolist()
    assert kept == {wv.PosteriorBound: [7, 8], wv.Confirmed: [7, 8]}


def test_told_elsewhere_a_change_is_seen_just_as_well():
    """The caller may measure where it likes: the prediction there is what counts."""
    opt = warm(make())
    suspect(opt, -GROSS)
    assert opt.tell([0.0, 20.0], -GROSS).reset
    opt = warm(make())
    suspect(opt, -GROSS)
    event = opt.tell([0.0, 20.0], 0.3 * value([0.0, 20.0]))
    assert (event.reset, event.outlier, event.size) == (False, 9, 9)


# -- when nothing is set aside ------------------------------------------------------------------------


def test_where_the_window_forbids_a_reset_a_suspicion_is_an_observation_like_any_other():
    opt = warm(make(reset_window=(10, 30)))
    one, other = BOX.decode(opt.data.X[0]), BOX.decode(opt.data.X[5])
    event = opt.tell(one, GROSS)
    assert (event.elapsed, event.set_aside, event.reset, event.size, event.reason) == (9, False, False, 9, "")
    assert event.statistic > event.threshold
    event = opt.tell(other, GROSS)  # the second alarm in a row on this side, but the first that counts
    assert event.y > event.mean
    assert (event.elapsed, event.set_aside, event.reset) == (10, True, False)
    assert np.array_equal(opt.ask(), other)


def test_a_reset_that_is_forced_settles_the_matter():
    opt = warm(make(reset_window=(1, 9), forced="last"))
    event = opt.tell(opt.ask(), GROSS)
    assert (event.elapsed, event.reset, event.set_aside, event.kept) == (9, True, False, 1)
    assert event.reason.startswith("forced: 9 steps")
    opt = warm(make(reset_window=(1, 10), forced="last"))
    x, _ = suspect(opt)
    event = opt.tell(x, 0.1)
    assert (event.reset, event.outlier, event.kept) == (True, 9, 1)
    assert event.reason.startswith("outlier at step 9")
    assert event.reason.endswith(
        "forced: 10 steps since the last reset, the upper end N_high of the reset window"
    )
    assert opt.data.steps.tolist() == [10]
    opt = warm(make(reset_window=(1, 10), forced="last"))
    x, _ = suspect(opt)
    assert opt.tell(x, GROSS).reason.startswith("confirmed by a second look")


def test_nothing_is_set_aside_while_the_model_is_being_learned():
    opt = wv.make("et-gp-ucb-confirmed", BOX, learning=wv.LearnThenMonitor(6), seed=0)
    rng = np.random.default_rng(0)
    for t, unit in enumerate(BOX.sample(rng, 6)):
        event = opt.tell(BOX.decode(unit), 1e3 if t == 3 else float(rng.normal()))
        assert (event.set_aside, event.monitored, event.size) == (False, False, t + 1)
    event = opt.tell(BOX.decode(unit), 1e6)
    assert (event.set_aside, event.monitored, event.size) == (True, True, 6)
    model = opt.model
    assert opt.tell(opt.ask(), 0.0).outlier == 7
    assert opt.model == model


def test_the_observation_that_gives_the_scale_is_not_set_aside():
    """Before it nothing is known of the units of y; a thousand may be quite ordinary."""
    opt = wv.make("et-gp-ucb-confirmed", BOX, learning=wv.Given(), seed=0)
    event = opt.tell(opt.ask(), 1000.0)
    assert event.statistic > event.threshold
    assert (event.set_aside, event.size) == (False, 1)
    assert opt.model.scaling.offset == 1000.0
    assert opt.tell(opt.ask(), 1000.1).size == 2


def test_hyperparameters_are_not_learned_again_from_the_same_data():
    opt = wv.make("et-gp-ucb-confirmed", BOX, learning=wv.LearnOnline(growth=2.0), seed=0)
    rng = np.random.default_rng(0)
    while not 1 < opt.size == opt.state()["age"] + 2:  # one more observation, and a fit would be due
        opt.tell(BOX.decode(BOX.sample(rng, 1)[0]), float(rng.normal()))
    model, age = opt.model, opt.state()["age"]
    assert opt.tell(opt.ask(), 1e6).set_aside
    assert (opt.model, opt.state()["age"]) == (model, age)
    opt.tell(opt.ask(), float(rng.normal()))
    assert (opt.model, opt.state()["age"]) == (model, age + 1)


# -- state --------------------------------------------------------------------------------------------


def advance(opt, ys):
    log = []
    for y in ys:
        x = opt.ask()
        log.append((plain(x), opt.tell(x, y).as_dict()))
    return log


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize(
    "then", [(0.1, GROSS, 0.2, 0.3), (GROSS, GROSS, GROSS, -GROSS), (-GROSS, 0.1, 0.2, 0.1)]
)
def test_a_suspicion_survives_a_restart(where, then):
    opt = warm(make(where))
    suspect(opt)
    twin = through_json(opt)
    assert json.dumps(twin.state()) == json.dumps(opt.state())
    original = copy.deepcopy(opt)
    assert advance(twin, then) == advance(original, then)
    assert json.dumps(twin.state()) == json.dumps(original.state())


def test_a_state_from_before_anything_could_be_set_aside_is_read():
    """There is no such key unless something is set aside."""
    opt = warm(make())
    state = opt.state()
    assert "held" not in state
    assert advance(wv.restore(state), (0.1, GROSS, 0.2)) == advance(opt, (0.1, GROSS, 0.2))


BAD_HELD = [
    None, 5, "x", [], {},
    *({"x": x} for x in (None, [0.0], [0.0, 99.0], [0.0, math.nan], "x", {"gain": 1.0})),
    *({"y": y} for y in (None, "1", math.nan, math.inf, 1e300, [1.0])),
    *({"time": time} for time in (None, "1", math.nan, math.inf)),
    *({"step": step} for step in (None, "9", 8, 10, 9.5, -1)),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD_HELD, ids=repr)
def test_an_altered_suspicion_is_refused(bad):
    opt = warm(make())
    suspect(opt)
    state = opt.state()
    assert wv.restore(state).step == 10
    held = {**state["held"], **bad} if isinstance(bad, dict) and bad else bad
    with pytest.raises(wv.CorruptState, match="state"):
        wv.restore({**state, "held": held})


@pytest.mark.parametrize("key", ["x", "y", "time", "step"])
def test_a_suspicion_that_lost_a_key_is_refused(key):
    opt = warm(make())
    suspect(opt)
    state = opt.state()
    del state["held"][key]
    with pytest.raises(wv.CorruptState, match="state"):
        wv.restore(state)


# -- properties ---------------------------------------------------------------------------------------

VALUES = st.sampled_from([0.0, 0.1, -0.2, 0.3, 1.2, -1.3, GROSS, -GROSS, GROSS + 1.0])
STEPS = st.lists(st.tuples(VALUES, st.booleans(), st.booleans()), min_size=1, max_size=14)


@given(
    steps=STEPS,
    where=st.sampled_from(sorted(SPACES)),
    goal=st.sampled_from(["maximize", "minimize"]),
    options=st.sampled_from(
        [{}, {"reset_window": (2, 9)}, {"cooldown": 2}, {"trigger": wv.NoImprovement(3)}]
    ),
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_told(steps, where, goal, options):
    opt, quiet = (make(where, goal=goal, **options) for _ in range(2))
    rng = np.random.default_rng(0)
    strays = [opt.space.decode(unit) for unit in opt.space.sample(rng, len(steps))]
    told, found, held, kept = {}, set(), None, set()
    for (y, stray, restarts), elsewhere in zip(steps, strays, strict=True):
        before = json.dumps(opt.state())
        asked = opt.ask()
        assert plain(asked) == plain(opt.ask())
        opt.predict([asked])
        for point, y_told, time in (("x", y, None), (elsewhere, math.nan, None), (elsewhere, y, -1e9)):
            if opt.step > 1 or time is None:  # the first time may be any
                with pytest.raises(wv.WindvaneError):
                    opt.tell(point, y_told, time)
        assert json.dumps(opt.state()) == before
        if held is not None:
            assert plain(asked) == plain(held.x)
        if restarts:
            quiet = through_json(quiet)

        x = elsewhere if stray else asked
        event = opt.tell(x, y)
        assert event.as_dict() == quiet.tell(x, y).as_dict()  # who neither asked nor erred, and was restored
        told[event.step] = y
        assert (event.outlier is not None) <= (held is not None)
        if event.outlier is not None:
            assert event.outlier == held.step
            found.add(held.step)
        if event.set_aside:
            assert not event.reset
        elif event.reset:
            kept = {event.step} if event.kept else set()
        else:
            kept = kept | {event.step}
        assert bool(event.reason) == (event.set_aside or event.reset or event.outlier is not None)
        held = event if event.set_aside else None

        steps_in_use = opt.data.steps.tolist()
        assert set(steps_in_use) == kept <= set(told)
        assert not found & set(steps_in_use)
        sign = 1.0 if goal == "maximize" else -1.0
        assert opt.data.y.tolist() == [sign * told[step] for step in steps_in_use]
        assert event.size == opt.size == len(steps_in_use)
    assert json.dumps(opt.state()) == json.dumps(quiet.state())


# -- Monte Carlo --------------------------------------------------------------------------------------


def run(task, trigger, seed):
    known = {"kernel": task.kernel, "noise_variance": task.noise_variance}
    return wv.simulate(wv.make("et-gp-ucb", task.space, trigger=trigger, seed=seed, **known), task, seed=seed)


def false_resets(trigger, runs=16):
    """On objectives that stand still, where every fiftieth observation is off by 1.5 to 4.5."""
    total = 0
    for seed in range(runs):
        task = wv.task("within-model", rate=0.0, horizon=150, seed=seed)
        total += len(run(outliers(task, share=0.02, size=3.0, seed=seed), trigger, seed).resets)
    return total


def delays(trigger, runs=15, at=31):
    """Steps until another objective, in place of the first, is noticed."""
    found = []
    for seed in range(runs):
        first, second = (wv.task("within-model", rate=0.0, horizon=60, seed=2 * seed + i) for i in (0, 1))
        resets = run(jump(first, second, at=at), trigger, seed).resets
        found.append(next((step - at for step in resets if step >= at), 60))
    return np.array(found)


@pytest.mark.parametrize("bare", [wv.PosteriorBound(), ExactBound()], ids=repr)
def test_a_tenth_of_the_false_resets_at_most(bare):
    """Of 200 runs of 200 steps: 29 resets against 1058 of the posterior bound alone."""
    alone = false_resets(bare)
    assert alone >= 20
    assert false_resets(wv.Confirmed(bare)) <= alone / 10


@pytest.mark.parametrize("bare", [wv.PosteriorBound(), ExactBound()], ids=repr)
def test_a_jump_is_noticed_soon(bare):
    alone, confirmed = delays(bare), delays(wv.Confirmed(bare))
    assert np.median(alone) <= 1.0
    assert np.median(confirmed) <= np.median(alone) + 5
    assert np.mean(confirmed <= alone + 5) >= 0.9
