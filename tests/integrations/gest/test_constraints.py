"""The constraints of a VOCS; the optimiser that is told them is the oracle."""

import json
import logging
import math

import pytest
from gest_api.vocs import VOCS, ContinuousVariable, DiscreteVariable

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.gest import WindvaneGenerator

LIMITED = VOCS(
    variables={"x": [0.0, 1.0]},
    objectives={"f": "MAXIMIZE"},
    constraints={"heat": ["LESS_THAN", 90], "purity": ["GREATER_THAN", 0.2], "beam:loss": ["BOUNDS", -1, 2]},
)
LIMITS = {
    "heat": wv.AtMost(90),
    "purity": wv.AtLeast(0.2),
    "c_beam_loss_low_": wv.AtLeast(-1),
    "c_beam_loss_high_": wv.AtMost(2),
}


def measured(point):
    x = point["x"]
    return {**point, "f": x, "heat": 60 + 50 * x, "purity": 1 - x, "beam:loss": x}


def names(generator):
    return dict(zip(LIMITS, generator.optimizer.constraints, strict=True))


def test_each_becomes_a_constraint_and_bounds_become_two():
    generator = WindvaneGenerator(LIMITED, seed=0)
    found = generator.optimizer.constraints
    assert list(found.values()) == list(LIMITS.values())
    assert all(name.startswith(begin) for begin, name in names(generator).items())


def test_it_suggests_what_the_optimiser_asks_that_is_told_the_same():
    generator = WindvaneGenerator(LIMITED, seed=0)
    called = names(generator)
    limits = {called[name]: limit for name, limit in LIMITS.items()}
    twin = wv.make(wv.Space(x=wv.Real(0, 1)), constraints=limits, seed=0)
    for _ in range(15):
        expected = twin.ask()
        (point,) = generator.suggest(1)
        assert point["x"] == expected["x"]
        result = measured(point)
        generator.ingest([result])
        columns = ("heat", "purity", "beam:loss", "beam:loss")
        told = {name: result[column] for name, column in zip(called.values(), columns, strict=True)}
        assert generator.events[-1] == twin.tell(expected, result["f"], **told)
    assert abs(generator.best().x["x"] - 0.6) < 0.1  # where the heat is 90
    assert generator.best().feasible == twin.best().feasible


@pytest.mark.parametrize("absent", [None, math.nan, math.inf, "left out"])
def test_what_was_not_measured_is_not_told(absent):
    generator = WindvaneGenerator(LIMITED, seed=0)
    result = measured({"x": 0.5}) | {"heat": absent}
    if absent == "left out":
        del result["heat"]
    generator.ingest([result])
    assert "heat" not in generator.events[0].outcomes
    assert generator.events[0].outcomes["purity"].value == 0.5


def test_a_failure_is_one_whatever_its_constraints():
    generator = WindvaneGenerator(LIMITED, seed=0)
    generator.ingest([measured({"x": 0.5}) | {"f": math.nan}])
    assert not generator.events
    assert len(generator.failures) == 1


def test_a_value_of_another_kind_is_an_error_and_nothing_is_learned():
    generator = WindvaneGenerator(LIMITED, seed=0)
    with pytest.raises(InvalidType, match=r"results\[1\]\['heat'\]='hot'"):
        generator.ingest([measured({"x": 0.5}), measured({"x": 0.6}) | {"heat": "hot"}])
    assert generator.optimizer.step == 1


def test_the_state_continues_bit_for_bit_and_belongs_to_these_constraints():
    generator = WindvaneGenerator(LIMITED, seed=0, safe=0.9, start=[{"x": 0.1}])
    for _ in range(6):
        generator.ingest([measured(point) for point in generator.suggest(1)])
    state = json.loads(json.dumps(generator.state()))
    again = WindvaneGenerator.restore(LIMITED, state)
    assert again.suggest(3) == generator.suggest(3)
    other = VOCS(
        variables={"x": [0.0, 1.0]}, objectives={"f": "MAXIMIZE"}, constraints={"heat": ["LESS_THAN", 95]}
    )
    with pytest.raises(InvalidArgument, match=r"constraints heat <= 95; the state is of .* heat <= 90"):
        WindvaneGenerator.restore(other, state)


def test_safe_begins_at_the_start_and_does_not_violate():
    variables = {"x": [0.0, 1.0], "n": ContinuousVariable(domain=[1, 8], dtype=int)}
    variables["level"] = DiscreteVariable(values={0.1, 1.0, 10.0})
    vocs = VOCS(variables=variables, objectives={"f": "MAXIMIZE"}, constraints={"heat": ["LESS_THAN", 90]})
    start = {"x": 0.1, "n": 2, "level": 1.0}
    generator = WindvaneGenerator(vocs, seed=0, safe=0.95, start=[start])
    first = generator.suggest(1)[0]
    assert {name: first[name] for name in start} == start
    generator.ingest([{**first, "f": 0.1, "heat": 65}])
    for _ in range(15):
        (point,) = generator.suggest(1)
        generator.ingest([{**point, "f": point["x"], "heat": 60 + 50 * point["x"]}])
        assert not generator.events[-1].violated


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"constraints": {"heat": wv.AtMost(3)}}, "the VOCS decides"),
        ({"safe": 0.9}, "start=: needed with safe="),
        ({"safe": 0.9, "start": [{"y": 1}]}, r"start\[0\]: 'y' is no variable"),
        ({"safe": 0.9, "start": [{}]}, r"start\[0\]: the variable 'x' is missing"),
        ({"safe": 0.9, "start": [{"x": 2.0}]}, r"start\[0\]\['x'\]=2.0"),
        ({"safe": 0.9, "start": [0.5]}, r"start\[0\]=0.5: must be a dict"),
    ],
)
def test_bad_options(options, said):
    with pytest.raises((InvalidArgument, InvalidType), match=said):
        WindvaneGenerator(LIMITED, seed=0, **options)


def test_violations_are_logged(caplog):
    generator = WindvaneGenerator(LIMITED, seed=0)
    with caplog.at_level(logging.INFO, logger="windvane.gest"):
        generator.ingest([measured({"x": 0.9})])
    assert "constraint heat is violated: 105" in caplog.text
