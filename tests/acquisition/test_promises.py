"""What `ask` and `best` promise on every space: no told point is passed over, and the work is bounded."""

import json
import math

import numpy as np
import pytest

import windvane as wv
from windvane.acquisition import Moment
from windvane.surrogates import candidates
from windvane.surrogates.gp import GP


def highest_told(opt, told):
    """The highest predicted mean of all points told, through the public door."""
    return float(opt.predict(told)[0].max())


# -- many arms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [4096, 4097, 20_000])
@pytest.mark.parametrize("arm", [1, 2_001, 4_003])
def test_an_arm_told_twice_is_the_best(n, arm):
    opt = wv.make("gp-ucb", wv.Arms(n), noise_variance=0.01, seed=0)
    for x in (0, arm, 7, arm):
        opt.tell(x, 10.0 if x == arm else 0.0)
    assert opt.best().x == arm


def test_arms_with_a_covariance_are_all_searched(monkeypatch):
    """The arm beside two good ones is the best, although nobody tried it; with limits that 300 arms exceed."""
    monkeypatch.setattr(candidates, "EVERYTHING", 100)
    monkeypatch.setattr(candidates, "SCATTERED", 20)
    rows = np.arange(300)
    near = np.exp(-0.5 * ((rows[:, None] - rows) / 2.0) ** 2) + 1e-6 * np.eye(300)
    opt = wv.make("gp-ucb", wv.Arms(300), kernel=wv.Empirical(near), noise_variance=0.01, seed=0)
    opt.tell(110, 1.0)
    opt.tell(112, 1.0)
    assert opt.best().x == 111


def test_two_hundred_thousand_arms():
    """The default kernel of arms needs no matrix."""
    opt = wv.make("gp-ucb", wv.Arms(200_000), noise_variance=0.01, seed=0)
    asked = set()
    for _ in range(6):
        x = opt.ask()
        asked.add(x)
        opt.tell(x, -1.0)
    assert len(asked) == 6  # what was told is poor, and what was not told is as good as any
    opt.tell(123_456, 3.0)
    opt.tell(123_456, 3.0)
    assert opt.best().x == 123_456
    again = wv.restore(json.loads(json.dumps(opt.state())))
    assert again.ask() == opt.ask()


def test_untold_arms_are_asked_for_when_all_candidates_are_told():
    """Each of 4,300 arms is asked for in turn, also those that are no fixed candidate."""
    arms = wv.Arms(4_300)
    opt = wv.make("gp-ucb", arms, noise_variance=0.01, seed=3)
    told = set(arms.candidates(1024)[:, 0].astype(int).tolist())
    data = wv.Dataset.empty(1)
    for t, arm in enumerate(sorted(told), start=1):
        data += wv.Observation(np.array([float(arm)]), -1.0, 1.0, t)
    opt._progress = opt._progress._replace(
        surrogate=opt._progress.surrogate.follow(data),
        step=len(told) + 1,
        last_time=1.0,
        last_point=np.array([0.0]),
    )
    assert opt.ask() not in told


def test_a_state_of_arms_with_a_unit_matrix_is_still_read():
    opt = wv.make("gp-ucb", wv.Arms(5), kernel=wv.Empirical(np.eye(5)), noise_variance=0.01, seed=0)
    plain = wv.make("gp-ucb", wv.Arms(5), kernel=wv.Independent(), noise_variance=0.01, seed=0)
    for _ in range(12):
        x = opt.ask()
        assert plain.ask() == x
        for each in (opt, plain):
            each.tell(x, math.sin(x))
    state = json.loads(json.dumps(opt.state()))
    assert state["composition"]["model"]["kernel"]["type"] == "Empirical"
    assert wv.restore(state).ask() == opt.ask() == plain.ask()


# -- no told point is passed over ---------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.2, 0.4, 0.6])
def test_best_is_not_below_a_told_point_among_many_choices(scale):
    letters = list("abcde")
    space = wv.Space({f"c{i}": wv.Choice(letters) for i in range(6)})
    for seed in range(3):
        rng = np.random.default_rng(seed)
        worth = rng.normal(size=(6, 5))
        opt = wv.make("gp-ucb", space, kernel=wv.RBF(scale), noise_variance=0.01, seed=seed)
        told = []
        for _ in range(30):
            x = opt.ask() if rng.random() < 0.5 else space.decode(space.sample(rng, 1)[0])
            told.append(x)
            opt.tell(x, float(sum(worth[i, letters.index(x[f"c{i}"])] for i in range(6))))
            assert opt.best().mean >= highest_told(opt, told) - 1e-9


