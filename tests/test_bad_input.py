"""Bad input at every door: a `WindvaneError` that names the argument, and an optimiser that is unchanged."""

import copy
import json
import math
from datetime import date
from functools import partial

import numpy as np
import pytest

import windvane as wv
from windvane.algorithms import ALGORITHMS

NAN, INF = math.nan, math.inf
BOX = wv.Box([(0.0, 1.0), (-5.0, 5.0)])
ARMS = wv.Arms(4)
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.05, "seed": 0}
NEEDS = {
    "r-gp-ucb": {"rate": 0.03},
    "always-n-low": {"rate_bounds": (0.01, 0.05)},
    "r-gp-ucb-average": {"rate": 0.03},
    "tv-gp-ucb": {"rate": 0.05},
    "tv-gp-ucb-constant": {"rate": 0.05},
    "ui-tvbo": {"rate": 0.05},
    "sw-gp-ucb": {"variation": 5.0, "horizon": 60},
    "br-gp-ucb": {"variation": 5.0, "horizon": 60},
    "w-gp-ucb": {"variation": 5.0, "horizon": 60},
}


def outcome(call, name):
    """None if the call is refused as it should be, else what went wrong."""
    try:
        call()
    except wv.WindvaneError as error:
        return None if name in str(error) else f"{name!r} is not named in: {error}"
    except Exception as error:
        return f"{type(error).__name__} is not a WindvaneError: {error}"
    return "accepted"


def wrong(calls, name):
    """The calls of {label: call} that are not refused as they should be."""
    found = {label: outcome(call, name) for label, call in calls.items()}
    return {label: problem for label, problem in found.items() if problem is not None}


# -- make -------------------------------------------------------------------------------------------

COUNTS = [0, -1, 1.5, "3", NAN, True, (2,)]
BAD = {
    "kernel": [
        5,
        "rbf",
        wv.RBF,
        wv.Empirical(np.eye(4)),
        wv.RBF([0.1, 0.2, 0.3]),
        wv.Matern52([0.1, 0.2, 0.3]) * wv.Markov(0.1),
        wv.RBF([0.1, 0.2, 0.3]) + wv.RBF(0.2),
        wv.RBF(0.2) * wv.Empirical(np.eye(4)),
        wv.Markov(0.1),
    ],
    "noise_variance": [0.0, -1.0, NAN, INF, "0.1", True, [0.1]],
    "beta": ["2", -1.0, NAN, INF, (1.0,), (1.0, 2.0, 3.0), (0.0, 1.0), (1.0, NAN), ("a", "b"), wv.LogBeta],
    "acquisition": ["ucb", 5, wv.UCB, wv.LogBeta(), (0.4, 4.0)],
    "max_points": COUNTS,
    "max_step": [0.0, -0.1, NAN, INF, "0.1", True, [], [0.1], [0.1, -1.0], {"x": 0.1}, {}, [[0.1, 0.1]]],
    "move_cost": [0.0, -0.1, NAN, INF, "0.1", True, [], [0.1], [0.1, -1.0], {"x": 0.1}, {}, [[0.1, 0.1]]],
    "constraints": [
        *(5, "heat<=90", [], {}, [wv.AtMost(90)], wv.AtMost(90), {"heat": 90}, {"heat": wv.AtMost}),
        *({5: wv.AtMost(90)}, {"he at": wv.AtMost(90)}, {"time": wv.AtMost(90)}, {"µ": wv.AtMost(90)}),
    ],
    "safe": [0.49, 1.0, 95, NAN, INF, "0.9", True, (0.9,)],
    "start": [5, "x", [], (), {}, {"x": 0.5}, np.empty((0, 2))],
    "learning": ["online", 5, wv.LearnOnline],
    "scaling": [5, "x", (0.0, 1.0)],
    "delta": [0.0, 1.0, -0.1, 1.5, NAN, INF, "0.1", True, (0.1,)],
    "noise_cap": [-1.0, NAN, INF, "0.1"],
    "trigger": [5, "never", wv.PosteriorBound],
    "reset_window": [(5, 3), (0, 3), (1,), (1, 2, 3), 5, "ab", (1.5, 3), (NAN, 3), (1, 0), []],
    "rate_bounds": [
        (0.5, 0.1),
        (-0.1, 0.5),
        (0.0, 2.0),
        (NAN, 1.0),
        ("a", "b"),
        5,
        "ab",
        (),
        (0.1,),
        np.array([0.5, 0.1]),
    ],
    "horizon": COUNTS,
    "forced": ["first", "", 5],
    "cap": COUNTS,
    "rate": [-0.1, 1.5, NAN, INF, "0.1", (0.1,), True],
    "period": COUNTS,
    "bound": [-1.0, NAN, INF, "1"],
    "window": COUNTS,
    "variation": [0.0, -1.0, NAN, INF, "1"],
    "forgetting": [0.0, -1.0, 1.5, NAN, "0.9"],
    "patience": COUNTS,
    "alpha": [-0.1, NAN, INF, "1", (1.0,), True],
    "windows": [5, "ab", (), (0, 3), (3, 3), (5, 3), (3, 4.5), (3, NAN), (True, 3), {3, 5}],
    "initial": [-1, 1.5, "3", NAN, True, (2,)],
    "hazard": [-0.1, 0.6, NAN, INF, "0.1", True, (0.1,)],
    "outliers": [-0.1, 0.6, NAN, INF, "0.1", True, (0.1,)],
    "hypotheses": [
        5,
        "static",
        (),
        (wv.Markov(0.1),),
        (wv.Hypothesis("static", wv.Static(), 1.0), 3),
        wv.Hypothesis,
    ],
    "cooldown": [-1, 1.5, "3", NAN, True, (2,)],
    "min_samples": [-1, 1.5, "3", NAN, True, (2,)],
}


