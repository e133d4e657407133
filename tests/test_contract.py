"""The public contract: names, signatures and behaviour that other people's code relies on.

This file may grow. A change to what is in it breaks programs: it needs a new major version and an entry in the
changelog that says what to do. What is not in it is free to change.
"""

import dataclasses
import inspect
import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import windvane as wv
from windvane import errors
from windvane.client import RemoteStudy

NAMES = {  # `wv.` and each of these; Study and studies need an extra and stand outside of the star import
    "HYPOTHESES RBF UCB Arms AtLeast AtMost Backtracking Belief BelievedChange Best BoundedNoise Box Budget",
    "Calibration Candidates Change Choice Composition Confirmed Conflict ConstantBeta Context CorruptState",
    "Dataset EDetector Empirical Empty Event EvidenceWindow ExactBound Exchangeable Failure Fit Forbidden Full",
    "Gamma Given Hypothesis IGPBeta InBatches Independent Integer InvalidArgument InvalidType LastPoint",
    "LearnOnline LearnThenMonitor Likelihood LocalHypothesis Log LogBeta LogEI LogNormal Markov Matern32",
    "Matern52 MissingExtra Mixture Model Never NoImprovement NumericalFailure Observation Opinion Optimizer",
    "Outcome Periodic PosteriorBound Prediction Real Region Relevance Replay ResetWindow SafetyCalibration",
    "Scaling Search SinceChange SlidingWindow Space SpreadFirst Static StorageFailure Theorem1Beta Thompson",
    "TimeMatern32 TimeMatern52 TimePeriodic TimeRBF Trace Unavailable Uniform UnknownName Verdict Wiener",
    "WindvaneError algorithms calibrate calibrate_safety component describe_hypothesis fit make replay restore",
    "simulate task tasks",
}
ALGORITHMS = {
    "auto gp-ucb r-gp-ucb et-gp-ucb et-gp-ucb-confirmed et-gp-ucb-backtracking et-gp-ucb[0.01,0.05]",
    "et-gp-ucb[0.001,0.1] et-gp-ucb[0,1] always-n-low r-gp-ucb-average tv-gp-ucb tv-gp-ucb-constant",
    "tv-gp-ucb-mle ui-tvbo igp-ucb sw-gp-ucb sw-gp-ucb-evidence w-dbo br-gp-ucb w-gp-ucb turbo-trigger random",
}
TASKS = {
    "within-model rate-change jumps seasonal outliers misjudged-noise heavy-tails small-units rough regimes",
    "workload moving-peaks branin-walk hartmann3-mirrored valve breaking-plant following-load guarded",
    "guarded-jumps oven drive recipes levy still ackley-shift hartmann-shift policy-search deng-abrupt",
    "deng-slow table local-change humid temperature stocks",
}
NEEDED = {  # what an algorithm cannot do without; the others need a space and no more
    "r-gp-ucb": {"rate": 0.03, "horizon": 400},
    "always-n-low": {"period": 20},
    "r-gp-ucb-average": {"rate": 0.03},
    "tv-gp-ucb": {"rate": 0.03},
    "tv-gp-ucb-constant": {"rate": 0.03},
    "ui-tvbo": {"rate": 0.03},
    "sw-gp-ucb": {"horizon": 400, "variation": 5.0},
    "br-gp-ucb": {"horizon": 400, "variation": 5.0},
    "w-gp-ucb": {"horizon": 400, "variation": 5.0},
}
REQUIRED = object()
SIGNATURES = {  # what may be given by position, in this order, then what is given by keyword; with defaults
    wv.make: ({"name": "auto", "space": None}, {"goal": "maximize", "seed": None}),
    wv.restore: ({"state": REQUIRED}, {}),
    wv.algorithms: ({}, {}),
    wv.task: ({"name": REQUIRED}, {}),
    wv.tasks: ({}, {}),
    wv.simulate: (
        {"optimizer": REQUIRED, "task": REQUIRED},
        {"seed": 0, "steps": None, "on_step": None},
    ),
    wv.Box: ({"bounds": REQUIRED}, {}),
    wv.Arms: ({"n": REQUIRED}, {}),
    wv.Candidates: ({"rows": REQUIRED}, {"scale": ()}),
    wv.Real: ({"lo": REQUIRED, "hi": REQUIRED, "log": False, "unit": "", "step": None}, {}),
    wv.Integer: ({"lo": REQUIRED, "hi": REQUIRED, "log": False, "unit": ""}, {}),
    wv.Choice: ({"options": REQUIRED}, {}),
    wv.Context: (
        {"parameter": REQUIRED, "hi": None},
        {"log": False, "unit": "", "period": False, "clip": False},
    ),
    wv.Empirical: ({"covariance": REQUIRED}, {}),
    wv.RBF: ({"lengthscale": 0.2, "variance": 1.0}, {}),
    wv.AtMost: ({"limit": REQUIRED, "unit": "", "kernel": None, "noise_variance": None, "mean": None}, {}),
    wv.AtLeast: ({"limit": REQUIRED, "unit": "", "kernel": None, "noise_variance": None, "mean": None}, {}),
    wv.LogEI: ({}, {}),
    wv.Optimizer.ask: (
        {"self": REQUIRED},
        {"time": None, "pending": (), "context": None, "available": None, "count": None},
    ),
    wv.Optimizer.tell: (
        {"self": REQUIRED, "x": REQUIRED, "y": REQUIRED, "time": None},
        {"noise_variance": None, "std": None},
    ),
    wv.Optimizer.fail: ({"self": REQUIRED, "x": REQUIRED, "time": None}, {"reason": ""}),
    wv.Optimizer.reset: ({"self": REQUIRED, "reason": ""}, {}),
    wv.Optimizer.best: ({"self": REQUIRED, "time": None}, {"context": None}),
    wv.Optimizer.predict: ({"self": REQUIRED, "points": REQUIRED, "time": None}, {"of": None}),
    wv.Optimizer.feasibility: ({"self": REQUIRED, "points": REQUIRED, "time": None}, {}),
    wv.Optimizer.follows: ({"self": REQUIRED}, {}),
    wv.Optimizer.state: ({"self": REQUIRED}, {}),
    wv.Optimizer.copy: ({"self": REQUIRED}, {}),
}
STUDY = {  # the same of studies; those over HTTP have the same names
    "create": (
        {"url": REQUIRED, "name": REQUIRED, "space": REQUIRED, "algorithm": "auto"},
        {"goal": "maximize", "seed": None, "expires_after": 86400.0, "metadata": None, "exist_ok": False},
    ),
    "open": ({"url": REQUIRED, "name": REQUIRED}, {}),
    "ask": (
        {"self": REQUIRED, "time": None},
        {"context": None, "available": None, "count": None, "metadata": None, "key": None},
    ),
    "tell": (
        {"self": REQUIRED, "trial": REQUIRED, "y": REQUIRED, "time": None},
        {"noise_variance": None, "std": None, "outcomes": None, "metadata": None, "key": None},
    ),
    "fail": ({"self": REQUIRED, "trial": REQUIRED, "reason": ""}, {"metadata": None, "key": None}),
    "reset": ({"self": REQUIRED, "reason": ""}, {"metadata": None, "key": None}),
    "best": ({"self": REQUIRED}, {"context": None}),
    "predict": ({"self": REQUIRED, "points": REQUIRED, "time": None}, {"of": None}),
    "feasibility": ({"self": REQUIRED, "points": REQUIRED, "time": None}, {}),
    "explain": ({"self": REQUIRED}, {}),
    "summary": ({"self": REQUIRED}, {}),
    "events": ({"self": REQUIRED, "after": 0, "limit": None}, {}),
}
REMOTE = ("ask", "tell", "fail", "reset", "best", "predict", "feasibility", "explain", "summary")
EVENT = (  # in this order; new ones come at the end and have a default
    "step time x y mean std noise_variance log_density statistic threshold monitored elapsed reset reason kept size "
    "set_aside outlier beliefs change cause told_variance values outcomes retreat "
    "sentence"
)
RECORDS = {
    wv.Failure: "step time x reason probability failed",
    wv.Best: "x mean std steps feasible",
    wv.Outcome: "value mean std probability violated statistic threshold monitored reset reason kept size cause "
    "change beliefs sentence",
}
ERRORS = {  # each is a WindvaneError and the built-in that Python users expect
    "InvalidArgument": ValueError,
    "InvalidType": TypeError,
    "UnknownName": LookupError,
    "Conflict": ValueError,
    "CorruptState": ValueError,
    "NumericalFailure": ArithmeticError,
    "MissingExtra": ImportError,
    "StorageFailure": OSError,
    "UncertainWrite": errors.StorageFailure,
    "Forbidden": PermissionError,
    "Unavailable": ConnectionError,
    "WorkersLost": RuntimeError,
    "AlgorithmFailed": RuntimeError,
}
STATE = {  # of every optimiser; some have more
    "windvane space composition goal seed step elapsed age last_time origin last_point memory surrogate"
}
BOX = wv.Box([(0, 1), (0, 1)])
NAMED = wv.Space(
    gain=wv.Real(0.1, 10, log=True, unit="dB"),
    taps=wv.Integer(1, 8),
    mode=wv.Choice(["a", "b"]),
    load=wv.Context(0, 100, unit="%"),
)


