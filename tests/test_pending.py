"""`ask(pending=...)`: several evaluations at once. The oracle is scikit-learn's GP and a fine grid."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as SklearnRBF

import windvane as wv

SPACES = {
    "box": wv.Box([(0, 1), (-2, 3)]),
    "arms": wv.Arms(7),
    "space": wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"])),
}
NAMES = ("auto", "et-gp-ucb", "et-gp-ucb-confirmed", "w-dbo", "tv-gp-ucb", "random")


def told(name, space, steps):
    options = {"rate": 0.03} if name == "tv-gp-ucb" else {}
    opt = wv.make(name, space, seed=3, **options)
    for step in range(steps):
        opt.tell(opt.ask(), float(np.sin(0.7 * step)))
    return opt


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_learned_and_a_restored_optimiser_agrees(name, space):
    opt = told(name, space, 25)
    before = json.dumps(opt.state())
    alone = opt.ask()
    pending = []
    for _ in range(4):
        pending.append(opt.ask(pending=pending))
    assert json.dumps(opt.state()) == before
    np.testing.assert_equal(opt.ask(), alone)
    np.testing.assert_equal(pending[0], alone)

    again = wv.restore(json.loads(before))
    for count, x in enumerate(pending):
        np.testing.assert_equal(again.ask(pending=pending[:count]), x)


def test_beside_others_it_maximises_the_bound_that_their_predicted_values_leave():
    """GP-BUCB: what is pending takes its predicted mean, so the mean stays and the deviation shrinks."""
    kernel, noise, beta = 0.25, 0.01, 4.0
    box = wv.Box([(0, 1), (0, 1)])
    opt = wv.make("gp-ucb", box, kernel=wv.RBF(kernel), noise_variance=noise, beta=beta, seed=0)
    rng = np.random.default_rng(5)
    X, y = rng.random((12, 2)), rng.normal(size=12)
    for x, value in zip(X, y, strict=True):
        opt.tell(x, float(value))
    pending = list(rng.random((3, 2)))
    chosen = opt.ask(pending=pending)

    def model(points, values):
        gp = GaussianProcessRegressor(SklearnRBF(kernel), alpha=noise, optimizer=None)
        return gp.fit(points, values)

    mean_there = model(X, y).predict(np.array(pending))
    imagined = model(np.vstack((X, pending)), np.append(y, mean_there))
    side = np.linspace(0, 1, 121)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

    def bound(points):
        mean, std = imagined.predict(points, return_std=True)
        return mean + np.sqrt(beta) * std

    assert bound(chosen[None])[0] >= bound(grid).max() - 1e-6
    # the test can tell: the point that is asked without them is worse here
    assert bound(opt.ask()[None])[0] < bound(grid).max() - 0.01


def test_on_a_box_the_points_of_one_moment_differ():
    opt = told("auto", SPACES["box"], 10)
    pending = []
    for _ in range(8):
        pending.append(opt.ask(pending=pending))
    distances = [np.abs(a - b).max() for i, a in enumerate(pending) for b in pending[:i]]
    assert min(distances) > 1e-3


def test_a_second_look_is_asked_for_once():
    box = wv.Box([(0, 1)])
    opt = wv.make("et-gp-ucb-confirmed", box, kernel=wv.RBF(0.3), noise_variance=0.01, seed=0)
    for _ in range(40):
        event = opt.tell(opt.ask(), 0.0)
    event = opt.tell(x := opt.ask(), 9.0)
    assert event.set_aside
    first = opt.ask(pending=[[0.123]])
    np.testing.assert_array_equal(first, x)
    assert abs(float(opt.ask(pending=[first])[0]) - float(x[0])) > 1e-6


@pytest.mark.parametrize("bad", [[[0.5]], [[0.5, 99.0]], [None], [[np.nan, 0.0]], ["x"]])
def test_bad_points_are_named_and_change_nothing(bad):
    opt = told("et-gp-ucb", SPACES["box"], 3)
    before = json.dumps(opt.state())
    with pytest.raises(wv.WindvaneError, match="x"):
        opt.ask(pending=bad)
    assert json.dumps(opt.state()) == before


@pytest.mark.parametrize("name", NAMES)
def test_where_there_is_one_point_it_is_asked_for_beside_itself(name):
    point = {"mode": "only"}
    assert told(name, wv.Space(mode=wv.Choice(["only"])), 2).ask(pending=[point, point]) == point


@pytest.mark.parametrize("name", ["auto", "et-gp-ucb"])
def test_many_at_once_are_what_one_after_another_gives(name):
    space = wv.Box([(0, 1), (0, 1)])

    def told():
        opt = wv.make(name, space, seed=3)
        for number in range(8):
            opt.tell([0.1 * number, (0.37 * number) % 1.0], float(np.sin(number)))
        return opt

    opt, beside = told(), []
    for _ in range(5):
        beside.append(told().ask(pending=beside))  # each time from the beginning
    assert np.array_equal(opt.ask(count=5), beside)
    other = opt.ask(pending=[[0.9, 0.9], *beside[1:]])  # no beginning of the points before
    assert np.array_equal(other, told().ask(pending=[[0.9, 0.9], *beside[1:]]))
    later = opt.ask(pending=beside[:2], time=50.0)  # nor the same time
    assert np.array_equal(later, told().ask(pending=beside[:2], time=50.0))
    opt.tell([0.5, 0.5], 3.0)
    twin = told()
    twin.tell([0.5, 0.5], 3.0)
    assert np.array_equal(opt.ask(pending=beside), twin.ask(pending=beside))


SMALL = {
    "choices and integers": wv.Space(n=wv.Integer(1, 3), m=wv.Choice(["a", "b"])),
    "an integer of many levels": wv.Space(n=wv.Integer(1, 10_000)),
    "more settings than a list takes": wv.Space({f"p{i}": wv.Integer(1, 4) for i in range(7)}),
    "steps": wv.Space(gain=wv.Real(0, 1, step=0.25), m=wv.Choice(["a", "b"])),
    "mixed": wv.Space(gain=wv.Real(0.1, 10, log=True), n=wv.Integer(1, 8), m=wv.Choice(["a", "b"])),
    "numbered": wv.Candidates(np.array([[0.0], [0.2], [0.5], [0.6], [0.9], [1.0]])),
}


@pytest.mark.parametrize(
    "options",
    [{}, {"noise_variance": 1.0}, {"acquisition": wv.Thompson()}, {"acquisition": wv.Uniform()}],
    ids=str,
)
@pytest.mark.parametrize("space", SMALL.values(), ids=SMALL)
def test_several_at_once_differ_while_there_are_others(space, options):
    rng = np.random.default_rng(0)
    opt = wv.make(space, seed=0, **options)
    for steps in (0, 2, 14):
        for _ in range(steps):
            opt.tell(opt.ask(), float(rng.normal()))
        assert len({json.dumps(x) for x in opt.ask(count=6)}) == 6
    if space.size == 6:  # then the same ones again
        assert len({json.dumps(x) for x in opt.ask(count=8)}) == 6


def test_several_at_once_differ_under_a_context():
    space = wv.Space(m=wv.Choice(["a", "b", "c"]), load=wv.Context(0, 100))
    opt = wv.make(space, seed=0, max_points=2)
    for load in (3.0, 50.0, 97.0):
        asked = opt.ask(count=3, context={"load": load})
        assert {x["m"] for x in asked} == {"a", "b", "c"}
        opt.tell(asked[0], 1.0)


def test_each_of_several_is_one_move_from_the_one_before():
    opt = wv.make(wv.Space(n=wv.Integer(0, 4)), seed=0, max_step=0.1)
    opt.tell({"n": 2}, 1.0)
    asked = [2, *(x["n"] for x in opt.ask(count=5))]
    assert all(abs(a - b) <= 1 for a, b in pairwise(asked))
    assert len(set(asked)) == 4  # in a corner, where one has to turn back
    rows = wv.make(wv.Candidates([[0.0], [0.5], [1.0]]), seed=0, max_step=0.1)
    rows.tell(2, 1.0)
    assert rows.ask(count=3) == [2, 2, 2]  # no other is within reach
