"""Noise that is known of single values, and repeats at one point: through `tell`, by every algorithm."""

import json
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.theory.confidence import pi_t

NAN, INF = math.nan, math.inf
BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.05, "seed": 10001}
STILL = {"hypotheses": (wv.Hypothesis("static", wv.Static(), 1.0),), "hazard": 0.0, "outliers": 0.0}
ALGORITHMS = {
    "gp-ucb": GIVEN,
    "et-gp-ucb": GIVEN,
    "tv-gp-ucb": {**GIVEN, "rate": 0.03},
    "sw-gp-ucb": {**GIVEN, "window": 12},
    "w-gp-ucb": {**GIVEN, "forgetting": 0.95},
    "w-dbo": {"seed": 10001},
    "auto": {"seed": 10001},
}


def value(x, t):
    return math.sin(6.0 * float(x[0])) + (0.0 if t < 25 else 2.0)


def measured(rng, x, t):
    """What is told: a value, one with its noise, repeats, or repeats with their noise."""
    kind, truth = t % 4, value(x, t)
    if kind == 0:
        return {"y": truth + 0.2 * rng.normal()}
    if kind == 1:
        variance = float(10.0 ** rng.uniform(-3, 0))
        return {"y": truth + math.sqrt(variance) * rng.normal(), "noise_variance": variance}
    values = [truth + 0.2 * rng.normal() for _ in range(int(rng.integers(1, 5)))]
    return {"y": values} if kind == 2 else {"y": values, "std": 0.2}


# -- against scikit-learn -----------------------------------------------------------------------------


def regression(X, y, alpha, points):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    model = GaussianProcessRegressor(RBF(0.2, "fixed"), alpha=alpha, optimizer=None)
    return model.fit(X, y).predict(points, return_std=True)


