"""Tasks with constraints: the optimum against brute force, safe starts, and what `simulate` tells and counts."""

import inspect
import math
from itertools import pairwise

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import TASKS, Constrained, Task
from windvane.tasks.affine import units
from windvane.tasks.bilinear import highest
from windvane.tasks.wrappers import jump, outliers, shift
from windvane.tasks.wrappers import rate as at_rate

GRID = 21
WORLDS = {
    "guarded": ("guarded", {"grid": GRID}),
    "two limits": ("guarded", {"grid": GRID, "count": 2}),
    "fast limits": ("guarded", {"grid": GRID, "rate": 0.0, "constraint_rate": 0.3}),
    "two fast limits": ("guarded", {"grid": GRID, "rate": 0.1, "constraint_rate": 1.0, "count": 2}),
    "static": ("guarded", {"grid": GRID, "rate": 0.0, "constraint_rate": 0.0}),
    "guarded-jumps": ("guarded-jumps", {"grid": GRID}),
    "many jumps": ("guarded-jumps", {"grid": GRID, "count": 8}),
    "oven": ("oven", {}),
    "oven, measured": ("oven", {"measured": True}),
    "hot days": ("oven", {"swing": 15.0, "period": 12}),
    "drive": ("drive", {}),
}
NAMES = sorted({name for name, _ in WORLDS.values()})
SPREAD = {"g1": 1.0, "g2": 1.0, "heat": 25.0, "overshoot": 16.0}  # about a standard deviation, or more
EXACT = {"guarded", "guarded-jumps"}


def world(label, seed=3, horizon=24):
    name, options = WORLDS[label]
    return wv.task(name, horizon=horizon, seed=seed, **options)


def points(task, t, count, seed=0):
    sample = task.space.sample(np.random.default_rng(seed), count)
    found = [task.space.decode(unit) for unit in sample]
    return [{**x, **task.context(t)} for x in found] if task.space.contexts else found


def allowed(task, x, t):
    return all(task.constraints[name].met(value) for name, value in task.outcomes(x, t).items())


def at_step_one(task, x):
    return {**x, **task.context(1)} if task.space.contexts else x


@pytest.mark.parametrize("label", WORLDS)
def test_the_optimum_is_allowed_and_attained_and_nothing_that_is_allowed_is_better(label):
    for seed in (3, 4, 5):
        task = world(label, seed)
        for t in (1, 11, 24):
            best = task.optimum(t)
            assert allowed(task, best.x, t)
            assert task.value(best.x, t) == best
            values = [(task.value(x, t), allowed(task, x, t)) for x in points(task, t, 400, seed=t)]
            assert max(value for value, fine in values if fine) <= best + 1e-8 * abs(best)
            assert {fine for _, fine in values} == {True, False}


@pytest.mark.parametrize("label", WORLDS)
def test_a_climb_within_the_limits_finds_the_optimum_and_nothing_better(label):
    """An independent search: ever smaller random steps that are taken if they are allowed and lead up."""
    task = world(label)
    for t in (1, 24):
        best, rng = task.optimum(t), np.random.default_rng(t)
        drawn = [x for x in points(task, t, 2000, seed=7) if allowed(task, x, t)]
        drawn.sort(key=lambda x: -task.value(x, t))
        top = -math.inf
        for x in drawn[:4]:
            unit, height = task.space.encode(x), task.value(x, t)
            free = np.arange(len(unit)) < 2  # a context is not
            for size in np.geomspace(0.05, 1e-6, 300):
                other = np.clip(unit + size * rng.standard_normal(len(unit)) * free, 0.0, 1.0)
                place = task.space.decode(other)
                if allowed(task, place, t) and task.value(place, t) > height:
                    unit, height = other, task.value(place, t)
            top = max(top, height)
        size = np.std([task.value(x, t) for x in drawn])
        assert top <= best + 1e-8 * abs(best)
        assert top >= best - 0.02 * size


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [1, 2])
def test_the_optimum_of_a_grid_is_that_of_a_grid_thirty_times_as_fine(seed, count):
    task = wv.task("guarded", grid=6, count=count, seed=seed, horizon=3, rate=0.5, constraint_rate=0.5)
    axis = np.linspace(0.0, 1.0, 5 * 30 + 1)
    places = [np.array([u, v]) for u in axis for v in axis]
    for t in (1, 3):
        best = task.optimum(t)
        found = max(task.value(x, t) for x in places if allowed(task, x, t))
        assert best - 0.1 <= found <= best + 1e-9
        margins = [abs(task.constraints[name].margin(v)) for name, v in task.outcomes(best.x, t).items()]
        on_grid = np.allclose(5 * best.x, np.round(5 * best.x))
        assert on_grid or min(margins) < 1e-9  # between the points of the grid it is at a limit


