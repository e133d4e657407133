"""`auto`, told nothing, where it used to die, to forget, or to be poisoned."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import windvane as wv
from windvane.optimizer import Optimizer

LINE = wv.Box([(0.0, 1.0)])
SQUARE = wv.Box([(0.0, 1.0), (0.0, 1.0)])
SIZES = (1e-300, 1e-160, 1e-60, 1e-10, 0.0, 1.0, 1e10, 1e60, 1e100)
NEEDED = {
    "r-gp-ucb": {"rate": 0.03},
    "r-gp-ucb-average": {"rate": 0.03},
    "always-n-low": {"period": 5},
    "tv-gp-ucb": {"rate": 0.03},
    "tv-gp-ucb-constant": {"rate": 0.03},
    "ui-tvbo": {"rate": 0.03},
    "sw-gp-ucb": {"window": 6},
    "br-gp-ucb": {"period": 6},
    "w-gp-ucb": {"forgetting": 0.9},
}


def finite(event):
    numbers = (event.mean, event.std, event.noise_variance, event.log_density, event.statistic)
    assert all(math.isfinite(number) for number in numbers), event
    assert all(0.0 <= weight <= 1.0 + 1e-9 for weight in event.beliefs.values())


@pytest.mark.parametrize("width", [0.005, 0.01, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_a_narrow_peak(width, seed):
    """Most values are far below 1e-100: their scale is no scale."""
    opt = wv.make(LINE, seed=seed)
    for _ in range(25):
        x = opt.ask()
        finite(opt.tell(x, math.exp(-(((x[0] - 0.7) / width) ** 2) / 2.0)))
    assert math.isfinite(opt.best().mean)


@pytest.mark.parametrize(
    "told", [{}, {"kernel": wv.RBF(0.2), "noise_variance": 0.01}], ids=["nothing", "all"]
)
@pytest.mark.parametrize("name", wv.algorithms())
def test_values_of_any_size_one_after_another(name, told):
    rng = np.random.default_rng(0)
    orders = [SIZES, SIZES[::-1], *(rng.permutation(SIZES) for _ in range(2))]
    for seed, order in enumerate(orders):
        opt = wv.make(name, LINE, seed=seed, **NEEDED.get(name, {}), **told)
        for y, sign in zip(order, itertools.cycle((1.0, -1.0, -1.0)), strict=False):
            event = opt.tell(opt.ask(), sign * float(y))
            assert math.isfinite(event.log_density)
            assert math.isfinite(opt.best().mean)
        json.dumps(opt.state(), allow_nan=False)


def gross(size, at_random, seed):
    """The steps of resets in a run with one gross value at step 25."""
    rng = np.random.default_rng(seed + 1000)
    summit = rng.uniform(0.2, 0.8, 2)
    opt = wv.make(SQUARE, seed=seed)
    for step in range(1, 25 + 9):
        x = rng.random(2) if at_random and step == 25 else opt.ask()
        y = 2.0 * math.exp(-8.0 * float(((x - summit) ** 2).sum())) + 0.5 * math.sin(5.0 * x[0])
        event = opt.tell(x, y + 0.05 * rng.standard_normal() + size * (step == 25))
        if step == 25:
            assert event.outlier == 25
        if event.reset:
            yield step


@pytest.mark.parametrize(("size", "at_random"), [(100.0, False), (100.0, True), (10.0, True)])
def test_one_gross_outlier_resets_nothing(size, at_random):
    """Three cases of twelve runs; at most one of all 36 may reset."""
    assert sum(bool(list(gross(size, at_random, seed))) for seed in range(12)) <= 1


@pytest.mark.parametrize("y", [30.0, -30.0])
def test_an_outlier_among_the_first_does_not_poison_the_scale(y):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        opt = wv.make(LINE, seed=seed)
        for step in range(1, 61):
            x = opt.ask()
            value = math.sin(6.0 * x[0]) + 0.05 * rng.standard_normal()
            opt.tell(x, y if step == 6 else value)
        assert opt.model.scaling.scale < 5.0
        assert math.sqrt(opt.model.noise_variance) * opt.model.scaling.scale < 0.3
        assert abs(opt.best().mean - 1.0) < 0.2


def test_the_length_of_a_step_does_not_wander_when_data_are_thinned():
    rng = np.random.default_rng(0)
    opt = wv.make(LINE, max_points=8, seed=0)
    for _ in range(60):
        opt.tell(rng.uniform(size=1), float(rng.normal()))
        assert opt.model.interval == 1.0


@pytest.mark.parametrize(
    "retention", [wv.Backtracking(), wv.Empty(), wv.LastPoint(), wv.SinceChange()], ids=str
)
@pytest.mark.parametrize(
    "trigger",
    [wv.ExactBound(0.05), wv.Confirmed(wv.PosteriorBound()), wv.EDetector(), wv.Periodic(7), wv.Never()],
    ids=lambda trigger: type(trigger).__name__,
)
@pytest.mark.parametrize(
    "told", [{}, {"kernel": wv.RBF(0.2), "noise_variance": 0.01}], ids=["nothing", "all"]
)
def test_a_mixture_under_any_trigger_and_retention(told, trigger, retention):
    """A jump of the level: whoever watches notices, and a restored twin goes on bit for bit."""
    composition = wv.make("auto", LINE, trigger=trigger, **told).composition
    opt = Optimizer(LINE, replace(composition, on_trigger=retention), seed=0)
    resets = []
    for step in range(1, 41):
        x = opt.ask()
        event = opt.tell(x, math.sin(5.0 * x[0]) + 3.0 * (step > 30) + 0.01 * math.cos(77.0 * step))
        finite(event)
        if event.reset:
            resets.append(step)
            assert event.size == event.kept
    if isinstance(trigger, wv.Never):
        assert not resets
    else:
        assert any(31 <= step <= 37 for step in resets)
    twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    assert np.array_equal(twin.ask(), opt.ask())
    assert twin.tell([0.3], 1.0) == opt.tell([0.3], 1.0)


# -- found by trying to break it -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "told", [{"noise_variance": 1.0}, {"noise_variance": 0.01}, {"scaling": wv.Scaling(0.0, 1.0)}], ids=str
)
def test_values_far_from_nothing(told):
    """Around 20, where the model begins at 0: all of them outliers, or none."""
    opt = wv.make(LINE, seed=0, **told)
    for step in range(1, 26):
        x = opt.ask()
        opt.tell(x, 20.0 + math.sin(5.0 * x[0]) + 0.02 * math.cos(77.0 * step))
    assert opt.best().mean == pytest.approx(21.0, abs=0.4)


def test_values_that_grow_tenfold_at_every_step():
    opt = wv.make(LINE, seed=0)
    for power in range(60):
        finite(opt.tell(opt.ask(), 10.0**power))


def test_a_state_is_the_callers_to_change():
    opt = wv.make(LINE, seed=0)
    opt.tell([0.5], 1.0)
    opt.state()["surrogate"]["start"]["weights"][0] = 9.0
    assert wv.restore(opt.state()).ask() == opt.ask()


def test_stamps_in_nanoseconds():
    """Beyond 2^53 a stamp cannot hold a difference of 1; the first is at 1 all the same."""
    late, early = (wv.make(LINE, seed=0) for _ in range(2))
    for step in range(6):
        for opt, start in ((late, 1.7e18), (early, 0.0)):
            opt.tell([0.15 * step], math.sin(step), time=start + 1e12 * (step // 2))
    assert late.data.times.tolist() == early.data.times.tolist()
    assert late.data.times[0] == 1.0
    np.testing.assert_array_equal(
        late.predict([[0.3]], time=1.7e18 + 3e12), early.predict([[0.3]], time=3e12)
    )


def test_a_span_of_time_without_end_is_refused():
    opt = wv.make(LINE, seed=0)
    opt.tell([0.5], 1.0, time=-1e308)
    before = json.dumps(opt.state())
    with pytest.raises(wv.InvalidArgument, match=r"time=1e\+308: too far"):
        opt.tell([0.6], 1.0, time=1e308)
    assert json.dumps(opt.state()) == before


def test_pending_points_that_cover_the_space():
    opt = wv.make(LINE, seed=0)
    opt.tell([0.5], 1.0)
    x = opt.ask(pending=[[i / 100] for i in range(101)])
    assert min(abs(x[0] - i / 100) for i in range(101)) > 0.0


@pytest.mark.parametrize("pending", [None, 0.5, "x"])
def test_pending_that_is_no_list(pending):
    with pytest.raises(wv.InvalidType, match="pending="):
        wv.make(LINE, seed=0).ask(pending=pending)


def test_ei_after_a_sudden_change():
    """What came before says nothing: no warnings, which are errors here, and a point."""
    opt = wv.make(wv.Box([(0, 1)] * 5), acquisition=wv.LogEI(), seed=0)
    for step in range(20):
        opt.tell(opt.ask(), float(step % 3) + (50.0 if step >= 14 else 0.0))


@pytest.mark.parametrize("kind", ["rough", "kinks"])
def test_a_still_world_that_is_not_smooth_is_no_reason_to_forget(kind):
    """A smooth kernel takes each new crease for a change; before data are dropped, another kernel is tried."""
    forgot = 0
    for seed in range(10500, 10506):
        task = wv.task("still", kind=kind, dim=1, horizon=120, seed=seed)
        opt = wv.make(task.space, seed=seed)
        forgot += bool(len(wv.simulate(opt, task, seed=seed).resets))
    assert forgot <= 1


@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_a_place_that_is_far_worse_is_known_at_once_where_nothing_was_known(goal):
    """And an outlier at a place that is known changes as little as before."""
    sign, rng = (1.0 if goal == "maximize" else -1.0), np.random.default_rng(0)
    opt = wv.make(LINE, goal=goal, kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)
    for x in np.linspace(0.4, 0.8, 15):
        opt.tell([x], sign * (math.sin(3.0 * x) - 0.5 + 0.1 * rng.normal()))
    other = wv.restore(opt.state())
    before = sign * opt.predict([[0.0], [0.6]])[0]
    opt.tell([0.0], -8.0 * sign)
    mean, std = opt.predict([[0.0], [0.6]])
    assert sign * mean[0] < -6.0
    assert std[0] < 0.5
    assert sign * mean[1] == pytest.approx(before[1], abs=0.05)
    other.tell([0.6], -8.0 * sign)
    assert sign * other.predict([[0.6]])[0][0] > before[1] - 1.0


@pytest.mark.parametrize("seed", [20400, 20412, 20416])
def test_nobody_asks_again_and_again_where_it_is_far_worse(seed):
    """A bowl whose place follows a day: its far end is much worse than all that is known. Regret was 55 to 121."""
    task = wv.task("valve", horizon=288, seed=seed)
    trace = wv.simulate(wv.make(task.space, seed=seed), task, seed=seed)
    assert trace.average < 30.0


@pytest.mark.parametrize(
    ("dim", "depth", "seed"), [(1, 1e2, 4), (1, 1e3, 1), (1, 1e3, 5), (1, 1e6, 4), (2, 1e6, 2)]
)
def test_a_cliff_that_is_known_is_kept_away_from(dim, depth, seed):
    """A fit without the outliers made a scale on which the cliff was forgotten; then its values made a change
    of the level, in which every step went beyond."""
    opt, rng, fallen = wv.make(wv.Box([(0, 1)] * dim), seed=seed), np.random.default_rng(seed), []
    for _ in range(90):
        x = opt.ask()
        y = -depth if x[0] > 0.5 else x[0] - sum((x[1:] - 0.5) ** 2)
        opt.tell(x, y + 0.05 * rng.normal())
        fallen.append(x[0] > 0.5)
    assert sum(fallen[50:]) <= 2
    assert opt.best().x[0] <= 0.5


def test_a_level_that_really_fell_is_noticed_where_it_is_asked():
    opt, rng, noticed = wv.make(LINE, seed=0), np.random.default_rng(0), []
    for step in range(1, 61):
        x = opt.ask()
        event = opt.tell(x, x[0] * (1.0 - x[0]) - 1e3 * (step > 50) + 0.01 * rng.normal())
        if event.reset:
            noticed.append(step)
    assert [step > 50 for step in noticed] == [True]
    assert noticed[0] <= 54


def seen(opt, value, steps, context=lambda step: None):
    """What is told of the points that are asked for, and the events."""
    points, events = [], []
    for step in range(1, steps + 1):
        x = opt.ask(context=context(step))
        points.append(x)
        events.append(opt.tell(x, value(x, step)))
        finite(events[-1])
    return points, events


@pytest.mark.parametrize(
    ("dim", "depth", "goal", "most"),
    [
        (1, 1e6, "maximize", 0.3),
        (2, 1e3, "maximize", 0.25),
        (2, 1e6, "minimize", 0.25),
        (4, 1e6, "maximize", 0.5),
    ],
)
def test_a_penalty_does_not_hide_what_is_better_elsewhere(dim, depth, goal, most):
    """The least noise on such a scale was larger than all other differences: 0.4, 0.3, 0.5 and 0.85 instead."""
    sign, rng = (1.0 if goal == "maximize" else -1.0), np.random.default_rng(44000)
    opt, regrets = wv.make(wv.Box([(0, 1)] * dim), goal=goal, seed=44000), []
    for _ in range(70):
        x = opt.ask()
        y = -depth if x[0] > 0.5 else x[0] - sum((x[1:] - 0.5) ** 2)
        finite(opt.tell(x, sign * (y + 0.03 * rng.normal())))
        regrets.append(min(0.5 - y, 1.0))
    assert np.mean(regrets[35:]) < most


@pytest.mark.parametrize("signs", [(-1, -1), (1, -1), (-1, 1)])
def test_gross_errors_at_first_do_not_hide_the_objective(signs):
    """On the scale of 1e6 all other values are one: it asked anywhere, or at one place, to the end."""
    rng, summit = np.random.default_rng(44000), np.array([0.6, 0.3])

    def value(x, step):
        gross = 1e6 * {1: signs[0], 4: signs[1]}.get(step, 0)
        return math.exp(-4.0 * float(((x - summit) ** 2).sum())) + gross + 0.03 * rng.normal()

    opt = wv.make(SQUARE, seed=44000)
    points, _ = seen(opt, value, 60)
    assert np.mean([float(np.abs(x - summit).max()) for x in points[40:]]) < 0.2
    assert opt.model.scaling.scale < 10.0


@pytest.mark.parametrize("by", [-1e6, -1e2, 3.0, 1e5])
def test_a_level_that_moves_is_noticed_beside_a_penalty(by):
    """A floor beneath what matters goes where that goes."""
    opt, rng, resets, regrets = wv.make(SQUARE, seed=44000), np.random.default_rng(44000), [], []
    for step in range(1, 91):
        x = opt.ask()
        y = -1e6 if x[0] > 0.5 else x[0] - (x[1] - 0.5) ** 2
        if opt.tell(x, y + by * (step > 50) + 0.03 * rng.normal()).reset:
            resets.append(step)
        regrets.append(min(0.5 - y, 1.0))
    assert 1 <= len(resets) <= 3
    assert all(50 < step < 60 for step in resets)
    assert np.mean(regrets[70:]) < 0.35


def test_what_comes_again_and_again_in_a_new_context_is_no_outlier():
    """Nothing was known of that context, so every value was the next outlier, of eighty in a row."""
    space = wv.Space(a=wv.Real(0, 1), b=wv.Real(0, 1), load=wv.Context(0, 1))
    rng = np.random.default_rng(0)

    def value(x, step):
        summit = 0.3 if step <= 60 else 0.8
        shape = math.exp(-5.0 * ((x["a"] - summit) ** 2 + (x["b"] - summit) ** 2))
        return shape + 10.0 * x["load"] ** 2 + 0.03 * rng.normal()

    opt = wv.make(space, seed=0)
    _, events = seen(opt, value, 90, lambda step: {"load": 0.2 if step <= 60 else 0.9})
    assert sum(event.outlier is not None for event in events[75:]) == 0


@pytest.mark.parametrize("seed", [1])
def test_yes_or_no_is_no_change_of_the_level(seed):
    """Equal values made a scale of 1e-4, on which each other value was a change: up to a dozen resets."""
    rng = np.random.default_rng(seed)
    opt = wv.make(SQUARE, seed=seed)
    _, events = seen(opt, lambda x, step: float(rng.random() < 0.1 + 0.4 * (x[0] > 0.5) + 0.0 * step), 110)
    assert sum(event.reset for event in events) <= 1
    assert opt.model.scaling.scale > 0.05