@pytest.mark.parametrize("algorithm", ["gp-ucb", "tv-gp-ucb"])
@pytest.mark.parametrize(("dim", "scale"), [(1, 0.001), (2, 0.005), (3, 0.02), (5, 0.1)])
def test_best_is_not_below_a_told_point_for_short_lengthscales(algorithm, dim, scale):
    box = wv.Box([(0, 1)] * dim)
    more = {"rate": 0.03} if algorithm == "tv-gp-ucb" else {}
    for seed in range(3):
        opt = wv.make(algorithm, box, kernel=wv.RBF(scale), noise_variance=0.01, seed=seed, **more)
        rng = np.random.default_rng(seed)
        told = []
        for t in range(15):
            told.append(rng.uniform(size=dim) if t % 2 else opt.ask())
            opt.tell(told[-1], float(rng.normal()))
        assert opt.best().mean >= highest_told(opt, np.array(told)) - 1e-9


@pytest.mark.parametrize("algorithm", ["auto", "gp-ucb", "tv-gp-ucb-mle"])
def test_best_is_not_below_a_told_point_when_told_nothing(algorithm):
    space = wv.Space(a=wv.Real(0, 1), k=wv.Integer(1, 12), m=wv.Choice(["x", "y", "z"]))
    opt = wv.make(algorithm, space, seed=1)
    rng = np.random.default_rng(1)
    told = []
    for _ in range(25):
        told.append(opt.ask())
        opt.tell(told[-1], math.sin(6.0 * told[-1]["a"]) + 0.1 * told[-1]["k"] + 0.1 * float(rng.normal()))
        kept = [space.decode(x) for x in opt.data.X]
        assert opt.best().mean >= highest_told(opt, kept) - 1e-9


# -- where the posterior cannot tell, a measured point -------------------------------------------------


@pytest.mark.parametrize("algorithm", ["auto", "gp-ucb", "et-gp-ucb", "random"])
@pytest.mark.parametrize("y", [-2.0, 0.0, 3.0])
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_best_after_one_tell_is_the_point_told(algorithm, y, goal):
    for given in ({}, {"kernel": wv.RBF(0.1), "noise_variance": 0.01}):
        opt = wv.make(algorithm, wv.Box([(0, 1), (0, 1)]), goal=goal, seed=0, **given)
        opt.tell([0.3, 0.8], y)
        value = opt.best()
        np.testing.assert_allclose(value.x, [0.3, 0.8], atol=0.02)
        if y == 0.0 or (y < 0.0) == (goal == "maximize"):
            assert np.array_equal(value.x, [0.3, 0.8])


