"""Values, failures and bad input: nothing is learned from a list of results of which one is wrong."""

import math

import numpy as np
import pandas as pd
import pytest
from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable, DiscreteVariable

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType, UnknownName, WindvaneError
from windvane.integrations.gest import WindvaneGenerator
from windvane.integrations.gest.variables import variable

VOCS_1 = VOCS(variables={"x": [0.0, 1.0]}, objectives={"f": "MINIMIZE"}, constants={"a": 3.0})


def make(**options):
    return WindvaneGenerator(VOCS_1, seed=0, **options)


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ({}, "no value for 'f'"),
        ({"f": None}, "no value for 'f'"),
        ({"f": math.nan}, "no value for 'f'"),
        ({"f": np.float64("nan")}, "no value for 'f'"),
        ({"f": pd.NA}, "no value for 'f'"),
        ({"f": math.inf}, "'f' is inf"),
        ({"f": 2.0, "xopt_error": True}, "the evaluation raised an error"),
        (
            {"xopt_error": np.True_, "xopt_error_str": "Traceback ...\n  File\nValueError: beam lost\n"},
            "ValueError: beam lost",
        ),
    ],
)
def test_no_value_is_a_failure_and_not_an_observation(result, reason):
    generator = make()
    (point,) = generator.suggest(1)
    generator.ingest([{**point, **result}])
    assert generator.optimizer.size == 0
    assert [(dict(each.point), each.reason) for each in generator.failures] == [({"x": point["x"]}, reason)]
    assert generator._known.suggested.points == []


def test_failures_are_told_and_kept_away_from():
    generator, opt = make(), wv.make(wv.Space(x=wv.Real(0, 1)), goal="minimize", seed=0)
    failed = []
    for _ in range(25):
        (point,) = generator.suggest(1)
        x = opt.ask()
        assert x == {"x": point["x"]}
        failed.append(x["x"] < 0.3)
        generator.ingest([{**point, "f": math.nan if failed[-1] else x["x"]}])
        if failed[-1]:
            opt.fail(x, reason="no value for 'f'")
        else:
            opt.tell(x, x["x"])
    assert generator.optimizer.state() == opt.state()
    assert 0 < sum(failed) < 10  # though the values fall towards them
    restored = WindvaneGenerator.restore(VOCS_1, generator.state())
    assert restored.suggest(3) == generator.suggest(3)


def test_what_is_known_of_the_noise_is_told():
    generator, opt = make(), wv.make(wv.Space(x=wv.Real(0, 1)), goal="minimize", seed=0)
    generator.ingest(
        [
            {"x": 0.1, "f": 1.0, "f_std": 0.5},
            {"x": 0.2, "f": 2.0, "f_var": np.float64(0.04)},
            {"x": 0.3, "f": 3.0, "f_std": None, "f_var": math.nan},
            {"x": 0.4, "f": math.nan, "f_std": math.nan},
        ]
    )
    opt.tell({"x": 0.1}, 1.0, std=0.5)
    opt.tell({"x": 0.2}, 2.0, noise_variance=0.04)
    opt.tell({"x": 0.3}, 3.0)
    opt.fail({"x": 0.4}, reason="no value for 'f'")
    assert generator.optimizer.state() == opt.state()


def test_a_variable_may_be_called_as_noise_is():
    vocs = VOCS(variables={"f_std": [0.0, 1.0]}, objectives={"f": "MINIMIZE"})
    generator = WindvaneGenerator(vocs, seed=0)
    generator.ingest([{"f_std": 0.0, "f": 1.0}])
    assert generator.optimizer.size == 1


def test_no_error_is_no_failure():
    generator = make()
    generator.ingest([{"x": 0.5, "f": 2.0, "xopt_error": False, "xopt_error_str": math.nan}])
    assert (generator.optimizer.size, generator.failures) == (1, ())


def test_numbers_of_numpy_are_numbers():
    generator = make()
    generator.ingest(
        [{"x": np.float64(0.5), "f": np.float32(2.0)}, {"x": np.array([0.25]), "f": np.array([1])}]
    )
    assert generator.optimizer.data.X.tolist() == [[0.5], [0.25]]
    assert generator.optimizer.data.y.tolist() == [-2.0, -1.0]


