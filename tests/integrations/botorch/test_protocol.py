"""Ask, tell, state: the protocol of Windvane's own optimiser."""

import functools
import json
import math
import subprocess
import sys
import textwrap

import botorch
import numpy as np
import pytest
import torch
from botorch.models import SingleTaskGP

import windvane as wv
from windvane.integrations.botorch import EventTriggeredLoop, given_model, maximize
from windvane.integrations.botorch.version import check_version

NOISE = 0.02


def unit_bounds(dim, dtype=torch.float64):
    return torch.stack([torch.zeros(dim, dtype=dtype), torch.ones(dim, dtype=dtype)])


MODEL = given_model(wv.RBF(0.3), NOISE)


def scan(acquisition, bounds):
    """The best of a few random points: quick, and different at every step."""
    points = bounds[0] + (bounds[1] - bounds[0]) * torch.rand(64, 1, 2, dtype=bounds.dtype)
    return points[acquisition(points).argmax()]


def make(**options):
    return EventTriggeredLoop(
        MODEL, unit_bounds(2), **{"learning": 0, "seed": 0, "optimize": scan, **options}
    )


def run(loop, steps, start=1):
    """A hill that jumps at step 8."""
    events = []
    for t in range(start, start + steps):
        x = loop.ask()
        peak = 0.2 if t < 8 else 0.8
        events.append(loop.tell(x, 3.0 * torch.exp(-8.0 * (x - peak).square().sum())))
    return events


def test_asking_changes_nothing_and_gives_the_same_point():
    loop = make(optimize=maximize)
    run(loop, 3)
    torch.manual_seed(11)
    undisturbed = torch.rand(3)
    torch.manual_seed(11)
    state, x = loop.state(), loop.ask()
    torch.testing.assert_close(torch.rand(3), undisturbed)  # the caller's generator is not touched
    assert loop.state() == state
    x += 1.0  # what the caller does to a point is the caller's business
    assert torch.equal(loop.ask() + 1.0, x)
    again = make(optimize=maximize)
    run(again, 3)
    assert torch.equal(again.ask() + 1.0, x)
    loop.predict([[0.1, 0.2]])
    loop.best()
    assert loop.state() == state


def test_the_seed_matters():
    assert not torch.equal(make(seed=1).ask(), make(seed=2).ask())


def test_it_resets_and_says_why():
    events = run(make(), 12)
    (reset,) = [event for event in events if event.reset]
    assert reset.step >= 8
    assert reset.reason.startswith("bound broken: |y - mean| = ")
    assert (reset.kept, reset.size) == (1, 1)


def test_before_there_is_a_model_nothing_is_predicted():
    loop = make(initial=3)
    points = [loop.ask()]
    events = [loop.tell(points[-1], 1.0)]
    assert loop.model is None
    for _ in range(3):
        points.append(loop.ask())
        events.append(loop.tell(points[-1], 1.0))
    assert [event.monitored for event in events] == [False, False, False, True]
    assert [math.isnan(event.mean) for event in events] == [True, True, True, False]
    assert [event.size for event in events] == [1, 2, 3, 4]
    assert events[0].threshold == math.inf
    assert len({tuple(point.tolist()) for point in points[:3]}) == 3  # a Sobol sequence


def test_while_it_learns_nothing_is_monitored():
    loop = EventTriggeredLoop(SingleTaskGP, unit_bounds(2), seed=0)
    events = [loop.tell([0.5, 0.5], 1000.0 * (-1) ** t) for t in range(21)]
    assert [event.monitored for event in events] == [False] * 20 + [True]
    assert not any(event.reset for event in events[:20])
    wide = torch.stack((torch.zeros(15), torch.ones(15))).double()
    assert EventTriggeredLoop(SingleTaskGP, wide).plan.learning == 30
    assert EventTriggeredLoop(SingleTaskGP, wide, initial=40).plan.learning == 40
    assert EventTriggeredLoop(SingleTaskGP, wide, trigger=wv.Never()).plan.learning == 0


def fitted(X, Y):
    """Deterministic, with hyperparameters that depend on the data, and torch's generator."""
    with botorch.settings.validate_input_scaling(False):  # the time is not in the unit cube
        model = SingleTaskGP(X, Y)
    model.likelihood.noise = 0.01 + 0.01 * Y.abs().mean().item() + 0.001 * torch.rand(1).item()
    return model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"learning": 4},
        {"learning": 4, "freeze": False, "time_column": True},
        {"trigger": wv.Confirmed(wv.PosteriorBound(0.5)), "goal": "minimize"},
        {"trigger": wv.EDetector(), "retention": wv.Backtracking(), "window": wv.ResetWindow(2, 9)},
    ],
    ids=["plain", "frozen", "time", "confirmed", "evidence"],
)
@pytest.mark.filterwarnings("ignore:The model inputs are of type torch.float32")  # BoTorch advises against it
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["double", "single"])
def test_a_restored_loop_goes_on_bit_for_bit(options, dtype):
    def new():
        given = {"learning": 0, "seed": 3, "optimize": scan, **options}
        return EventTriggeredLoop(fitted, unit_bounds(2, dtype), **given)

    loop = new()
    run(loop, 9)
    state = json.loads(json.dumps(loop.state(), allow_nan=False))
    again = EventTriggeredLoop.restore(state, fitted, optimize=scan)
    assert again.plan == loop.plan
    for ours, theirs in zip(run(loop, 3, start=10), run(again, 3, start=10), strict=True):
        np.testing.assert_equal(theirs.as_dict(), ours.as_dict())
    assert again.state() == loop.state()
    assert torch.equal(again.ask(), loop.ask())