def words(*texts):
    return {word for text in texts for word in text.split()}


def parameters(function):
    """By position, and by keyword only, with defaults; what has no name is left out."""
    position, keyword = {}, {}
    for name, each in inspect.signature(function).parameters.items():
        if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL):
            continue
        default = REQUIRED if each.default is each.empty else each.default
        (keyword if each.kind is each.KEYWORD_ONLY else position)[name] = default
    return position, keyword


# Names and signatures


def test_names():
    assert words(*NAMES) <= set(wv.__all__)
    assert all(hasattr(wv, name) for name in wv.__all__)
    assert sorted(set(wv.__all__)) == sorted(wv.__all__)


@pytest.mark.parametrize("name", wv.algorithms())
def test_each_algorithm_is_made_by_its_name(name):
    assert isinstance(wv.make(name, BOX, seed=0, **NEEDED.get(name, {})), wv.Optimizer)


def test_no_name_is_public_by_accident():
    """A new one is a promise: add it here as well."""
    assert set(wv.__all__) == words(*NAMES)


def test_studies_are_there_with_their_extra():
    assert {"Study", "studies"} <= set(dir(wv))
    assert wv.Study.create
    assert wv.studies


def test_algorithms_and_tasks():
    assert words(*ALGORITHMS) <= set(wv.algorithms())
    assert words(*TASKS) <= set(wv.tasks())


