"""A list of settings in the loop: the exact argmax, what is available, and the same run from a state."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.acquisition import Moment, UpperBound, maximise
from windvane.acquisition.log_ei import LogImprovement
from windvane.acquisition.utility import SMALLEST_VARIANCE

MOMENT = Moment(10, 10, 3, lambda: 1.0)
SEEDS = st.integers(0, 10**6)
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.01}
ALGORITHMS = {
    "auto": {},
    "gp-ucb": GIVEN,
    "et-gp-ucb": GIVEN,
    "et-gp-ucb-confirmed": GIVEN,
    "tv-gp-ucb": {"rate": 0.05, **GIVEN},
    "ui-tvbo": {"rate": 0.05, **GIVEN},
    "w-gp-ucb": {"variation": 5.0, "horizon": 60, **GIVEN},
    "random": {},
}


def value(unit):
    return float(np.sin(5.0 * unit[0]) - (unit[-1] - 0.3) ** 2)


def list_of(rng, count, kind):
    """Numbers, or numbers and words."""
    if kind == "numbers":
        return wv.Candidates(rng.normal(size=(count, 3)))
    names = np.array(["a", "b", "c"])
    return wv.Candidates(
        [{"u": float(rng.uniform()), "k": i, "m": str(rng.choice(names))} for i in range(count)],
        scale={"u": "log"},
    )


def told(name, space, seed, steps, **options):
    rng = np.random.default_rng(seed)
    opt = wv.make(name, space, seed=seed, **{**ALGORITHMS[name], **options})
    for _ in range(steps):
        x = int(rng.integers(space.size)) if rng.uniform() < 0.5 else opt.ask()
        opt.tell(x, value(space.encode(x)) + 0.05 * rng.normal())
    return opt


# -- the argmax ---------------------------------------------------------------------------------------


def brute_force(opt, utility, allowed):
    """The utility of every allowed setting, from a posterior that knows no candidates."""
    posterior = opt._progress.surrogate.posterior(opt.time)
    mean, variance = posterior.at(opt.space.everything()[allowed])
    return utility.value(mean, np.sqrt(np.maximum(variance, SMALLEST_VARIANCE)))


@settings(max_examples=40, deadline=None)
@given(
    SEEDS,
    st.sampled_from(["auto", "gp-ucb", "tv-gp-ucb", "w-gp-ucb"]),
    st.sampled_from(["numbers", "words"]),
    st.integers(2, 400),
    st.integers(1, 25),
    st.sampled_from([UpperBound(0.0), UpperBound(0.7), UpperBound(3.0), LogImprovement(0.5)]),
    st.booleans(),
)
def test_the_argmax_is_that_of_brute_force(seed, name, kind, count, steps, utility, restricted):
    rng = np.random.default_rng(seed)
    space = list_of(rng, count, kind)
    opt = told(name, space, seed, steps)
    allowed = (
        rng.choice(count, int(rng.integers(1, count + 1)), replace=False) if restricted else range(count)
    )
    region = wv.Region.all_of(space)
    if restricted:
        region = region.available(allowed)
    posterior = opt._progress.surrogate.posterior(opt.time)
    found = maximise(posterior, region, utility, lambda: np.random.default_rng(0))
    scores = brute_force(opt, utility, list(allowed))
    reached = scores[list(allowed).index(space.decode(found.point))]
    assert reached >= scores.max() - 1e-7 * utility.scale(scores)
    assert found.value == pytest.approx(reached, abs=1e-6 * utility.scale(scores))


@pytest.mark.parametrize(("name", "scale"), [("auto", None), ("tv-gp-ucb", 0.15), ("gp-ucb", 0.1)])
def test_the_argmax_among_more_than_any_other_space_lists(name, scale):
    space = wv.Candidates(np.random.default_rng(0).uniform(size=(20_000, 4)))
    opt = told(name, space, 1, 30, **({} if scale is None else {"kernel": wv.RBF(scale)}))
    posterior = opt._progress.surrogate.posterior(opt.time)
    for multiplier in (0.0, 0.3, 1.0):
        utility = UpperBound(multiplier)
        found = maximise(posterior, wv.Region.all_of(space), utility, lambda: np.random.default_rng(0))
        scores = brute_force(opt, utility, range(20_000))
        assert scores[space.decode(found.point)] == pytest.approx(scores.max(), abs=1e-8)
    assert len(posterior.candidates) == 20_000


# -- the loop -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_run_and_its_twin_from_json(name):
    space = list_of(np.random.default_rng(1), 300, "words")
    opt = told(name, space, 3, 15)
    twin = wv.restore(json.loads(json.dumps(opt.state())))
    assert twin.space == space
    for _ in range(12):
        x = opt.ask()
        assert twin.ask() == x
        assert type(x) is int
        y = value(space.encode(x))
        a, b = opt.tell(x, y), twin.tell(space.row(x), y)
        assert a == b
        assert a.x == x
        assert json.dumps(twin.state()) == json.dumps(opt.state())


@pytest.mark.parametrize("acquisition", [wv.UCB(), wv.LogEI(), wv.Thompson()])
@pytest.mark.parametrize("count", [40, 5_000])
def test_every_acquisition(acquisition, count):
    space = wv.Candidates(np.random.default_rng(0).uniform(size=(count, 3)))
    opt = told("gp-ucb", space, 0, 12, acquisition=acquisition)
    for available in (None, [3], range(10, 30)):
        x = opt.ask(available=available)
        assert x in (range(count) if available is None else available)
        assert opt.ask(available=available) == x


def test_it_finds_the_best_setting():
    rng = np.random.default_rng(5)
    rows = rng.uniform(size=(500, 4))
    space = wv.Candidates(rows)
    values = -((rows[:, 0] - 0.6) ** 2) * 4.0 - np.abs(rows[:, 1] - 0.2)
    opt = wv.make(space, seed=0)
    for _ in range(40):
        x = opt.ask()
        opt.tell(x, values[x] + 0.01 * rng.normal())
    best = opt.best()
    assert type(best.x) is int
    assert values[best.x] > np.sort(values)[-6]
    first, second, *rest = opt.model.kernel.lengthscale
    assert max(first, second) < 0.7 * min(rest)  # what does not matter is found not to


def test_minimising_on_a_list_with_a_single_setting():
    opt = wv.make(wv.Candidates([{"mode": "a"}]), goal="minimize", seed=0)
    for y in (1.0, 2.0, 1.5):
        assert opt.tell(opt.ask(), y).x == 0
    assert opt.best().x == 0


def test_predictions_by_number_and_by_row():
    space = list_of(np.random.default_rng(2), 30, "words")
    opt = told("auto", space, 1, 12)
    by_number = opt.predict(range(30))
    by_row = opt.predict([space.row(i) for i in range(30)])
    assert np.array_equal(by_number, by_row)


def test_a_change_is_found():
    rng = np.random.default_rng(3)
    rows = rng.uniform(size=(200, 2))
    opt = wv.make(wv.Candidates(rows), seed=0)
    resets = []
    for step in range(80):
        x = opt.ask()
        sign = 1.0 if step < 40 else -1.0
        event = opt.tell(x, sign * math.sin(6 * rows[x, 0]) + 0.02 * rng.normal())
        resets += [event.step] if event.reset else []
    assert resets
    assert 40 < resets[0] <= 50


# -- what is available --------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    SEEDS,
    st.sampled_from(["auto", "random", "et-gp-ucb-confirmed", "gp-ucb"]),
    st.sampled_from(["candidates", "arms", "space", "large space"]),
    st.sampled_from([None, wv.LogEI(), wv.Thompson()]),
    st.integers(0, 3),
)
def test_available_is_never_left(seed, name, kind, acquisition, waiting):
    rng = np.random.default_rng(seed)
    spaces = {
        "candidates": lambda: list_of(rng, 60, "words"),
        "arms": lambda: wv.Arms(12),
        "space": lambda: wv.Space(k=wv.Integer(1, 5), m=wv.Choice(["a", "b"])),
        "large space": lambda: wv.Space(k=wv.Integer(1, 10_000), m=wv.Choice(["a", "b"])),
    }
    space = spaces[kind]()
    options = {} if kind == "arms" else dict(ALGORITHMS[name])
    if acquisition is not None and name not in ("random",):
        options["acquisition"] = acquisition
    opt = wv.make(name, space, seed=seed, **options)

    def some(count):
        return [space.decode(unit) for unit in space.sample(rng, count)]

    for step in range(14):
        available = some(int(rng.integers(1, 8)))
        pending = some(waiting)
        x = opt.ask(available=available, pending=pending)
        assert x in available
        if kind == "candidates" and set(available) - set(pending):
            assert x not in pending
        if not waiting:
            assert opt.ask(available=available[::-1] if kind == "candidates" else available) == x
        x = x if step % 3 else some(1)[0]
        opt.tell(x, value(space.encode(x)) + (5.0 if step == 9 else 0.0))


def test_available_rows_and_the_memory_of_an_ask():
    space = list_of(np.random.default_rng(4), 50, "words")
    opt = told("auto", space, 2, 12)
    free = opt.ask()
    assert opt.ask(available=[space.row(7)]) == 7
    assert opt.ask(available=np.array([8, 9])) in (8, 9)
    assert opt.ask(available=range(50)) == free
    assert opt.ask() == free


def test_pending_settings_are_kept_away_from_where_there_are_others():
    space = wv.Candidates(np.random.default_rng(0).uniform(size=(6, 2)))
    opt = told("auto", space, 0, 10)
    asked = []
    for _ in range(6):
        asked.append(opt.ask(pending=asked))
    assert sorted(asked) == list(range(6))
    assert opt.ask(pending=asked) in range(6)
    assert opt.ask(pending=[0, 1], available=[0, 1]) in (0, 1)
    assert opt.ask(pending=[0, 1], available=[0, 1, 2]) == 2


def test_what_was_set_aside_is_asked_for_again_only_if_available():
    space = wv.Candidates(np.linspace(0, 1, 20)[:, None])
    opt = wv.make("et-gp-ucb-confirmed", space, seed=0, **GIVEN)
    for x in (0, 5, 10, 15, 19, 2):
        opt.tell(x, 0.0)
    assert opt.tell(2, 9.0).set_aside
    assert opt.ask() == 2
    assert opt.ask(available=[2, 3]) == 2
    assert opt.ask(available=[3, 4]) in (3, 4)


@pytest.mark.parametrize(
    "available",
    [[], [3.0], [20], [-1], "ab", 5, {1, 2}, [True], [None], np.ones(20, dtype=bool), [[0.123]], [math.nan]],
)
def test_bad_available(available):
    opt = told("gp-ucb", wv.Candidates(np.linspace(0, 1, 20)[:, None]), 0, 5)
    before = json.dumps(opt.state())
    with pytest.raises(wv.WindvaneError, match="available"):
        opt.ask(available=available)
    assert json.dumps(opt.state()) == before


def test_available_needs_a_finite_space():
    for space in (wv.Box([(0, 1)]), wv.Space(a=wv.Real(0, 1), k=wv.Integer(0, 3))):
        with pytest.raises(wv.InvalidArgument, match="available: needs a space of finitely many points"):
            wv.make(space, seed=0).ask(available=[space.decode(np.full(space.dim, 0.5))])


def test_available_under_a_context():
    space = wv.Space(k=wv.Integer(1, 9), m=wv.Choice(["a", "b"]), load=wv.Context(0, 100))
    opt = wv.make(space, seed=0)
    rng = np.random.default_rng(0)
    for _ in range(25):
        load = float(rng.uniform(0, 100))
        some = [{"k": int(rng.integers(1, 10)), "m": "b"} for _ in range(3)]
        x = opt.ask(context={"load": load}, available=some)
        assert {"k": x["k"], "m": x["m"]} in some
        assert x["load"] == load
        opt.tell(x, x["k"] * load / 100.0)


def test_a_kernel_of_arms_is_refused():
    space = wv.Candidates(np.eye(4))
    with pytest.raises(wv.WindvaneError, match="kernel"):
        wv.make("gp-ucb", space, kernel=wv.Empirical(np.eye(4)))


def test_an_altered_list_does_not_take_the_state():
    space = wv.Candidates(np.linspace(0, 1, 20)[:, None])
    state = json.loads(json.dumps(told("gp-ucb", space, 0, 5).state()))
    state["space"]["rows"]["array"][0] = state["space"]["rows"]["array"][1]
    with pytest.raises(wv.CorruptState):
        wv.restore(state)


def test_settings_that_fail_are_left_alone():
    space = wv.Candidates(np.random.default_rng(0).uniform(size=(5_000, 2)))
    opt = wv.make(space, seed=0)
    failed = 0
    for _ in range(40):
        x = opt.ask()
        unit = space.encode(x)
        if unit[0] > 0.6:
            failed += 1
            opt.fail(space.row(x))
            assert opt.ask() != x
        else:
            opt.tell(x, float(unit[0]))
    assert failed <= 16
    assert json.dumps(wv.restore(json.loads(json.dumps(opt.state()))).state()) == json.dumps(opt.state())


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(2, 2000), st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0]))
def test_the_argmax_under_a_condition(seed, count, share, multiplier):
    """The best of those that fulfil it; if there are none, of those that are nearest to that."""
    rng = np.random.default_rng(seed)
    space = wv.Candidates(rng.normal(size=(count, 2)))
    opt = told("gp-ucb", space, seed, 8)
    posterior, numbers = opt._progress.surrogate.posterior(opt.time), rng.uniform(size=count)
    region = wv.Region.all_of(space)
    left = rng.choice(count, int(rng.integers(1, count + 1)), replace=False)
    region = region.available(left).where(lambda points: numbers[space.numbers(points)], share**4)
    found = maximise(posterior, region, UpperBound(multiplier), lambda: np.random.default_rng(0))
    fulfilled = left[numbers[left] <= max(share**4, float(numbers[left].min()) + 1e-9)]
    scores = brute_force(opt, UpperBound(multiplier), fulfilled)
    assert space.decode(found.point) in fulfilled
    assert scores[list(fulfilled).index(space.decode(found.point))] >= scores.max() - 1e-8


@pytest.mark.parametrize("name", ["auto", "gp-ucb", "random"])
def test_what_is_available_may_be_out_of_reach(name):
    opt = wv.make(name, wv.Candidates([[float(i)] for i in range(50)]), max_step=0.1, seed=0)
    opt.tell(3, 1.0)
    before = opt.state()
    with pytest.raises(wv.InvalidArgument, match="available: none of these points is within max_step"):
        opt.ask(available=[20, 30])
    assert opt.state() == before
    assert opt.ask(available=[20, 5]) == 5