def test_the_highest_of_a_bilinear_field_where_it_is_known():
    axis = np.linspace(0.0, 1.0, 8)
    u, v = np.meshgrid(axis, axis, indexing="ij")
    assert highest(u + v, [0.25 - u * v])[0] == pytest.approx(1.25, abs=1e-6)  # at (1, 1/4)
    best, *place = highest(-u - v, [u * v - 0.25])  # stationary along the limit, at (1/2, 1/2)
    assert best == pytest.approx(-1.0, abs=1e-9)
    np.testing.assert_allclose(place, 0.5, atol=1e-4)
    best, *place = highest(u * v, [0.61 - u, 0.83 - v])  # two limits cut each other
    np.testing.assert_allclose([best, *place], [0.61 * 0.83, 0.61, 0.83], atol=1e-9)
    assert highest(u, [v + 1.0]) == (1.0, 1.0, 0.0)  # no limit is in the way
    assert highest(np.ones((8, 8)), [u - 0.95])[0] == 1.0
    with pytest.raises(wv.InvalidArgument, match="no point of the square"):
        highest(u, [v - 2.0])


@pytest.mark.parametrize("label", WORLDS)
def test_starts_keep_a_margin_and_are_the_same_every_time(label):
    for seed in range(12):
        task = world(label, seed)
        assert task.start
        for x in task.start:
            for name, value in task.outcomes(at_step_one(task, x), 1).items():
                assert task.constraints[name].margin(value) >= 0.3 * SPREAD[name]
        again = world(label, seed).start
        assert [task.space.encode(at_step_one(task, x)).tolist() for x in task.start] == [
            task.space.encode(at_step_one(task, x)).tolist() for x in again
        ]


@pytest.mark.parametrize("label", ["guarded-jumps", "many jumps", "oven", "hot days", "drive"])
def test_these_starts_stay_safe(label):
    for seed in range(5):
        task = world(label, seed, horizon=60)
        assert all(allowed(task, x, t) for x in task.start for t in range(1, 61))


def test_other_starts_may_not():
    """Else the safest policy would be to go back to the start."""
    lost = 0
    for seed in range(12):
        task = wv.task("guarded", grid=GRID, seed=seed, horizon=60, constraint_rate=0.03)
        lost += not all(allowed(task, task.start[0], t) for t in range(1, 61))
    assert lost >= 3


@pytest.mark.parametrize("rate", [0.05, 1.0])
@pytest.mark.parametrize("count", [1, 2])
def test_half_of_the_square_is_allowed_at_first_and_some_of_it_always(count, rate):
    """Over 100 seeds; the share of the points of the grid."""
    axis = np.linspace(0.0, 1.0, 10)
    places = [np.array([u, v]) for u in axis for v in axis]
    first = []
    for seed in range(100):
        task = wv.task("guarded", grid=10, seed=seed, horizon=30, count=count, constraint_rate=rate)
        shares = [np.mean([allowed(task, x, t) for x in places]) for t in (1, 10, 20, 30)]
        first.append(shares[0])
        assert min(shares) >= 0.04
    assert min(first) >= 0.49
    assert rate == 1.0 or np.median(first) <= 0.55  # more only where the other promises need it


def test_jumps_replace_what_is_limited_and_nothing_else():
    task = wv.task("guarded-jumps", grid=GRID, seed=2, horizon=60)
    x = np.array([0.3, 0.8])
    outcomes = [task.outcomes(x, t)["g1"] for t in range(1, 61)]
    changed = [t for t in range(2, 61) if outcomes[t - 1] != outcomes[t - 2]]
    assert changed == list(task.steps)
    assert len(changed) == 2
    assert len({task.value(x, t) for t in range(1, 61)}) == 1
    assert len({float(task.optimum(t)) for t in range(1, 61)}) >= 2