def assert_kept(function, by_position, by_keyword):
    position, keyword = parameters(function)
    assert list(position.items())[: len(by_position)] == list(by_position.items())
    assert keyword.items() >= by_keyword.items()
    new = [*list(position.items())[len(by_position) :], *keyword.items()]
    assert all(default is not REQUIRED for _, default in new)


@pytest.mark.parametrize("function", SIGNATURES, ids=lambda each: each.__qualname__)
def test_signatures(function):
    """What was there is there, at its place and with its default; what is new comes after it, and is optional."""
    assert_kept(function, *SIGNATURES[function])


@pytest.mark.parametrize("name", STUDY)
def test_signatures_of_a_study(name):
    assert_kept(getattr(wv.Study, name), *STUDY[name])


@pytest.mark.parametrize("name", REMOTE)
def test_signatures_of_a_study_over_http(name):
    assert_kept(getattr(RemoteStudy, name), *STUDY[name])


def test_fields_of_an_event():
    fields, expected = dataclasses.fields(wv.Event), EVENT.split()
    assert [each.name for each in fields][: len(expected)] == expected
    for each in fields[expected.index("set_aside") :]:
        assert each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING


@pytest.mark.parametrize("record", RECORDS, ids=lambda each: each.__name__)
def test_fields_of_the_other_records(record):
    expected = RECORDS[record].split()
    assert [each.name for each in dataclasses.fields(record)][: len(expected)] == expected


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    error = getattr(errors, name)
    assert issubclass(error, wv.WindvaneError)
    assert issubclass(error, ERRORS[name])
    assert issubclass(wv.WindvaneError, Exception)