def test_the_table_has_every_option():
    assert {option for entry in ALGORITHMS.values() for option in entry.options} == set(BAD)


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, entry in ALGORITHMS.items() for option in entry.options]
)
def test_every_option_of_every_algorithm(name, option):
    good = {**GIVEN, **NEEDS.get(name, {})}
    wv.make(name, BOX, **good)
    bad = BAD[option]
    if (name, option) == ("ui-tvbo", "rate"):
        bad = [value for value in bad if value != 1.5]  # a variance, not a rate
    if (name, option) == ("auto", "period"):
        bad = [value for value in bad if value != 1.5]  # by the caller's clock, not in steps
    calls = {repr(value): partial(wv.make, name, BOX, **{**good, option: value}) for value in bad}
    assert wrong(calls, option) == {}


def test_an_option_is_checked_even_if_another_one_overrules_it():
    make = partial(wv.make, space=BOX, **GIVEN)
    calls = {
        "delta": partial(make, "et-gp-ucb", trigger=wv.Never(), delta=2.0),
        "noise_cap": partial(make, "et-gp-ucb", trigger=wv.Never(), noise_cap=-1.0),
        "horizon": partial(make, "et-gp-ucb", reset_window=(1, 5), horizon=-3),
        "rate": partial(make, "r-gp-ucb", period=5, rate=7.0),
        "variation": partial(make, "sw-gp-ucb", window=5, variation=-1.0),
        "rate_bounds": partial(make, "always-n-low", period=5, rate_bounds=(3.0, 1.0)),
    }
    assert [problem for option, call in calls.items() for problem in wrong({option: call}, option)] == []


@pytest.mark.parametrize("name", wv.algorithms())
def test_options_that_nobody_knows(name):
    with pytest.raises(wv.InvalidArgument, match=r"does not use lengthscal=; its options are .*kernel"):
        wv.make(name, BOX, **GIVEN, **NEEDS.get(name, {}), lengthscal=0.1)


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_what_cannot_be_done_without(name):
    option = next(iter(NEEDS[name]))
    rest = {key: value for key, value in NEEDS[name].items() if key != option}
    with pytest.raises(wv.InvalidArgument, match=f"{option}= is needed"):
        wv.make(name, BOX, **GIVEN, **rest)