def test_nothing_moves_at_rate_zero():
    task, x = world("static"), [0.3, 0.8]
    assert len({(task.value(x, t), task.outcomes(x, t)["g1"]) for t in range(1, 25)}) == 1
    drifting = wv.task("guarded", grid=GRID, rate=0.0, horizon=24)
    assert len({drifting.value(x, t) for t in range(1, 25)}) == 1
    assert len({drifting.outcomes(x, t)["g1"] for t in range(1, 25)}) == 24


def test_objective_and_limited_are_independent_samples():
    """Not the same field three times."""
    x = np.array([0.4, 0.6])
    drawn = []
    for seed in range(60):
        task = wv.task("guarded", grid=5, seed=seed, horizon=1, count=2)
        drawn.append([task.value(x, 1), *task.outcomes(x, 1).values()])
    together = np.corrcoef(np.array(drawn).T)
    assert np.abs(together[np.triu_indices(3, 1)]).max() < 0.4


def test_yesterdays_best_setting_overheats():
    for seed in range(5):
        task = wv.task("oven", seed=seed)
        hall = [task.outcomes({"power": 5.0, "speed": 4.0}, t)["heat"] for t in range(1, 201)]
        cold, hot = int(np.argmin(hall)) + 1, int(np.argmax(hall)) + 1
        best = task.optimum(cold).x
        assert task.outcomes(best, cold)["heat"] == pytest.approx(90.0, abs=1e-6)  # the limit is in the way
        assert task.outcomes(best, hot)["heat"] == pytest.approx(90.0 + hall[hot - 1] - hall[cold - 1])
        assert hall[hot - 1] - hall[cold - 1] > 8.0


def test_the_hall_is_the_same_measured_or_not():
    plain, measured = wv.task("oven", seed=4, horizon=30), wv.task("oven", seed=4, horizon=30, measured=True)
    assert measured.space.contexts == ("hall",)
    assert [float(plain.optimum(t)) for t in range(1, 31)] == [
        float(measured.optimum(t)) for t in range(1, 31)
    ]
    assert measured.optimum(3).x["hall"] == measured.context(3)["hall"]
    assert plain.context(3) == {}


def test_well_tuned_gains_overshoot_under_another_load():
    task = wv.task("drive", seed=1)
    assert len(task.steps) == 3
    loads = [task.inertia(t) for t in (1, *task.steps)]
    assert all(before != after for before, after in pairwise(loads))
    for t in (1, *task.steps):
        best = task.optimum(t).x
        assert task.outcomes(best, t)["overshoot"] == pytest.approx(5.0, abs=1e-6)
    others = [task.outcomes(task.optimum(1).x, t)["overshoot"] for t in task.steps]
    assert max(others) > 7.0


def test_the_drive_follows_its_equations():
    """Against a solver of differential equations."""
    from scipy.integrate import solve_ivp

    from windvane.tasks.drive import FRICTION, LAG, SAMPLE, SAMPLES, responses

    for kp, ki, inertia in ((0.5, 20.0, 0.05), (8.0, 20.0, 0.05), (3.0, 1.0, 0.2)):

        def motion(_, state, kp=kp, ki=ki, inertia=inertia):
            speed, torque, integral = state
            wanted = kp * (1 - speed) + ki * integral
            return [(torque - FRICTION * speed) / inertia, (wanted - torque) / LAG, 1 - speed]

        times = SAMPLE * np.arange(SAMPLES)
        solved = solve_ivp(motion, (0, times[-1]), [0, 0, 0], t_eval=times, rtol=1e-9, atol=1e-10).y[0]
        np.testing.assert_allclose(responses(np.array([kp]), np.array([ki]), inertia)[0], solved, atol=1e-6)