def test_whether_one_asked_before_makes_no_difference_to_the_last_bit():
    loop, silent = make(optimize=maximize), make()
    for event in run(loop, 5):
        np.testing.assert_equal(silent.tell(event.x, event.y).as_dict(), event.as_dict())


def test_an_observation_that_was_set_aside_is_asked_again_and_survives_a_state():
    loop = make(trigger=wv.Confirmed(wv.PosteriorBound()))
    run(loop, 5)
    x = loop.ask()
    event = loop.tell(x, 50.0)
    assert event.set_aside
    assert loop.size == 5
    again = EventTriggeredLoop.restore(json.loads(json.dumps(loop.state())), MODEL, optimize=scan)
    for each in (loop, again):
        assert torch.equal(each.ask(), x)
        second = each.tell(x, event.mean)
        assert second.outlier == event.step
        assert each.size == 6


def test_it_runs_a_task_of_ours():
    task = wv.task("within-model", rate=0.05, horizon=6, seed=0)
    loop = EventTriggeredLoop(
        given_model(task.kernel, task.noise_variance), unit_bounds(2), learning=0, seed=0
    )
    trace = wv.simulate(loop, task, seed=0)
    assert len(trace.events) == 6
    assert (trace.regret >= 0.0).all()


def test_points_and_values_in_all_their_shapes():
    loop = make()
    for x in (
        [0.1, 0.2],
        np.array([0.1, 0.2]),
        torch.tensor([[0.1, 0.2]], dtype=torch.float64),
        np.array([[0.1, 0.2]]),
    ):
        event = loop.tell(x, torch.tensor([[0.5]]))
        assert (event.y, event.x.tolist()) == (0.5, [0.1, 0.2])


@pytest.mark.parametrize(
    ("x", "y", "time", "words"),
    [
        ([0.1], 1.0, None, "x: must have shape 2 or 1 x 2, got 1"),
        ([[0.1, 0.2], [0.3, 0.4]], 1.0, None, "got 2 x 2"),
        ([0.1, 1.2], 1.0, None, r"x\[1\]=1.2: must be a finite number at least 0 and at most 1"),
        (torch.tensor([0.1, math.nan]), 1.0, None, r"x\[1\]=nan"),
        (["a", "b"], 1.0, None, "x"),
        ([0.1, 0.2], math.nan, None, "y=nan"),
        ([0.1, 0.2], torch.rand(2), None, r"y: must be one number, got a tensor of shape \(2,\)"),
        ([0.1, 0.2], "1", None, "y='1'"),
        ([0.1, 0.2], 1.0, 0.5, "time=0.5: must not be before the last observation at 3.0"),
    ],
)
def test_bad_observations_are_named_and_change_nothing(x, y, time, words):
    loop = make()
    run(loop, 3)
    before, asked = loop.state(), loop.ask()
    with pytest.raises(wv.WindvaneError, match=words):
        loop.tell(x, y, time)
    assert loop.state() == before
    assert torch.equal(loop.ask(), asked)


BOUNDS = unit_bounds(2)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("model", BOUNDS), {}, "make_model='model'"),
        ((MODEL, [[0, 0], [1, 1]]), {}, "bounds=.*must be a 2 x d tensor"),
        ((MODEL, torch.tensor([[0, 0], [1, 1]])), {}, "bounds: must be float64 or float32, got torch.int64"),
        ((MODEL, BOUNDS.T[:1]), {}, "bounds: must have shape 2 x d, got 1 x 2"),
        ((MODEL, BOUNDS.flip(0)), {}, r"bounds\[0\]"),
        ((MODEL, BOUNDS * math.inf), {}, r"bounds\[0\]"),
        ((MODEL, BOUNDS), {"trigger": wv.PosteriorBound}, "trigger=.*must be an instance"),
        ((MODEL, BOUNDS), {"retention": wv.SlidingWindow(3)}, "retention=SlidingWindow"),
        ((MODEL, BOUNDS), {"window": (3, 9)}, r"window=\(3, 9\)"),
        ((MODEL, BOUNDS), {"beta": 2.0}, "beta=2.0: must be a schedule"),
        ((MODEL, BOUNDS), {"beta": wv.IGPBeta()}, "IGPBeta needs the information gain"),
        ((MODEL, BOUNDS), {"beta": wv.LogBeta(), "make_acquisition": MODEL}, "give one of the two"),
        ((MODEL, BOUNDS), {"make_acquisition": 3}, "make_acquisition=3"),
        ((MODEL, BOUNDS), {"optimize": 3}, "optimize=3"),
        ((MODEL, BOUNDS), {"learning": -1}, "learning=-1"),
        ((MODEL, BOUNDS), {"learning": 2, "initial": 5}, "learning=2: must be at least initial=5"),
        ((MODEL, BOUNDS), {"initial": 1.5}, "initial=1.5"),
        ((MODEL, BOUNDS), {"freeze": 1}, "freeze=1"),
        ((MODEL, BOUNDS), {"time_column": None}, "time_column=None"),
        ((MODEL, BOUNDS), {"noise_variance": -0.1}, "noise_variance=-0.1"),
        ((MODEL, BOUNDS), {"goal": "minimse"}, "goal='minimse'.*did you mean"),
        ((MODEL, BOUNDS), {"seed": -1}, "seed=-1"),
    ],
)
def test_bad_arguments_are_named(arguments, options, words):
    with pytest.raises(wv.WindvaneError, match=words):
        EventTriggeredLoop(*arguments, **options)


