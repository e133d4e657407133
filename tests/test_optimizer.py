"""The loop as the caller sees it: ask, tell, predict, best, the clock, and the record of each step."""

import json
import math
from collections import UserDict

import numpy as np
import pytest
from scipy import stats

import windvane as wv

BOX = wv.Box([(-2.0, 3.0), (10.0, 30.0)])
GIVEN = {"kernel": wv.RBF(0.25), "noise_variance": 0.02}
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 5), mode=wv.Choice(["a", "b", "c"]))
COVARIANCE = np.exp(-0.5 * np.subtract.outer(np.arange(7.0), np.arange(7.0)) ** 2 / 4.0)
# the surrogates that treat time differently, by the algorithm that uses them
MODELS = {
    "static": ("et-gp-ucb", {}),
    "markov": ("tv-gp-ucb", {"rate": 0.1}),
    "wiener": ("ui-tvbo", {"rate": 0.05}),
    "weighted": ("w-gp-ucb", {"forgetting": 0.9}),
    "static + markov": (
        "gp-ucb",
        {"kernel": wv.RBF(0.25) * wv.Static(0.5) + wv.RBF(0.25) * wv.Markov(0.2)},
    ),
}


def make(name="et-gp-ucb", space=BOX, seed=0, **options):
    return wv.make(name, space, seed=seed, **{**GIVEN, **options})


def objective(x, t=0):
    """Smooth, of order one, on BOX."""
    return math.sin(x[0] + 0.02 * t) + math.cos(0.3 * x[1] - 0.01 * t)


def stream(count, seed=0, space=BOX):
    """Points that nobody asked for, with values of order one."""
    rng = np.random.default_rng(seed)
    points = [space.decode(unit) for unit in space.sample(rng, count)]
    return list(zip(points, rng.normal(size=count).tolist(), strict=True))


