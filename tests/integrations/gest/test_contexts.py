"""Contextual variables: observed, not suggested. The oracle is the optimiser, asked under the same contexts."""

import json
import math

import pytest
from gest_api.vocs import VOCS, ContextualVariable

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.gest import WindvaneGenerator

PROBLEM = VOCS(
    variables={"x": [0.0, 1.0], "load": ContextualVariable(domain=[0.0, 100.0])}, objectives={"f": "MAXIMIZE"}
)
UNBOUNDED = VOCS(variables={"x": [0.0, 1.0], "load": "CONTEXTUAL"}, objectives={"f": "MAXIMIZE"})
SPACE = wv.Space(x=wv.Real(0, 1), load=wv.Context(0, 100))


def evaluated(point, load):
    return {**point, "load": load, "f": -((point["x"] - load / 100) ** 2)}


def make(**options):
    return WindvaneGenerator(PROBLEM, seed=0, **options)


def test_a_context_is_not_suggested_and_the_last_one_reported_is_what_is_suggested_for():
    generator, opt = make(), wv.make(SPACE, seed=0)
    load = 50.0  # the middle, before anything is known
    for step in range(12):
        (point,) = generator.suggest(1)
        assert point.keys() == {"x", "_id"}  # an evaluator that reports another load would contradict it
        assert generator.context == {"load": load}
        assert opt.ask(context={"load": load}) == {"x": point["x"], "load": load}
        load = 50.0 + 40.0 * math.sin(step)
        generator.ingest([evaluated(point, load)])
        assert generator.events[-1] == opt.tell({"x": point["x"], "load": load}, evaluated(point, load)["f"])
    best, expected = generator.best(), opt.best(context={"load": load})
    assert (best.x, best.mean, best.std) == ({"x": expected.x["x"]}, expected.mean, expected.std)


def test_a_context_can_be_set_when_it_is_measured():
    generator, opt = make(), wv.make(SPACE, seed=0)
    for at, load in enumerate((10, 90, 30, 70, 20, 80, 40)):
        generator.context = {"load": load}
        points, pending = generator.suggest(2), []
        for point in points:
            pending.append(opt.ask(context={"load": load}, pending=pending))
            assert pending[-1] == {"x": point["x"], "load": float(load)}
        generator.ingest([evaluated(point, float(load)) for point in points])
        for point in pending:
            opt.tell(point, evaluated(point, float(load))["f"])
        assert generator.context == {"load": float(load)}, at


def test_results_come_back_under_another_context_than_they_were_suggested_for():
    generator = make()
    first, second = generator.suggest(2)
    generator.ingest([{name: value for name, value in evaluated(second, 77.0).items() if name != "_id"}])
    assert generator._known.suggested.points == [{"x": first["x"], "load": 50.0}]


def test_of_a_failure_the_context_may_be_unknown():
    generator = make()
    generator.ingest([{"x": 0.5, "load": 20.0, "f": 1.0}, {"x": 0.6, "f": math.nan, "load": math.nan}])
    assert [dict(each.point) for each in generator.failures] == [{"x": 0.6, "load": 20.0}]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"x": 0.5, "f": 1.0}, "the contextual variable 'load' is missing"),
        ({"x": 0.5, "f": 1.0, "load": math.nan}, "the contextual variable 'load' is missing"),
        ({"x": 0.5, "f": 1.0, "load": 101.0}, r"results\[0\]\['load'\]=101.0: must be .* at most 100"),
    ],
)
def test_a_context_must_be_reported_and_in_its_range(result, said):
    generator = make()
    before = generator.state()
    with pytest.raises(InvalidArgument, match=said):
        generator.ingest([result])
    assert generator.state() == before


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({}, "missing 'load'"),
        ({"load": 3.0, "hour": 3}, "unexpected 'hour'"),
        ({"load": -1}, "at least 0"),
        (None, "context: is missing"),
    ],
)
def test_a_bad_context_is_refused(context, said):
    generator = make()
    with pytest.raises(InvalidArgument, match=said):
        generator.context = context
    assert generator.context == {"load": 50.0}


def test_without_contextual_variables_there_is_no_context():
    generator = WindvaneGenerator(VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"}))
    assert generator.context is None
    with pytest.raises(InvalidArgument, match="no contexts"):
        generator.context = {"load": 3}


def test_more_can_be_said_about_a_context():
    hour = wv.Context(wv.Integer(0, 23), period=True)
    generator = WindvaneGenerator(UNBOUNDED, seed=0, contexts={"load": hour})
    assert generator.optimizer.space == wv.Space(x=wv.Real(0, 1), load=hour)
    generator.ingest([{"x": 0.5, "load": 23.0, "f": 1.0}])
    assert generator.context == {"load": 23}
    again = WindvaneGenerator.restore(UNBOUNDED, json.loads(json.dumps(generator.state())))
    assert again.state() == generator.state()
    assert again.suggest(2) == generator.suggest(2)


@pytest.mark.parametrize(
    ("contexts", "error", "said"),
    [
        ({"x": wv.Context(0, 1)}, InvalidArgument, r"contexts\['x'\]: the VOCS has no contextual variable"),
        ({"hour": wv.Context(0, 1)}, InvalidArgument, r"contexts\['hour'\]"),
        ({"load": (0, 100)}, InvalidType, r"contexts\['load'\]=\(0, 100\): must be a wv.Context"),
        ([1], InvalidType, r"contexts=\[1\]"),
    ],
)
def test_contexts_are_those_of_the_vocs(contexts, error, said):
    with pytest.raises(error, match=said):
        WindvaneGenerator(PROBLEM, contexts=contexts)


def test_it_follows_the_load():
    generator = make()
    apart = []
    for step in range(60):
        load = 50.0 + 45.0 * math.sin(0.7 * step)
        generator.context = {"load": load}
        (point,) = generator.suggest(1)
        apart.append(abs(point["x"] - load / 100))
        generator.ingest([evaluated(point, load)])
    assert sum(apart[-20:]) / 20 < 0.05