@pytest.mark.parametrize(
    ("functions", "words"),
    [
        ({"make_model": lambda X, Y: 3}, "make_model: must return a BoTorch model"),
        ({"make_acquisition": lambda model, X, Y: 3}, "make_acquisition: must return a BoTorch"),
        ({"optimize": lambda acquisition, bounds: torch.rand(3)}, "optimize: must have shape 2"),
        ({"optimize": lambda acquisition, bounds: bounds[1] + 1.0}, r"optimize\[0\]=2.0"),
    ],
)
def test_functions_that_return_something_else_are_named(functions, words):
    loop = EventTriggeredLoop(**{"make_model": MODEL, "bounds": BOUNDS, "learning": 0, **functions})
    loop.tell([0.5, 0.5], 1.0)
    with pytest.raises(wv.WindvaneError, match=words):
        loop.ask()


def test_nothing_is_known_before_the_first_observation():
    for call in (lambda: make().best(), lambda: make().predict([[0.1, 0.2]])):
        with pytest.raises(wv.InvalidArgument, match="no model yet, 0 of 1 observations"):
            call()


def spoil(key, value):
    return lambda state: {**state, key: value}


@pytest.mark.parametrize(
    "change",
    [
        lambda state: json.dumps(state),
        lambda state: {},
        lambda state: {**state, "version": 2},
        lambda state: {key: value for key, value in state.items() if key != "memory"},
        spoil("step", 1),
        spoil("plan", {"type": "LastPoint"}),
        spoil("data", [[[0.1], 1.0, 1.0, 1]]),
        spoil("data", [[[0.1, 7.0], 1.0, 1.0, 1]]),
        spoil("data", [[[0.1, 0.2], "1", 1.0, 1]]),
        spoil("last_time", None),
        spoil("held", 3),
        spoil("memory", [0.5] * 7),
        spoil("last_time", 10**400),
        spoil("version", functools.reduce(lambda inner, _: [inner], range(5000), 1)),
        lambda state: {**state, "plan": {**state["plan"], "goal": "neither"}},
    ],
)
def test_a_state_that_was_altered_is_refused(change):
    loop = make()
    run(loop, 3)
    with pytest.raises(wv.CorruptState, match="state"):
        EventTriggeredLoop.restore(change(loop.state()), MODEL)


@pytest.mark.parametrize("package", ["torch", "botorch"])
def test_a_missing_package_says_what_to_install(package):
    program = f"""
        import sys
        sys.modules[{package!r}] = None
        import windvane as wv
        try:
            import windvane.integrations.botorch
        except wv.MissingExtra as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    hint = "pip install 'windvane[botorch]' (in a clone: '.[botorch]')"
    assert done.stdout.strip() == f"this needs {package}: {hint}"


@pytest.mark.parametrize("version", ["0.12.0", "0.15.1", "0.16.0"])
def test_a_botorch_that_is_too_old_says_so(version):
    with pytest.raises(
        wv.MissingExtra, match=rf"this needs botorch 0.16.1 or newer, found {version}: pip install"
    ):
        check_version(version)


@pytest.mark.parametrize("version", ["0.16.1", "0.18.1", "0.19.0.dev3+g12ab", "1.0", "Unknown"])
def test_newer_ones_are_fine(version):
    check_version(version)


@pytest.mark.parametrize("option", ["constraints", "safe", "start"])
def test_constraints_are_refused_and_it_says_why(option):
    bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    with pytest.raises(wv.InvalidType, match=rf"{option}=.*a model of the objective only.*wv.make"):
        EventTriggeredLoop(SingleTaskGP, bounds, **{option: 0.9})
    with pytest.raises(wv.InvalidType, match=r"rate=.*no such argument"):
        EventTriggeredLoop(SingleTaskGP, bounds, rate=0.1)
    loop = EventTriggeredLoop(SingleTaskGP, bounds, seed=0)
    with pytest.raises(wv.InvalidType, match=r"tell\(heat=84.0\).*cannot follow constraints"):
        loop.tell(loop.ask(), 0.5, heat=84.0)
    assert loop.step == 1
