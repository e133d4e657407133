"""The JSON of spaces and options, against the ones that are written in Python."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane.constraints import Constraint, constraint_from_json, constraint_to_json
from windvane.errors import InvalidArgument, WindvaneError
from windvane.spelling import options_from_json, space_from_json, space_to_json, spelt_constraint

SAME = [
    ('{"box": [[0, 1]]}', wv.Box([(0, 1)])),
    ('{"box": [[-0.5, 1e3], [2, 3]]}', wv.Box([(-0.5, 1000), (2, 3)])),
    ('{"arms": 46}', wv.Arms(46)),
    ('{"candidates": [[0, 1.5], [2, 3]]}', wv.Candidates([[0, 1.5], [2, 3]])),
    (
        '{"candidates": [[1, 2], [2, 3]], "scale": {"1": "log"}}',
        wv.Candidates([[1, 2], [2, 3]], scale={1: "log"}),
    ),
    (
        '{"candidates": [{"gain": 0.1, "m": "a"}, {"gain": 1, "m": "b"}], "scale": {"gain": "log"}}',
        wv.Candidates([{"gain": 0.1, "m": "a"}, {"gain": 1, "m": "b"}], scale={"gain": "log"}),
    ),
    ('{"parameters": {"gain": {"real": [0.1, 10], "log": true}}}', wv.Space(gain=wv.Real(0.1, 10, log=True))),
    ('{"parameters": {"gain": {"real": [0, 10], "log": false}}}', wv.Space(gain=wv.Real(0, 10))),
    (
        '{"parameters": {"taps": {"integer": [1, 8]}, "n": {"integer": [1, 64], "log": true}}}',
        wv.Space(taps=wv.Integer(1, 8), n=wv.Integer(1, 64, log=True)),
    ),
    (
        '{"parameters": {"mode": {"choice": ["a", 2, 0.5, true]}, "größe ✓": {"real": [0, 1]}}}',
        wv.Space({"mode": wv.Choice(["a", 2, 0.5, True]), "größe ✓": wv.Real(0, 1)}),
    ),
]


@pytest.mark.parametrize(("text", "space"), SAME)
def test_there_and_back(text, space):
    assert space_from_json(json.loads(text)) == space
    again = json.loads(json.dumps(space_to_json(space)))
    assert space_from_json(again) == space
    assert repr(space_from_json(again)) == repr(space)  # True is not 1


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("[]", "space", "must be"),
        ("null", "space", '"box"'),
        ("{}", "space", "has nothing"),
        ('{"box": [[0, 1]], "arms": 3}', "space", "has box, arms"),
        ('{"box": [[0, 1]], "log": true}', "space", "has box, log"),
        ('{"bounds": [[0, 1]]}', "space", "has bounds"),
        ('{"box": []}', "space.box", "0 pairs"),
        ('{"box": 3}', "space.box", "list"),
        ('{"box": "01"}', "space.box", "list"),
        ('{"box": [[0, 1], [0]]}', "space.box[1]", "two numbers"),
        ('{"box": [[0, 1], {"lo": 0, "hi": 1}]}', "space.box[1]", "two numbers"),
        ('{"box": [[0, 1], [0, true]]}', "space.box[1][1]", "finite number"),
        ('{"box": [[0, 1e999]]}', "space.box[0][1]", "finite number"),
        ('{"box": [[NaN, 1]]}', "space.box[0][0]", "finite number"),
        ('{"box": [[1, 0]]}', "space.box", "bounds[0]"),
        ('{"arms": 0}', "space.arms", "at least 1"),
        ('{"arms": 1001}', "space.arms", "at most 1000"),
        ('{"arms": 2.5}', "space.arms", "integer"),
        ('{"arms": true}', "space.arms", "integer"),
        ('{"candidates": []}', "space.candidates", "0 settings"),
        ('{"candidates": 3}', "space.candidates", "list"),
        ('{"candidates": [3]}', "space.candidates[0]", "list of 1 to 100 numbers"),
        ('{"candidates": [[1], [1]]}', "space.candidates", "rows[1]: equals rows[0]"),
        ('{"candidates": [[1], ["a"]]}', "space.candidates", "must be"),
        ('{"candidates": [{"a ": 1}]}', "space.candidates[0]", "blank"),
        ('{"candidates": [[1]], "scale": 3}', "space.scale", "object"),
        ('{"candidates": [[1]], "log": true}', "space", "has candidates, log"),
        ('{"box": [[0, 1]], "scale": {}}', "space", "has box, scale"),
        ('{"parameters": []}', "space.parameters", "object"),
        ('{"parameters": {}}', "space.parameters", "0 parameters"),
        ('{"parameters": {"": {"real": [0, 1]}}}', "space.parameters", "name"),
        ('{"parameters": {" a": {"real": [0, 1]}}}', "space.parameters", "blank"),
        ('{"parameters": {"a\\nb": {"real": [0, 1]}}}', "space.parameters", "printable"),
        ('{"parameters": {"gain": 3}}', "space.parameters.gain", "must be"),
        ('{"parameters": {"gain": {"rael": [0, 1]}}}', "space.parameters.gain", "has rael"),
        ('{"parameters": {"gain": {"real": [0, "1"]}}}', "space.parameters.gain.real[1]", "finite number"),
        (
            '{"parameters": {"gain": {"real": [0, 1], "log": 1}}}',
            "space.parameters.gain.log",
            "true or false",
        ),
        ('{"parameters": {"gain": {"real": [0, 1], "log": true}}}', "space.parameters.gain.real", "above 0"),
        ('{"parameters": {"taps": {"integer": [1, 2.5]}}}', "space.parameters.taps.integer[1]", "integer"),
        ('{"parameters": {"taps": {"integer": [8, 1]}}}', "space.parameters.taps.integer", "hi must be"),
        ('{"parameters": {"m": {"choice": ["a", "\\ud800"]}}}', "space.parameters.m.choice[1]", "UTF-8"),
        ('{"parameters": {"m": {"choice": "ab"}}}', "space.parameters.m.choice", "list"),
        ('{"parameters": {"m": {"choice": []}}}', "space.parameters.m.choice", "0 options"),
        ('{"parameters": {"m": {"choice": ["a", null]}}}', "space.parameters.m.choice", "options[1]"),
        ('{"parameters": {"m": {"choice": ["a", "a"]}}}', "space.parameters.m.choice", "must differ"),
        ('{"parameters": {"m": {"choice": ["a"], "log": true}}}', "space.parameters.m.log", "order"),
    ],
)
def test_errors_name_the_place(text, place, said):
    with pytest.raises(WindvaneError, match=r"must|leave it out|begins") as caught:
        space_from_json(json.loads(text))
    assert str(caught.value).startswith((f"{place}:", f"{place}="))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"box": [[0, 1]] * 101}, "space.box"),
        ({"parameters": {f"p{i}": {"real": [0, 1]} for i in range(101)}}, "space.parameters"),
        ({"parameters": {"m": {"choice": list(range(101))}}}, "space.parameters.m.choice"),
    ],
)
def test_limits(value, place):
    with pytest.raises(InvalidArgument, match=rf"^{place}: 1?\d01 .+; must be 1 to "):
        space_from_json(value)


def test_what_is_just_allowed():
    assert space_from_json({"arms": 1000}) == wv.Arms(1000)
    assert space_from_json({"box": [[0, 1]] * 100}).dim == 100
    assert space_from_json({"parameters": {"m": {"choice": list(range(100))}}}).size == 100


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "box",
                    "arms",
                    "candidates",
                    "scale",
                    "parameters",
                    "real",
                    "integer",
                    "choice",
                    "log",
                    "type",
                    "array",
                    "gain",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_comes_is_a_space_or_an_error_of_ours(value):
    for read in (space_from_json, options_from_json):
        try:
            found = read(value)
        except WindvaneError:
            continue
        if read is space_from_json:
            assert space_from_json(space_to_json(found)) == found


def test_options():
    given = {
        "kernel": {"type": "Matern52", "lengthscale": [0.2, 0.3]},
        "noise_variance": 0.02,
        "bounds": [1, 2],
        "trigger": {"type": "PosteriorBound", "delta": 0.05},
    }
    assert options_from_json(given) == {
        "kernel": wv.Matern52([0.2, 0.3]),
        "noise_variance": 0.02,
        "bounds": (1, 2),
        "trigger": wv.PosteriorBound(delta=0.05),
    }


@pytest.mark.parametrize(
    "given",
    [
        [],
        {1: 2},
        {"kernel": {"type": "RFB"}},
        {"kernel": {"type": ["RBF"]}},
        {"kernel": {"type": "RBF", "lengthscale": [-1]}},
        {"kernel": {"type": "RBF", "colour": 3}},
        {"kernel": {"spelt": "RBF"}},
        {"kernel": {"array": [[1], [1, 2]]}},
    ],
)
def test_options_that_are_none(given):
    with pytest.raises(WindvaneError, match=r"^options(\.kernel)?: "):
        options_from_json(given)


def test_a_space_of_ones_own_has_no_spelling():
    with pytest.raises(WindvaneError, match="must be a Box, Arms, Candidates or a Space"):
        space_to_json("box")


@pytest.mark.parametrize(
    ("text", "name", "constraint"),
    [
        ("heat<=90", "heat", wv.AtMost(90)),
        ("heat<=90 °C", "heat", wv.AtMost(90, unit="°C")),
        ("heat<=90°C", "heat", wv.AtMost(90, unit="°C")),
        (" purity >= .8 ", "purity", wv.AtLeast(0.8)),
        ("energy≥-1.5e3eV", "energy", wv.AtLeast(-1500, unit="eV")),
        ("flow≤2 l / min", "flow", wv.AtMost(2, unit="l / min")),
    ],
)
def test_a_constraint_of_the_shell(text: str, name: str, constraint: Constraint) -> None:
    assert spelt_constraint(text) == (name, constraint)


@pytest.mark.parametrize(
    "text",
    [
        *("heat", "heat<90", "90>=heat", "60<=heat<=90", "heat<=1,000", "heat<=1_000", "heat<=", "2heat<=90"),
        *("", 7, "heat<=1e999", "heat<=nan", "heat=90", "heat<=90 °C\0"),
    ],
)
def test_a_constraint_that_cannot_be_read_says_what_can(text: Any) -> None:
    with pytest.raises(WindvaneError, match="constraint="):
        spelt_constraint(text)


@pytest.mark.parametrize(
    "constraint",
    [
        wv.AtMost(90),
        wv.AtLeast(0.8, unit="°C"),
        wv.AtMost(1, unit="l", kernel=wv.RBF(0.2) + wv.Matern32(0.1), noise_variance=0.5, mean=-3),
    ],
)
def test_a_constraint_in_json_and_back(constraint: Constraint) -> None:
    spelt = json.loads(json.dumps(constraint_to_json(constraint)))
    assert constraint_from_json(spelt) == constraint
    assert options_from_json({"constraints": {"c": spelt}}) == {"constraints": {"c": constraint}}
