"""State through JSON: a restored optimiser asks the same points, bit for bit, and gives the same events."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

import windvane as wv
from windvane.surrogates import gp_surrogate

BOX = wv.Box([(-1.0, 1.0), (0.0, 5.0)])
ARMS = wv.Arms(9)
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"]))
COVARIANCE = np.exp(-0.5 * np.subtract.outer(np.arange(9.0), np.arange(9.0)) ** 2 / 4.0)
SPACES = {
    "box": (BOX, {"kernel": wv.RBF([0.2, 0.4]), "noise_variance": 0.02}),
    "arms": (ARMS, {"kernel": wv.Empirical(COVARIANCE), "noise_variance": 0.05}),
    "mixed": (MIXED, {"kernel": wv.Matern52(0.4), "noise_variance": 0.02}),
}
# what an algorithm cannot do without, chosen so that resets and drops happen within 30 steps
NEEDS = {
    "r-gp-ucb": {"period": 7},
    "always-n-low": {"period": 5},
    "r-gp-ucb-average": {"period": 9},
    "tv-gp-ucb": {"rate": 0.05},
    "ui-tvbo": {"rate": 0.05},
    "sw-gp-ucb": {"window": 10},
    "sw-gp-ucb-evidence": {"windows": (3, 5, 8)},
    "tv-gp-ucb-constant": {"rate": 0.05},
    "w-dbo": {"alpha": 5.0},
    "br-gp-ucb": {"period": 8},
    "w-gp-ucb": {"forgetting": 0.9},
    "et-gp-ucb": {"reset_window": (2, 11)},
    "et-gp-ucb-backtracking": {"delta": 0.5},
}


def through_json(opt):
    return wv.restore(json.loads(json.dumps(opt.state())))


def value(x, t):
    """Of order one on each of the spaces, with jumps."""
    place = (
        np.array([math.log(x["gain"]), x["taps"], ord(x["mode"])])
        if isinstance(x, dict)
        else np.atleast_1d(x)
    )
    return float(np.sin(place * (1.0 + t // 9) + t // 9).sum())


def advance(opt, steps):
    """Ask and tell; the points and the events, in plain values."""
    log = []
    for _ in range(steps):
        x = opt.ask()
        log.append((np.asarray(x).tolist(), opt.tell(x, value(x, opt.step)).as_dict()))
    return log


def points(space, count, seed=0):
    return [space.decode(unit) for unit in space.sample(np.random.default_rng(seed), count)]


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize("name", wv.algorithms())
def test_every_algorithm_continues_bit_for_bit(name, where):
    space, given = SPACES[where]
    opt = wv.make(name, space, seed=3, **given, **NEEDS.get(name, {}))
    for steps in (1, 13):
        advance(opt, steps)
        twin = through_json(opt)
        assert json.dumps(twin.state()) == json.dumps(opt.state())
        original = copy.deepcopy(opt)
        assert advance(twin, 8) == advance(original, 8)
        assert json.dumps(twin.state()) == json.dumps(original.state())


@pytest.mark.parametrize(
    ("name", "space", "options"),
    [
        ("et-gp-ucb", BOX, {}),
        ("et-gp-ucb-backtracking", BOX, {"delta": 0.5}),
        ("gp-ucb", BOX, {}),
        ("gp-ucb", BOX, {"max_points": 8}),
        ("tv-gp-ucb-mle", BOX, {}),
        ("tv-gp-ucb-mle", BOX, {"kernel": wv.RBF(0.3), "noise_variance": 0.02}),
        ("tv-gp-ucb", BOX, {"rate": 0.1}),
        ("w-dbo", BOX, {"alpha": 5.0}),
        ("sw-gp-ucb-evidence", BOX, {}),
        ("et-gp-ucb", BOX, {"kernel": wv.RBF(0.3)}),
        ("et-gp-ucb", MIXED, {}),
        ("et-gp-ucb", ARMS, {}),
        ("turbo-trigger", BOX, {"patience": 3}),
    ],
)
def test_learning_continues_bit_for_bit(name, space, options):
    opt = wv.make(name, space, seed=1, **options)
    for steps in (3, 7):
        advance(opt, steps)
        twin = through_json(opt)
        original = copy.deepcopy(opt)
        assert twin.model == opt.model
        assert advance(twin, 6) == advance(original, 6)
        assert twin.model == original.model
        assert json.dumps(twin.state()) == json.dumps(original.state())


@pytest.mark.parametrize("options", [{}, {"kernel": wv.Empirical(COVARIANCE)}, {"trigger": wv.Periodic(5)}])
def test_auto_continues_after_a_pickle(options):
    """Another process may be given it; told a kernel, its hypotheses about single arms are part of it."""
    opt = wv.make(ARMS, seed=2, **options)
    for steps in (1, 12):
        advance(opt, steps)
        twin, original = pickle.loads(pickle.dumps(opt)), copy.deepcopy(opt)
        assert advance(twin, 6) == advance(original, 6)
        assert json.dumps(twin.state()) == json.dumps(original.state())


def test_a_pickle_taken_between_ask_and_tell_where_evaluations_fail_and_limits_hold():
    """What `ask` keeps at hand has functions in it that no pickle can carry."""
    opt = wv.make(wv.Box([(0, 1)]), seed=0, constraints={"heat": wv.AtMost(0.5)})
    for heat in (0.1, 0.4, 0.7):
        opt.tell(opt.ask(), 1.0, heat=heat)
    opt.fail(opt.ask())
    x = opt.ask()
    for twin in (pickle.loads(pickle.dumps(opt)), copy.deepcopy(opt)):
        assert twin.ask() == x
        assert twin.tell(x, 2.0, heat=0.3) == opt.copy().tell(x, 2.0, heat=0.3)


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize("name", wv.algorithms())
def test_a_twin_that_does_not_ask(name, where):
    """Only `tell` counts: one asks at every step, the other is fed the same points, and is restored on the way."""
    space, given = SPACES[where]
    asking = wv.make(name, space, seed=4, **given, **NEEDS.get(name, {}))
    silent = wv.make(name, space, seed=4, **given, **NEEDS.get(name, {}))
    for t, stray in enumerate(points(space, 26)):
        x = asking.ask() if t % 3 else stray
        assert asking.tell(x, value(x, t)).as_dict() == silent.tell(x, value(x, t)).as_dict()
        if t % 8 == 5:
            silent = through_json(silent)
    assert json.dumps(asking.state()) == json.dumps(silent.state())
    assert np.array_equal(np.asarray(asking.ask()), np.asarray(silent.ask()))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("gp-ucb", {"max_points": 9}),
        ("tv-gp-ucb", {"rate": 0.05, "max_points": 9}),
        ("ui-tvbo", {"rate": 0.05, "max_points": 9}),
        ("sw-gp-ucb", {"window": 12}),
        ("w-gp-ucb", {"forgetting": 0.9, "max_points": 9}),
        ("et-gp-ucb", {"max_points": 9}),
    ],
)
@pytest.mark.parametrize("refresh", [5, 256])
def test_past_several_refreshes(monkeypatch, name, options, refresh):
    """Every `refresh` drops the factor is made anew and the journal starts again."""
    monkeypatch.setattr(gp_surrogate, "REFRESH", refresh)
    opt = wv.make(name, BOX, seed=2, kernel=wv.RBF(0.3), noise_variance=0.05, **options)
    lengths = []
    for x in points(BOX, 60, seed=1):
        opt.tell(x, float(x.sum()))
        state = opt.state()
        lengths.append(len(state["surrogate"]["journal"]))
    if name == "w-gp-ucb":  # its factor is a function of the data: nothing is replayed
        assert max(lengths) == 0
    elif refresh == 5 and name != "et-gp-ucb":
        assert max(lengths) <= 12 + 2 * refresh
        assert np.diff(lengths).min() < 0
    twin = through_json(opt)
    assert json.dumps(twin.state()) == json.dumps(opt.state())
    assert advance(twin, 14) == advance(opt, 14)


def test_the_journal_of_an_endless_stream_stays_short():
    opt = wv.make("gp-ucb", BOX, seed=2, kernel=wv.RBF(0.3), noise_variance=0.05, max_points=10)
    longest = 0
    for x in points(BOX, 700, seed=2):
        opt.tell(x, float(x.sum()))
        longest = max(longest, len(opt._progress.surrogate._journal))
    assert longest <= 2 * gp_surrogate.REFRESH + 10


def test_the_clock_and_the_goal_are_kept():
    opt = wv.make(
        "tv-gp-ucb", BOX, rate=0.1, kernel=wv.RBF(0.3), noise_variance=0.05, goal="minimize", seed=7
    )
    for i, x in enumerate(points(BOX, 6)):
        opt.tell(x, float(i), time=1e6 + 2.5 * i)
    twin = through_json(opt)
    assert (twin.time, twin.step, twin.size, twin.goal, twin.seed) == (1e6 + 13.5, 7, 6, "minimize", 7)
    assert np.array_equal(twin.ask(), opt.ask())
    assert np.array_equal(twin.ask(time=1e6 + 99.0), opt.ask(time=1e6 + 99.0))
    with pytest.raises(wv.InvalidArgument, match="time="):
        twin.tell(opt.ask(), 0.0, time=1e6)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("w-gp-ucb", {"forgetting": 0.9}),
        ("gp-ucb", {"kernel": wv.RBF(0.3) * (wv.Static(0.5) + wv.Markov(0.1))}),
    ],
)
def test_restored_between_observations_of_the_same_time(name, options):
    opt = wv.make(name, BOX, seed=0, **{"kernel": wv.RBF(0.3), "noise_variance": 0.05, **options})
    for i, x in enumerate(points(BOX, 21)):
        opt.ask(time=float(1 + i // 4))
        opt.tell(x, value(x, i), time=float(1 + i // 4))
        twin = through_json(opt)
        assert np.array_equal(twin.ask(time=float(1 + i // 4)), opt.ask(time=float(1 + i // 4)))


def test_a_fresh_optimiser():
    for space, given in SPACES.values():
        opt = wv.make("et-gp-ucb", space, seed=8, **given)
        assert advance(through_json(opt), 3) == advance(opt, 3)


def test_a_state_is_a_snapshot():
    opt = wv.make("turbo-trigger", BOX, kernel=wv.RBF(0.3), noise_variance=0.05, seed=0)
    advance(opt, 5)
    state = opt.state()
    before = json.dumps(state)
    advance(opt, 5)
    assert json.dumps(state) == before
    twin = wv.restore(state)
    advance(twin, 5)
    assert json.dumps(state) == before


def test_a_state_is_strict_json():
    opt = wv.make("turbo-trigger", BOX, kernel=wv.RBF(0.3), noise_variance=0.05, seed=0)
    advance(opt, 5)
    json.dumps(opt.state(), allow_nan=False)


def test_parts_of_ones_own_need_a_name():
    class Mine:
        def start(self):
            return ()

        def test(self, memory, prediction, y, elapsed):
            return wv.Verdict(False, 0.0, 1.0), ()

    opt = wv.make("et-gp-ucb", BOX, trigger=Mine(), kernel=wv.RBF(0.3), noise_variance=0.05, seed=0)
    with pytest.raises(wv.InvalidType, match=r"Mine cannot be saved: decorate the class with @wv\.component"):
        opt.state()


# -- states that are not ----------------------------------------------------------------------------


def written():
    """A state with a memory, a base, and a journal of appends and drops."""
    opt = wv.make(
        "turbo-trigger", BOX, patience=50, max_points=20, kernel=wv.RBF(0.3), noise_variance=0.05, seed=0
    )
    for i, x in enumerate(points(BOX, 24)):
        opt.tell(x, math.sin(i))
    state = json.loads(json.dumps(opt.state()))
    assert any(isinstance(entry, int) for entry in state["surrogate"]["journal"])
    return state


WRITTEN = written()
NAN, INF = math.nan, math.inf


def paths(node, at=()):
    """Every dictionary key of a state, as a path."""
    for key, child in node.items() if isinstance(node, dict) else ():
        yield (*at, key)
        yield from paths(child, (*at, key))


def altered(path, new):
    state = copy.deepcopy(WRITTEN)
    *parents, last = path
    node = state
    for key in parents:
        node = node[key]
    node[last] = new
    return state


def refused(state):
    with pytest.raises(wv.CorruptState) as failure:
        wv.restore(state)
    assert "state" in str(failure.value)


def test_the_sample_is_a_good_state():
    assert wv.restore(WRITTEN).size == 20


@pytest.mark.parametrize(
    "state", [None, 5, "{}", [], {}, {"space": {}}, [WRITTEN], json.dumps(WRITTEN)], ids=str
)
def test_not_a_state(state):
    refused(state)


@pytest.mark.parametrize("version", [0, 4, 99, -1, None, "1", 1.5, [1], True])
def test_another_version(version):
    refused(altered(("windvane",), version))


@pytest.mark.parametrize("key", sorted(WRITTEN))
def test_a_missing_key(key):
    state = copy.deepcopy(WRITTEN)
    del state[key]
    refused(state)


@pytest.mark.parametrize("key", sorted(WRITTEN["surrogate"]))
def test_a_missing_key_of_the_surrogate(key):
    state = copy.deepcopy(WRITTEN)
    del state["surrogate"][key]
    refused(state)


def test_cut_in_half():
    """A dictionary that lost the second half of its keys, as a careless writer leaves it."""
    keys = list(WRITTEN)
    for cut in range(len(keys)):
        refused({key: WRITTEN[key] for key in keys[:cut]})


@pytest.mark.parametrize("path", [p for p in paths(WRITTEN) if p[-1] == "type"], ids=".".join)
@pytest.mark.parametrize("new", ["NoSuchThing", 5, None, ["Box"], {}])
def test_an_unknown_component(path, new):
    refused(altered(path, new))


def accepted(states):
    """Those that were restored although they are no good, or refused without a word about the state."""
    taken = []
    for label, state in states:
        try:
            wv.restore(state)
        except wv.CorruptState as error:
            if "state" in str(error):
                continue
        taken.append(label)
    return taken


@pytest.mark.parametrize(
    "part", ["model", "acquisition", "trigger", "window", "on_trigger", "on_forced", "limit", "learning"]
)
def test_a_part_that_is_not_that_part(part):
    others = [5, "x", None, [], {"type": "Box", "bounds": [[0, 1]]}]
    assert accepted((new, altered(("composition", part), new)) for new in others) == []


@pytest.mark.parametrize(
    ("path", "values"),
    [
        (("goal",), ["up", None, 5, []]),
        (("seed",), ["0", None, -1, 1.5, NAN, [0]]),
        (("step",), ["3", None, 0, -1, 1.5, NAN, [3]]),
        (("elapsed",), ["3", None, 0, -1, 1.5, NAN, [3]]),
        (("age",), ["3", None, -1, 1.5, NAN]),
        (("last_time",), ["NaN", "3", NAN, INF, [3.0], None]),  # None: nothing told, yet there are data
        (("origin",), ["NaN", "3", NAN, INF, None]),
        (("last_point",), ["x", 5, [], [0.5], [0.5, NAN], [0.5, "x"], [0.5, 7.0], None]),
        (("memory",), ["x", None, 5, ["a", "b"], [None, 1], [NAN, 1], [[1.0], 1]]),
        (("allowance",), ["x", None, 5, ["a", "b"], [None, 1], [NAN, 1], [[1.0], 1]]),
        (
            ("space",),
            [
                None,
                5,
                "box",
                {"type": "Box", "bounds": [[0, 1]]},
                {"type": "Box", "bounds": [[1, 0], [0, 1]]},
            ],
        ),
        (("composition", "model", "noise", "variance"), [0.0, -1.0, NAN, "x", None]),
        (("surrogate",), [None, 5, "x", []]),
        (("surrogate", "model"), [None, 5, {"type": "Noise", "variance": 0.1}]),
        (("surrogate", "model", "noise", "variance"), [0.0, -1.0, NAN, "x", None]),
        (("surrogate", "model", "kernel", "lengthscale"), [[0.0], [NAN], [], "x", None, [0.1, 0.2, 0.3]]),
        (("surrogate", "base"), [None, 5, "x", [5], [[]], [[[0.5], 1.0, 1.0, 1]]]),
        (("surrogate", "journal"), [None, 5, "x", ["x"], [[]], [1.5], [None]]),
        (("surrogate", "allowed"), [None, "x", NAN, "NaN", [1e-9]]),
    ],
    ids=lambda value: ".".join(value) if isinstance(value, tuple) else "",
)
def test_altered_values(path, values):
    assert accepted((new, altered(path, new)) for new in values) == []


ROW = next(i for i, entry in enumerate(WRITTEN["surrogate"]["journal"]) if isinstance(entry, list))
DROP = next(i for i, entry in enumerate(WRITTEN["surrogate"]["journal"]) if isinstance(entry, int))


@pytest.mark.parametrize(
    ("place", "values"),
    [
        (0, [None, 0.5, [0.5], [0.5, 0.5, 0.5], [0.5, NAN], [0.5, "x"], [0.5, INF], [0.5, 7.0]]),
        (1, [None, "1", NAN, INF, []]),
        (2, [None, "NaN", "1", NAN, INF, []]),
        (3, [None, "NaN", "1", NAN, 1.5, -3, []]),
    ],
    ids=["x", "y", "time", "step"],
)
def test_an_altered_observation(place, values):
    states = []
    for new in values:
        state = copy.deepcopy(WRITTEN)
        state["surrogate"]["journal"][ROW][place] = new
        states.append((new, state))
    assert accepted(states) == []


@pytest.mark.parametrize("step", [0, -1, 77])
def test_a_drop_of_what_is_not_there(step):
    state = copy.deepcopy(WRITTEN)
    state["surrogate"]["journal"][DROP] = step
    refused(state)


def test_a_state_is_not_changed_by_being_refused():
    state = altered(("surrogate", "allowed"), "x")
    before = json.dumps(state)
    refused(state)
    assert json.dumps(state) == before
