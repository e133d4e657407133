"""Ackley and Hartmann: the functions, their optima by global search, and the shift halfway."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import differential_evolution, minimize

import windvane as wv
from windvane.tasks import AckleyShift, HartmannShift
from windvane.tasks.standard import hartmann_peak

BOTH = [AckleyShift, HartmannShift]


def ackley(x):
    """Straight from the textbook."""
    d = len(x)
    hill = -20.0 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / d))
    ripples = -math.exp(sum(math.cos(2.0 * math.pi * v) for v in x) / d)
    return -(hill + ripples + 20.0 + math.e)


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_ackley_is_the_textbook_function(dim):
    task = AckleyShift(dim=dim)
    for x in np.random.default_rng(dim).uniform(-5.0, 10.0, size=(50, dim)):
        assert task.value(x, 30) == pytest.approx(ackley(x), abs=1e-12)
        assert task.value(x, 31) == pytest.approx(ackley(x - 5.0), abs=1e-12)


def test_hartmann_has_the_published_maximum():
    published = [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]
    np.testing.assert_allclose(hartmann_peak(), published, atol=5e-6)
    assert HartmannShift.function(hartmann_peak()) == pytest.approx(3.32237, abs=5e-6)
    local = np.array([0.40465, 0.88244, 0.84610, 0.57399, 0.13893, 0.03850])
    assert HartmannShift.function(local) == pytest.approx(3.20316, abs=5e-6)


def test_the_peak_of_hartmann_is_a_maximum_to_rounding():
    peak, top = hartmann_peak(), HartmannShift.function(hartmann_peak())
    for j in range(6):
        for h in (-1e-6, 1e-6, 1e-4, -1e-4):
            assert HartmannShift.function(peak + h * np.eye(6)[j]) < top
    slope = [
        (HartmannShift.function(peak + 1e-5 * e) - HartmannShift.function(peak - 1e-5 * e)) / 2e-5
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(slope, 0.0, atol=1e-8)


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("make", BOTH)
def test_a_global_search_finds_the_optimum_and_nothing_better(make, moment):
    task = make()
    t, bounds = task.horizon // 2 + (moment == "after"), task.space.bounds

    def cost(x):
        return -task.value(x, t)

    searches = [differential_evolution(cost, bounds, rng=0, popsize=8, maxiter=60)]
    if make is HartmannShift:  # evolution likes its local maximum, 3.2032, better: so climb from everywhere
        starts = task.space.candidates(32)
        searches += [minimize(cost, start, method="L-BFGS-B", bounds=bounds) for start in starts]
    found, best = min(searches, key=lambda search: search.fun), task.optimum(t)
    assert -found.fun == pytest.approx(best, abs=1e-6)
    assert -found.fun <= best + 1e-12
    np.testing.assert_allclose(found.x, best.x, atol=1e-3)


def test_no_grid_point_of_ackley_is_better():
    axis = np.linspace(-5.0, 10.0, 31)
    for t in (30, 31):
        values = [AckleyShift().value([a, b], t) for a in axis for b in axis]
        assert max(values) == AckleyShift().optimum(t) == 0.0  # both places are on the grid


@given(st.lists(st.floats(-100.0, 100.0), min_size=6, max_size=6))
def test_nowhere_is_better_than_the_peak(z):
    """In all of R^6, which is why a shift inside the box leaves the maximum alone."""
    z = np.array(z)
    assert HartmannShift.function(z) <= HartmannShift.function(hartmann_peak())
    assert HartmannShift.function(z / 100.0) <= HartmannShift.function(hartmann_peak())
    assert AckleyShift.function(z) <= 0.0


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("horizon", [1, 2, 3, 10, 11])
def test_the_shift_comes_after_half_of_the_steps(make, horizon):
    task = make(horizon=horizon)
    start = make(horizon=2).optimum(1).x
    for t in range(1, horizon + 1):
        moved = task.shift if t > horizon / 2 else 0.0
        np.testing.assert_allclose(task.optimum(t).x, start + moved)
        assert task.value(task.optimum(t).x, t) == pytest.approx(task.optimum(t), abs=1e-12)


@pytest.mark.parametrize("make", BOTH)
def test_the_optimum_is_inside_with_a_margin_and_not_at_the_centre(make):
    task = make()
    for t in (1, task.horizon):
        unit = task.space.encode(task.optimum(t).x)
        assert unit.min() > 0.1
        assert unit.max() < 0.9
        assert np.abs(unit - 0.5).max() > 0.15
    assert task.value(task.optimum(1).x, task.horizon) < task.optimum(1) - 2.0  # standing still costs


@pytest.mark.parametrize("make", BOTH)
def test_the_noise_is_a_hundredth_of_the_spread(make):
    task, rng = make(), np.random.default_rng(0)
    values = [task.value(task.space.decode(u), 1) for u in task.space.sample(rng, 5000)]
    assert math.sqrt(task.noise_variance) == pytest.approx(0.01 * np.std(values), rel=0.1)


def test_shifts_of_ones_own():
    one, many = AckleyShift(shift=[1.0, -2.0], horizon=4), AckleyShift(dim=3, shift=np.array([0.0, 1.0, 9.0]))
    assert one.optimum(3).x.tolist() == [1.0, -2.0]
    assert many.optimum(60).x.tolist() == [0.0, 1.0, 9.0]
    assert AckleyShift(shift=0.0).value([3.0, 1.0], 60) == AckleyShift().value([3.0, 1.0], 1)
    assert AckleyShift(shift=10).optimum(60).x.tolist() == [10.0, 10.0]  # the corner is still inside
    assert not np.shares_memory(one.optimum(1).x, one.optimum(2).x)


def test_by_name_and_in_the_loop():
    task = wv.task("ackley-shift", horizon=12, seed=4)
    assert (task.name, task.kernel, task.seed, task.space) == (
        "ackley-shift",
        None,
        4,
        wv.Box([(-5, 10)] * 2),
    )
    assert wv.task("hartmann-shift").horizon == 200
    assert {"ackley-shift", "hartmann-shift"} <= set(wv.tasks())
    for kind in ("ackley-shift", "hartmann-shift"):
        task = wv.task(kind, horizon=12)
        trace = wv.simulate(wv.make("et-gp-ucb", task.space, seed=0), task)  # learns its lengthscales
        assert (trace.regret >= 0.0).all()


BAD = {
    "horizon": [0, -1, 1.5, "9", math.nan, None],
    "seed": [-1, 1.5, "0", None],
    "noise_variance": [0.0, -1.0, math.nan, math.inf, "0.1", None],
    "shift": [
        math.nan,
        math.inf,
        "1",
        None,
        True,
        10.5,
        -6.0,
        [1.0],
        [0.0, math.nan],
        [[1.0]],
        [1.0, [2.0]],
        {},
    ],
}


@pytest.mark.parametrize("argument", BAD)
@pytest.mark.parametrize("make", BOTH)
def test_bad_options_are_named(make, argument):
    for value in BAD[argument]:
        with pytest.raises(wv.WindvaneError, match=f"^{argument}"):
            make(**{argument: value})


def test_bad_dimensions_points_and_times():
    for dim in (0, -1, 2.0, "2", None):
        with pytest.raises(wv.WindvaneError, match=r"^dim="):
            AckleyShift(dim=dim)
    with pytest.raises(wv.InvalidArgument, match=r"^shift=0\.4: moves .* from -0\.15 to 0\.3427 keeps"):
        HartmannShift(shift=0.4)
    task = AckleyShift()
    for method in (partial(task.value, [0.0, 0.0]), task.optimum):
        for t in (0, 61, 1.5, "1", None, True):
            with pytest.raises(wv.WindvaneError, match=r"^t="):
                method(t)
    for x in ([0.0], [0.0, math.nan], [0.0, 11.0], None, "ab"):
        with pytest.raises(wv.WindvaneError, match=r"^x"):
            task.value(x, 1)