@pytest.mark.parametrize("label", WORLDS)
def test_a_seed_gives_a_world_and_another_seed_another(label):
    worlds = [world(label, seed, horizon=60) for seed in (5, 5, 6)]
    where = points(worlds[0], 1, 5)
    told = [
        [(task.value(x, t), *task.outcomes(x, t).values()) for x in where for t in (1, 60)] for task in worlds
    ]
    assert told[0] == told[1]
    if label == "oven, measured":  # the hall is in the point, so only the halls differ
        assert worlds[0].context(1) == worlds[1].context(1) != worlds[2].context(1)
    elif label == "drive":
        assert worlds[0].steps == worlds[1].steps != worlds[2].steps
    else:
        assert told[0] != told[2]


@pytest.mark.parametrize("label", WORLDS)
def test_it_is_a_constrained_task_under_its_name(label):
    task = world(label)
    name, options = WORLDS[label]
    assert isinstance(task, Task)
    assert isinstance(task, Constrained)
    assert (task.name, task.horizon) == (name, 24)
    assert task.outcome_noise.keys() == task.constraints.keys() == task.outcomes(task.optimum(1).x, 1).keys()
    assert all(variance > 0.0 for variance in task.outcome_noise.values())
    assert {"horizon", "seed", *options} <= set(TASKS[name].options)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_that_is_listed_exists_and_mistakes_are_named(name):
    assert set(TASKS[name].options) == set(inspect.signature(TASKS[name].make).parameters)
    task = wv.task(name, horizon=12)
    for t in (0, 13, 1.5, None):
        for asked in (
            task.optimum,
            lambda t: task.value(task.start[0], t),
            lambda t: task.outcomes(task.start[0], t),
        ):
            with pytest.raises(wv.WindvaneError, match=r"^t="):
                asked(t)
    for asked in (task.value, task.outcomes):
        with pytest.raises(wv.WindvaneError, match=r"^x"):
            asked(None, 1)
    with pytest.raises(wv.InvalidArgument, match="does not use colour="):
        wv.task(name, colour=1)
    few = {"count": 0} if name in ("guarded-jumps", "drive") else {}
    assert math.isfinite(wv.task(name, horizon=1, **few).optimum(1))


@pytest.mark.parametrize(
    ("name", "option", "bad"),
    [
        *(
            (name, option, bad)
            for name in NAMES
            for option, bad in (("horizon", 0), ("seed", -1), ("seed", 1.5))
        ),
        ("guarded", "count", 0),
        ("guarded", "count", 3),
        ("guarded", "rate", 1.5),
        ("guarded", "constraint_rate", -0.1),
        ("guarded", "constraint_rate", "fast"),
        ("guarded", "noise_variance", 0.0),
        ("guarded", "lengthscale", 0.0),
        ("guarded", "grid", 1),
        ("guarded-jumps", "count", -1),
        ("guarded-jumps", "count", 200),
        ("oven", "swing", 16.0),
        ("oven", "swing", math.nan),
        ("oven", "period", 1),
        ("oven", "measured", 1),
        ("oven", "noise_variance", -1.0),
        ("drive", "count", 200),
        ("drive", "count", 1.5),
        ("drive", "noise_variance", -1.0),
    ],
)
def test_mistakes(name, option, bad):
    with pytest.raises(wv.WindvaneError, match=f"^{option}="):
        wv.task(name, **{option: bad})


# -- simulate ------------------------------------------------------------------------------------------


class Wanderer:
    """Asks for points at random, and remembers what it is told."""

    def __init__(self, task, **attributes):
        self.task, self.told, self.rng = task, [], np.random.default_rng(0)
        for name, value in attributes.items():
            setattr(self, name, value)

    def ask(self, context=None):
        return {**points(self.task, 1, 1, seed=len(self.told))[0], **context} if context else self._point()

    def _point(self):
        return self.task.space.decode(self.task.space.sample(self.rng, 1)[0])

    def tell(self, x, y, **outcomes):
        self.told.append((x, y, outcomes))


