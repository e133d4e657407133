"""What gest-api asks of a generator, on problems of all kinds; and that it is the optimiser, told the same."""

import inspect
import math

import pytest
from gest_api.generator import Generator
from gest_api.vocs import VOCS, ContinuousVariable, DiscreteVariable
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.integrations.gest import WindvaneGenerator, suggested

VARIABLES = {
    "x": [0.0, 10.0],
    "n": ContinuousVariable(domain=[1, 8], dtype=int),
    "level": DiscreteVariable(values={0.1, 1.0, 10.0}),
    "mode": {"slow", "fast"},
}
MIXED = VOCS(
    variables=VARIABLES,
    objectives={"f": "MINIMIZE"},
    constants={"offset": 3.0, "who": "me"},
    observables={"seen"},
)
LINE = VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "MAXIMIZE"})


def evaluated(point):
    return {
        **point,
        "f": (point["x"] - point["offset"]) ** 2 + point["n"] + math.log(point["level"]),
        "seen": 1,
    }


def hill(point):
    return {**point, "f": -((point["x"] - 0.3) ** 2)}


def allowed(point):
    assert type(point["x"]) is float
    assert 0.0 <= point["x"] <= 10.0
    assert type(point["n"]) is int
    assert 1 <= point["n"] <= 8
    assert point["level"] in {0.1, 1.0, 10.0}
    assert point["mode"] in {"slow", "fast"}
    assert (point["offset"], point["who"]) == (3.0, "me")


def test_it_is_one():
    assert issubclass(WindvaneGenerator, Generator)
    assert WindvaneGenerator.returns_id is True
    for name in ("suggest", "ingest", "finalize"):
        standard = inspect.signature(getattr(Generator, name)).parameters
        assert list(inspect.signature(getattr(WindvaneGenerator, name)).parameters) == list(standard)
    assert next(iter(inspect.signature(WindvaneGenerator).parameters)) == "vocs"
    assert WindvaneGenerator(MIXED).vocs is MIXED


@pytest.mark.parametrize("count", [None, 1, 3])
def test_a_whole_run(count):
    generator, ids = WindvaneGenerator(MIXED, seed=0), []
    for _ in range(4):
        points = generator.suggest(count)
        assert isinstance(points, list)
        assert len(points) == (count or 1)
        for point in points:
            assert point.keys() == {*MIXED.variable_names, *MIXED.constant_names, "_id"}
            allowed(point)
            ids.append(point["_id"])
        generator.ingest([evaluated(point) for point in points])
    generator.finalize()
    assert ids == list(range(len(ids)))
    assert generator.optimizer.step == len(ids) + 1
    assert len(generator.events) == len(ids)
    best = generator.best()
    allowed(best.x)
    assert generator.suggest(1)[0].keys() == {*best.x, "_id"}


def test_nobody_is_asked_to_keep_the_dicts_as_they_are():
    generator, twin = WindvaneGenerator(LINE, seed=1), WindvaneGenerator(LINE, seed=1)
    points = generator.suggest(2)
    results = [hill(point) for point in points]
    for point in points:
        point["sim_id"] = point.pop("_id")  # as libEnsemble does
    generator.ingest(results)
    twin.ingest([hill(point) for point in twin.suggest(2)])
    assert generator.suggest(1) == twin.suggest(1)


@pytest.mark.parametrize("objective", ["MINIMIZE", "MAXIMIZE"])
def test_it_is_the_optimiser_told_the_same(objective):
    vocs = VOCS(variables={"x": [0.0, 1.0], "y": [-1.0, 1.0]}, objectives={"f": objective})
    generator = WindvaneGenerator(vocs, seed=7)
    space = wv.Space(x=wv.Real(0, 1), y=wv.Real(-1, 1))
    opt = wv.make(space, goal=objective.lower(), seed=7)
    for _ in range(12):
        (point,) = generator.suggest(1)
        asked = opt.ask()
        assert {"x": point["x"], "y": point["y"]} == asked
        value = math.sin(5 * asked["x"]) + asked["y"] ** 2
        generator.ingest([{**point, "f": value}])
        assert generator.events[-1] == opt.tell(asked, value)
    assert generator.best() == opt.best()


