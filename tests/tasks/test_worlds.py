"""The worlds drawn from a seed: each optimum against a search, and what all of them promise."""

import inspect
import math

import numpy as np
import pytest
from scipy.optimize import minimize

import windvane as wv
from windvane.tasks import TASKS, Task
from windvane.tasks.still import KINDS

ON_BOXES = {
    "moving-peaks": ("moving-peaks", {"every": 5}),
    "moving-peaks in 3-d": ("moving-peaks", {"dim": 3, "peaks": 8, "every": 5}),
    "branin-walk": ("branin-walk", {}),
    "valve": ("valve", {"period": 12}),
    "two valves": ("valve", {"dim": 2, "period": 12}),
    "breaking-plant": ("breaking-plant", {}),
    "hartmann3-mirrored": ("hartmann3-mirrored", {}),
    "levy": ("levy", {}),
    "levy in 1-d": ("levy", {"dim": 1}),
    "levy in 6-d": ("levy", {"dim": 6}),
    **{
        f"{kind} in {d}-d": ("still", {"kind": kind, "dim": d, "scale": 1.0})
        for kind in KINDS
        for d in (1, 2, 6)
    },
}
ON_GRIDS = {
    "heavy-tails": ("heavy-tails", {"grid": 15}),
    "heavy tails that drift": ("heavy-tails", {"grid": 15, "rate": 0.05}),
    "small-units": ("small-units", {"grid": 15, "rate": 0.05}),
    "rough": ("rough", {"grid": 15}),
    "rough with jumps": ("rough", {"grid": 15, "count": 2}),
    "rough and drifting": ("rough", {"grid": 15, "rate": 0.1}),
    "regimes": ("regimes", {"grid": 15}),
    "regimes that change": ("regimes", {"grid": 15, "change": 0.2}),
    "workload": ("workload", {"grid": 15}),
}
ON_ARMS = {"local-change": ("local-change", {}), "humid": ("humid", {})}
WORLDS = {**ON_BOXES, **ON_GRIDS, **ON_ARMS}
TOLD = {"rough", "local-change", "humid"}  # whose kernel is known
NAMES = sorted({name for name, _ in WORLDS.values()})


def world(label, seed=3, horizon=24):
    name, options = WORLDS[label]
    return wv.task(name, horizon=horizon, seed=seed, **options)


def points(task, count, seed=0):
    sample = task.space.sample(np.random.default_rng(seed), count)
    return [task.space.decode(unit) for unit in sample]


def slack(task, t):
    """What rounding may do to a value."""
    return 1e-12 * (abs(task.optimum(t)) + spread(task))


def spread(task):
    return float(np.std([task.value(x, 1) for x in points(task, 100)]))


@pytest.mark.parametrize("label", WORLDS)
def test_the_optimum_is_attained_and_nothing_drawn_is_better(label):
    for seed in (3, 4):
        task = world(label, seed)
        for t in (1, 8, 16, task.horizon):
            best, margin = task.optimum(t), slack(task, t)
            assert task.value(best.x, t) == pytest.approx(float(best), abs=1e3 * margin)
            assert max(task.value(x, t) for x in points(task, 300, seed=t)) <= best + margin


@pytest.mark.parametrize("label", ON_BOXES)
def test_a_search_finds_the_optimum_and_nothing_better(label):
    """Climb from the best of many points, and from beside the place that is said to be the best."""
    task = world(label)
    rng = np.random.default_rng(0)
    size = spread(task)
    for t in (1, task.horizon):
        best, margin = task.optimum(t), slack(task, t)
        top = task.space.encode(best.x)

        def cost(unit, t=t, best=best):
            return (best - task.value(task.space.decode(np.clip(unit, 0.0, 1.0)), t)) / size

        drawn = task.space.candidates(256)
        beside = np.clip(top + 0.01 * rng.standard_normal(top.size), 0.0, 1.0)
        starts = [*sorted(drawn, key=cost)[:2], beside]
        found = min(
            minimize(
                cost, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 300}
            ).fun
            for start in starts
        )
        assert found >= -margin / size
        if task.space.dim <= 2:
            assert found < 1e-3


@pytest.mark.parametrize("label", ON_GRIDS)
def test_the_best_of_a_grid_is_the_best_there_is(label):
    """Values are linear between the grid's points, so the maximum is at one of them."""
    task = world(label)
    axis = np.linspace(0.0, 1.0, 15)
    for t in (1, 12, 24):
        best = max(task.value(np.array([u, v]), t) for u in axis for v in axis)
        assert best == pytest.approx(float(task.optimum(t)), abs=slack(task, t))