def test_every_error_has_the_one_root():
    found = {
        name
        for name, each in vars(errors).items()
        if inspect.isclass(each) and issubclass(each, Exception) and each.__module__ == errors.__name__
    }
    assert found == {"WindvaneError", *ERRORS}


# Spaces: what a point is


def test_points_of_a_box_are_arrays():
    x = wv.make(BOX, seed=0).ask()
    assert isinstance(x, np.ndarray)
    assert x.shape == (2,)


@pytest.mark.parametrize("space", [wv.Arms(4), wv.Candidates(np.random.default_rng(0).random((6, 3)))])
def test_points_of_finite_spaces_are_integers(space):
    x = wv.make(space, seed=0).ask()
    assert isinstance(x, int)
    assert x >= 0


def test_arms_with_an_empirical_kernel():
    opt = wv.make("et-gp-ucb", wv.Arms(46), kernel=wv.Empirical(np.eye(46)), noise_variance=0.02, seed=0)
    assert 0 <= opt.ask() < 46


def test_points_of_named_parameters_are_dicts_and_a_context_is_observed():
    opt = wv.make(NAMED, seed=0)
    x = opt.ask(context={"load": 37})
    assert set(x) == {"gain", "taps", "mode", "load"}
    assert x["load"] == 37
    assert isinstance(x["taps"], int)
    assert x["mode"] in ("a", "b")
    opt.tell(x, 1.0)
    assert opt.best(context={"load": 80}).x["load"] == 80
    with pytest.raises(wv.InvalidArgument, match="context"):
        opt.ask()


# What `make` understands


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((BOX,), {}),
        (("auto", BOX), {}),
        (("et-gp-ucb", BOX), {"kernel": wv.RBF(0.2), "noise_variance": 0.02, "delta": 0.1}),
        (("tv-gp-ucb", BOX), {"rate": 0.03}),
        (("et-gp-ucb", BOX), {"rate_bounds": (0.001, 0.1), "horizon": 400}),
        (("et-gp-ucb", BOX), {"reset_window": (5, 40)}),
        ((BOX,), {"acquisition": wv.LogEI()}),
        ((BOX,), {"constraints": {"heat": wv.AtMost(90)}, "safe": 0.95, "start": [[0.5, 0.5]]}),
    ],
)
def test_make(arguments, options):
    opt = wv.make(*arguments, seed=0, **options)
    assert isinstance(opt, wv.Optimizer)
    x = opt.ask()
    np.testing.assert_array_equal(opt.ask(), x)  # asking changes nothing
    event = opt.tell(x, 1.0, **({"heat": 84.2} if "constraints" in options else {}))
    assert isinstance(event, wv.Event)
    assert (event.reset, event.cause, opt.size) == (False, "", 1)


def test_start_settings_are_asked_for_first_and_are_named_as_points_are():
    start = [{"gain": 1.0, "taps": 2, "mode": "a"}]
    space = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 8), mode=wv.Choice(["a", "b"]))
    opt = wv.make(space, constraints={"heat": wv.AtMost(90)}, safe=0.95, start=start, seed=0)
    assert opt.ask() == start[0]
    event = opt.tell(opt.ask(), 1.0, heat=84.2)
    assert (event.violated, event.outcomes["heat"].value) == ((), 84.2)


def test_moves_are_limited():
    opt = wv.make(wv.Space(gain=wv.Real(0, 10)), max_step={"gain": 0.5}, seed=0)
    opt.tell({"gain": 5.0}, 1.0)
    for _ in range(5):
        x = opt.ask()
        last = opt.data.X[-1][0] * 10
        assert abs(x["gain"] - last) <= 0.5 + 1e-9
        opt.tell(x, 1.0)