@pytest.mark.parametrize(
    ("bad", "error", "said"),
    [
        ({"f": 1.0}, InvalidArgument, r"results\[1\]: the variable 'x' is missing"),
        (
            {"x": 1.5, "f": 1.0},
            InvalidArgument,
            r"results\[1\]\['x'\]=1.5: must be .* at least 0 and at most 1",
        ),
        ({"x": math.nan, "f": 1.0}, InvalidArgument, r"results\[1\]\['x'\]=nan"),
        ({"x": "low", "f": 1.0}, InvalidType, r"results\[1\]\['x'\]='low'"),
        ({"x": True, "f": 1.0}, InvalidType, r"results\[1\]\['x'\]=True"),
        ({"x": 0.5, "f": "high"}, InvalidType, r"results\[1\]\['f'\]='high'"),
        ({"x": 0.5, "f": 1e200}, InvalidArgument, r"results\[1\]\['f'\]=1e\+200"),
        ({"x": 0.5, "f": [1.0, 2.0]}, InvalidType, r"results\[1\]\['f'\]"),
        (
            {"x": 0.5, "f": 1.0, "a": 4.0},
            InvalidArgument,
            r"results\[1\]\['a'\]=4.0: the VOCS has the constant 3.0",
        ),
        (
            {"x": 0.5, "f": 1.0, "f_std": 0.0},
            InvalidArgument,
            r"results\[1\]\['f_std'\]=0.0: must be .* above 0",
        ),
        ({"x": 0.5, "f": 1.0, "f_var": -1.0}, InvalidArgument, r"results\[1\]\['f_var'\]=-1.0"),
        ({"x": 0.5, "f": 1.0, "f_std": "low"}, InvalidType, r"results\[1\]\['f_std'\]='low'"),
        ({"x": 0.5, "f": 1.0, "f_std": 1.0, "f_var": 1.0}, InvalidArgument, "'f_std' and 'f_var'; give one"),
        ("x", InvalidType, r"results\[1\]='x': must be a dict"),
    ],
)
def test_of_bad_results_nothing_is_learned(bad, error, said):
    generator = make()
    generator.ingest([{"x": 0.1, "f": 0.3}])
    before = generator.state()
    with pytest.raises(error, match=said):
        generator.ingest([{"x": 0.2, "f": 0.4}, bad])
    assert generator.state() == before


@pytest.mark.parametrize("results", [None, {"x": 0.5, "f": 1.0}, "x", 3])
def test_results_are_a_list(results):
    with pytest.raises(InvalidType, match="results="):
        make().ingest(results)


def test_whatever_is_raised_inside_nothing_is_learned(monkeypatch):
    generator = make()
    before, told = generator.state(), []
    tell = wv.Optimizer.tell

    def failing(self, *arguments, **named):
        told.append(arguments)
        if len(told) == 2:
            raise KeyboardInterrupt
        return tell(self, *arguments, **named)

    monkeypatch.setattr(wv.Optimizer, "tell", failing)
    with pytest.raises(KeyboardInterrupt):
        generator.ingest([{"x": 0.2, "f": 0.4}, {"x": 0.3, "f": 0.5}])
    assert generator.state() == before


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"algorithm": "gp-ubc"}, UnknownName, "gp-ucb"),
        ({"algorithm": 3}, InvalidType, "algorithm=3"),
        ({"rate": 0.1}, InvalidArgument, r"make\('auto'\): does not use rate="),
        ({"goal": "minimize"}, InvalidArgument, "goal='minimize': not an option; the VOCS decides"),
        ({"space": None}, InvalidArgument, "space=None: not an option"),
        ({"seed": -1}, InvalidArgument, "seed=-1"),
        ({"seed": "a"}, InvalidType, "seed='a'"),
    ],
)
def test_bad_arguments_fail_at_once(arguments, error, said):
    with pytest.raises(error, match=said):
        WindvaneGenerator(VOCS_1, **arguments)


@pytest.mark.parametrize("count", [0, -1])
def test_the_number_of_points_is_at_least_one(count):
    with pytest.raises(ValueError, match=f"num_points={count}"):
        make().suggest(count)