@pytest.mark.parametrize("label", WORLDS)
def test_violations_are_those_of_the_outcomes_without_noise(label):
    task = world(label)
    opt = Wanderer(task)
    trace = wv.simulate(opt, task, seed=1)
    expected = [not allowed(task, x, t) for t, (x, _, _) in enumerate(opt.told, start=1)]
    assert trace.violated.dtype == np.bool_
    assert trace.violated.tolist() == expected
    assert trace.violations == sum(expected)
    assert 0 < trace.violations < 24
    regret = [task.optimum(t) - task.value(x, t) for t, (x, _, _) in enumerate(opt.told, start=1)]
    assert trace.regret.tolist() == regret
    assert trace.feasible_regret.tolist() == [
        r for r, beyond in zip(regret, expected, strict=True) if not beyond
    ]
    assert (trace.feasible_regret >= -1e-8).all()
    assert f"{trace.violations} step" in trace._repr_html_()


def test_regret_beyond_the_limits_may_be_negative():
    task = wv.task("oven", horizon=20)
    hot = Wanderer(task)
    hot._point = lambda: {"power": 60.0, "speed": 3.0}
    trace = wv.simulate(hot, task)
    assert trace.violated.all()
    assert (trace.regret < 0.0).all()
    assert trace.feasible_regret.shape == (0,)


def test_whoever_has_constraints_is_told_the_outcomes_with_noise():
    task = world("two limits")
    one, both, plain, empty = (
        Wanderer(task, **given)
        for given in (
            {"constraints": {"g2": task.constraints["g2"]}},
            {"constraints": task.constraints},
            {},
            {"constraints": {}},
        )
    )
    traces = [wv.simulate(opt, task, seed=6) for opt in (one, both, plain, empty)]
    assert all(told[2] == {} for opt in (plain, empty) for told in opt.told)
    assert {tuple(told[2]) for told in one.told} == {("g2",)}
    assert {tuple(told[2]) for told in both.told} == {("g1", "g2")}
    noise = np.array(
        [
            [told[name] - task.outcomes(x, t)[name] for name in ("g1", "g2")]
            for t, (x, _, told) in enumerate(both.told, start=1)
        ]
    )
    normal = np.random.default_rng((6, 8)).standard_normal((24, 2))
    np.testing.assert_allclose(noise, math.sqrt(task.noise_variance) * normal, atol=1e-12)
    assert all(type(value) is float for _, _, told in both.told for value in told.values())
    assert [told[2]["g2"] for told in one.told] == [told[2]["g2"] for told in both.told]
    for opt in (one, both, empty):  # the same values, whoever is told more
        assert [y for _, y, _ in opt.told] == [y for _, y, _ in plain.told]
    assert all(np.array_equal(trace.violated, traces[0].violated) for trace in traces)


def test_the_noise_of_outcomes_is_apart_from_that_of_values():
    task = world("guarded")
    opt = Wanderer(task, constraints=task.constraints)
    wv.simulate(opt, task, seed=6)
    values = np.array([y - task.value(x, t) for t, (x, y, _) in enumerate(opt.told, start=1)])
    np.testing.assert_allclose(
        values, math.sqrt(task.noise_variance) * np.random.default_rng((6, 2)).standard_normal(24), atol=1e-12
    )
    outcomes = [told["g1"] - task.outcomes(x, t)["g1"] for t, (x, _, told) in enumerate(opt.told, start=1)]
    assert abs(np.corrcoef(values, outcomes)[0, 1]) < 0.7


def test_fewer_steps_are_the_beginning_of_more():
    task = world("two limits")
    short, full = (Wanderer(task, constraints=task.constraints) for _ in range(2))
    part, whole = wv.simulate(short, task, steps=7), wv.simulate(full, task)
    assert part.violated.tolist() == whole.violated[:7].tolist()
    assert [told[1:] for told in short.told] == [told[1:] for told in full.told[:7]]