MAKE = {
    "name": [("no such algorithm", "name='et-gpucb'", lambda: wv.make("et-gpucb", BOX))]
    + [("not a name", "name=", partial(wv.make, name, BOX)) for name in (5, None, [], "")],
    "space": [
        ("not a space", "space=", partial(wv.make, "gp-ucb", space))
        for space in (None, 5, [(0, 1)], wv.Box, "box", np.eye(2))
    ],
    "goal": [
        ("not a goal", "goal=", partial(wv.make, "gp-ucb", BOX, goal=goal)) for goal in ("minimum", "", None, 5, -1)
    ],
    "seed": [
        ("not a seed", "seed=", partial(wv.make, "gp-ucb", BOX, seed=seed)) for seed in (-1, 1.5, "0", NAN, True, [1])
    ],
    "kernel": [
        ("of a box on arms", "kernel", partial(wv.make, "gp-ucb", ARMS, kernel=wv.Empirical(np.eye(3)))),
        ("of too many arms", "kernel", partial(wv.make, "gp-ucb", ARMS, kernel=wv.Empirical(np.eye(5)) * wv.Markov(0.1))),
        ("sum of too few arms", "kernel", partial(wv.make, "gp-ucb", ARMS, kernel=wv.Empirical(np.eye(3)) + wv.Empirical(np.eye(3)))),
        ("two scales for four coordinates", "kernel", partial(wv.make, "gp-ucb", MIXED, kernel=wv.RBF([0.1, 0.2]))),
        ("Corollary 1 needs nu > 2", "Corollary 1", partial(wv.make, "et-gp-ucb", BOX, kernel=wv.Matern32(0.2), noise_variance=0.1, rate_bounds=(0.01, 0.1))),
    ],
    "window": [
        ("both", "reset_window", partial(wv.make, "et-gp-ucb", BOX, reset_window=(1, 5), rate_bounds=(0.1, 0.2))),
        ("endless", "rate", partial(wv.make, "r-gp-ucb", BOX, rate=0.0)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("argument", MAKE)
def test_make(argument):
    for label, name, call in MAKE[argument]:
        assert wrong({label: call}, name) == {}


# -- ask, tell, predict, best -----------------------------------------------------------------------

POINTS = {
    "box": (
        BOX,
        [
            [NAN, 0.0],
            [INF, 0.0],
            [1.1, 0.0],
            [0.5, -5.1],
            [0.5],
            [0.5, 0.0, 0.0],
            [],
            0.5,
            "ab",
            None,
            [[0.5, 0.0]],
            ["0.5", 0.0],
            [True, 0.0],
            {"a": 0.5},
            [0.5, None],
            [0.5 + 1j, 0.0],
            np.array([0.5, NAN]),
            object(),
        ],
    ),
    "arms": (ARMS, [-1, 4, 1.5, 1.0, "1", None, NAN, True, [1], np.array([1]), {}, object()]),
    "mixed": (
        MIXED,
        [{}, None, 5, [1.0, 2, "a"], {"gain": 1.0}, {"gain": 1.0, "taps": 2, "mode": "a", "more": 1}]
        + [{"gain": 1.0, "taps": 2, "mod": "a"}]
        + [{"gain": g, "taps": 2, "mode": "a"} for g in (NAN, INF, 0.0, 11.0, "1", None, True, [1.0])]
        + [{"gain": 1.0, "taps": k, "mode": "a"} for k in (0, 5, 2.5, "2", None, NAN, True)]
        + [{"gain": 1.0, "taps": 2, "mode": m} for m in ("c", None, 1, [], {}, NAN)],
    ),
}
VALUES = [
    NAN,
    INF,
    -INF,
    None,
    "1",
    [],
    (),
    1 + 2j,
    True,
    {1.0},
    np.array([[1.0]]),
    np.empty(0),
    10**400,
    object(),
]
TIMES = [NAN, INF, -INF, "1", [1.0], True, 2.0, np.array([9.0]), object()]  # 2.0 is before the last


def running(space, **options):
    kernel = wv.Empirical(np.eye(4)) if space is ARMS else wv.Matern52(0.3)
    opt = wv.make(
        "turbo-trigger", space, patience=9, **{"kernel": kernel, "noise_variance": 0.05, "seed": 0, **options}
    )
    for i, unit in enumerate(space.sample(np.random.default_rng(0), 5)):
        opt.tell(space.decode(unit), math.sin(i))
    return opt


def good_point(space):
    return space.decode(space.sample(np.random.default_rng(1), 1)[0])


@pytest.mark.parametrize("where", POINTS)
def test_bad_points_leave_everything_as_it_was(where):
    space, bad = POINTS[where]
    opt = running(space)
    before, asked, good = json.dumps(opt.state()), copy.deepcopy(opt.ask()), good_point(space)
    assert wrong({f"tell({x!r})": partial(opt.tell, x, 1.0) for x in bad}, "x") == {}
    assert wrong({f"predict([{x!r}])": partial(opt.predict, [x]) for x in bad}, "points") == {}
    assert wrong({f"predict([good, {x!r}])": partial(opt.predict, [good, x]) for x in bad}, "points") == {}
    assert json.dumps(opt.state()) == before
    assert np.array_equal(np.asarray(opt.ask()), np.asarray(asked))


@pytest.mark.parametrize("where", POINTS)
def test_bad_values_and_times_leave_everything_as_it_was(where):
    space, _ = POINTS[where]
    opt = running(space)
    before, asked, good = json.dumps(opt.state()), copy.deepcopy(opt.ask()), good_point(space)
    assert wrong({f"tell(y={y!r})": partial(opt.tell, good, y) for y in VALUES}, "y=") == {}
    assert wrong({f"tell({t!r})": partial(opt.tell, good, 1.0, time=t) for t in TIMES}, "time=") == {}
    assert wrong({f"ask({t!r})": partial(opt.ask, time=t) for t in TIMES}, "time=") == {}
    assert wrong({f"best({t!r})": partial(opt.best, t) for t in TIMES}, "time=") == {}
    assert wrong({f"predict({t!r})": partial(opt.predict, [good], t) for t in TIMES}, "time=") == {}
    assert json.dumps(opt.state()) == before
    assert np.array_equal(np.asarray(opt.ask()), np.asarray(asked))


@pytest.mark.parametrize("where", POINTS)
def test_what_is_not_a_list_of_points(where):
    space, _ = POINTS[where]
    opt = running(space)
    bad = [
        None,
        5,
        "ab",
        [],
        (),
        {},
        np.empty((0, 2)),
        np.empty((2, 7)),
        np.full((3, 2), NAN),
        np.zeros((1, 2, 2)),
        object(),
    ]
    assert wrong({repr(points): partial(opt.predict, points) for points in bad}, "points") == {}


def test_bad_first_steps():
    opt = wv.make("et-gp-ucb", BOX, **GIVEN)
    before, asked = json.dumps(opt.state()), opt.ask()
    with pytest.raises(wv.InvalidArgument, match=r"best\(\): nothing is known"):
        opt.best()
    assert (
        wrong({repr(t): partial(opt.tell, [0.5, 0.5], 1.0, time=t) for t in (NAN, INF, "1", True)}, "time=")
        == {}
    )
    assert wrong({repr(y): partial(opt.tell, [0.5, 0.5], y) for y in VALUES}, "y=") == {}
    assert json.dumps(opt.state()) == before
    assert np.array_equal(opt.ask(), asked)


@pytest.mark.parametrize("options", [{}, {"kernel": None, "noise_variance": None}], ids=["given", "learning"])
@pytest.mark.parametrize("huge", [1e160, 1e308])
def test_huge_values_are_survived_or_refused(huge, options):
    """Finite, so no mistake that can be named at the door; but never half a step."""
    opt = running(BOX, **options)
    for y in (huge, -huge, huge):
        before = json.dumps(opt.state())
        try:
            opt.tell([0.5, 0.5], y)
        except wv.WindvaneError:
            assert json.dumps(opt.state()) == before
        x = opt.ask()
        assert np.isfinite(x).all()


# -- fit, task, simulate, restore -------------------------------------------------------------------

X, Y = np.random.default_rng(0).uniform(size=(8, 2)), np.random.default_rng(1).normal(size=8)
fit = partial(wv.fit, BOX, X, Y)
FIT = {
    "space": [partial(wv.fit, space, X, Y) for space in (None, 5, wv.Box, [(0, 1)])],
    "points": [partial(wv.fit, BOX, points, Y) for points in (None, [], X[:, :1], X * NAN, X + 9.0, "ab", X[0])],
    "y": [partial(wv.fit, BOX, X, y) for y in (None, [], Y[:5], Y * NAN, Y * INF, Y[:, None], "ab", ["1"] * 8, 5.0)]
    + [partial(wv.fit, BOX, X[:2], Y[:2])],
    "kernel": [partial(fit, kernel=kernel) for kernel in (5, "rbf", wv.RBF, wv.Empirical(np.eye(4)), wv.RBF([0.1] * 3), wv.RBF(0.1) * wv.Markov(0.1))]
    + [partial(wv.fit, BOX, X, Y, kernel=wv.RBF(0.2) + wv.RBF(0.3))],
    "search": [partial(fit, search=search) for search in (5, "x", wv.Search, {"noise": (0.1, 0.2)})],
    "max_points": [partial(fit, max_points=count) for count in (2, 0, -1, 1.5, "9", NAN, None, True)],
    "seed": [partial(fit, seed=seed) for seed in (-1, 1.5, "0", None, NAN, True)],
}  # fmt: skip


@pytest.mark.parametrize("argument", FIT)
def test_fit(argument):
    assert wrong(dict(enumerate(FIT[argument])), argument) == {}


def test_fit_of_arms_points_to_the_empirical_kernel():
    with pytest.raises(wv.InvalidArgument, match=r"space: .*wv\.Empirical"):
        wv.fit(ARMS, [0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0])


def test_fit_of_integers_is_not_a_fit_of_arms():
    found = wv.fit(wv.Space(k=wv.Integer(1, 9)), [{"k": k} for k in range(1, 10)], np.sin(np.arange(9.0)))
    assert len(found.kernel.lengthscale) == 1


TASK = {
    "rate": [-0.1, 1.1, NAN, INF, "0.1", None, True],
    "horizon": [0, -1, 1.5, "9", NAN, None],
    "seed": [-1, 1.5, "0", None],
    "lengthscale": [0.0, -1.0, NAN, INF, "0.1", None, [], [0.1, 0.2]],
    "noise_variance": [-1.0, NAN, INF, "0.1", None],
    "dim": [0, -1, 101, 2.0, "2", None],
    "grid": [0, 1, -5, 2.5, "9"],
}


@pytest.mark.parametrize("argument", TASK)
def test_task_options(argument):
    calls = {repr(value): partial(wv.task, "within-model", **{argument: value}) for value in TASK[argument]}
    assert wrong(calls, argument) == {}


def test_task():
    assert wrong({repr(name): partial(wv.task, name) for name in ("within", "", None, 5, [])}, "name=") == {}
    assert wrong({"unknown": partial(wv.task, "within-model", rat=0.1)}, "rat=") == {}
    task = wv.task("within-model", horizon=5, grid=10)
    for method in (partial(task.value, [0.5, 0.5]), task.optimum):
        assert wrong({repr(t): partial(method, t) for t in (0, 6, -1, 1.5, "1", None, NAN, True)}, "t=") == {}
    bad = ([0.5], [0.5, NAN], [0.5, 1.5], None, 5, "ab", [])
    assert wrong({repr(x): partial(task.value, x, 1) for x in bad}, "x") == {}


def test_simulate():
    task = wv.task("within-model", horizon=5, grid=10)
    kernel = {"kernel": task.kernel, "noise_variance": 0.02, "seed": 0}
    opt = wv.make("gp-ucb", task.space, **kernel)
    before = json.dumps(opt.state())
    used = wv.make("gp-ucb", task.space, **kernel)
    used.tell([0.5, 0.5], 1.0)
    for name, calls in {
        "optimizer": [
            *(partial(wv.simulate, other, task) for other in (None, 5, wv.make, task, "gp-ucb")),
            partial(wv.simulate, used, task),
            partial(wv.simulate, wv.make("gp-ucb", task.space, goal="minimize", **kernel), task),
            partial(wv.simulate, wv.make("gp-ucb", BOX, **kernel), task),
        ],
        "task": [partial(wv.simulate, opt, other) for other in (None, 5, "within-model", opt, wv.task)],
        "seed": [partial(wv.simulate, opt, task, seed=seed) for seed in (-1, 1.5, "0", None, NAN)],
        "steps": [partial(wv.simulate, opt, task, steps=steps) for steps in (0, -1, 6, 1.5, "3", NAN)],
        "on_step": [partial(wv.simulate, opt, task, on_step=call) for call in (5, "print")],
    }.items():
        assert wrong(dict(enumerate(calls)), name) == {}
    assert json.dumps(opt.state()) == before


def test_restore():
    calls = {
        repr(state): partial(wv.restore, state)
        for state in (None, 5, "x", [], {}, {"windvane": 0}, {"windvane": 1})
    }
    assert wrong(calls, "state") == {}


# -- the parts --------------------------------------------------------------------------------------

PARTS = {
    "Box": [(wv.Box, (bounds,), "bounds") for bounds in (None, 5, [], [(0,)], [(1, 0)], [(0, 0)], [(0, NAN)], [(0, INF)], ["ab"], [(0, "1")], [(0, 1, 2)], {0: 1})],
    "Arms": [(wv.Arms, (n,), "n=") for n in (0, -1, 1.5, "3", None, NAN, True, [3])],
    "Space": [
        (wv.Space, (), "Space"),
        (wv.Space, (5,), "parameters"),
        (wv.Space, ({"a": 5},), "a="),
        (wv.Space, ({5: wv.Real(0, 1)},), "5"),
        (wv.Space, ((("a", wv.Real(0, 1)), ("a", wv.Real(0, 1))),), "a, a"),
    ],
    "Real": [(wv.Real, ends, "Real") for ends in ((1, 0), (0, 0), (NAN, 1), (0, INF), ("0", 1), (0, None), (0, 1, True), (0, 1, "log"), (-1, 1, True))],
    "Integer": [(wv.Integer, ends, "Integer") for ends in ((2, 1), (0, 1.5), ("0", 1), (0, NAN), (0, None), (0, 3, True), (True, 3))],
    "Choice": [(wv.Choice, (options,), "options") for options in (None, 5, "ab", [], ["a", "a"], [NAN], [None], [[1]], {"a", "b"})],
    "RBF": [(kernel, (scale,), "lengthscale") for kernel in (wv.RBF, wv.Matern32, wv.Matern52) for scale in (0.0, -1.0, NAN, INF, "1", None, [], [0.1, 0.0], True)]
    + [(wv.RBF, (0.2, variance), "variance") for variance in (0.0, -1.0, NAN, INF, "1", None)],
    "Empirical": [(wv.Empirical, (matrix,), "covariance") for matrix in (None, 5, [], [[1.0, 2.0]], [[1.0, NAN], [NAN, 1.0]], [[1.0, 0.5], [0.4, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[0.0]], [["a"]])],
    "Markov": [(wv.Markov, (rate,), "rate") for rate in (-0.1, 1.1, NAN, INF, "1", None)],
    "Wiener": [(wv.Wiener, (rate,), "rate") for rate in (-0.1, NAN, INF, "1", None)],
    "Static": [(wv.Static, (share,), "share") for share in (0.0, -0.1, NAN, INF, "1", None)],
    "triggers": [(trigger, (delta,), "delta") for trigger in (wv.PosteriorBound, wv.Likelihood, partial(wv.BoundedNoise, 0.1)) for delta in (0.0, 1.0, -1.0, NAN, "1", None)]
    + [(wv.BoundedNoise, (bound,), "noise_bound") for bound in (-1.0, NAN, INF, None)]
    + [(wv.PosteriorBound, (0.1, cap), "noise_cap") for cap in (-1.0, NAN, INF, "1")]
    + [(wv.Periodic, (period,), "period") for period in COUNTS]
    + [(wv.NoImprovement, (patience,), "patience") for patience in COUNTS]
    + [(wv.NoImprovement, (2, tolerance), "tolerance") for tolerance in (-1.0, NAN, "1")]
    + [(wv.ResetWindow, window, "reset_window") for window in ((0, 1), (2, 1), (1.5, 2), ("1", 2), (1, NAN))],
    "retention": [(wv.Budget, (count,), "max_points") for count in COUNTS]
    + [(wv.SlidingWindow, (count,), "size") for count in COUNTS]
    + [(wv.Backtracking, (count,), "cap") for count in COUNTS]
    + [(wv.Relevance, (alpha,), "alpha") for alpha in (-0.1, NAN, INF, "1", None)]
    + [(partial(wv.Relevance, **{name: count}), (), name) for name in ("first", "least") for count in COUNTS]
    + [(wv.EvidenceWindow, (windows,), "windows") for windows in (5, "ab", (), (0, 3), (3, 3), (5, 3), (3, 4.5), None)]
    + [(wv.EvidenceWindow, ((3, 5), factor), "forgetting") for factor in (0.0, 1.1, NAN, "1")]
    + [(wv.EvidenceWindow, ((3, 5), 0.9, margin), "margin") for margin in (-1.0, NAN, INF, "1")],
    "schedules": [(wv.LogBeta, (c, 4.0), "beta(c1)") for c in (0.0, -1.0, NAN, INF, "1")]
    + [(wv.LogBeta, (0.4, c), "beta(c2)") for c in (0.0, -1.0, NAN, INF, None)]
    + [(wv.ConstantBeta, (beta,), "beta") for beta in (-1.0, NAN, INF, "1")]
    + [(wv.Theorem1Beta, (delta,), "beta(delta)") for delta in (0.0, 1.0, NAN)]
    + [(wv.Theorem1Beta, (0.1, a1), "beta(a1)") for a1 in (0.0, -1.0, NAN)]
    + [(wv.IGPBeta, (bound,), "beta(bound)") for bound in (-1.0, NAN, INF)]
    + [(wv.IGPBeta, (1.0, scale), "beta(noise_scale)") for scale in (-1.0, NAN)]
    + [(wv.IGPBeta, (1.0, 0.1, delta), "beta(delta)") for delta in (0.0, 1.0, NAN)]
    + [(wv.UCB, (schedule,), "schedule") for schedule in (5, "log", wv.LogBeta)],
    "Search": [(partial(wv.Search, **{name: pair}), (), f"learning({name})") for name in ("lengthscale", "noise", "variance", "rate", "odds") for pair in ((0.2, 0.1), (0.0, 1.0), (0.1, NAN), (0.1,), 5, "ab", None)]
    + [(partial(wv.Search, rate=(0.1, 1.5)), (), "learning(rate)")]
    + [(partial(wv.Search, learn=learn), (), "learning(learn)") for learn in ("noise", ("nois",), 5, None)]
    + [(partial(wv.Search, starts=starts), (), "learning(starts)") for starts in COUNTS]
    + [(partial(wv.Search, **{f"{name}_prior": 5}), (), f"{name}_prior") for name in ("lengthscale", "noise", "variance", "rate", "odds")],
    "learning": [(wv.LearnThenMonitor, (steps,), "learning(steps)") for steps in COUNTS]
    + [(wv.LearnOnline, (growth,), "learning(growth)") for growth in (0.9, -1.0, NAN, INF, "1")]
    + [(partial(policy, search=search), (), "search") for policy in (wv.LearnThenMonitor, wv.LearnOnline, wv.Given) for search in (5, wv.Search)],
    "priors": [(wv.Gamma, pair, "Gamma") for pair in ((0.0, 1.0), (1.0, 0.0), (NAN, 1.0), (1.0, "1"))]
    + [(wv.LogNormal, pair, "LogNormal") for pair in ((0.0, 1.0), (1.0, 0.0), (NAN, 1.0), (1.0, None))],
    "Scaling": [(wv.Scaling, pair, "scaling") for pair in ((NAN, 1.0), (0.0, 0.0), (0.0, -1.0), (0.0, INF), ("0", 1.0))],
}  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_parts(part):
    problems = {}
    for build, arguments, name in PARTS[part]:
        label = f"{getattr(build, 'keywords', '') or getattr(build, '__name__', build)}{arguments!r}"
        problems |= wrong({label: partial(build, *arguments)}, name)
    assert problems == {}


def test_kernels_that_cannot_be_added():
    with pytest.raises(wv.InvalidArgument, match="kernel: two space-time kernels"):
        wv.RBF(0.1) * wv.Markov(0.1) + wv.RBF(0.2) * wv.Static()


@pytest.mark.parametrize("y", [None, math.nan, math.inf])
def test_whoever_has_no_value_is_told_what_to_do(y):
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    with pytest.raises(wv.WindvaneError, match=r"^y=.*If no value came, record that with fail$"):
        opt.tell([0.5], y)


@pytest.mark.parametrize("time", ["2026-03-01", date(2026, 3, 1), np.datetime64("2026-03-01")])
def test_what_is_no_time_is_told_that_a_datetime_is_one(time):
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    with pytest.raises(wv.InvalidType, match=r"^time=.*or a datetime with a time zone"):
        opt.tell([0.5], 1.0, time=time)


def test_a_misspelt_option_names_the_one_that_was_meant():
    with pytest.raises(wv.InvalidArgument, match=r"use kernal=; did you mean kernel=\? Its options are "):
        wv.make(wv.Box([(0, 1)]), kernal=wv.RBF(0.2))


GONE = np.ma.masked


@pytest.mark.parametrize(
    "call",
    [
        lambda opt: opt.tell([0.1, 0.1], GONE),
        lambda opt: opt.tell([0.1, 0.1], np.ma.array(5.0, mask=True)),
        lambda opt: opt.tell([0.1, 0.1], np.ma.array([1.0, 5.0], mask=[False, True])),
        lambda opt: opt.tell([0.1, 0.1], 1.0, heat=GONE),
        lambda opt: opt.tell([0.1, 0.1], 1.0, time=GONE),
        lambda opt: opt.tell([0.1, 0.1], 1.0, std=GONE),
        lambda opt: opt.tell([0.1, GONE], 1.0),
        lambda opt: opt.tell(np.ma.array([0.1, 0.2], mask=[False, True]), 1.0),
        lambda opt: opt.predict(np.ma.array([[0.1, 0.2]], mask=[[False, True]])),
    ],
)
def test_what_is_masked_is_missing_and_not_zero(call):
    opt = wv.make(wv.Box([(0, 1)] * 2), constraints={"heat": wv.AtMost(1.0)}, seed=0)
    before = opt.state()
    with pytest.raises(wv.WindvaneError, match="finite"):
        call(opt)
    assert opt.state() == before


def test_of_a_masked_array_without_masked_entries_all_is_there():
    opt = wv.make(wv.Box([(0, 1)] * 2), seed=0)
    event = opt.tell(np.ma.array([0.1, 0.2]), np.ma.array(3.0))
    np.testing.assert_array_equal(event.x, [0.1, 0.2])
    assert event.y == 3.0


def test_a_time_of_pandas_that_is_none():
    pandas = pytest.importorskip("pandas")
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    for call in (lambda time: opt.tell([0.5], 1.0, time=time), lambda time: opt.ask(time=time)):
        with pytest.raises(wv.InvalidArgument, match="time=NaT: must be a time"):
            call(pandas.NaT)
    assert opt.step == 1