@pytest.mark.parametrize("label", ON_ARMS)
def test_the_best_arm_is_found_by_trying_all(label):
    task = world(label)
    for t in (1, 12, 24):
        values = [task.value(arm, t) for arm in range(task.space.n)]
        assert max(values) == task.optimum(t) == values[task.optimum(t).x]


@pytest.mark.parametrize("label", WORLDS)
def test_a_seed_gives_a_world_and_another_seed_another(label):
    one, same, other = world(label, 5), world(label, 5), world(label, 6)
    where = points(one, 5)
    values = [[task.value(x, t) for x in where for t in (1, 24)] for task in (one, same, other)]
    assert values[0] == values[1]
    assert values[0] != values[2]
    places = [np.ravel(world(label, seed).optimum(1).x).tolist() for seed in range(8)]
    if label != "hartmann3-mirrored":  # which begins as it is published
        assert len({tuple(place) for place in places}) > 2


@pytest.mark.parametrize("label", WORLDS)
def test_it_is_a_task_under_its_name(label):
    task = world(label)
    name, options = WORLDS[label]
    assert isinstance(task, Task)
    assert (task.name, task.horizon) == (name, 24)
    assert (task.kernel is not None) == (name in TOLD)
    assert task.noise_variance > 0.0
    assert {"horizon", "seed", *options} <= set(TASKS[name].options)


@pytest.mark.parametrize("label", WORLDS)
def test_short_horizons(label):
    for horizon in (1, 2, 5):
        name, options = WORLDS[label]
        few = {"count": min(horizon - 1, 2)} if name in ("regimes", "rough") else {}
        task = wv.task(name, horizon=horizon, **{**options, **few})
        assert math.isfinite(task.optimum(horizon))


@pytest.mark.parametrize("label", ["valve", "breaking-plant", "still in small", "local-change", "workload"])
def test_in_the_loop(label):
    task = (
        wv.task("still", kind="cliff", scale=1e-6, horizon=12)
        if label == "still in small"
        else world(label, horizon=12)
    )
    trace = wv.simulate(wv.make("random", task.space, seed=0), task, seed=0)
    assert (trace.regret >= -1e-9 * np.abs(trace.regret).max()).all()
    assert trace.regret.max() > 0.0


@pytest.mark.parametrize("name", NAMES)
def test_every_option_that_is_listed_exists_and_mistakes_are_named(name):
    entry = TASKS[name]
    made = inspect.signature(entry.make).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in made.values()):
        assert set(entry.options) == set(made)
    for option, bad in (("horizon", 0), ("horizon", "9"), ("seed", -1), ("seed", 1.5)):
        with pytest.raises(wv.WindvaneError, match=f"^{option}="):
            wv.task(name, **{option: bad})
    with pytest.raises(wv.InvalidArgument, match="does not use colour="):
        wv.task(name, colour=1)
    task = wv.task(name, horizon=12)
    for t in (0, 13, 1.5, None):
        with pytest.raises(wv.WindvaneError, match=r"^t="):
            task.optimum(t)
        with pytest.raises(wv.WindvaneError, match=r"^t="):
            task.value(points(task, 1)[0], t)
    with pytest.raises(wv.WindvaneError, match=r"^x"):
        task.value(None, 1)


MISTAKES = [
    ("moving-peaks", "dim", 0),
    ("moving-peaks", "peaks", 0),
    ("moving-peaks", "every", 0),
    ("moving-peaks", "step", -1.0),
    ("moving-peaks", "noise_variance", 0.0),
    ("branin-walk", "noise_variance", -1.0),
    ("levy", "dim", 7),
    ("levy", "noise_variance", math.nan),
    ("valve", "dim", 3),
    ("valve", "period", 3),
    ("hartmann3-mirrored", "count", -1),
    ("still", "kind", "hills"),
    ("still", "dim", 7),
    ("still", "scale", 0.0),
    ("still", "offset", math.inf),
    ("still", "noise", 0.0),
    ("heavy-tails", "degrees", 2.0),
    ("heavy-tails", "rate", 1.5),
    ("small-units", "rate", -0.1),
    ("rough", "count", -1),
    ("rough", "count", 200),
    ("rough", "lengthscale", 0.0),
    ("regimes", "regimes", 1),
    ("regimes", "count", 300),
    ("regimes", "change", 1.5),
    ("workload", "count", -1),
    ("local-change", "noise_variance", 0.0),
    ("humid", "noise_variance", 0.0),
]


@pytest.mark.parametrize(("name", "option", "bad"), MISTAKES)
def test_mistakes(name, option, bad):
    with pytest.raises(wv.WindvaneError, match=f"^{option}="):
        wv.task(name, **{option: bad})
