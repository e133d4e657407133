"""`max_step` and `move_cost`: no move is longer than it may be, and moves that cost are made for a reason."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.acquisition.priced import PricedPosterior
from windvane.moves import per_axis, steps_between, toll

BOX = wv.Box([(0.0, 1.0), (0.0, 10.0)])
MIXED = wv.Space(
    gain=wv.Real(0.1, 10, log=True),
    flow=wv.Real(-5, 5),
    taps=wv.Integer(1, 4),
    count=wv.Integer(1, 1000, log=True),
    mode=wv.Choice(["a", "b", "c"]),
)
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.02, "seed": 0}
UNITS = {"gain": 0.4, "flow": 0.7, "taps": 1, "count": 30}


def value(x):
    return float(math.sin(3.0 * x["flow"]) + math.log(x["gain"]) - 0.1 * x["taps"] + (x["mode"] == "b"))


def too_far(before, after, steps):
    return {
        name: (before[name], after[name])
        for name, step in steps.items()
        if abs(after[name] - before[name]) > step * (1.0 + 1e-9)
    }


@pytest.mark.parametrize(
    ("name", "count", "failing"),
    [("random", 3_000, 0.0), ("random", 500, 0.05), ("gp-ucb", 100, 0.05), ("auto", 40, 0.05)],
)
def test_no_step_is_longer_than_it_may_be(name, count, failing):
    """With resets, failures, tells from somewhere else, and points that are out."""
    rng = np.random.default_rng(10_700)
    given = {} if name == "auto" else {"kernel": wv.RBF(0.5), "noise_variance": 0.02}
    opt = wv.make(name, MIXED, max_step=UNITS, seed=1, max_points=8, **given)
    last = None
    for _ in range(count):
        x = opt.ask()
        assert last is None or not too_far(last, x, UNITS)
        drawn = rng.random()
        if drawn < 0.02:
            several = opt.ask(count=3)
            for before, after in zip([last or several[0], *several], several, strict=False):
                assert not too_far(before, after, UNITS)
        elif drawn < 0.02 + failing:
            opt.fail(x)
            last = x
            continue
        elif drawn < 0.09:
            opt.reset("new pump")
        elif drawn < 0.11:
            x = MIXED.decode(MIXED.sample(rng, 1)[0])  # the operator went somewhere else
        opt.tell(x, value(x))
        last = x


@settings(max_examples=40, deadline=None)
@given(
    share=st.floats(0.001, 2.0),
    seed=st.integers(0, 10**6),
    start=st.tuples(st.floats(0.1, 10), st.floats(-5, 5), st.integers(1, 4), st.integers(1, 1000)),
)
def test_a_share_of_each_range(share, seed, start):
    opt = wv.make("random", MIXED, max_step=share, seed=seed)
    x = dict(zip(("gain", "flow", "taps", "count"), start, strict=True), mode="a")
    for _ in range(5):
        opt.tell(x, 0.0)
        new = opt.ask()
        assert abs(new["flow"] - x["flow"]) <= 10.0 * share * (1.0 + 1e-9)
        assert abs(math.log(new["gain"] / x["gain"])) <= math.log(100.0) * share * (1.0 + 1e-9)
        assert abs(new["taps"] - x["taps"]) <= max(3.0 * share, 1.0) * (1.0 + 1e-9)
        ratio = abs(math.log(new["count"] / x["count"]))
        assert ratio <= math.log(1000.0) * share * (1.0 + 1e-9) or abs(new["count"] - x["count"]) <= 1
        x = new


def test_it_walks_to_what_is_best():
    opt = wv.make("gp-ucb", BOX, max_step=[0.1, 1.0], beta=0.1, **GIVEN)
    opt.tell([0.05, 0.5], 0.0)
    path = []
    for _ in range(40):
        x = opt.ask()
        path.append(x)
        opt.tell(x, -((x[0] - 0.9) ** 2) - (0.1 * x[1] - 0.8) ** 2)
    assert np.abs(path[-1] - [0.9, 8.0]).max() < 1.0
    assert np.abs(np.diff([[0.05, 0.5], *path], axis=0) / [0.1, 1.0]).max() <= 1.0 + 1e-9


def test_best_says_how_far_away_it_is():
    opt = wv.make("gp-ucb", BOX, max_step=[0.1, None], **GIVEN)
    for x in ([0.9, 5.0], [0.8, 4.0], [0.1, 5.0]):
        opt.tell(x, 3.0 * x[0])
    best = opt.best()
    assert best.steps == math.ceil((best.x[0] - 0.1) / 0.1 - 1e-9) >= 7
    assert wv.make("gp-ucb", BOX, **GIVEN)._chooser(1.0).reachable(wv.Region.all_of(BOX), np.zeros(2)).whole
    free = wv.make("gp-ucb", BOX, **GIVEN)
    free.tell([0.9, 5.0], 1.0)
    assert free.best().steps is None


def test_steps_between_counts_levels():
    limit = per_axis("max_step", {"taps": 2.5, "flow": 0.7}, MIXED)
    a = MIXED.encode({"gain": 1.0, "flow": 0.0, "taps": 1, "count": 5, "mode": "a"})
    b = MIXED.encode({"gain": 9.0, "flow": 0.6, "taps": 4, "count": 5, "mode": "b"})
    assert steps_between(limit, MIXED, a, b) == 2
    assert steps_between(limit, MIXED, a, a) == 0


def test_the_state_has_it_and_is_as_it_was_without():
    opt = wv.make("gp-ucb", MIXED, max_step=UNITS, move_cost=0.2, **GIVEN)
    for _ in range(6):
        x = opt.ask()
        opt.fail(x) if x["taps"] == 2 else opt.tell(x, value(x))
    twin = wv.restore(json.loads(json.dumps(opt.state())))
    for _ in range(4):
        x = opt.ask()
        assert twin.ask() == x
        assert opt.tell(x, value(x)) == twin.tell(x, value(x))
    assert "moves" not in wv.make("gp-ucb", BOX, **GIVEN).state()["composition"]


def test_the_price_has_its_derivatives():
    price = per_axis("move_cost", {"gain": 0.3, "flow": 0.2, "count": 0.001}, MIXED)
    start, rng = MIXED.sample(np.random.default_rng(1), 1)[0], np.random.default_rng(0)
    points = rng.random((5, MIXED.dim))
    found, h = toll(price, MIXED, start, points, 2.0), 1e-5
    for axis in range(MIXED.dim):
        step = h * np.eye(MIXED.dim)[axis]
        up, down = (toll(price, MIXED, start, points + s, 2.0) for s in (step, -step))
        np.testing.assert_allclose(
            found.slope[:, axis], (up.cost - down.cost) / (2 * h), rtol=1e-5, atol=1e-7
        )
        np.testing.assert_allclose(
            found.bend[:, axis], (up.slope - down.slope)[:, axis] / (2 * h), rtol=1e-4, atol=1e-5
        )
    there = MIXED.encode({**MIXED.decode(start), "flow": 5.0})
    from_here = MIXED.decode(start)["flow"]
    far = toll(price, MIXED, start, there[None], 2.0).cost[0]
    assert far == pytest.approx(0.2 * (5.0 - from_here) / 2.0, abs=0.0011)


def test_a_priced_posterior_is_the_posterior_less_the_price():
    opt = wv.make("gp-ucb", BOX, **GIVEN)
    rng = np.random.default_rng(0)
    for x in rng.random((12, 2)) * [1, 10]:
        opt.tell(x, float(np.sin(4 * x[0]) + 0.1 * x[1]))
    price, start = per_axis("move_cost", [0.5, 0.1], BOX), np.array([0.3, 0.4])
    inner = opt._progress.surrogate.posterior(13.0)
    priced = PricedPosterior(inner, lambda points: toll(price, BOX, start, points, 1.0), start)
    points = rng.random((4, 2))
    cost = toll(price, BOX, start, points, 1.0).cost
    np.testing.assert_allclose(priced.at(points)[0], inner.at(points)[0] - cost)
    np.testing.assert_allclose(priced.mean(points), inner.mean(points) - cost)
    mean, variance = priced.on_candidates()
    np.testing.assert_allclose(mean, priced.at(priced.candidates)[0], atol=1e-9)
    np.testing.assert_allclose(variance, priced.at(priced.candidates)[1], atol=1e-9)
    surface, h = priced.surface(points), 1e-5
    hessian = surface.bend(1.0, np.zeros(4))
    for axis in range(2):
        step = h * np.eye(2)[axis]
        slope = (priced.mean(points + step) - priced.mean(points - step)) / (2 * h)
        np.testing.assert_allclose(surface.mean_gradient[:, axis], slope, rtol=1e-4, atol=1e-6)
        bend = (priced.surface(points + step).mean_gradient - priced.surface(points - step).mean_gradient) / (
            2 * h
        )
        np.testing.assert_allclose(hessian[:, axis], bend, rtol=1e-3, atol=1e-4)
    for row, x in enumerate(points):
        local = priced.local(x)
        np.testing.assert_allclose(
            local.means[:3], [surface.mean[row], *surface.mean_gradient[row]], atol=1e-8
        )
        np.testing.assert_allclose(local.means[3:], hessian[row][np.triu_indices(2)], atol=1e-6)


@pytest.mark.parametrize("acquisition", [wv.UCB(), wv.LogEI(), wv.Thompson()])
def test_what_moves_cost_is_saved(acquisition):
    travel = {}
    for price in (None, 3.0):
        opt = wv.make("gp-ucb", BOX, acquisition=acquisition, move_cost=price, **GIVEN)
        last, total = np.array([0.5, 5.0]), 0.0
        opt.tell(last, 0.0)
        for _ in range(25):
            x = opt.ask()
            total += float(np.abs((x - last) / [1, 10]).sum())
            last = x
            opt.tell(x, float(np.sin(5 * x[0]) + np.cos(0.7 * x[1])))
        travel[price] = total
    assert travel[3.0] < 0.7 * travel[None]


@pytest.mark.parametrize("option", ["max_step", "move_cost"])
@pytest.mark.parametrize(
    ("space", "given"),
    [
        *[
            (BOX, bad)
            for bad in (0, 0.0, -1, math.nan, math.inf, "0.1", True, [0.1], [0.1, -1], [], {}, {2: 0.1})
        ],
        *[(BOX, bad) for bad in ({"x": 0.1}, {0: math.nan}, [[0.1, 0.1]], [0.1, None, 0.1], object())],
        *[(MIXED, bad) for bad in ({"mode": 1}, {"gian": 1}, {"gain": 0}, [0.1] * 5, {"gain": "1"})],
        (wv.Arms(4), 0.1),
        (wv.Space(mode=wv.Choice(["a", "b"])), 0.1),
    ],
)
def test_bad_input_is_refused(option, space, given):
    with pytest.raises(wv.WindvaneError, match=option):
        wv.make("gp-ucb", space, **{option: given})


def test_an_integer_must_be_able_to_move():
    with pytest.raises(wv.InvalidArgument, match=r"max_step\['taps'\]=0.5: must be at least 1"):
        wv.make("gp-ucb", MIXED, max_step={"taps": 0.5})
    wv.make("gp-ucb", MIXED, move_cost={"taps": 0.5})
    with pytest.raises(wv.InvalidArgument, match="does not use move_cost"):
        wv.make("random", MIXED, move_cost=0.5)


def test_candidates_in_reach():
    grid = [{"a": a, "b": b} for a in range(11) for b in (0.0, 1.0, 2.0)]
    opt = wv.make("gp-ucb", wv.Candidates(grid), max_step={"a": 2}, **GIVEN)
    last = 0
    for _ in range(15):
        opt.tell(last, float(grid[last]["a"]))
        x = opt.ask()
        assert abs(grid[x]["a"] - grid[last]["a"]) <= 2
        last = x
    assert grid[last]["a"] >= 8


def test_a_range_of_all_magnitudes():
    space = wv.Space(gain=wv.Real(1e-300, 1e300, log=True))
    opt = wv.make(space, max_step={"gain": 10.0}, move_cost={"gain": 1e-300}, seed=0)
    opt.tell({"gain": 5.0}, 1.0)
    for step in range(8):
        x = opt.ask()
        before = opt.data.X[-1]
        assert abs(x["gain"] - space.decode(before)["gain"]) <= 10.0 * (1.0 + 1e-9)
        opt.tell(x, float(step))


def test_the_price_of_a_move_along_a_huge_range():
    opt = wv.make(wv.Box([(0, 1e300)]), move_cost=[1e-300], seed=0)
    for step in range(8):
        opt.tell(opt.ask(), float(step % 3))
    assert 0.0 <= opt.ask()[0] <= 1e300


@pytest.mark.parametrize("acquisition", [wv.UCB(), wv.LogEI(), wv.Thompson()], ids=str)
def test_a_price_beyond_all_measure_is_to_stay(acquisition):
    opt = wv.make(wv.Box([(0, 1)] * 2), move_cost=1e200, acquisition=acquisition, seed=0)
    for step in range(8):
        x = opt.ask()
        opt.tell(x, float(step % 3))
    np.testing.assert_array_equal(opt.ask(), x)