@pytest.mark.parametrize("name", ["gp-ucb", "auto"])
def test_the_posterior_is_that_of_scikit_learn_with_a_vector_of_noises(name):
    more = STILL if name == "auto" else {}
    opt, rng = wv.make(name, BOX, **GIVEN, **more), np.random.default_rng(10001)
    X, y, alpha = rng.uniform(size=(40, 1)), rng.normal(size=40), 10.0 ** rng.uniform(-3, 0, size=40)
    for row in range(40):
        if row % 3 == 2:  # as the mean of repeats of which each has three times the noise
            apart = np.array([-0.3, 0.1, 0.2])
            opt.tell(X[row], (y[row] + apart).tolist(), noise_variance=3.0 * alpha[row])
        elif row % 3:
            opt.tell(X[row], y[row], noise_variance=alpha[row])
        else:
            opt.tell(X[row], y[row], std=math.sqrt(alpha[row]))
    points = np.linspace(0.0, 1.0, 23)[:, None]
    mean, std = opt.predict(points)
    expected_mean, expected_std = regression(X, y, alpha, points)
    np.testing.assert_allclose(mean, expected_mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(std, expected_std, rtol=0, atol=1e-8)


def test_known_and_unknown_noise_beside_each_other_and_repeats_are_those_of_scikit_learn():
    opt, rng = wv.make("gp-ucb", BOX, **GIVEN), np.random.default_rng(10002)
    X, y, alpha = rng.uniform(size=(30, 1)), rng.normal(size=30), np.full(30, 0.05)
    for row in range(30):
        if row % 3 == 0:
            opt.tell(X[row], y[row])
        elif row % 3 == 1:
            alpha[row] = 0.4
            opt.tell(X[row], y[row], noise_variance=0.4)
        else:
            alpha[row] = 0.05 / 4
            opt.tell(X[row], (y[row] + np.array([0.1, -0.1, 0.2, -0.2])).tolist())
    points = np.linspace(0.0, 1.0, 23)[:, None]
    for found, expected in zip(opt.predict(points), regression(X, y, alpha, points), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_noise_that_grows_with_age_grows_from_what_it_was():
    opt, rng = wv.make("w-gp-ucb", BOX, **GIVEN, forgetting=0.9), np.random.default_rng(10003)
    X, y, alpha = rng.uniform(size=(12, 1)), rng.normal(size=12), 10.0 ** rng.uniform(-3, 0, size=12)
    for row in range(12):
        opt.tell(X[row], y[row], noise_variance=alpha[row])
    points = np.linspace(0.0, 1.0, 23)[:, None]
    expected = regression(X, y, alpha * 0.9 ** -(13.0 - np.arange(1.0, 13.0)), points)
    for found, wanted in zip(opt.predict(points), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8)


# -- repeats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_repeats_of_known_noise_are_one_value_with_an_mth_of_it(name):
    one, many = (wv.make(name, BOX, **ALGORITHMS[name]) for _ in range(2))
    rng = np.random.default_rng(10004)
    for t in range(1, 36):
        x, m = many.ask(), 1 + t % 4
        assert one.ask() == x
        truth = value(x, t) + 0.1 * rng.normal()
        first = many.tell(x, [truth] * m, noise_variance=0.04)
        second = one.tell(x, truth, noise_variance=0.04 / m)
        assert first.y == truth
        assert (first.repeats, first.told_variance) == (m, 0.04)
        assert first.as_dict() | {"told_variance": 0.04 / m, "values": []} == second.as_dict()
    assert one.state() == many.state()


def test_repeats_with_the_noise_that_the_model_was_told_are_one_value_with_an_mth_of_it():
    one, many = (wv.make("et-gp-ucb", BOX, **GIVEN) for _ in range(2))
    for t in range(1, 30):
        x, m = many.ask(), 1 + t % 4
        assert one.ask() == x
        values = [value(x, t) + 0.1 * k for k in range(m)]
        event = many.tell(x, values)
        assert one.tell(x, event.y, noise_variance=0.05 / m).reset == event.reset
        assert event.noise_variance == 0.05 / m
        np.testing.assert_array_equal(one.predict([[0.3]]), many.predict([[0.3]]))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_list_of_one_is_that_value(name):
    one, listed = (wv.make(name, BOX, **ALGORITHMS[name]) for _ in range(2))
    for t in range(1, 20):
        x = one.ask()
        first, second = one.tell(x, value(x, t)), listed.tell(x, [value(x, t)])
        assert second.as_dict() == first.as_dict() | {"values": [first.y]}
    assert one.state() == listed.state()


def test_the_mean_of_equal_values_is_that_value():
    for y in (0.1, 1e-3, 7.3, -1e99):
        for m in (2, 3, 7, 10):
            assert wv.make("gp-ucb", BOX, **GIVEN).tell([0.5], [y] * m).y == y


@pytest.mark.parametrize("noise", [0.03, 0.3])
def test_auto_learns_the_noise_from_what_repeats_scatter(noise):
    """Five visits to different places say nothing about the noise, but for the repeats."""
    opt, rng = wv.make(BOX, seed=10005), np.random.default_rng(10005)
    for _ in range(5):
        x = opt.ask()
        opt.tell(x, [value(x, 1) + noise * rng.normal() for _ in range(12)])
    event = opt.tell(opt.ask(), 0.0)
    assert 0.7 * noise < math.sqrt(event.noise_variance) < 1.4 * noise


@pytest.mark.parametrize("name", ["et-gp-ucb", "gp-ucb"])
def test_fits_learn_the_noise_from_what_repeats_scatter(name):
    opt, rng = wv.make(name, BOX, seed=10006), np.random.default_rng(10006)
    for _ in range(6):
        x = opt.ask()
        opt.tell(x, [value(x, 1) + 0.2 * rng.normal() for _ in range(12)])
    event = opt.tell(opt.ask(), 0.0)
    assert 0.14 < math.sqrt(event.noise_variance) < 0.28


def test_an_outlier_among_repeats_is_not_taken_for_noise():
    opt, rng = wv.make(BOX, seed=10007), np.random.default_rng(10007)
    for t in range(1, 41):
        x = opt.ask()
        values = [value(x, 1) + 0.1 * rng.normal() for _ in range(4)]
        if t in (15, 27):
            values[2] += 40.0
        opt.tell(x, values)
    assert math.sqrt(opt.tell(opt.ask(), 0.0).noise_variance) < 0.3


def test_known_noise_says_nothing_about_that_of_others():
    """Half of the values have ten times the noise, as was told: what is learned is that of the others."""
    opt, rng = wv.make(BOX, seed=10008), np.random.default_rng(10008)
    for t in range(1, 81):
        x = opt.ask()
        if t % 2:
            opt.tell(x, math.sin(6.0 * x[0]) + 1.0 * rng.normal(), std=1.0)
        else:
            event = opt.tell(x, math.sin(6.0 * x[0]) + 0.1 * rng.normal())
    assert 0.05 < math.sqrt(event.noise_variance) < 0.25
    assert opt.model.scaling.scale < 2.0


def test_very_noisy_values_do_not_blow_up_the_scale():
    """A mean of readings that is a thousand times noisier than f is large says next to nothing."""
    for name in ("auto", "et-gp-ucb", "gp-ucb"):
        opt, rng = wv.make(name, BOX, seed=10009), np.random.default_rng(10009)
        for t in range(1, 41):
            x = opt.ask()
            if t % 4 == 0:
                opt.tell(x, 1000.0 * rng.normal(), std=1000.0)
            else:
                opt.tell(x, math.sin(6.0 * x[0]) + 0.05 * rng.normal(), std=0.05)
        points = np.linspace(0.0, 1.0, 21)[:, None]
        near = np.abs(opt.predict(points)[0] - np.sin(6.0 * points[:, 0]))
        assert np.median(near) < 0.3, name


# -- triggers -----------------------------------------------------------------------------------------


def alarms(noise_told, runs=400, steps=12, delta=0.1):
    """The share of runs in which ExactBound fires, on a function of the model, with noise that varies."""
    rng, kernel, fired = np.random.default_rng(10010), wv.RBF(0.2), 0
    for run in range(runs):
        opt = wv.make(
            "et-gp-ucb",
            BOX,
            kernel=kernel,
            noise_variance=0.01,
            trigger=wv.ExactBound(delta),
            seed=10010 + run,
        )
        X, variances = rng.uniform(size=(steps, 1)), 10.0 ** rng.uniform(-2, 0, size=steps)
        f = np.linalg.cholesky(kernel.matrix(X, X) + 1e-10 * np.eye(steps)) @ rng.normal(size=steps)
        y = f + np.sqrt(variances) * rng.normal(size=steps)
        for row in range(steps):
            told = {"noise_variance": variances[row]} if noise_told else {}
            if opt.tell(X[row], y[row], **told).reset:
                fired += 1
                break
    return fired / runs


def test_false_alarms_of_the_exact_bound_keep_their_rate_when_the_noise_varies_tenfold():
    steps, delta, runs = 12, 0.1, 400
    logs = [math.log1p(-delta) / pi_t(t) for t in range(1, steps + 1)]
    expected = -math.expm1(sum(logs))
    spread = math.sqrt(expected * (1.0 - expected) / runs)
    assert abs(alarms(True, runs, steps, delta) - expected) < NormalDist().inv_cdf(0.999) * spread
    assert alarms(False, runs, steps, delta) > 0.5  # told nothing, it is wrong most of the time


@pytest.mark.parametrize("trigger", [wv.ExactBound(), wv.PosteriorBound(), wv.Likelihood(), wv.EDetector()])
def test_a_trigger_is_handed_the_noise_of_this_observation(trigger):
    """Five standard deviations off for the noise of the model, half of one for that of this value."""
    quiet, loud = (wv.make("et-gp-ucb", BOX, **GIVEN, trigger=trigger) for _ in range(2))
    for opt in (quiet, loud):
        for _ in range(10):
            opt.tell([0.5], 0.0)
    calm = loud.tell([0.5], 3.0, std=6.0)
    alarm = quiet.tell([0.5], 3.0)
    assert (calm.reset, alarm.reset) == (False, True)
    assert (calm.noise_variance, alarm.noise_variance) == (36.0, 0.05)


def test_auto_holds_a_far_value_of_known_noise_neither_for_an_outlier_nor_for_a_change():
    opt, rng = wv.make(BOX, seed=10011), np.random.default_rng(10011)
    for _ in range(40):
        x = opt.ask()
        opt.tell(x, math.sin(6.0 * x[0]) + 0.05 * rng.normal())
    event = opt.tell([0.3], 12.0, std=10.0)
    assert (event.reset, event.outlier) == (False, None)
    assert sum(weight for name, weight in event.beliefs.items() if name.endswith("at step 41")) < 0.05
    mean = opt.predict([[0.3]])[0]
    assert mean == pytest.approx(math.sin(1.8), abs=0.15)


@pytest.mark.parametrize("name", ["et-gp-ucb", "et-gp-ucb-backtracking"])
def test_what_a_reset_keeps_keeps_its_noise(name):
    opt = wv.make(name, BOX, **GIVEN)
    for t in range(12):
        opt.tell([0.1 * (t % 9)], 0.0, noise_variance=0.01)
    assert opt.tell([0.5], 2.5, noise_variance=0.02).reset
    assert not opt.tell([0.51], 2.5, noise_variance=0.03).reset
    assert 2 <= opt.size < 6
    assert opt.data.accuracy.variance.tolist() == [*[0.01] * 12, 0.02, 0.03][-opt.size :]


def test_the_second_look_at_what_was_set_aside_has_its_own_noise():
    trigger = wv.Confirmed(wv.ExactBound())
    opt = wv.make("et-gp-ucb", BOX, **GIVEN, trigger=trigger)
    for _ in range(10):
        opt.tell([0.5], 0.0)
    assert opt.tell([0.5], [3.0, 3.1], noise_variance=0.04).set_aside
    again = wv.restore(json.loads(json.dumps(opt.state())))
    assert again.state() == opt.state()
    event = again.tell(again.ask(), 3.0, std=0.1)
    assert event.reset
    assert opt.tell(opt.ask(), 3.0, std=0.1) == event


# -- state --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(10000, 10999), stop=st.integers(1, 30))
def test_a_restored_optimiser_goes_on_bit_for_bit_with_mixed_noises(name, seed, stop):
    opt, rng = wv.make(name, BOX, **ALGORITHMS[name]), np.random.default_rng(seed)
    for t in range(1, stop + 1):
        x = opt.ask()
        opt.tell(x, **measured(rng, x, t))
    again = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    for t in range(stop + 1, stop + 9):
        x = opt.ask()
        assert again.ask() == x
        told = measured(rng, x, t)
        assert again.tell(x, **told).as_dict() == opt.tell(x, **told).as_dict()
    assert again.state() == opt.state()


def test_regimes_of_before_keep_their_noise_in_the_state():
    opt, rng = wv.make(BOX, seed=10013), np.random.default_rng(10013)
    for t in range(1, 66):
        x = rng.uniform(size=1)
        shape = math.sin(6.0 * x[0]) if t <= 60 else math.cos(11.0 * x[0]) - 3.0
        opt.tell(x, shape + 0.1 * rng.normal(), std=0.1)
    state = opt.state()
    (regime,) = state["surrogate"]["archive"]["regimes"]
    assert all(row[4:] == [0.1**2, 1, 0.0, 0.0] for row in regime["data"])
    assert wv.restore(json.loads(json.dumps(state))).state() == state


@pytest.mark.parametrize("name", ["auto", "et-gp-ucb"])
def test_events_say_what_to_tell_again(name):
    opt, again = (wv.make(name, BOX, seed=10013) for _ in range(2))
    rng = np.random.default_rng(10013)
    for t in range(1, 31):
        x = opt.ask()
        event = opt.tell(x, **measured(rng, x, t))
        read = wv.Event.from_dict(json.loads(json.dumps(event.as_dict(), allow_nan=False)))
        assert again.tell(x, **read.told) == event
    assert again.state() == opt.state()


# -- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"y": 1.0, "noise_variance": 0.1, "std": 0.3}, "noise_variance=0.1 with std=0.3: give one of the"),
        *(({"y": 1.0, "noise_variance": bad}, "noise_variance=") for bad in (0.0, -1.0, NAN, INF, "1", True)),
        *(({"y": 1.0, "std": bad}, "std=") for bad in (0.0, -1.0, NAN, INF, "1", [0.1])),
        ({"y": []}, r"y=\[\]: must be a number, or a list of at least one"),
        ({"y": np.empty(0)}, r"y=\[\]"),
        ({"y": [1.0, NAN]}, r"y\[1\]=nan: must be a finite number"),
        ({"y": [1.0, "2"]}, r"y\[1\]='2'"),
        ({"y": [[1.0], [2.0]]}, r"y\[0\]="),
        ({"y": np.ones((2, 2))}, "y="),
        ({"y": "12"}, "y="),
        ({"y": {1.0, 2.0}}, "y="),
    ],
)
@pytest.mark.parametrize("name", ["auto", "et-gp-ucb"])
def test_bad_noise_and_repeats_are_refused_and_change_nothing(name, told, words):
    opt = wv.make(name, BOX, seed=0)
    opt.tell([0.5], 1.0)
    before = opt.state()
    with pytest.raises(wv.WindvaneError, match=words):
        opt.tell([0.2], **told)
    assert opt.state() == before


@pytest.mark.parametrize("name", ["auto", "et-gp-ucb", "gp-ucb"])
def test_the_smallest_and_the_largest_noise_are_borne(name):
    """What is exact to rounding, or nothing but noise, leaves finite numbers."""
    for variance in (1e-300, 1e-30, 1e30, 1e200):
        opt = wv.make(name, BOX, seed=0)
        for t in range(1, 26):
            x = [0.5] if t % 3 == 0 else opt.ask()
            opt.tell(x, math.sin(9.0 * float(x[0])) + 0.3 * (t % 2), noise_variance=variance)
        assert np.isfinite(opt.predict([[0.5], [0.9]])).all()


def test_arrays_and_tuples_are_lists_too():
    events = [
        wv.make("gp-ucb", BOX, **GIVEN).tell([0.5], y) for y in ([1.0, 2.0], (1, 2), np.array([1.0, 2.0]))
    ]
    assert events[0] == events[1] == events[2]