def same_point(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


# -- asking -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("told", [0, 1, 8])
def test_asking_twice_gives_the_same_point(model, told):
    name, options = MODELS[model]
    opt = make(name, **options)
    for x, y in stream(told):
        opt.tell(x, y)
    first = opt.ask()
    kept = first.copy()
    first += 1.0  # the array is the caller's own
    assert np.array_equal(opt.ask(), kept)
    later = opt.ask(time=opt.time + 5.0)
    assert later.shape == (2,)
    assert np.array_equal(opt.ask(), kept)


@pytest.mark.parametrize("model", MODELS)
def test_asking_and_looking_change_nothing(model):
    """A twin that never asks, predicts or looks for the best ends in the same state, to the last bit."""
    name, options = MODELS[model]
    curious, quiet = make(name, **options), make(name, **options)
    for x, y in stream(30, seed=1):
        before = json.dumps(curious.state())
        asked = curious.ask()
        if curious.size:
            curious.best()
            curious.best(time=curious.time + 2.5)
        curious.predict([asked, x])
        curious.ask(time=curious.time + 7.0)
        curious.predict([x], time=curious.time + 40.0)
        assert json.dumps(curious.state()) == before
        one, other = curious.tell(x, y), quiet.tell(x, y)
        assert one.as_dict() == other.as_dict()
    assert np.array_equal(curious.ask(), quiet.ask())


@pytest.mark.parametrize("model", MODELS)
def test_looking_before_asking_does_not_move_the_point(model):
    name, options = MODELS[model]
    curious, quiet = make(name, **options), make(name, **options)
    for x, y in stream(12, seed=2):
        curious.predict([x])
        curious.predict([x], time=curious.time + 30.0)
        curious.ask(time=curious.time + 3.0)
        assert np.array_equal(curious.ask(), quiet.ask())
        curious.tell(x, y)
        quiet.tell(x, y)


@pytest.mark.parametrize("model", MODELS)
def test_looking_between_two_observations_of_the_same_time_changes_nothing(model):
    name, options = MODELS[model]
    curious, quiet = make(name, **options), make(name, **options)
    for i, (x, y) in enumerate(stream(24, seed=3)):
        time = float(1 + i // 3)
        curious.ask(time=time)
        curious.predict([x], time=time + 9.0)
        assert curious.tell(x, y, time=time).as_dict() == quiet.tell(x, y, time=time).as_dict()
        assert np.array_equal(curious.ask(time=time), quiet.ask(time=time))


def test_the_seed_decides():
    def run(seed):
        opt, points = make(seed=seed), []
        for t in range(12):
            points.append(opt.ask())
            opt.tell(points[-1], objective(points[-1], t))
        return np.array(points)

    assert np.array_equal(run(3), run(3))
    assert not np.array_equal(run(3)[0], run(4)[0])


def test_without_a_seed_every_optimiser_is_its_own():
    first, second = (wv.make("gp-ucb", BOX, **GIVEN) for _ in range(2))
    assert not np.array_equal(first.ask(), second.ask())
    assert np.array_equal(wv.restore(json.loads(json.dumps(first.state()))).ask(), first.ask())


# -- the goal ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("et-gp-ucb", GIVEN),
        ("tv-gp-ucb", {**GIVEN, "rate": 0.05}),
        ("turbo-trigger", GIVEN),
        ("et-gp-ucb-backtracking", GIVEN),
        ("gp-ucb", {**GIVEN, "scaling": wv.Scaling(-3.0, 2.0)}),
        ("et-gp-ucb", {}),
        ("gp-ucb", {}),
    ],
)
def test_minimising_mirrors_maximising(name, options):
    mirrored = dict(options)
    if "scaling" in options:  # y is mirrored, and so is what the caller says about it
        mirrored["scaling"] = wv.Scaling(3.0, 2.0)
    up = wv.make(name, BOX, seed=5, **options)
    down = wv.make(name, BOX, seed=5, goal="minimize", **mirrored)
    for t in range(16):
        x = up.ask()
        assert np.array_equal(down.ask(), x)
        value = objective(x, 40 * (t // 6))
        one, other = up.tell(x, value), down.tell(x, -value)
        assert (other.y, other.mean, other.std) == (-one.y, -one.mean, one.std)
        for name_ in ("reset", "kept", "size", "statistic", "threshold", "log_density", "elapsed"):
            assert getattr(one, name_) == getattr(other, name_)
    best, worst = up.best(), down.best()
    assert np.array_equal(best.x, worst.x)
    assert (worst.mean, worst.std) == (-best.mean, best.std)
    mean, std = up.predict([best.x])
    assert down.predict([best.x]) == (-mean, std)


# -- the clock --------------------------------------------------------------------------------------


def test_time_counts_steps_unless_told_otherwise():
    opt = make()
    assert (opt.time, opt.step, opt.size) == (1.0, 1, 0)
    assert [opt.tell(x, y).time for x, y in stream(3)] == [1.0, 2.0, 3.0]
    assert (opt.time, opt.step, opt.size) == (4.0, 4, 3)


def test_the_callers_clock():
    opt = make("tv-gp-ucb", rate=0.1)
    (x, y), *rest = stream(5)
    assert opt.tell(x, y, time=1000.0).time == 1000.0
    assert opt.time == 1001.0
    assert opt.tell(*rest[0]).time == 1001.0
    assert opt.tell(*rest[1], time=1001.0).time == 1001.0  # equal times are allowed
    assert opt.tell(*rest[2], time=1010.5).time == 1010.5
    for call in (
        lambda: opt.tell(*rest[3], time=1010.0),
        lambda: opt.ask(time=1010.0),
        lambda: opt.best(1010.0),
    ):
        with pytest.raises(wv.InvalidArgument, match=r"time=1010\.0: must not be before .* 1010\.5"):
            call()
    assert opt.size == 4
    assert opt.tell(*rest[3]).time == 1011.5


@pytest.mark.parametrize("start", [-5.0, 0.1, 1e-3, 977.3, 1.7e9])
def test_times_survive_as_they_were_told(start):
    """Whatever is subtracted inside, the caller's time comes back, and telling it again is allowed."""
    rng = np.random.default_rng(int(abs(start)))
    for _ in range(20):
        opt = make("tv-gp-ucb", rate=0.1, space=wv.Box([(0, 1)]))
        time = start
        for _ in range(3):
            assert opt.tell([0.5], 1.0, time=time).time == time
            assert opt.tell([0.5], 1.0, time=time).time == time
            time += float(rng.uniform(0.0, 3.0))


@pytest.mark.parametrize("model", ["markov", "wiener", "weighted"])
def test_the_origin_of_the_clock_does_not_matter(model):
    name, options = MODELS[model]
    early, late = make(name, **options), make(name, **options)
    for i, (x, y) in enumerate(stream(15)):
        time = float(i * i // 8)
        one, other = early.tell(x, y, time=time), late.tell(x, y, time=time + 4096.0)
        assert other.time == one.time + 4096.0
        assert (one.mean, one.std, one.statistic) == (other.mean, other.std, other.statistic)
    assert np.array_equal(early.ask(), late.ask())


# -- telling ----------------------------------------------------------------------------------------


def test_points_that_nobody_asked_for():
    opt = make()
    asked = opt.ask()
    told = BOX.decode(np.array([0.25, 0.75]))
    event = opt.tell(told, 0.5)
    assert np.array_equal(event.x, told)
    assert not np.array_equal(event.x, asked)
    assert opt.size == 1
    np.testing.assert_allclose(opt.data.X, [[0.25, 0.75]])
    assert opt.predict([told])[0][0] == pytest.approx(0.5 / 1.02)


def test_an_event_keeps_its_own_copy_of_the_point():
    opt, x = make(), np.array([0.0, 20.0])
    event = opt.tell(x, 1.0)
    x[:] = 99.0
    assert event.x.tolist() == [0.0, 20.0]
    assert event.as_dict()["x"] == [0.0, 20.0]
    mixed, point = make(space=MIXED), {"gain": 1.0, "taps": 2, "mode": "b"}
    event = mixed.tell(point, 1.0)
    point["taps"] = 5
    assert event.x == {"gain": 1.0, "taps": 2, "mode": "b"} == event.as_dict()["x"]


def test_any_mapping_is_a_point_of_a_space():
    opt = make(space=MIXED)
    event = opt.tell(UserDict(gain=1.0, taps=2, mode="b"), 1.0)
    assert dict(event.x) == {"gain": 1.0, "taps": 2, "mode": "b"}
    assert opt.size == 1


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_an_event_is_what_was_predicted_just_before(model, goal):
    name, options = MODELS[model]
    opt = make(name, goal=goal, **options)
    elapsed, resets = 1, 0
    for i, (x, y) in enumerate(stream(40, seed=4)):
        y += 4.0 * (i // 13 % 2)  # jumps, so that the trigger has something to do
        time = opt.time + 0.5 * (i % 3)
        mean, std = opt.predict([x], time=time)
        size = opt.size
        event = opt.tell(x, y, time=time)
        assert (event.step, event.time, event.y) == (i + 1, time, y)
        assert event.mean == pytest.approx(mean[0], abs=1e-9)
        assert event.std == pytest.approx(std[0], abs=1e-9)
        assert event.noise_variance == 0.02
        spread = math.sqrt(event.std**2 + 0.02)
        assert event.log_density == pytest.approx(stats.norm.logpdf(y, event.mean, spread), abs=1e-9)
        assert event.monitored is True
        assert event.elapsed == elapsed
        assert event.size == opt.size == len(opt.data)
        if event.reset:
            resets += 1
            assert event.statistic == pytest.approx(abs(y - event.mean), abs=1e-12)
            assert event.statistic > event.threshold
            assert event.reason.startswith("bound broken")
            assert event.kept == event.size == 1
        else:
            assert (event.kept, event.reason, event.size) == (0, "", size + 1)
        elapsed = 1 if event.reset else elapsed + 1
    assert (resets > 0) == (name == "et-gp-ucb")


# -- believing --------------------------------------------------------------------------------------


def dense(opt, rows, points, now):
    """The posterior from its definition; rows are (unit x, y, time)."""
    model = opt.model
    X, y, t = (np.array([row[i] for row in rows]) for i in range(3))
    at = np.array([BOX.encode(point) for point in points])
    K = model.kernel.matrix(X, X) * model.temporal.matrix(t, t) + np.diag(model.noise.variances(t, now))
    k = model.kernel.matrix(at, X) * model.temporal.matrix(np.array([now]), t)
    prior = model.kernel.diagonal(at) * model.temporal.variance(now)
    variance = prior - np.einsum("mn,nm->m", k, np.linalg.solve(K, k.T))
    return k @ np.linalg.solve(K, y), np.sqrt(variance)


@pytest.mark.parametrize("model", MODELS)
def test_predict_is_the_posterior_at_the_next_time(model):
    name, options = MODELS[model]
    opt, rows = (
        make(name, trigger=wv.Never(), **options) if name == "et-gp-ucb" else make(name, **options),
        [],
    )
    points = [x for x, _ in stream(6, seed=9)]
    for i, (x, y) in enumerate(stream(25, seed=5)):
        opt.tell(x, y, time=100.0 + 1.5 * i)
        rows.append((BOX.encode(x), y, 1.0 + 1.5 * i))  # the model's clock starts at 1
    mean, std = opt.predict(points)
    expected = dense(opt, rows, points, now=1.0 + 1.5 * 24 + 1.0)
    np.testing.assert_allclose(mean, expected[0], atol=1e-8)
    np.testing.assert_allclose(std, expected[1], atol=1e-8)
    mean, std = opt.predict(points, time=150.0)
    expected = dense(opt, rows, points, now=51.0)
    np.testing.assert_allclose(mean, expected[0], atol=1e-8)
    np.testing.assert_allclose(std, expected[1], atol=1e-8)


def test_predict_before_any_data_is_the_prior():
    mean, std = make(kernel=wv.RBF(0.2, 4.0)).predict([[0.0, 20.0]])
    assert (mean.tolist(), std.tolist()) == ([0.0], [2.0])
    mean, std = make(scaling=wv.Scaling(7.0, 3.0)).predict([[0.0, 20.0]])
    assert (mean.tolist(), std.tolist()) == ([7.0], [3.0])


def test_a_sum_of_covariances_of_arms_has_the_variance_of_the_sum():
    one, two = np.diag([1.0, 4.0, 9.0]), np.diag([1.0, 0.0, 7.0])
    opt = wv.make(
        "gp-ucb", wv.Arms(3), kernel=wv.Empirical(one) + wv.Empirical(two), noise_variance=0.1, seed=0
    )
    np.testing.assert_allclose(opt.predict([0, 1, 2])[1], np.sqrt([2.0, 4.0, 16.0]))


@pytest.mark.parametrize("model", MODELS)
def test_best_is_the_summit_of_the_mean(model):
    name, options = MODELS[model]
    opt = make(name, **options)
    for t, (x, _) in enumerate(stream(25, seed=6)):
        opt.tell(x, objective(x, t))
    best = opt.best()
    mean, std = opt.predict([best.x])
    assert best.mean == pytest.approx(mean[0], abs=1e-10)
    assert best.std == pytest.approx(std[0], abs=1e-10)
    axes = np.linspace(-2.0, 3.0, 101), np.linspace(10.0, 30.0, 101)
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    assert best.mean >= opt.predict(grid)[0].max() - 1e-7
    later = opt.best(time=opt.time + 10.0)
    assert later.mean >= opt.predict(grid, time=opt.time + 10.0)[0].max() - 1e-7


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_best_of_arms_is_exact(goal):
    arms = wv.Arms(7)
    opt = wv.make("et-gp-ucb", arms, kernel=wv.Empirical(COVARIANCE), noise_variance=0.1, goal=goal, seed=0)
    for x, y in stream(20, seed=7, space=arms):
        opt.tell(x, y)
        means, stds = opt.predict(list(range(7)))
        best, turned = opt.best(), means if goal == "maximize" else -means
        expected = int(np.argmax(turned))
        told = sorted({int(row) for row in opt.data.X[:, 0]})
        if expected not in told and turned[expected] < 0.1 * stds[expected]:  # nothing but the prior
            expected = max(told, key=lambda arm: turned[arm])
        assert best.x == expected
        assert best.mean == pytest.approx(means[best.x], abs=1e-12)


def test_best_after_a_reset_that_kept_nothing():
    """The model knows nothing then; the caller still needs a point to run the system at."""
    opt = make("r-gp-ucb", period=3)
    for x, y in stream(3):
        event = opt.tell(x, y)
    assert (event.reset, opt.size) == (True, 0)
    best = opt.best()
    np.testing.assert_allclose(best.x, x)
    assert (best.mean, best.std) == (0.0, 1.0)
    assert np.array_equal(wv.restore(json.loads(json.dumps(opt.state()))).best().x, best.x)


# -- a budget ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gp-ucb", {}),
        ("et-gp-ucb", {}),
        ("et-gp-ucb-backtracking", {"cap": 40}),
        ("tv-gp-ucb", {"rate": 0.05}),
        ("ui-tvbo", {"rate": 0.05}),
        ("w-gp-ucb", {"forgetting": 0.95}),
        ("turbo-trigger", {"patience": 100}),
        ("random", {}),
    ],
)
def test_max_points_is_respected(name, options):
    opt = make(name, max_points=12, **options)
    for x, y in stream(50, seed=8):
        event = opt.tell(x, y)
        assert event.size == opt.size <= 12
        assert opt.data.steps[-1] == event.step
    assert opt.size == 12 or event.reset or name.startswith("et-")


def test_a_sliding_window_takes_no_other_limit():
    with pytest.raises(wv.InvalidArgument, match="max_points"):
        make("sw-gp-ucb", window=20, max_points=12)


# -- mixed spaces -----------------------------------------------------------------------------------


def test_asked_points_of_a_mixed_space_are_feasible():
    opt = make(space=MIXED)
    for t in range(25):
        x = opt.ask()
        assert set(x) == {"gain", "taps", "mode"}
        assert 0.1 <= x["gain"] <= 10.0
        assert type(x["taps"]) is int
        assert 1 <= x["taps"] <= 5
        assert x["mode"] in ("a", "b", "c")
        unit = MIXED.encode(x)
        assert MIXED.decode(unit) == {**x, "gain": pytest.approx(x["gain"], rel=1e-12)}
        np.testing.assert_array_equal(
            MIXED.snap(unit[None])[0], unit
        )  # the model's point is the point returned
        opt.tell(x, math.log(x["gain"]) * (x["mode"] == "b") - 0.1 * (x["taps"] - 3) ** 2 + 0.01 * t)


SMALL = wv.Space(k=wv.Integer(1, 6), mode=wv.Choice(["a", "b", "c"]), fast=wv.Choice([True, False]))
EVERY = [SMALL.decode(unit) for unit in SMALL.everything()]


@pytest.mark.parametrize("name", ["gp-ucb", "tv-gp-ucb", "et-gp-ucb"])
@pytest.mark.parametrize("beta", [None, 0.0, 9.0])
def test_a_small_discrete_space_is_searched_exactly(name, beta):
    options = {"rate": 0.1} if name == "tv-gp-ucb" else {}
    opt = make(name, space=SMALL, kernel=wv.RBF(0.6), beta=beta, **options)
    rng = np.random.default_rng(0)
    for t in range(1, 30):
        x = opt.ask()
        assert x in EVERY
        if opt.size:
            root = math.sqrt(0.4 * math.log(4.0 * t) if beta is None else beta)
            mean, std = opt.predict(EVERY)
            bound = mean + root * std
            assert bound[EVERY.index(x)] == pytest.approx(bound.max(), abs=1e-9)
        opt.tell(x, 0.3 * (x["k"] - 2) * (x["mode"] == "c") - x["fast"] + 0.1 * float(rng.normal()))


def test_a_mixed_space_is_searched_about_as_well_as_a_dense_grid():
    opt = make(space=MIXED, kernel=wv.RBF(0.3))
    gains = np.geomspace(0.1, 10.0, 60).tolist()
    grid = [{"gain": g, "taps": k, "mode": m} for g in gains for k in range(1, 6) for m in "abc"]
    for x, y in stream(12, seed=11, space=MIXED):
        opt.tell(x, y)
    for t in range(13, 21):
        x = opt.ask()
        root = math.sqrt(0.4 * math.log(4.0 * opt.step))
        mean, std = opt.predict([x, *grid])
        bound = mean + root * std
        assert bound[0] >= bound[1:].max() - 1e-6
        opt.tell(x, math.sin(3.0 * math.log(x["gain"]) + t) + (x["mode"] == "b"))


def test_a_space_with_one_point():
    opt = make(space=wv.Space(mode=wv.Choice(["only"])))
    for y in (1.0, 0.9):
        assert opt.ask() == {"mode": "only"}
        opt.tell(opt.ask(), y)
    assert opt.best().x == {"mode": "only"}


@pytest.mark.parametrize("name", ["et-gp-ucb", "auto", "gp-ucb"])
@pytest.mark.parametrize("unit", [5e-324, 1e-200, 1e-160])
def test_values_whose_squares_are_zero_in_double_precision(name, unit):
    opt = wv.make(name, wv.Box([(0, 1)]), seed=0)
    for step in range(25):
        assert math.isfinite(opt.tell(opt.ask(), unit * (step % 3)).log_density)
