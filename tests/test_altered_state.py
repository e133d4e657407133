"""A state that was altered in any way is a `CorruptState`, or one that still fits: never another error."""

import copy
import functools
import json
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.retention import base as limits
from windvane.triggers import base as triggers

DEEP = 2 * sys.getrecursionlimit()
BOX = wv.Box([(0.0, 1.0), (-1.0, 1.0)])
MIXED = wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 8), mode=wv.Choice(["a", "b"]))
GIVEN = {"kernel": wv.RBF(0.3), "noise_variance": 0.05}
CASES = {
    "auto": (BOX, {}),
    "auto told": (BOX, GIVEN),
    "turbo-trigger": (BOX, {**GIVEN, "patience": 50, "max_points": 6}),
    "et-gp-ucb confirmed": (BOX, {**GIVEN, "trigger": wv.Confirmed(wv.EDetector())}),
    "w-dbo": (BOX, {"noise_variance": 0.05, "alpha": 0.5}),
    "sw-gp-ucb-evidence": (BOX, GIVEN),
    "tv-gp-ucb-mle": (MIXED, {}),
    "et-gp-ucb arms": (wv.Arms(4), {"noise_variance": 0.05}),
}


@functools.cache
def written(case):
    """A state with something in every part: a memory, an allowance, what was set aside."""
    space, options = CASES[case]
    opt = wv.make(case.split(" ")[0], space, seed=0, **options)
    rng = np.random.default_rng(0)
    for i in range(12):
        opt.tell(space.decode(space.sample(rng, 1)[0]), math.sin(i) + (50.0 if i == 11 else 0.0))
    return json.loads(json.dumps(opt.state(), allow_nan=False))


def places(node, at=()):
    """The path of everything in a state."""
    yield at
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield from places(child, (*at, key))


@functools.cache
def every_place(case):
    return tuple(places(written(case)))


def changed(state, path, act):
    """A copy in which `act` was done to what is at a path, given the container and the key."""
    new = {"": copy.deepcopy(state)}
    node, path = new, ("", *path)
    for key in path[:-1]:
        node = node[key]
    act(node, path[-1])
    return new.get("")


numbers = st.floats() | st.sampled_from(
    [
        0,
        1,
        -1,
        2,
        7,
        2**31,
        2**63,
        2**64,
        -(2**70),
        10**30,
        10**400,
        -(10**400),
        1e308,
        5e-324,
        True,
        False,
        None,
    ]
)
words = st.sampled_from(
    ["", "x", "NaN", "type", "array", "dict", "float", "Box", "RBF", "Static", "Empirical"]
)
anything = st.recursive(
    numbers | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)


def replaced(value):
    return lambda node, key: node.__setitem__(key, value)


def deleted(node, key):
    del node[key]


def repeated(node, key):
    node[key] = [node[key], node[key]]


def nested(node, key):
    for _ in range(DEEP):
        node[key] = [node[key]]


def nested_in_dicts(node, key):
    for _ in range(DEEP):
        node[key] = {"dict": {"a": node[key]}}


def survives(state):
    """Restored, or refused in so many words."""
    said = "state"
    try:
        assert isinstance(wv.restore(state), wv.Optimizer)
    except wv.CorruptState as error:
        said = str(error)
    assert "state" in said


@pytest.mark.parametrize("case", CASES)
@settings(max_examples=60)
@given(data=st.data())
def test_anything_in_place_of_anything(case, data):
    state = written(case)
    for _ in range(data.draw(st.integers(1, 2))):
        known = every_place(case) if state is written(case) else tuple(places(state))
        path = data.draw(st.sampled_from(known))
        act = data.draw(st.sampled_from([deleted, repeated]) | anything.map(replaced))
        state = changed(state, path, act)
        if not isinstance(state, dict):
            break
    survives(state)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("act", [nested, nested_in_dicts])
def test_nested_beyond_all_measure(case, act):
    state = written(case)
    for path in (p for p in places(state) if len(p) <= 2):
        survives(changed(state, path, act))


@pytest.mark.parametrize(
    "number", [10**400, 2**64, 1e308, 5e-324, -1], ids=["10**400", "2**64", "1e308", "5e-324", "-1"]
)
@pytest.mark.parametrize("case", CASES)
def test_a_number_that_no_float_holds(case, number):
    state = written(case)
    at = [
        path
        for path in places(state)
        if type(functools.reduce(lambda a, key: a[key], path, state)) in (int, float)
    ]
    for path in at[:: 1 + len(at) // 40]:
        survives(changed(state, path, replaced(number)))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("part", ["memory", "allowance"])
def test_a_memory_of_another_length(case, part):
    state = written(case)
    right = state.get(part, [])
    assert isinstance(wv.restore(state), wv.Optimizer)
    for wrong in ([*right, 0.5], [*right, 0.5, 0.5], [0.5] * 7, *([right[:-1]] if len(right) > 1 else [])):
        if len(wrong) != len(right):
            with pytest.raises(wv.CorruptState, match=f"state.*{part}"):
                wv.restore({**state, part: wrong})


def test_the_memories_of_all_parts_at_any_step():
    """What a trigger or a limit carries is accepted, whenever it was written."""
    belief = limits.Belief(wv.RBF(0.3), wv.Markov(0.2), 0.05, 0.0, 1.0)
    for trigger in (wv.EDetector(), wv.Confirmed(wv.EDetector()), wv.NoImprovement(3), wv.Never()):
        memory = trigger.start()
        for elapsed in range(1, 5):
            assert triggers.memory_from_json(trigger, list(memory)) == memory
            _, memory = trigger.test(memory, wv.Prediction(0.0, 1.0, 0.1), 9.0, elapsed)
    for limit in (wv.Relevance(first=3), wv.EvidenceWindow(), wv.Full(), wv.Budget(3)):
        data, memory = wv.Dataset.empty(1), limit.start()
        for step in range(1, 7):
            new = wv.Observation(np.array([0.1 * step]), float(step % 2), float(step), step)
            data, memory = limit.apply(data + new, belief, memory)
            assert limits.memory_from_json(limit, list(memory), data, belief) == memory