def test_the_number_of_points_is_a_number():
    with pytest.raises(InvalidType, match=r"num_points=1\.5"):
        make().suggest(1.5)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"variables": {}}, "no variables"),
        ({"objectives": {}}, "no objective; Windvane optimises one"),
        (
            {"objectives": {"f": "MINIMIZE", "g": "MAXIMIZE"}},
            r"2 objectives \('f', 'g'\); Windvane optimises one",
        ),
        (
            {"objectives": {"f": "EXPLORE"}},
            "objective 'f': must be MINIMIZE or MAXIMIZE, not ExploreObjective",
        ),
        ({"constraints": {"x": ["LESS_THAN", 0.5]}}, "the name 'x' is taken twice"),
        ({"constraints": {"c": ["LESS_THAN", math.inf]}}, "constraint 'c': .*must be a finite number"),
        ({"objectives": {"x": "MINIMIZE"}}, "the name 'x' is taken twice"),
        ({"constants": {"x": 3.0}}, "the name 'x' is taken twice"),
        ({"constants": {"_id": 3.0}}, "the name '_id' is taken twice"),
        ({"variables": {"x": [0.0, math.inf]}}, "variable 'x': .*hi=inf"),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, 1], dtype=(float, (2,)))}},
            "variable 'x': .*arrays",
        ),
        ({"variables": {"x": ContinuousVariable(domain=[0, 1], dtype=str)}}, "variable 'x': dtype="),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, 1], dtype="whole")}},
            "variable 'x': dtype='whole'",
        ),
        (
            {"variables": {"x": ContinuousVariable(domain=[0.1, 0.9], dtype=int)}},
            "variable 'x': .*hi must be at least lo",
        ),
        ({"variables": {"x": DiscreteVariable(values={(1, 2), (3, 4)})}}, "variable 'x': values:"),
        (
            {"variables": {"x": DiscreteVariable(values={1.0, math.inf})}},
            "variable 'x': values: inf is not finite",
        ),
        ({"variables": {"x": [0.0, 1.0], "load": ContextualVariable()}}, "variable 'load': .* needs a range"),
        ({"variables": {"load": ContextualVariable(domain=[0, 1])}}, "all variables are contextual"),
    ],
)
def test_a_vocs_that_is_not_supported_is_a_value_error(changed, said):
    given = {"variables": {"x": [0.0, 1.0]}, "objectives": {"f": "MINIMIZE"}, **changed}
    with pytest.raises(ValueError, match=said) as caught:
        WindvaneGenerator(VOCS(**given))
    assert isinstance(caught.value, WindvaneError)


def test_a_vocs_is_a_vocs():
    with pytest.raises(InvalidType, match="vocs="):
        WindvaneGenerator({"variables": {"x": [0, 1]}})


# -- variables ---------------------------------------------------------------------------------------


def test_numbers_that_follow_each_other_are_integers_and_others_keep_their_order():
    follow = variable("n", DiscreteVariable(values={3, 1, 2}))
    assert (follow.parameter, follow.inward("n", 2.0), follow.outward(2)) == (wv.Integer(1, 3), 2, 2)
    apart = variable("n", DiscreteVariable(values={100.0, 1, 10}))
    assert apart.parameter == wv.Integer(0, 2)
    assert [apart.outward(at) for at in range(3)] == [1, 10, 100.0]
    assert [apart.inward("n", value) for value in (1.0, 10, np.float32(100))] == [0, 1, 2]
    with pytest.raises(InvalidArgument, match=r"n=11: must be one of 1, 10, 100\.0"):
        apart.inward("n", 11)


def test_words_are_in_the_same_order_in_every_process():
    words = variable("w", DiscreteVariable(values=set("hgfedcba")))
    assert words.parameter == wv.Choice(list("abcdefgh"))
    with pytest.raises(InvalidArgument, match="w='i': must be one of 'a', 'b', 'c'"):
        words.inward("w", "i")


def test_true_is_not_1():
    flags = variable("flag", DiscreteVariable(values={True, False}))
    assert flags.inward("flag", np.True_) is True
    with pytest.raises(InvalidArgument, match="flag=1"):
        flags.inward("flag", 1)


def test_what_a_file_has_rounded_is_put_back():
    whole = variable("n", ContinuousVariable(domain=[0, 8], dtype=int))
    assert whole.inward("n", 8.0000000001) == 8
    with pytest.raises(InvalidArgument, match=r"n=2\.5: must be an integer"):
        whole.inward("n", 2.5)
    line = variable("x", ContinuousVariable(domain=[0.1, 0.7]))
    assert line.inward("x", 0.7000000000001) == 0.7
    with pytest.raises(InvalidArgument, match=r"x=0\.70001"):
        line.inward("x", 0.70001)
