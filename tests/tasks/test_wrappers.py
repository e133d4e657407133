"""Wrappers: what each one does, and that any nest of them is a task with a true optimum."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import windvane as wv
from windvane.tasks import Optimum, Task
from windvane.tasks.rolling import roll
from windvane.tasks.wrappers import jump, noise, outliers, rate, shift

T = 12


class Dice:
    """Asks at random and remembers what it is told."""

    def __init__(self, space):
        self.space, self.rng, self.told = space, np.random.default_rng(0), []

    def ask(self):
        return self.space.decode(self.space.sample(self.rng, 1)[0])

    def tell(self, x, y):
        self.told.append((x, y))


def run(task, seed):
    """The trace, the points and the observations."""
    dice = Dice(task.space)
    trace = wv.simulate(dice, task, seed=seed)
    return trace, [x for x, _ in dice.told], [y for _, y in dice.told]


class Slots:
    """Arms whose values are drawn; the best one changes with every step."""

    name, space, kernel, noise_variance, horizon = "slots", wv.Arms(5), None, 0.01, T

    def __init__(self, seed=0):
        self.values = np.random.default_rng(seed).normal(size=(T, 5))

    def value(self, x, t):
        return float(self.values[t - 1, x])

    def optimum(self, t):
        return Optimum(self.values[t - 1].max(), int(self.values[t - 1].argmax()))


class Corner:
    """Largest in a corner of the box, where a cyclic move has its seam."""

    name, space, kernel, noise_variance, horizon = (
        "corner",
        wv.Box([(-2.0, 3.0), (10.0, 1000.0)]),
        None,
        0.01,
        T,
    )

    def value(self, x, t):
        u = self.space.encode(x)
        return float(t * u[0] - u[1])

    def optimum(self, t):
        return Optimum(float(t), np.array([3.0, 10.0]))


class Mixed:
    """A real number, an integer and a choice."""

    name, kernel, noise_variance, horizon = "mixed", None, 0.01, T
    space = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 8), mode=wv.Choice(["a", 2, True]))

    def value(self, x, t):
        match = x["mode"] is True if t % 2 else x["mode"] == "a"
        return -abs(math.log10(x["gain"]) - 0.3) - abs(x["taps"] - 3) + float(match)

    def optimum(self, t):
        return Optimum(1.0, {"gain": 10**0.3, "taps": 3, "mode": True if t % 2 else "a"})


SQUARES = [wv.task("within-model", rate=0.2, horizon=T, seed=seed, grid=8) for seed in range(3)]
BY = {
    "square": (SQUARES, st.floats(-2.0, 2.0) | st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=2)),
    "slots": ([Slots(0), Slots(1)], st.integers(-9, 9)),
    "corner": ([Corner()], st.sampled_from([0.0, 0.3, -0.5, 1 / 3, 1.0]) | st.floats(-1.0, 1.0)),
    "mixed": (
        [Mixed()],
        st.fixed_dictionaries(
            {},
            optional={"gain": st.floats(-1.0, 1.0), "taps": st.integers(-9, 9), "mode": st.integers(-4, 4)},
        ),
    ),
}


@st.composite
def nests(draw, kind):
    """Up to four wrappers around a task."""
    bases, by = BY[kind]
    task = draw(st.sampled_from(bases))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(1, task.horizon))
        wrap = draw(st.sampled_from(["shift", "jump", "noise", "outliers", "rate"]))
        if wrap == "shift":
            task = shift(task, draw(by), at)
        elif wrap == "jump":
            other = draw(st.sampled_from(bases))
            task = jump(task, other, min(at, other.horizon))
        elif wrap == "noise":
            task = noise(task, draw(st.floats(1e-6, 1.0)), draw(st.none() | st.floats(2.5, 30.0)))
        elif wrap == "outliers":
            task = outliers(
                task, draw(st.floats(0.0, 1.0)), draw(st.floats(0.0, 9.0)), draw(st.integers(0, 9))
            )
        else:
            task = rate(task, draw(st.sampled_from([0.0, 0.5, 0.7, 1.0, 1.5, 2.0])), at)
    return task


@pytest.mark.parametrize("kind", BY)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_nest_is_a_task_with_a_true_optimum(kind, data):
    task = data.draw(nests(kind))
    assert isinstance(task, Task)
    t = data.draw(st.integers(1, task.horizon))
    best = task.optimum(t)
    task.space.encode(best.x)
    assert task.value(best.x, t) == pytest.approx(best, abs=1e-6)
    points = [*task.space.candidates(12), np.zeros(task.space.dim), np.ones(task.space.dim)]
    for unit in points:
        assert task.value(task.space.decode(unit), t) <= best + 1e-9


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_nest_can_be_simulated(data):
    task = data.draw(nests("slots"))
    trace, points, _ = run(task, seed=1)
    assert len(trace) == task.horizon
    assert (trace.regret >= 0.0).all()
    for t, x in enumerate(points, start=1):
        assert trace.regret[t - 1] == task.optimum(t) - task.value(x, t)


# -- shift ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BY)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_there_and_back_is_where_we_were(kind, data):
    bases, by = BY[kind]
    task, move = data.draw(st.sampled_from(bases)), data.draw(by)
    inverse = {name: -amount for name, amount in move.items()} if isinstance(move, dict) else -np.array(move)
    inverse = -move if kind == "slots" else inverse
    at = data.draw(st.integers(1, T))
    both = shift(shift(task, move, at), inverse, at)
    for unit in [*task.space.candidates(6), np.zeros(task.space.dim), np.ones(task.space.dim)]:
        x = task.space.decode(unit)
        for t in (1, at, T):
            assert both.value(x, t) == pytest.approx(task.value(x, t), abs=1e-9)


def test_a_shift_moves_the_objective_and_keeps_its_value():
    task = SQUARES[0]
    moved = shift(task, [0.25, 0.0], at=5)
    assert moved.name == "within-model, shifted at 5"
    for t, by in ((4, 0.0), (5, 0.25), (T, 0.25)):
        assert float(moved.optimum(t)) == float(task.optimum(t))
        assert moved.value([0.2 + by, 0.4], t) == pytest.approx(task.value([0.2, 0.4], t), abs=1e-12)
        assert moved.value([0.9 + by - (1.0 if by else 0.0), 0.4], t) == pytest.approx(
            task.value([0.9, 0.4], t)
        )
    (u, v), place = task.optimum(5).x, moved.optimum(5).x
    np.testing.assert_allclose(place, [(u + 0.25) % 1.0, v])


def test_shifts_at_different_steps_add_up():
    moved = shift(shift(SQUARES[0], 0.25, at=3), 0.5, at=6)
    assert moved.value([0.6, 0.3], 4) == pytest.approx(SQUARES[0].value([0.35, 0.05], 4))
    assert moved.value([0.8, 0.9], 7) == pytest.approx(SQUARES[0].value([0.05, 0.15], 7))


def test_arms_are_rolled():
    task = Slots()
    moved = shift(task, 2, at=3)
    assert [moved.value(arm, 2) for arm in range(5)] == task.values[1].tolist()
    assert [moved.value(arm, 3) for arm in range(5)] == np.roll(task.values[2], 2).tolist()


def test_an_optimum_on_the_boundary_is_attained_on_the_seam():
    moved = shift(Corner(), 0.3, at=1)
    best = moved.optimum(4)
    np.testing.assert_allclose(best.x, [-0.5, 307.0])  # 0.3 of the way along each range
    assert moved.value(best.x, 4) == best == 4.0
    assert moved.value(best.x + np.array([1e-3, 0.0]), 4) < 0.1  # what was the other end
    assert moved.value(best.x - np.array([1e-3, 0.0]), 4) > 3.9


def test_named_parameters_move_by_name():
    moved = shift(Mixed(), {"taps": 6, "mode": 1}, at=1)
    assert moved.optimum(1).x == {"gain": 10**0.3, "taps": 1, "mode": "a"}
    assert moved.optimum(2).x == {"gain": 10**0.3, "taps": 1, "mode": 2}
    assert shift(Mixed(), {"gain": 0.5}, at=1).optimum(1).x["gain"] == pytest.approx(10 ** (0.3 + 1.0 - 2.0))
    move = roll(Mixed.space, {"gain": 0.2})
    assert move.back(move.forth({"gain": 1.0, "taps": 2, "mode": 2})) == (
        {"gain": pytest.approx(1.0), "taps": 2, "mode": 2},
        False,
    )
    single = wv.Space(only=wv.Choice(["x"]))
    assert roll(single, {"only": 5}).forth({"only": "x"}) == {"only": "x"}


def test_an_optimum_without_a_place_is_handed_on():
    class Plain(Corner):
        def optimum(self, t):
            return float(t)

    moved = shift(Plain(), 0.3, at=1)
    assert moved.optimum(4) == 4.0
    assert moved.value([-0.5, 307.0], 4) == 0.0  # on the seam, the lower ends


# -- jump -------------------------------------------------------------------------------------------


def test_a_jump_is_the_other_task_from_then_on():
    one, two = SQUARES[0], outliers(noise(SQUARES[1], 4.0), share=1.0, size=2.0)
    task = jump(one, two, at=7)
    assert task.name == f"within-model, then {two.name} at 7"
    for t in range(1, T + 1):
        now = one if t < 7 else two
        assert task.value([0.3, 0.6], t) == now.value([0.3, 0.6], t)
        assert task.optimum(t) == now.optimum(t)
    assert (task.disturbance(6), abs(task.disturbance(7)) >= 1.0) == (0.0, True)
    assert (task.noise_from(1.0, 6), task.noise_from(1.0, 7)) == (math.sqrt(0.02), 2.0)
    assert (task.noise_variance, task.kernel) == (one.noise_variance, one.kernel)


def test_the_shorter_horizon_counts():
    short = wv.task("within-model", horizon=5, grid=8)
    assert jump(SQUARES[0], short, at=5).horizon == jump(short, SQUARES[0], at=5).horizon == 5
    with pytest.raises(wv.InvalidArgument, match=r"at=6: .* at most 5"):
        jump(SQUARES[0], short, at=6)


# -- noise ------------------------------------------------------------------------------------------


def test_gaussian_noise_of_another_variance_has_the_same_bits_as_a_task_with_that_variance():
    for variance in (0.02, 0.3):
        plain = wv.task("within-model", rate=0.2, horizon=T, seed=0, grid=8, noise_variance=variance)
        assert run(plain, seed=3)[2] == run(noise(SQUARES[0], variance), seed=3)[2]


@pytest.mark.parametrize("degrees", [2.5, 4.0, 7])
def test_student_noise_is_student(degrees):
    task = noise(SQUARES[0], 0.3, degrees)
    assert task.noise_variance == 0.3
    unit = math.sqrt(0.3 * (degrees - 2.0) / degrees)  # so that the variance is 0.3
    for p in (1e-12, 1e-3, 0.2, 0.7, 0.999):
        drawn = task.noise_from(float(stats.norm.ppf(p)), 1)
        assert drawn == pytest.approx(unit * stats.t.ppf(p, degrees), rel=1e-6)
    assert task.noise_from(-8.0, 1) == -task.noise_from(8.0, 1)
    assert stats.t(degrees, scale=unit).var() == pytest.approx(0.3)


def test_student_noise_in_the_loop():
    task = noise(SQUARES[0], 0.3, degrees=3)
    _, points, observed = run(task, seed=5)
    normal = np.random.default_rng((5, 2)).standard_normal(T)
    for t, (x, y) in enumerate(zip(points, observed, strict=True), start=1):
        assert y - task.value(x, t) == pytest.approx(task.noise_from(normal[t - 1], t), abs=1e-12)


def test_the_outer_noise_replaces_the_inner_one():
    task = noise(noise(SQUARES[0], 1.0, degrees=3), 4.0)
    assert task.noise_from(1.5, 1) == 3.0
    assert noise(outliers(SQUARES[0], 1.0, 2.0), 0.1).disturbance(3) != 0.0


# -- outliers ---------------------------------------------------------------------------------------


def test_outliers_change_what_is_observed_and_not_the_regret():
    plain, struck = SQUARES[0], outliers(SQUARES[0], share=0.4, size=5.0, seed=2)
    (one, _, before), (two, _, after) = run(plain, seed=3), run(struck, seed=3)
    assert np.array_equal(one.regret, two.regret)
    off = np.array(after) - np.array(before)
    np.testing.assert_allclose(off, [struck.disturbance(t) for t in range(1, T + 1)], atol=1e-12)
    assert 0 < np.count_nonzero(off) < T


def test_how_many_and_how_large():
    long = rate(SQUARES[0], 0.01)  # many steps
    task = outliers(long, share=0.2, size=3.0, seed=1)
    off = np.array([task.disturbance(t) for t in range(1, 1001)])
    hit = off[off != 0.0]
    assert len(hit) == pytest.approx(200, abs=50)  # four sigma
    assert np.abs(hit).min() >= 1.5
    assert np.abs(hit).max() <= 4.5
    assert np.mean(hit > 0.0) == pytest.approx(0.5, abs=0.15)
    again, other = outliers(long, 0.2, 3.0, seed=1), outliers(long, 0.2, 3.0, seed=2)
    assert [again.disturbance(t) for t in range(1, 101)] == off[:100].tolist()
    assert [other.disturbance(t) for t in range(1, 101)] != off[:100].tolist()
    assert outliers(SQUARES[0], 0.2, 3.0, seed=1).disturbance(7) == off[6]  # whatever the horizon
    twice = outliers(task, 0.5, 1.0, seed=5)
    alone = outliers(long, 0.5, 1.0, seed=5)
    for t in range(1, 50):
        assert twice.disturbance(t) == pytest.approx(task.disturbance(t) + alone.disturbance(t))
    assert {outliers(long, 0.0, 3.0).disturbance(t) for t in range(1, 200)} == {0.0}
    assert all(outliers(long, 1.0, 3.0).disturbance(t) for t in range(1, 200))


# -- rate -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speed", "at", "inner"),
    [
        (0, 4, [1, 2, 3, *[4] * 9]),
        (0.5, 10, [*range(1, 10), 10, 10, 11, 11, 12, 12]),
        (1, 6, list(range(1, 13))),
        (2, 1, [1, 3, 5, 7, 9, 11]),
        (2, 6, [1, 2, 3, 4, 5, 6, 8, 10, 12]),
        (1.5, 8, [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12]),
        (1e300, 3, [1, 2, 3]),
        (1, 12, list(range(1, 13))),
    ],
)
def test_time_runs_at_another_speed(speed, at, inner):
    base = Slots()
    task = rate(base, speed, at)
    assert task.horizon == len(inner)
    for t, time in enumerate(inner, start=1):
        assert task.optimum(t) == base.optimum(time)
        assert task.value(3, t) == base.value(3, time)


@given(st.floats(0.0, 5.0), st.integers(1, T))
def test_inner_times_never_run_out_and_none_is_wasted(speed, at):
    task = rate(Slots(), speed, at)
    last = task.source(task.horizon)[1]
    assert last <= T
    if speed > 1e-6:
        assert last + max(1.0, speed) + 1e-6 >= T
        assert at + speed * (task.horizon + 1 - at) >= T + 1 - 1e-6  # one more step is beyond the end


def test_whole_speeds_are_not_lost_to_rounding():
    assert 0.29 * 100 < 29
    long = wv.task("within-model", horizon=50, grid=8)
    assert rate(long, 0.29).source(101)[1] == 30
    assert rate(long, 1e-12).horizon > 10**8


# -- all of them ------------------------------------------------------------------------------------

WRAPS = {
    "shift": partial(shift, by=0.1, at=3),
    "jump": partial(jump, other=SQUARES[1], at=3),
    "noise": partial(noise, variance=0.1, degrees=3),
    "outliers": partial(outliers, share=0.1, size=1.0),
    "rate": partial(rate, speed=0.5, at=3),
}


@pytest.mark.parametrize("name", WRAPS)
def test_what_is_handed_on(name):
    task = WRAPS[name](SQUARES[0])
    assert task.space == SQUARES[0].space
    assert task.kernel == SQUARES[0].kernel
    assert task.noise_variance == (0.1 if name == "noise" else 0.02)
    assert task.horizon == (22 if name == "rate" else T)
    assert task.name.startswith("within-model, ")
    assert task.name in repr(task)
    for t in (0, task.horizon + 1, 1.5, "1", None, True, math.nan):
        for method in (
            partial(task.value, [0.5, 0.5]),
            task.optimum,
            task.disturbance,
            partial(task.noise_from, 1.0),
        ):
            with pytest.raises(wv.WindvaneError, match=r"^t="):
                method(t)
    for x in ([0.5], [0.5, math.nan], [0.5, 1.5], None, 5, "ab", []):
        for t in (1, task.horizon):
            with pytest.raises(wv.WindvaneError, match=r"^x"):
                task.value(x, t)


AT = [0, T + 1, -1, 1.5, "3", None, True, math.nan]
BAD = {
    ("shift", "at"): AT,
    ("shift", "by"): [math.nan, math.inf, "1", None, True, [0.1], [0.1, math.nan], [0.1, "a"], {"x": 0.1}, [[0.1, 0.2]]],
    ("jump", "at"): AT,
    ("jump", "other"): [None, 5, "within-model", Slots(), Slots, wv.task, type(shift(SQUARES[0], 0.1, 1))],
    ("noise", "variance"): [0.0, -1.0, math.nan, math.inf, "1", None, True],
    ("noise", "degrees"): [2.0, 0.0, -1.0, math.nan, math.inf, "3", True],
    ("outliers", "share"): [-0.1, 1.1, math.nan, "1", None, True],
    ("outliers", "size"): [-1.0, math.nan, math.inf, "1", None],
    ("outliers", "seed"): [-1, 1.5, "0", None],
    ("rate", "speed"): [-0.1, math.nan, math.inf, "1", None, True],
    ("rate", "at"): AT,
}  # fmt: skip


@pytest.mark.parametrize(("name", "argument"), BAD)
def test_bad_arguments_are_named(name, argument):
    for value in BAD[name, argument]:
        with pytest.raises(wv.WindvaneError, match=f"^{argument}"):
            WRAPS[name](SQUARES[0], **{argument: value})


@pytest.mark.parametrize("name", WRAPS)
def test_what_is_not_a_task(name):
    for task in (None, 5, "within-model", wv.task, Slots, SQUARES[0].space):
        with pytest.raises(wv.InvalidType, match=r"^task="):
            WRAPS[name](task)


def test_bad_moves_of_arms_and_named_parameters():
    for by in (0.5, "1", None, True, [1], math.nan):
        with pytest.raises(wv.WindvaneError, match=r"^by="):
            shift(Slots(), by, at=1)
    for by in (0.5, None, {"tap": 1}, {"taps": 0.5}, {"mode": 1.5}, {"gain": math.nan}, {"gain": "1"}):
        with pytest.raises(wv.WindvaneError, match=r"^by"):
            shift(Mixed(), by, at=1)