@pytest.mark.parametrize(
    ("goal", "meant"),
    [("maximize", 1), ("maximise", 1), ("minimize", -1), ("minimise", -1)],
)
def test_goals(goal, meant):
    opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), goal=goal, kernel=wv.RBF(0.3), noise_variance=1e-4, seed=0)
    for x in (0.1, 0.5, 0.9):
        opt.tell([x], x)
    assert meant * (opt.best().x[0] - 0.5) > 0
    mean, _ = opt.predict([[0.9]])
    assert mean[0] == pytest.approx(0.9, abs=0.1)  # in the caller's units, whatever the goal


def test_the_goal_is_one_of_two():
    with pytest.raises(wv.UnknownName, match="goal"):
        wv.make(BOX, goal="best")


def test_unknown_names_and_options_are_named():
    with pytest.raises(wv.UnknownName, match="no-such"):
        wv.make("no-such", BOX)
    with pytest.raises(wv.WindvaneError, match="no_such"):
        wv.make(BOX, no_such=1)


# Ask and tell


def told(**options):
    opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.01, seed=0, **options)
    for _ in range(4):
        opt.tell(opt.ask(), 0.0)
    return opt


def test_several_points_at_once_and_pending_ones():
    opt = told()
    points = opt.ask(count=4)
    assert len(points) == 4
    np.testing.assert_array_equal(points[0], opt.ask())
    np.testing.assert_array_equal(points[1], opt.ask(pending=points[:1]))
    assert opt.size == 4


def test_a_reset_is_an_event_that_explains_itself():
    opt = told()
    event = opt.tell(opt.ask(), 40.0)
    assert event.reset
    assert event.cause == "triggered"
    assert event.statistic > event.threshold
    assert (event.kept, event.size, opt.size) == (1, 1, 1)
    assert event.reason


def test_a_reset_that_is_asked_for():
    opt = told()
    event = opt.reset("new pump")
    assert (event.reset, event.cause, event.x) == (True, "asked", None)
    assert "new pump" in event.reason
    assert opt.size == 0


def test_beliefs_of_auto():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    event = [opt.tell(opt.ask(), float(n)) for n in range(3)][-1]
    assert sum(event.beliefs.values()) == pytest.approx(1.0)
    assert all(wv.describe_hypothesis(name) for name in event.beliefs)


def test_failures_change_no_model():
    opt = told()
    x = opt.ask()
    failure = opt.fail(x, reason="tripped")
    assert isinstance(failure, wv.Failure)
    assert failure.failed
    assert opt.size == 4


def test_constraints_are_told_with_the_value():
    opt = wv.make(BOX, constraints={"heat": wv.AtMost(90)}, seed=0)
    event = opt.tell(opt.ask(), 1.0, heat=93.0)
    assert event.violated == ("heat",)
    assert event.outcomes["heat"].value == 93.0
    assert 0 <= opt.best().feasible <= 1
    assert set(opt.feasibility([[0.5, 0.5]])) >= {"heat"}


def test_the_noise_of_a_value_and_repeats():
    opt = told()
    assert opt.tell(opt.ask(), 0.0, noise_variance=4.0).told_variance == 4.0
    assert opt.tell(opt.ask(), 0.0, std=2.0).told_variance == 4.0
    assert opt.tell(opt.ask(), [1.0, 3.0]).y == 2.0


def test_best_and_predict():
    opt = told()
    best = opt.best()
    assert best.x.shape == (1,)
    assert best.std >= 0
    mean, std = opt.predict([[0.1], [0.9], [0.5]])
    assert mean.shape == std.shape == (3,)
    for _ in range(20):
        opt.tell([0.5], 0.0)
    _, std = opt.predict([[0.5]])
    assert std[0] < 0.05  # of the objective: the noise of a measurement, 0.1, is not in it


def test_time_is_a_step_a_number_or_a_date():
    opt = told()
    assert opt.time == 5
    opt.tell(opt.ask(time=7.5), 0.0, time=7.5)
    assert opt.last_time == 7.5
    opt, now = wv.make(BOX, seed=0), datetime(2026, 3, 1, tzinfo=UTC)
    for hour in range(2):
        opt.tell(opt.ask(time=now + timedelta(hours=hour)), 0.0, time=now + timedelta(hours=hour))
    assert opt.size == 2