def test_best_of_poor_points_is_the_least_poor():
    """All values are below the prior mean, which is what the model says of everything far away."""
    opt = wv.make("gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.05), noise_variance=1e-4, seed=0)
    for x, y in ((0.1, -3.0), (0.5, -1.0), (0.9, -2.0)):
        opt.tell([x], y)
    assert opt.best().x.tolist() == [0.5]
    arms = wv.make("gp-ucb", wv.Arms(9), noise_variance=0.01, seed=0)
    for x, y in ((1, -3.0), (4, -1.0), (7, -2.0)):
        arms.tell(x, y)
    assert arms.best().x == 4


def test_best_may_lie_between_measured_points():
    """Where the data do tell, the maximiser of the mean is a point that nobody tried."""
    opt = wv.make("gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.3), noise_variance=1e-4, seed=0)
    for x in (0.1, 0.3, 0.45, 0.8, 1.0):
        opt.tell([x], 1.0 - 4.0 * (x - 0.6) ** 2)
    assert opt.best().x[0] == pytest.approx(0.6, abs=0.03)


# -- the work of an ask is bounded ---------------------------------------------------------------------


@pytest.fixture
def evaluated(monkeypatch):
    """Counts the points at which the posterior is evaluated."""
    counts = {"points": 0}

    def counted(name, size):
        inner = getattr(GP, name)

        def call(self, points, now, *axes):
            counts["points"] += size(points)
            return inner(self, points, now, *axes)

        monkeypatch.setattr(GP, name, call)

    counted("at", len)
    counted("surface", len)
    counted("local", lambda x: 1)
    return counts


@pytest.mark.parametrize("levels", [10**4, 10**6, 10**9])
@pytest.mark.parametrize("log", [False, True])
def test_an_ask_is_bounded_whatever_the_number_of_levels(evaluated, levels, log):
    space = wv.Space(b=wv.Real(0, 1), k=wv.Integer(1, levels, log=log))
    for seed in range(3):
        opt = wv.make("gp-ucb", space, kernel=wv.RBF(0.2), noise_variance=0.01, seed=seed)
        for _ in range(24):
            evaluated["points"] = 0
            x = opt.ask()
            assert evaluated["points"] < 4_000
            unit = space.encode(x)
            opt.tell(x, math.cos(5.0 * (unit[0] - unit[1])) - (unit[1] - 0.7) ** 2)


def test_a_fine_integer_is_searched_as_well_as_a_real_number():
    """A ridge across both coordinates: walking one level at a time would never arrive."""
    fine = wv.Space(b=wv.Real(0, 1), k=wv.Integer(0, 10**6))
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(20, 2))
    values = [math.cos(9.0 * (a - b)) - (b - 0.7) ** 2 for a, b in points]
    opt = wv.make("gp-ucb", fine, kernel=wv.RBF(0.3), noise_variance=1e-4, seed=0)
    box = wv.make("gp-ucb", wv.Box([(0, 1), (0, 1)]), kernel=wv.RBF(0.3), noise_variance=1e-4, seed=0)
    for (a, b), y in zip(points, values, strict=True):
        level = round(b * 10**6)
        opt.tell({"b": a, "k": level}, y)
        box.tell([a, level / 10**6], y)
    assert opt.best().mean == pytest.approx(box.best().mean, abs=1e-5)


@pytest.mark.parametrize("levels", [24, 60, 200])
def test_integers_beside_a_real_number_against_every_level(levels):
    """With the integer at each of its levels, and the real number on a fine grid."""
    space = wv.Space(b=wv.Real(0, 1), k=wv.Integer(1, levels))
    axis = np.linspace(0.0, 1.0, 201)
    every = np.array([(a, k / (levels - 1)) for k in range(levels) for a in axis])
    for seed in range(6):
        rng = np.random.default_rng(seed)
        opt = wv.make("gp-ucb", space, kernel=wv.RBF(0.15), noise_variance=0.01, seed=seed)
        for unit in space.sample(rng, 15):
            opt.tell(space.decode(unit), float(rng.normal()))
        posterior = opt._progress.surrogate.posterior(opt.time)
        mean, variance = posterior.at(every)
        c = opt.composition.acquisition.schedule.multiplier(Moment(opt.step, opt.step, 2, lambda: 0.0))
        x = space.encode(opt.ask())
        reached = [float(each[0]) for each in posterior.at(x[None])]
        assert reached[0] + c * math.sqrt(reached[1]) >= (mean + c * np.sqrt(variance)).max() - 1e-3


@pytest.mark.parametrize("algorithm", ["gp-ucb", "auto"])
def test_a_long_choice_beside_real_numbers_against_every_option(algorithm):
    """With each option, and the real numbers on a grid."""
    options = 40
    space = wv.Space(mode=wv.Choice(list(range(options))), a=wv.Real(0, 1), b=wv.Real(0, 1))
    line = np.linspace(0.0, 1.0, 11)
    grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    blocks = np.repeat(np.eye(options) / math.sqrt(2.0), len(grid), axis=0)
    every = np.hstack((blocks, np.tile(grid, (options, 1))))
    kernel = wv.RBF([1.0] * options + [0.3, 0.3])
    for seed in range(2):
        rng = np.random.default_rng(seed)
        opt = wv.make(algorithm, space, kernel=kernel, noise_variance=0.01, seed=seed)
        for unit in space.sample(rng, 30):
            opt.tell(space.decode(unit), float(rng.normal()))
        posterior = opt._progress.surrogate.posterior(opt.time)
        mean, variance = posterior.at(every)
        acquisition = opt.composition.acquisition
        schedule = getattr(acquisition, "then", acquisition).schedule
        c = schedule.multiplier(Moment(opt.step, opt.step, 3, lambda: 0.0))
        reached = [float(each[0]) for each in posterior.at(space.encode(opt.ask())[None])]
        assert reached[0] + c * math.sqrt(reached[1]) >= (mean + c * np.sqrt(variance)).max() - 1e-3


def test_a_climb_takes_no_derivatives_along_the_options_of_a_long_choice(monkeypatch):
    """A Hessian in 100 coordinates, of which one moves, was most of an ask."""
    widths = []
    for name in ("jet", "expand", "jet_along", "expand_along"):
        inner = getattr(wv.RBF, name)

        def call(self, a, B, *axes, inner=inner):
            widths.append(len(axes[0]) if axes else a.shape[-1])
            return inner(self, a, B, *axes)

        monkeypatch.setattr(wv.RBF, name, call)
    space = wv.Space(mode=wv.Choice(list(range(100))), a=wv.Real(0, 1))
    for more in ({}, {"move_cost": {"a": 0.1}}):
        opt = wv.make(space, kernel=wv.RBF([1.0] * 100 + [0.3]), noise_variance=0.01, seed=0, **more)
        for _ in range(8):
            x = opt.ask(pending=[{"mode": 7, "a": 0.5}])
            opt.tell(x, x["mode"] / 100.0 - (x["a"] - 0.3) ** 2)
    assert widths
    assert max(widths) == 1


def test_a_parameter_may_be_called_self():
    space = wv.Space(self=wv.Real(0, 1), parameters=wv.Integer(1, 3))
    assert space.decode(space.encode({"self": 0.5, "parameters": 2})) == {"self": 0.5, "parameters": 2}
    assert wv.restore(wv.make(space, seed=0).state()).space == space