@pytest.mark.parametrize("name", ["within-model", "following-load", "outliers", "heavy-tails", "deng-slow"])
def test_without_constraints_all_is_as_before(name):
    """Values are told bit for bit as by the loop that knew of no constraints, and nothing else is told."""
    task = wv.task(name, horizon=15, seed=2)
    opt = Wanderer(task, constraints={"g1": wv.AtMost(0.0)})
    trace = wv.simulate(opt, task, seed=3)
    normal = np.random.default_rng((3, 2)).standard_normal(15)
    for t, (x, y, outcomes) in enumerate(opt.told, start=1):
        draw = float(normal[t - 1])
        noise = (
            task.noise_from(draw, t) if hasattr(task, "noise_from") else draw * math.sqrt(task.noise_variance)
        )
        expected = task.value(x, t) + float(noise)
        if hasattr(task, "disturbance"):
            expected += task.disturbance(t)
        assert y == expected
        assert outcomes == {}
    assert trace.violated is None
    assert trace.violations == 0
    assert trace.feasible_regret is trace.regret
    assert "beyond a limit" not in trace._repr_html_()


@pytest.mark.parametrize("label", ["two limits", "oven, measured", "drive"])
@pytest.mark.parametrize("safe", [False, True])
def test_an_optimiser_of_ours_is_told_the_outcomes(label, safe):
    task = world(label)
    more = {"safe": 0.9, "start": task.start} if safe else {}
    opt = wv.make(task.space, constraints=task.constraints, seed=0, **more)
    trace = wv.simulate(opt, task, seed=2)
    normal = np.random.default_rng((2, 8)).standard_normal((24, len(task.constraints)))
    for t, event in enumerate(trace.events, start=1):
        assert event.outcomes.keys() == task.constraints.keys()
        for (name, true), draw in zip(task.outcomes(event.x, t).items(), normal[t - 1], strict=True):
            noise = math.sqrt(task.outcome_noise[name]) * draw
            assert event.outcomes[name].value == pytest.approx(true + noise, abs=1e-9)
        assert trace.violated[t - 1] == (not allowed(task, event.x, t))


def test_constraints_that_the_task_does_not_have():
    for task, says in ((world("oven"), "it has heat"), (wv.task("following-load"), "it has none")):
        opt = wv.make(task.space, constraints={"noise": wv.AtMost(1.0)})
        with pytest.raises(wv.InvalidArgument, match=f"'noise', which is no outcome of the task; {says}"):
            wv.simulate(opt, task)


# -- wrappers ------------------------------------------------------------------------------------------


def test_wrappers_hand_constraints_on():
    task = world("guarded")
    for wrapped in (units(task, 3.0), outliers(task, 0.1, 3.0), at_rate(task, 0.5)):
        assert isinstance(wrapped, Constrained)
        assert wrapped.constraints == task.constraints
        assert wrapped.outcome_noise == task.outcome_noise
        assert np.array_equal(wrapped.start, task.start)
    assert at_rate(task, 0.5).outcomes([0.2, 0.4], 9) == task.outcomes([0.2, 0.4], 5)
    assert wv.simulate(Wanderer(task), units(task, 3.0), seed=1).violations > 0
    bare = units(wv.task("within-model", horizon=5), 2.0)
    assert (bare.constraints, bare.outcome_noise, bare.start, bare.outcomes([0.5, 0.5], 1)) == (
        {},
        {},
        [],
        {},
    )
    assert wv.simulate(Wanderer(bare), bare).violated is None


def test_what_is_limited_moves_with_the_objective():
    task = world("guarded")
    for at in (1, 5):
        moved = shift(task, by=0.25, at=at)
        for t in (at, 24):
            best = moved.optimum(t)
            assert allowed(moved, best.x, t)
            assert moved.value(best.x, t) == pytest.approx(best, abs=1e-9)
        assert allowed(moved, moved.start[0], 1)
        assert moved.outcomes([0.5, 0.5], at) == task.outcomes([0.25, 0.25], at)
    assert moved.outcomes([0.5, 0.5], 4) == task.outcomes([0.5, 0.5], 4)


def test_a_jump_keeps_the_limits():
    first, second = wv.task("oven", horizon=20, seed=0), wv.task("oven", horizon=20, seed=1)
    task = jump(first, second, at=11)
    x = {"power": 20.0, "speed": 2.0}
    assert task.outcomes(x, 10) == first.outcomes(x, 10)
    assert task.outcomes(x, 11) == second.outcomes(x, 11)
    with pytest.raises(wv.InvalidArgument, match=r"other: has the limits none, the task has g1 <= "):
        jump(world("guarded"), wv.task("within-model", horizon=24), at=11)