def test_what_is_refused_changes_nothing():
    opt = told()
    before = json.dumps(opt.state())
    for y in (float("nan"), "much", None):
        with pytest.raises(wv.WindvaneError):
            opt.tell(opt.ask(), y)
    with pytest.raises(wv.WindvaneError):
        opt.tell([7.0], 0.0)
    assert json.dumps(opt.state()) == before


# State


@pytest.mark.parametrize("name", ["auto", "et-gp-ucb", "random"])
def test_state_is_json_both_ways(name):
    opt = wv.make(name, BOX, seed=0)
    for n in range(8):
        opt.tell(opt.ask(), np.sin(n))
    text = json.dumps(opt.state(), allow_nan=False)
    assert words(*STATE) <= set(json.loads(text))
    twin = wv.restore(json.loads(text))
    for _ in range(3):
        x, y = opt.ask(), 0.5
        np.testing.assert_array_equal(twin.ask(), x)
        assert opt.tell(x, y) == twin.tell(x, y)
    assert json.dumps(twin.state()) == json.dumps(opt.state())


def test_a_state_that_is_none():
    for state in ({}, None, "state", {"windvane": 999}):
        with pytest.raises(wv.CorruptState):
            wv.restore(state)


def test_events_are_json_both_ways():
    opt = told()
    event = opt.tell(opt.ask(), 40.0)
    plain = json.loads(json.dumps(event.as_dict(), allow_nan=False))
    assert set(plain) >= words(EVENT)
    again = wv.Event.from_dict(plain)
    assert again.as_dict() == event.as_dict()
    assert wv.Event.from_dict({**plain, "of a later version": 1}) == again


# Tasks


def test_tasks_and_simulation():
    task = wv.task("within-model", dim=2, rate=0.03, horizon=30, seed=0)
    assert task.space.dim == 2
    assert isinstance(task.kernel, wv.RBF)
    assert task.noise_variance > 0
    assert task.horizon == 30
    best = task.optimum(3)  # a float that knows where
    assert task.value(best.x, 3) == pytest.approx(best)
    opt = wv.make("et-gp-ucb", task.space, kernel=task.kernel, noise_variance=task.noise_variance, seed=0)
    trace = wv.simulate(opt, task, seed=0)
    assert isinstance(trace, wv.Trace)
    assert trace.regret.shape == (30,)
    assert (trace.regret >= -1e-9).all()
    assert len(trace.events) == 30
    assert [each.step for each in trace.events if each.reset] == list(trace.resets)
    again = wv.simulate(
        wv.make("et-gp-ucb", task.space, kernel=task.kernel, noise_variance=task.noise_variance, seed=0),
        task,
        seed=0,
    )
    np.testing.assert_array_equal(again.regret, trace.regret)


def test_a_table_of_ones_own():
    values = np.random.default_rng(0).random((40, 5))
    task = wv.task("table", values=values, train_rows=30)
    assert isinstance(task.space, wv.Arms)
    assert task.horizon == 10
    trace = wv.simulate(wv.make("random", task.space, seed=0), task, seed=0)
    assert len(trace.regret) == 10


# Studies


def test_a_study_takes_what_make_takes(tmp_path):
    space = wv.Space(gain=wv.Real(0.1, 10, log=True), load=wv.Context(0, 100))
    limits = {"heat": wv.AtMost(90)}
    with wv.Study.create(
        tmp_path / "db", "press", space, goal="minimise", constraints=limits, seed=0
    ) as study:
        trial = study.ask(context={"load": 37})
        assert trial.x["load"] == 37
        event = study.tell(trial, 1.0, heat=84.2)
        assert isinstance(event, wv.Event)
        failed, second = study.ask(context={"load": 40}, count=2)
        study.fail(failed, "tripped")
        study.tell(second, 2.0, std=0.1, heat=70.0)
        assert study.reset("new pump").cause == "asked"
        assert study.explain()
    with wv.Study.open(tmp_path / "db", "press") as study:
        assert study.summary().tells == 2
    assert [each.name for each in wv.studies(tmp_path / "db")] == ["press"]