def test_several_at_once_are_asked_for_beside_each_other():
    generator, opt = WindvaneGenerator(LINE, seed=3), wv.make(wv.Space(x=wv.Real(0, 1)), seed=3)
    for _ in range(6):
        pending = []
        for point in (points := generator.suggest(3)):
            pending.append(opt.ask(pending=pending))
            assert pending[-1] == {"x": point["x"]}
        assert len({round(point["x"], 3) for point in points}) == 3
        generator.ingest([hill(point) for point in points])
        for point in pending:
            opt.tell(point, hill(point)["f"])


def test_points_that_have_not_come_back_are_kept_away_from_in_whatever_order():
    generator, opt = WindvaneGenerator(LINE, seed=3), wv.make(wv.Space(x=wv.Real(0, 1)), seed=3)
    first, second, third = generator.suggest(3)
    generator.ingest([hill(second)])
    opt.tell({"x": second["x"]}, hill(second)["f"])
    waiting = [{"x": first["x"]}, {"x": third["x"]}]
    (fourth,) = generator.suggest(1)
    assert opt.ask(pending=waiting) == {"x": fourth["x"]}
    generator.ingest([hill(third)])
    generator.ingest([hill(first), hill(fourth)])
    assert generator._known.suggested.points == []


def test_points_that_nobody_suggested_are_learned_from():
    generator = WindvaneGenerator(LINE, seed=0)
    generator.ingest(
        [{"x": 0.25, "f": 1.0}, {"x": 0.75, "f": 0.0, "_id": None}, {"x": 1.0, "f": 0.5, "_id": math.nan}]
    )
    opt = wv.make(wv.Space(x=wv.Real(0, 1)), seed=0)
    for x, y in ((0.25, 1.0), (0.75, 0.0), (1.0, 0.5)):
        opt.tell({"x": x}, y)
    (point,) = generator.suggest(1)
    assert {"x": point["x"]} == opt.ask()
    assert point["_id"] == 0


def test_a_result_without_its_id_is_recognised_by_its_point():
    generator = WindvaneGenerator(LINE, seed=0)
    first, second = generator.suggest(2)
    generator.ingest([{"x": second["x"], "f": 0.5}])
    assert generator._known.suggested.points == [{"x": first["x"]}]


def test_an_id_may_come_back_more_than_once():
    """An evaluator that measures three times gives three rows with one ID, and Xopt hands over all of them."""
    generator = WindvaneGenerator(LINE, seed=0)
    (point,) = generator.suggest(1)
    generator.ingest([{**point, "f": y} for y in (0.1, 0.2, 0.15)])
    generator.ingest([{**point, "_id": float(point["_id"]), "f": 0.12}])
    assert generator.optimizer.size == 4


def test_what_was_set_counts_if_it_is_not_what_was_suggested():
    generator = WindvaneGenerator(LINE, seed=0)
    (point,) = generator.suggest(1)
    generator.ingest([{"_id": point["_id"], "x": 0.123, "f": 0.1}])
    assert generator.optimizer.data.X.tolist() == [[0.123]]
    assert generator._known.suggested.points == []


def test_an_unknown_id_is_a_value_error():
    generator = WindvaneGenerator(LINE, seed=0)
    generator.suggest(2)
    for bad in (2, -1, 0.5, "0", True):
        with pytest.raises(ValueError, match=r"results\[0\]\['_id'\]"):
            generator.ingest([{"x": 0.5, "f": 1.0, "_id": bad}])
    assert generator.optimizer.size == 0


def test_a_point_that_never_comes_back_is_given_up(monkeypatch):
    monkeypatch.setattr(suggested, "PATIENCE", 5)
    generator = WindvaneGenerator(LINE, seed=0)
    generator.suggest(1)
    for number in range(4):
        generator.ingest([hill(point) for point in generator.suggest(1)])
        assert len(generator._known.suggested.points) == 1, number
    generator.ingest([hill(point) for point in generator.suggest(1)])
    assert generator._known.suggested.points == []
    generator.ingest([{"x": 0.5, "f": 1.0, "_id": 0}])  # late, and welcome


def test_with_many_out_more_patience_is_needed():
    now = suggested.Suggested()
    for number in range(200):
        now = now.add({"x": number})
    for number in range(200):
        assert number in now.out
        now = now.without(number, {})
    assert not now.out


def test_a_seed_gives_the_same_run():
    def run(seed):
        generator = WindvaneGenerator(MIXED, seed=seed)
        for _ in range(5):
            generator.ingest([evaluated(point) for point in generator.suggest(2)])
        return generator.suggest(2)

    assert run(5) == run(5)
    assert run(5) != run(6)


def test_algorithm_and_options_are_those_of_make():
    options = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "delta": 0.2}
    generator = WindvaneGenerator(LINE, "et-gp-ucb", seed=0, **options)
    assert (
        generator.optimizer.composition
        == wv.make("et-gp-ucb", wv.Space(x=wv.Real(0, 1)), **options).composition
    )


def test_resets_are_told_and_logged(caplog):
    generator = WindvaneGenerator(LINE, "et-gp-ucb", seed=0, kernel=wv.RBF(0.2), noise_variance=0.01)
    caplog.set_level("INFO", "windvane.gest")
    for number in range(30):
        level = 0.0 if number < 20 else 5.0
        generator.ingest(
            [{**p, "f": level + math.exp(-10 * (p["x"] - 0.3) ** 2)} for p in generator.suggest(1)]
        )
    resets = [event for event in generator.events if event.reset]
    assert resets
    assert [record.getMessage() for record in caplog.records] == [
        f"step {e.step}: {e.reason}" for e in resets
    ]


def test_a_reset_by_hand():
    generator = WindvaneGenerator(LINE, seed=0)
    generator.ingest([hill(point) for point in generator.suggest(3)])
    event = generator.reset("new pump")
    assert (event.reset, event.reason, generator.optimizer.size) == (True, "new pump", 0)
    assert generator.events[-1] is event


@st.composite
def problems(draw):
    """A VOCS of up to four variables of any kind, with constants."""
    number = st.floats(-1e6, 1e6, allow_nan=False)
    variables = {}
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, unique=True)):
        kind = draw(st.sampled_from(["real", "integer", "numbers", "words"]))
        if kind in ("real", "integer"):
            low = draw(number)
            width = draw(st.floats(1.0, 1e6))
            dtype = draw(
                st.sampled_from([None, float, "float32"] if kind == "real" else [int, "int", "int64"])
            )
            variables[name] = ContinuousVariable(domain=[low, low + width], dtype=dtype)
        else:
            of = st.one_of(st.integers(-99, 99), number) if kind == "numbers" else st.text(max_size=3)
            variables[name] = DiscreteVariable(values=draw(st.sets(of, min_size=1, max_size=5)))
    constants = draw(st.dictionaries(st.sampled_from("pq"), st.one_of(number, st.text(), st.none())))
    return VOCS(variables=variables, objectives={"f": "MAXIMIZE"}, constants=constants)


@given(problems(), st.integers(0, 9), st.data())
@settings(max_examples=40, deadline=None)
def test_every_point_is_in_its_domain_and_can_be_told_back(vocs, seed, data):
    generator = WindvaneGenerator(vocs, "random", seed=seed)
    for _ in range(2):
        points = generator.suggest(2)
        for point in points:
            for name, variable in vocs.variables.items():
                if isinstance(variable, DiscreteVariable):
                    assert point[name] in variable.values
                else:
                    assert variable.domain[0] <= point[name] <= variable.domain[1]
                    assert type(point[name]) is (float if variable.dtype in (None, float, "float32") else int)
            for name, constant in vocs.constants.items():
                assert point[name] == constant.value
        generator.ingest([{**point, "f": data.draw(st.floats(-1e9, 1e9))} for point in points])
        for event, point in zip(generator.events[-2:], points, strict=True):
            assert generator._problem.outward(event.x) == {k: v for k, v in point.items() if k != "_id"}
